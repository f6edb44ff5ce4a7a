package verify

import (
	"testing"

	"github.com/khaelor/khaelor/internal/fold"
)

func TestACommandIsEvidenceOnlyWhenItIsWhollyACheck(t *testing.T) {
	for command, want := range map[string]bool{
		"go test ./...":                         true,
		"go test ./... 2>&1":                    true,
		"go test -run 'TestA|TestB' ./x":        true,
		"npm test":                              true,
		"python -m pytest -q tests":             true,
		"make test RACE=1":                      true,
		"gofmt -l . && go vet ./...":            true,
		"cd sub && go test ./...":               true,
		"go build ./... && go test ./... >/tmp": true,

		"go test ./... > /tmp/out && echo ok":   true,
		"CI=1 NO_COLOR= go test ./...":          true,
		"LC_ALL='C' TZ=UTC go test ./...":       true,
		"cd sub/deep && cd .. && go test ./...": true,
		"cd /p && go test ./...":                true,
		"cd /p/sub && go test ./...":            true,

		"PATH=/tmp go test ./...":               false,
		"GOFLAGS=-run=None go test ./...":       false,
		"CI=$(true) go test ./...":              false,
		"CI+=1 go test ./...":                   false,
		"PATH=/tmp && go test ./...":            false,
		"cd x && PATH=/tmp go test ./...":       false,
		"export PATH=/tmp && go test ./...":     false,
		"cd .. && go test ./...":                false,
		"cd sub && cd ../.. && go test ./...":   false,
		"cd .. && cd p && go test ./...":        false,
		"cd /tmp && go test ./...":              false,
		"cd /p2 && go test ./...":               false,
		"cd ~/p && go test ./...":               false,
		"cd - && go test ./...":                 false,
		"cd && go test ./...":                   false,
		"cd ../{p,q} && go test ./...":          false,
		"exit 0 && go test ./...":               false,
		"trap 'exit 0' EXIT && go test ./...":   false,
		"hash -p /bin/true go && go test ./...": false,

		"go test ./... && echo ok":              true,
		"go vet ./... && go test ./... && date": true,
		"go test ./... && git diff --stat":      true,
		"true && go test ./...":                 true,

		"go test ./... | tail -20":       false,
		"go test ./... && sed -i d a.go": false,
		"go test ./... && ./deploy":      false,
		"go test ./... && echo x > a.go": false,
		"go test && git diff --output=a": false,
		"go test ./... && grep x a.go":   false,
		"echo ok && true":                false,
		"go test ./... || true":          false,
		"go test ./...; echo ok":         false,
		"go test ./... &":                false,
		"! go test ./...":                false,
		"(go test ./...)":                false,
		"go test $PKG":                   false,
		"go test $(cat pkgs)":            false,
		"echo go test ./...":             false,
		"go tes":                         false,
		"pytest --collect-only":          false,
		"make -n test":                   false,
		"go test <(true)":                false,
		"go test ./...\ntrue":            false,
		"if go test ./...; then :; fi":   false,
		"go vet ./... && echo ok | cat":  false,
		"":                               false,
		"go test 'unclosed":              false,
	} {
		if got := Project("/p").IsCheck(fold.Run{Command: command}); got != want {
			t.Errorf("IsCheck(%q) = %v, want %v", command, got, want)
		}
	}
}

func TestACheckIsOfTheProjectItRunsIn(t *testing.T) {
	for _, c := range []struct {
		cwd, command string
		want         bool
	}{
		{"", "go test", true},
		{"sub", "go test", true},
		{"/p/sub", "go test", true},
		{"sub", "cd .. && go test", true},
		{"sub/../..", "go test", false},
		{"..", "go test", false},
		{"/tmp", "go test", false},
		{"/tmp", "cd /p && go test", false}, // what came before was elsewhere
		{"sub", "cd ../.. && go test", false},
	} {
		if got := Project("/p").IsCheck(fold.Run{Command: c.command, Cwd: c.cwd}); got != c.want {
			t.Errorf("%q in %q: %v", c.command, c.cwd, got)
		}
	}
	if !Project("/").IsCheck(fold.Run{Command: "cd tmp && go test"}) {
		t.Error("nothing is outside of the whole system")
	}
}

func TestACommandThatOnlyLooksChangesNothing(t *testing.T) {
	for command, want := range map[string]bool{
		"ls -l && cat a.go":      true,
		"grep -rn x . 2>&1":      true,
		"ls 2>/dev/null":         true,
		"git show HEAD && rg x":  true,
		"ls > list":              false,
		"git diff --output=d":    false,
		"rg --pre ./script x":    false,
		"ls; rm x":               false,
		"ls | xargs rm":          false,
		"cat $(touch x)":         false,
		"sed -i s/a/b/ a.go":     false,
		"go test ./...":          false,
		"git log && make":        false,
		"git log --oneline && :": true,
	} {
		if got := Project("/p").ChangesNothing(fold.Run{Command: command}); got != want {
			t.Errorf("ChangesNothing(%q) = %v, want %v", command, got, want)
		}
	}
}
