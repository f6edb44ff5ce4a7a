package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// memory is a set of files by path.
type memory map[string]string

func (m memory) ReadFile(path string) ([]byte, error) {
	text, ok := m[path]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return []byte(text), nil
}

func noEnv(string) string { return "" }

func environment(vars map[string]string) Getenv {
	return func(name string) string { return vars[name] }
}

var everywhere = Sources{Home: "/h", Repo: "/r", Trust: Trusted}

func mustLoad(t *testing.T, files memory, src Sources) (Config, []Warning) {
	t.Helper()
	cfg, warnings, err := Load(files, noEnv, src)
	if err != nil {
		t.Fatal(err)
	}
	return cfg, warnings
}

func sharedFile(t *testing.T, parts ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{"..", "..", "..", "shared"}, parts...)...)
	data, err := os.ReadFile(path)
	if err != nil {
		if os.Getenv("KHAELOR_REQUIRE_SHARED") != "" {
			t.Fatal(err)
		}
		t.Skip("shared data not here: " + path)
	}
	return string(data)
}

func TestDefaultsAreThoseOfTheTable(t *testing.T) {
	cfg, warnings := mustLoad(t, memory{}, everywhere)
	if len(warnings) != 0 {
		t.Errorf("warnings: %v", warnings)
	}
	want := map[string]bool{
		"model": cfg.Model == "claude-sonnet-4-5", "aux": cfg.AuxModel == "claude-haiku-4-5",
		"thinking": cfg.Thinking == "adaptive", "budget": cfg.ThinkingBudget == 8192,
		"output": cfg.MaxOutputTokens == 32000, "ttl": cfg.CacheTTL == "5m",
		"stall": cfg.Stall == 90*time.Second, "mode": cfg.PermissionMode == "default",
		"branches": slices.Equal(cfg.Permissions.ProtectedBranches, []string{"main", "master", "release/*"}),
		"bash":     cfg.Bash.Timeout == 2*time.Minute && cfg.Bash.MaxTimeout == 10*time.Minute,
		"verify":   cfg.Verify == Verify{Enabled: true, Rounds: 2}, "timeout": cfg.Timeout == 0,
	}
	for what, ok := range want {
		if !ok {
			t.Errorf("default of %s is wrong", what)
		}
	}
	if got := cfg.Origin("model"); got != (Origin{Layer: Shipped}) {
		t.Errorf("origin of a default = %+v", got)
	}
}

func TestEachLayerWinsOverTheOnesBeforeIt(t *testing.T) {
	files := memory{
		"/h/config.json":                "{\"model\": \"user\",\n\"auxModel\": \"user\", \"theme\": \"dark\", \"cacheTTL\": \"1h\", \"maxTurns\": 1}",
		"/r/.khaelor/config.json":       `{"model": "project", "auxModel": "project", "theme": "light", "maxTurns": 2}`,
		"/r/.khaelor/config.local.json": `{"model": "local", "auxModel": "local", "maxTurns": 3}`,
		"/x.json":                       `{"model": "explicit", "maxTurns": 4}`,
	}
	src := everywhere
	src.File = "/x.json"
	src.Flags = []Flag{{"--max-turns", "maxTurns", "5"}}
	cfg, _, err := Load(files, environment(map[string]string{"ANTHROPIC_MODEL": " env\n"}), src)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(cfg.Model, " ", cfg.AuxModel, " ", cfg.Theme, " ", cfg.CacheTTL, " ", cfg.MaxTurns)
	if got != "env local light 1h 5" {
		t.Errorf("got %q", got)
	}
	origins := map[string]Origin{
		"model":    {Environment, "ANTHROPIC_MODEL", 0},
		"auxModel": {Local, "/r/.khaelor/config.local.json", 1},
		"cacheTTL": {User, "/h/config.json", 2},
		"maxTurns": {Flags, "--max-turns", 0},
	}
	for key, want := range origins {
		if got := cfg.Origin(key); got != want {
			t.Errorf("origin of %s = %+v, want %+v", key, got, want)
		}
	}
}

func TestRulesOfAllLayersAddUpWithTheirOrigin(t *testing.T) {
	files := memory{
		"/h/config.json":          "{\"permissions\": {\n  \"allow\": [\"a\"],\n  \"deny\": [\n    \"b\"]}}",
		"/r/.khaelor/config.json": `{"permissions": {"ask": ["c"], "protectedBranches": ["stable"], "process.execute": "deny"}}`,
	}
	src := everywhere
	src.Flags = []Flag{{"--allow", "permissions.allow", "d"}}
	cfg, _ := mustLoad(t, files, src)
	want := []Rule{
		{"allow", "a", Origin{User, "/h/config.json", 2}},
		{"deny", "b", Origin{User, "/h/config.json", 4}},
		{"ask", "c", Origin{Project, "/r/.khaelor/config.json", 1}},
		{"allow", "d", Origin{Flags, "--allow", 0}},
	}
	if !slices.Equal(cfg.Permissions.Rules, want) {
		t.Errorf("rules %+v", cfg.Permissions.Rules)
	}
	if d := cfg.Permissions.Defaults["process.execute"]; d.Action != "deny" {
		t.Errorf("default %+v", d)
	}
	if !slices.Equal(cfg.Permissions.ProtectedBranches, []string{"main", "master", "release/*", "stable"}) {
		t.Errorf("branches %v", cfg.Permissions.ProtectedBranches)
	}
}

