package builtin

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
)

func TestAScreenEditorIsRefusedAtOnce(t *testing.T) {
	p := newProject(t, map[string]string{"f": "a\n"})
	for line, refused := range map[string]bool{
		"vi f": true, "vim": true, "cd . && vim f": true, "/usr/bin/vi -R f": true, "(nvim f)": true, "git add f; vimdiff f f": true, "vi f >/dev/null": true,
		"vim -es -c '%s/a/b/' -c wq f": false, "vim +q f": false, "vim --version": false, "vim -s keys f": false, "vi f <keys": false, "echo vi f": false, "command -v vi": false,
		"git config core.editor vi": false, "vim -c wq f": false, "cat <<X\nvi f\nX": false, "vi f <<X\n:wq\nX": false, "EDITOR=vi true": false,

		// Another program of the name.
		"./view x": false, "bin/vi x": false, "/opt/tools/view x": false, "~/bin/view x": false, "$HOME/bin/view x": false, "/bin/vi x": true, "/usr/local/bin/nvim x": true,
		"view() { cat f; }; view": false, "function vi { cat; }; vi f": false, "alias vi=cat; vi f": false, "alias a=b 'view=cat x'; view f": false, "(vi() { :; }; vi f)": false,
		"alias vim=vi; vi f": true, "view() { :; }; vi f": true, "viewer f": false, "alias; vi f": true,

		// By another program.
		"env vi f": true, "env -i -u B A=1 C=2 vi f": true, "env -uB vi f": true, "/usr/bin/env vi f": true, "command vi f": true, "command -p vi f": true, "exec vi f": true, "exec -a x vi f": true,
		"nice vi f": true, "nice -n 5 vi f": true, "nice -5 vi f": true, "nohup vi f": true, "nohup vi f &": true, "sudo vi f": true, "sudo -u root -E A=1 vi f": true, "sudo -- vi f": true,
		"ls | xargs vi": true, "ls | xargs -n 1 -I {} vi {}": true, "ls | xargs -0n1 vi": true, "timeout 5 vi f": true, "timeout -k 1 -s KILL 5s vi f": true, "timeout $T vi f": true,
		"sudo env A=1 nice -n 1 timeout 5 vi f": true, "sudo --user=root vi f": true, "xargs <list vi": true,
		"command -V vi": false, "sudo -l vi": false, "env vi -es -c wq f": false, "env ./view x": false, "sudo cat vi": false, "nice cat vi": false, "xargs grep vi": false, "timeout 5 grep vi f": false, "exec >vi": false,
		"env": false, "nice -n": false, "timeout 5": false, "sudo": false, "env A=1": false, "env() { :; }; env vi f": false, "./env vi f": false, "env vi f <keys": false, "vi() { :; }; env vi f": false, "xargs -I vi echo vi": false,
	} {
		if err := screenEditor(parseLine(line)); (err != nil) != refused {
			t.Errorf("%s: %v", line, err)
		}
	}
	_, err := bash(t.Context(), p.env, bashInput{Command: "vi f"})
	p.refused(err, event.ToolInvalidInput, "vi needs a terminal", "edit")
	_, err = bash(t.Context(), p.env, bashInput{Command: "env A=1 /usr/bin/vi f"})
	p.refused(err, event.ToolInvalidInput, "/usr/bin/vi needs a terminal", "edit")
}

func TestAnotherProgramWithAnEditorsNameRuns(t *testing.T) {
	p := newProject(t, nil)
	must(t, os.WriteFile(filepath.Join(p.dir, "view"), []byte("#!/bin/sh\necho seen $1\n"), 0o700))
	equal(t, p.bash("./view x").Text, "seen x\n")
	equal(t, p.bash("view() { echo shown; }; view").Text, "shown\n")
}
