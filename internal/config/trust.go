package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/khaelor/khaelor/internal/disk"
)

// TrustWord is what the user has said about a project's files.
type TrustWord int

// The zero value loads nothing.
const (
	Unknown TrustWord = iota // never asked: the project's files are not loaded
	Changed                  // trusted once, with other files: they may only tighten
	Trusted                  // the user accepted these very files
)

// Trust is the list of trusted folders in the state folder.
type Trust struct {
	dir     disk.Dir
	folders map[string]trustedFolder
}

type trustedFolder struct {
	ConfigHash string `json:"configHash"`
}

type trustFile struct {
	Folders map[string]trustedFolder `json:"folders"`
}

const trustName = "trust.json"

// OpenTrust reads the list. A list that cannot be read trusts nothing; the
// error says why.
func OpenTrust(home disk.Dir) (*Trust, error) {
	t := &Trust{dir: home, folders: map[string]trustedFolder{}}
	data, err := readAll(home, trustName)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	var file trustFile
	if err == nil {
		err = json.Unmarshal(data, &file)
	}
	if err != nil {
		return t, fmt.Errorf("open trust list: %w", err)
	}
	if file.Folders != nil {
		t.folders = file.Folders
	}
	return t, nil
}

// Trusted looks up a folder by its canonical path and the ConfigHash of its
// files.
func (t *Trust) Trusted(path, hash string) TrustWord {
	folder, ok := t.folders[path]
	switch {
	case !ok:
		return Unknown
	case folder.ConfigHash != hash:
		return Changed
	}
	return Trusted
}

// Remember stores the user's yes to a folder and its files as they are now.
func (t *Trust) Remember(path, hash string) error {
	t.folders[path] = trustedFolder{ConfigHash: hash}
	data, err := json.MarshalIndent(trustFile{Folders: t.folders}, "", "  ")
	if err == nil {
		err = t.dir.WriteFile(trustName, append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("remember trusted folder: %w", err)
	}
	return nil
}

// ConfigHash identifies the content of a project's configuration files. After
// PersistGrant it is another one, to be remembered again.
func ConfigHash(files Files, repo string) (string, error) {
	h := sha256.New()
	for _, name := range []string{ProjectFile, LocalFile, ".mcp.json"} {
		data, err := files.ReadFile(filepath.Join(repo, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("hash project configuration: %w", err)
		}
		fmt.Fprintf(h, "%s %d\n%s", name, len(data), data)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// projectHashLength is what seed 003 gives a project in folder names: 16 hex
// digits, 64 bits, enough for the repositories of one machine.
const projectHashLength = 16

// ProjectHash names a project in the state folder. The path is the canonical
// one of the git common directory, else of the working directory, so that all
// worktrees and subfolders of a repository share it.
func ProjectHash(gitCommonDirOrCwd string) string {
	sum := sha256.Sum256([]byte(filepath.Clean(gitCommonDirOrCwd)))
	return hex.EncodeToString(sum[:])[:projectHashLength]
}

func readAll(dir disk.Dir, name string) ([]byte, error) {
	f, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(f)
	return data, errors.Join(err, f.Close())
}
