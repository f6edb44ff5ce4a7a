package permission

import "testing"

func TestWithholdsWhatAReadOfTheFolderDoesNotCover(t *testing.T) {
	for _, c := range []struct {
		rules, path string
		want        bool
	}{
		{"", caseRoot + "/a.go", false},
		{"", caseRoot + "/.env", true},
		{"", caseRoot + "/sub/.env.local", true},
		{"", caseRoot + "/.env.example", false},
		{"", caseHome + "/.ssh/id_rsa", true},
		{"deny file.read(secret/**)", caseRoot + "/secret/a.txt", true},
		{"deny file.read(secret/**)", caseRoot + "/Secret/a.txt", true},
		{"deny file.read(secret/**)", caseRoot + "/secrets/a.txt", false},
		{"deny file.read(*.pem)", caseRoot + "/deep/down/key.pem", true},
		{"ask file.read(notes/**)", caseRoot + "/notes/a.md", true},
		{"allow file.read(secret/**)", caseRoot + "/secret/a.txt", false},
		{"allow file.read(.env)", caseRoot + "/.env", true},
		{"deny file.write.project(a.go)", caseRoot + "/a.go", false},
		{"deny filesystem.outsideProject(/data/**)", "/data/x", true},
		{"deny filesystem.outsideProject(/data/**)", caseRoot + "/data/x", false},
	} {
		if got := New(testOptions(t, c.rules)).Withholds(c.path); got != c.want {
			t.Errorf("with %q, %s: got %v", c.rules, c.path, got)
		}
	}
	// Whoever is asked about every read was asked about the folder.
	opt := testOptions(t, "")
	opt.Rules = append(opt.Rules, Rule{Action: Ask, Capability: FileRead})
	if New(opt).Withholds(caseRoot + "/a.go") {
		t.Error("a rule about every file withholds each")
	}
}

// What is quick for a search gives the answers of the floor, wherever the
// project is.
func TestWithholdsAgreesWithTheFloor(t *testing.T) {
	below := []string{
		"a.go", ".env", ".ENV", ".env.example", "sub/.env.production", ".ssh/id_rsa", "id_rsa", ".aws/credentials", "credentials",
		".netrc", "gcloud/application_default_credentials.json", "config.json", "1/environ", "shadow", ".config/gh/hosts.yml", "hosts.yml",
	}
	for _, root := range []string{
		caseRoot, caseHome, caseHome + "/.ssh", caseHome + "/.aws", caseHome + "/.config", caseHome + "/.config/gcloud", caseHome + "/.khaelor",
		"/home", "/home/other", "/root", "/", "/etc", "/proc", "/srv/x", "/Users/u",
	} {
		opt := testOptions(t, "")
		opt.Root = root
		e := New(opt)
		for _, name := range below {
			p := resolve(root, name)
			f := fold{opt: &opt, credentialsInside: true} // it compares with everything
			if got, want := e.Withholds(p), len(f.floorOfPath(p, false)) > 0; got != want {
				t.Errorf("in %s, %s: got %v, the floor says %v", root, p, got, want)
			}
		}
	}
}

func BenchmarkWithholds(b *testing.B) {
	e := New(testOptions(b, "deny file.read(secret/**)"))
	for b.Loop() {
		e.Withholds(caseRoot + "/internal/tool/builtin/grep.go")
	}
}