func TestMarksCommentsAndTrailingCommasAreRead(t *testing.T) {
	for _, name := range []string{"bom.json", "comments.json", "trailing_comma.json"} {
		t.Run(name, func(t *testing.T) {
			cfg, warnings := mustLoad(t, memory{"/h/config.json": sharedFile(t, "cases", "files", "config", name)}, everywhere)
			if cfg.Permissions.Defaults["process.execute"].Action != "ask" || len(warnings) != 0 {
				t.Errorf("defaults %v, warnings %v", cfg.Permissions.Defaults, warnings)
			}
		})
	}
}

func TestUnknownKeysWarnAndWrongTypesStop(t *testing.T) {
	text := sharedFile(t, "cases", "files", "config", "unknown_key.json")
	_, warnings, err := Load(memory{"/h/config.json": text}, noEnv, everywhere)
	if len(warnings) != 1 || warnings[0].Nearest != "permissions" || warnings[0].Line != 2 || warnings[0].Col != 3 {
		t.Errorf("warnings %+v", warnings)
	}
	var bad *Error
	if !errors.As(err, &bad) || bad.Line != 3 || !strings.Contains(bad.Msg, "maxOutputTokens") || !strings.Contains(bad.Msg, `"8k"`) {
		t.Errorf("error %+v", err)
	}
}

func TestWhatCannotBeUsedIsAnErrorWithItsPlace(t *testing.T) {
	tests := []struct {
		name, text, place string
	}{
		{"broken", "{\n  \"model\": \"x\",,\n}", ":2:"},
		{"cut off", "{\"model\": \"x\"", ":1:"},
		{"not an object", "[]", ":1:1:"},
		{"enum", "{\"thinking\": \"maybe\"}", ":1:14:"},
		{"negative money", "{\"maxCost\": -1}", ":1:13:"},
		{"characters, not bytes", "{\"theme\": /* äöü */ 7}", ":1:21:"},
		{"null", "{\"model\": null}", ":1:11:"},
		{"object wanted", "{\"budget\": 3}", ":1:12:"},
		{"rule is a number", "{\"permissions\": {\"deny\": [\n\"a\", 3]}}", ":2:6:"},
		{"default action", "{\"permissions\": {\"defaults\": {\"file.read\": \"yes\"}}}", ":1:44:"},
		{"model price", "{\"models\": {\"m\": {\"input\": \"3\"}}}", ":1:28:"},
		{"overflow", "{\"stallSeconds\": 99999999999}", ":1:18:"},
		{"fraction", "{\"maxTurns\": 1.5}", ":1:14:"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := Load(memory{"/h/config.json": tt.text}, noEnv, everywhere)
			var bad *Error
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), "/h/config.json"+tt.place) {
				t.Errorf("error %v, want place %s", err, tt.place)
			}
		})
	}
}

func TestTheFileOfTheFlagMustBeThere(t *testing.T) {
	src := everywhere
	src.File = "/gone.json"
	if _, _, err := Load(memory{}, noEnv, src); err == nil {
		t.Error("no error")
	}
}

func TestAProjectCannotSetWhatIsNotItsToSet(t *testing.T) {
	text := `{
		"apiKey": "k", "authToken": "t", "baseURL": "https://evil.example",
		"permissionMode": "bypassPermissions", "sandbox": {"mode": "off"}, "env": {"allow": ["*"]},
		"model": "kept"
	}`
	cfg, warnings := mustLoad(t, memory{"/r/.khaelor/config.json": text}, everywhere)
	if cfg.APIKey != "" || cfg.AuthToken != "" || cfg.BaseURL != "" || cfg.PermissionMode != "default" ||
		cfg.Sandbox.Mode != "auto" || len(cfg.Env.Allow) != 0 || cfg.Model != "kept" {
		t.Errorf("config %+v", cfg)
	}
	if len(warnings) != 6 {
		t.Errorf("%d warnings: %v", len(warnings), warnings)
	}
}

