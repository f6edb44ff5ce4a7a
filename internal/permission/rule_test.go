package permission

import (
	"errors"
	"testing"

	"github.com/khaelor/khaelor/internal/config"
)

func TestRulesAreReadInTheirSpellings(t *testing.T) {
	tests := []struct{ text, want string }{
		{"process.execute", "process.execute"},
		{" process.execute( go test * ) ", "process.execute(go test *)"},
		{"process.execute(echo (x))", "process.execute(echo (x))"},
		{"Bash", "process.execute"},
		{"Bash(npm run test:*)", "process.execute(npm run test *)"},
		{"Bash(git diff *)", "process.execute(git diff *)"},
		{"Read(./.env)", "file.read(.env)"},
		{"Read(~/x/**)", "file.read(~/x/**)"},
		{"Edit(src/**)", "file.write.project(src/**)"},
		{"WebFetch(domain:example.com)", "WebFetch(example.com)"},
		{"mcp__db__query", "mcp__db__query"},
		{"Agent(explore)", ""},
		{"Agent", "Agent"},
		{"file.read(src/[a)", ""},
		{"process.execute(echo 'x)", ""},
		{`process.execute(echo x\)`, ""},
		{"process.execute()", ""},
		{"process.execute(x", ""},
		{"process.exec(x)", ""},
		{"", ""},
	}
	for _, tt := range tests {
		rule, err := ParseRule(tt.text)
		if (err != nil) != (tt.want == "") || (err == nil && rule.String() != tt.want) {
			t.Errorf("%q: %q, %v", tt.text, rule, err)
		}
	}
}

func TestAPrefixRuleEndsAtAWord(t *testing.T) {
	e := New(testOptions(t, "allow Bash(npm run test:*)"))
	for command, want := range map[string]Action{"npm run test": Allow, "npm run test -- -x": Allow, "npm run testing": Ask} {
		if d := e.Evaluate(bash(command)); d.Action != want {
			t.Errorf("%s: %s", command, d.Action)
		}
	}
}

func TestAStarStopsInTheHostOfAnAddress(t *testing.T) {
	tests := []struct {
		pattern, word string
		want          bool
	}{
		{"http://localhost*", "http://localhost/x.y", true},
		{"http://localhost*", "http://localhost.evil.example/", false},
		{"http://localhost:3000*", "http://localhost:3000@evil.example/", false},
		{"https://*.example.com/*", "https://api.example.com/a/b.c", true},
		{"https://*.example.com/*", "https://evil.example/.example.com/", false},
		{"a*c", "abc", true},
		{"a*c", "abcd", false},
		{"*", "", true},
	}
	for _, tt := range tests {
		g, _, err := cutGlob(tt.pattern)
		if err != nil || g.match(tt.word) != tt.want {
			t.Errorf("%s against %s: %v, %v", tt.pattern, tt.word, !tt.want, err)
		}
	}
}

func TestAConfigurationsRulesKeepTheirPlace(t *testing.T) {
	origin := config.Origin{Layer: config.User, File: "/h/config.json", Line: 7}
	good := config.Permissions{
		Rules:             []config.Rule{{Action: "deny", Text: "Bash(rm *)", Origin: origin}},
		Defaults:          map[string]config.Default{"process.execute": {Action: "allow"}},
		ProtectedBranches: []string{"main"},
	}
	opt, err := FromConfig(good)
	if err != nil || opt.Rules[0].Action != Deny || opt.Rules[0].Origin != origin || opt.Defaults[Execute].Action != Allow {
		t.Errorf("%+v, %v", opt, err)
	}
	if d := New(opt).Evaluate(bash("rm x")); d.By != "rule deny process.execute(rm *) from user /h/config.json" {
		t.Errorf("by %q", d.By)
	}
	good.Rules[0].Text = "Bash(rm *"
	var bad *config.Error
	if _, err := FromConfig(good); !errors.As(err, &bad) || bad.Line != 7 {
		t.Errorf("error %v", err)
	}
}
