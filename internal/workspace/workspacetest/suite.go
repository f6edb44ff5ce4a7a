// Package workspacetest is what every workspace.Workspace must do.
//
// Run is called by the tests of each implementation; it knows nothing but the
// interface and its optional methods.
package workspacetest

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/khaelor/khaelor/internal/workspace"
)

// Run checks an implementation. open makes a workspace over an empty folder.
func Run(t *testing.T, open func(t *testing.T) workspace.Workspace) {
	for name, check := range map[string]func(*testing.T, workspace.Workspace){
		"what is written is read":                writtenIsRead,
		"a write creates the folders it needs":   writeCreatesFolders,
		"a missing file does not exist":          missingFile,
		"a folder is no file":                    folderIsNoFile,
		"a file is no parent":                    fileIsNoParent,
		"paths resolve before they exist":        resolvesMissing,
		"a command tells output and exit code":   execTells,
		"standard input is empty or what is fed": execInput,
		"a cancelled command ends":               execCancelled,
	} {
		t.Run(name, func(t *testing.T) { check(t, open(t)) })
	}
}

func writtenIsRead(t *testing.T, ws workspace.Workspace) {
	for _, data := range [][]byte{[]byte("one\r\ntwo"), {}, {0, 255, 254}, bytes.Repeat([]byte("x"), 1<<20)} {
		if err := ws.WriteFile("f", data); err != nil {
			t.Fatal(err)
		}
		got, err := ws.ReadFile("f")
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("read %d bytes, %v; wrote %d", len(got), err, len(data))
		}
	}
}

func writeCreatesFolders(t *testing.T, ws workspace.Workspace) {
	if err := ws.WriteFile("a/b/c.txt", []byte("deep")); err != nil {
		t.Fatal(err)
	}
	entries, err := workspace.ReadDir(ws, "a/b")
	if err != nil || len(entries) != 1 || entries[0].Name() != "c.txt" {
		t.Fatalf("a/b holds %v, %v", entries, err)
	}
}

func missingFile(t *testing.T, ws workspace.Workspace) {
	if _, err := ws.ReadFile("nope"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("read: %v", err)
	}
	if _, err := workspace.Stat(ws, "nope"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("stat: %v", err)
	}
}

func folderIsNoFile(t *testing.T, ws workspace.Workspace) {
	if err := workspace.MkdirAll(ws, "d"); err != nil {
		t.Fatal(err)
	}
	if _, err := ws.ReadFile("d"); !errors.Is(err, workspace.ErrIsDir) {
		t.Errorf("read: %v", err)
	}
	if err := ws.WriteFile("d", nil); !errors.Is(err, workspace.ErrIsDir) {
		t.Errorf("write: %v", err)
	}
}

func fileIsNoParent(t *testing.T, ws workspace.Workspace) {
	if err := ws.WriteFile("f", []byte("kept")); err != nil {
		t.Fatal(err)
	}
	if err := ws.WriteFile("f/x", nil); !errors.Is(err, workspace.ErrNotDir) {
		t.Errorf("write: %v", err)
	}
	if got, _ := ws.ReadFile("f"); string(got) != "kept" {
		t.Errorf("the file now holds %q", got)
	}
}

func resolvesMissing(t *testing.T, ws workspace.Workspace) {
	place, err := workspace.Resolve(ws, "new/file")
	if err != nil || place.Path != ws.Cwd()+"/new/file" || !place.Inside || place.Exists {
		t.Errorf("resolve: %+v, %v", place, err)
	}
	place, err = workspace.Resolve(ws, "../elsewhere")
	if err != nil || place.Inside {
		t.Errorf("resolve above the root: %+v, %v", place, err)
	}
}

func execTells(t *testing.T, ws workspace.Workspace) {
	r, err := ws.Exec(context.Background(), workspace.Command{Line: "echo out; echo err >&2; echo out; exit 3"})
	if err != nil || r.ExitCode != 3 || r.Output.String() != "out\nerr\nout\n" {
		t.Errorf("line: %+v %q, %v", r, r.Output.String(), err)
	}
	r, err = ws.Exec(context.Background(), workspace.Command{Argv: []string{"sh", "-c", "echo out; echo err >&2"}})
	if err != nil || r.Output.String() != "out\n" || r.Stderr.String() != "err\n" {
		t.Errorf("argv: %q %q, %v", r.Output.String(), r.Stderr.String(), err)
	}
}

func execInput(t *testing.T, ws workspace.Workspace) {
	for _, input := range []string{"", "fed", strings.Repeat("much", 1<<18)} {
		r, err := ws.Exec(context.Background(), workspace.Command{Line: "cat", Stdin: []byte(input), MaxOutput: 4 << 20})
		if err != nil || r.Output.String() != input {
			t.Errorf("%d bytes came back of %d, %v", r.Output.Total, len(input), err)
		}
	}
}

func execCancelled(t *testing.T, ws workspace.Workspace) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	why := errors.New("the user pressed a key")
	r, err := ws.Exec(ctx, workspace.Command{Line: "echo begun; sleep 300", OnOutput: func(workspace.Stream, []byte) { cancel(why) }})
	if !errors.Is(err, why) || !r.Stopped || r.Output.String() != "begun\n" {
		t.Errorf("%+v, %v", r, err)
	}
}
