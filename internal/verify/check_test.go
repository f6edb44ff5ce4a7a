package verify

import "testing"

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

		"go test ./... && echo ok":              true,
		"go vet ./... && go test ./... && date": true,
		"go test ./... && git diff --stat":      true,
		"true && go test ./...":                 true,

		"go test ./... | tail -20":       false,
		"go test ./... && sed -i d a.go": false,
		"go test ./... && ./deploy":      false,
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
		if got := IsCheck(command); got != want {
			t.Errorf("IsCheck(%q) = %v, want %v", command, got, want)
		}
	}
}