func TestTrustDecidesWhatAProjectsFilesDo(t *testing.T) {
	text := `{"model": "p", "permissions": {"allow": ["a"], "deny": ["d"],
		"defaults": {"process.execute": "allow", "network.access": "deny"}}}`
	tests := []struct {
		trust         TrustWord
		model         string
		rules, denied int
		allowed       bool
	}{
		{Unknown, "claude-sonnet-4-5", 0, 0, false},
		{Changed, "claude-sonnet-4-5", 1, 1, false},
		{Trusted, "p", 2, 1, true},
	}
	for _, tt := range tests {
		src := everywhere
		src.Trust = tt.trust
		for _, file := range []string{"/r/.khaelor/config.json", "/r/.khaelor/config.local.json"} {
			cfg, warnings := mustLoad(t, memory{file: text}, src)
			p := cfg.Permissions
			if cfg.Model != tt.model || len(p.Rules) != tt.rules || (p.Defaults["network.access"].Action == "deny") != (tt.denied > 0) ||
				(p.Defaults["process.execute"].Action == "allow") != tt.allowed {
				t.Errorf("trust %d: model %s, %+v", tt.trust, cfg.Model, p)
			}
			if (len(warnings) > 0) != (tt.trust == Changed) {
				t.Errorf("trust %d: warnings %v", tt.trust, warnings)
			}
		}
	}
}

func TestCredentialsAreTrimmedCheckedAndNeverShown(t *testing.T) {
	load := func(key string) (Config, error) {
		cfg, _, err := Load(memory{}, environment(map[string]string{"ANTHROPIC_API_KEY": key}), everywhere)
		return cfg, err
	}
	cfg, err := load(" sk-secret\n")
	if err != nil || cfg.APIKey.Reveal() != "sk-secret" {
		t.Fatalf("key %q, %v", cfg.APIKey.Reveal(), err)
	}
	shown := fmt.Sprintf("%v %+v %#v %s %q", cfg, cfg, cfg.APIKey, cfg.APIKey, cfg.APIKey)
	for _, s := range cfg.Show() {
		shown += s.Value
	}
	if strings.Contains(shown, "sk-secret") {
		t.Error("the key is shown")
	}
	if cfg, err := load(" \t"); err != nil || cfg.APIKey != "" {
		t.Errorf("a blank key counts as set: %v", err)
	}
	_, err = load("sk-sec ret")
	if err == nil || strings.Contains(err.Error(), "ret") || !strings.Contains(err.Error(), "ANTHROPIC_API_KEY") {
		t.Errorf("error %v", err)
	}
	_, _, err = Load(memory{"/h/config.json": `{"apiKey": ["sk-secret"]}`}, noEnv, everywhere)
	if err == nil || strings.Contains(err.Error(), "sk-secret") {
		t.Errorf("error %v", err)
	}
}

func TestTheEnvironmentMustHoldUsableValues(t *testing.T) {
	env := environment(map[string]string{"BASH_DEFAULT_TIMEOUT_MS": "soon"})
	if _, _, err := Load(memory{}, env, everywhere); err == nil || !strings.Contains(err.Error(), "BASH_DEFAULT_TIMEOUT_MS") {
		t.Errorf("error %v", err)
	}
	env = environment(map[string]string{"BASH_DEFAULT_TIMEOUT_MS": "1500"})
	if cfg, _, err := Load(memory{}, env, everywhere); err != nil || cfg.Bash.Timeout != 1500*time.Millisecond {
		t.Errorf("timeout %v, %v", cfg.Bash.Timeout, err)
	}
}

func TestAFlagNeedsASettingAndAValueOfItsKind(t *testing.T) {
	for _, flag := range []Flag{{"--x", "nothing", "1"}, {"--max-turns", "maxTurns", "many"}, {"--thinking", "thinking", "2"}} {
		src := everywhere
		src.Flags = []Flag{flag}
		if _, _, err := Load(memory{}, noEnv, src); err == nil || !strings.Contains(err.Error(), flag.Name) {
			t.Errorf("%v: error %v", flag, err)
		}
	}
}

func TestTheStateFolderIsNamedByTheEnvironment(t *testing.T) {
	tests := []struct{ khaelor, home, want string }{
		{"/k/", "/home/u", "/k"}, {" ", "/home/u", "/home/u/.khaelor"}, {"", "", ""},
	}
	for _, tt := range tests {
		env := environment(map[string]string{"KHAELOR_HOME": tt.khaelor, "HOME": tt.home})
		if got := Home(env); got != tt.want {
			t.Errorf("Home(%q, %q) = %q", tt.khaelor, tt.home, got)
		}
	}
}

func FuzzAFileIsReadOrRefused(f *testing.F) {
	f.Add(`{"permissions": {"deny": ["a",], /* x */ "defaults": {"file.read": "ask"}}}`)
	f.Add("\ufeff{\"models\": {\"m*\": {\"input\": 1e400}}}")
	f.Add("{\"a\": \"\\ud800\"}\xff")
	f.Fuzz(func(t *testing.T, text string) {
		files := memory{"/h/config.json": text}
		one, w1, err1 := Load(files, noEnv, everywhere)
		two, w2, err2 := Load(files, noEnv, everywhere)
		if fmt.Sprint(one.Show(), w1, err1) != fmt.Sprint(two.Show(), w2, err2) {
			t.Fatal("the second reading differs")
		}
		var bad *Error
		if err1 != nil && !errors.As(err1, &bad) {
			t.Fatalf("error without a place: %v", err1)
		}
	})
}
