package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/tailscale/hujson"
)

// Files reads a file by its path. A missing file is fs.ErrNotExist.
type Files interface {
	ReadFile(path string) ([]byte, error)
}

// Getenv looks up an environment variable; a blank one counts as unset.
type Getenv func(name string) string

func (g Getenv) get(name string) string { return strings.TrimSpace(g(name)) }

// Layer is one source of settings.
type Layer string

// The layers, each stronger than the one before it.
const (
	Shipped     Layer = "default"
	User        Layer = "user"
	Project     Layer = "project"
	Local       Layer = "local"
	Explicit    Layer = "--config"
	Environment Layer = "environment"
	Flags       Layer = "flag"
)

// Sources says where to look.
type Sources struct {
	Home  string    // the state folder, see Home; "" when there is none
	Repo  string    // root of the repository, else the working directory; "" = none
	Trust TrustWord // of the project's files
	File  string    // of --config, or ""
	Flags []Flag
}

// Flag is a setting given on the command line. List settings take one element
// per flag.
type Flag struct {
	Name  string // as the user knows it: --max-turns
	Key   string
	Value string
}

// The files of a project that settings come from, relative to its root.
const (
	ProjectFile = ".khaelor/config.json"
	LocalFile   = ".khaelor/config.local.json"
)

// Home is the state folder: KHAELOR_HOME, else .khaelor in the user's home
// directory, else "".
func Home(env Getenv) string {
	if home := env.get("KHAELOR_HOME"); home != "" {
		return filepath.Clean(home)
	}
	if home := env.get("HOME"); home != "" {
		return filepath.Join(home, ".khaelor")
	}
	return ""
}

// Load merges the layers. On an *Error the warnings so far are returned too.
func Load(files Files, env Getenv, src Sources) (Config, []Warning, error) {
	r := newReader(src.Trust)
	layers := []func() error{
		r.shipped,
		func() error { return r.file(files, User, src.userFile()) },
		func() error { return r.projectFile(files, Project, src.Repo, ProjectFile) },
		func() error { return r.projectFile(files, Local, src.Repo, LocalFile) },
		func() error { return r.explicit(files, src.File) },
		func() error { return r.environment(env) },
		func() error { return r.flags(src.Flags) },
	}
	for _, read := range layers {
		if err := read(); err != nil {
			return r.cfg, r.warnings, err
		}
	}
	return r.cfg, r.warnings, nil
}

func (s Sources) userFile() string {
	if s.Home == "" {
		return ""
	}
	return filepath.Join(s.Home, "config.json")
}

func (r *reader) shipped() error {
	for _, f := range r.fields {
		doc, err := parseDocument("", []byte(`{"v": `+f.Default+"\n}"))
		if err != nil {
			return fmt.Errorf("shipped default of %s: %w", f.Key, err)
		}
		r.doc, r.layer = doc, Shipped
		members, _ := object(doc.root)
		if err := r.set(f, members[0].Value); err != nil {
			return fmt.Errorf("shipped default of %s: %w", f.Key, err)
		}
	}
	return nil
}

// file reads one layer; a path of "" and a missing file are empty.
func (r *reader) file(files Files, layer Layer, path string) error {
	if path == "" {
		return nil
	}
	data, err := files.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &Error{File: path, Msg: err.Error()}
	}
	return r.document(layer, path, data)
}

func (r *reader) projectFile(files Files, layer Layer, repo, name string) error {
	if repo == "" || r.trust == Unknown {
		return nil
	}
	return r.file(files, layer, filepath.Join(repo, filepath.FromSlash(name)))
}

// explicit reads the file of --config, which must be there.
func (r *reader) explicit(files Files, path string) error {
	if path == "" {
		return nil
	}
	data, err := files.ReadFile(path)
	if err != nil {
		return &Error{File: path, Msg: err.Error()}
	}
	return r.document(Explicit, path, data)
}

func (r *reader) document(layer Layer, path string, data []byte) error {
	doc, err := parseDocument(path, data)
	if err != nil {
		return err
	}
	r.doc, r.layer = doc, layer
	members, _ := object(doc.root)
	return r.object("", members)
}

func (r *reader) environment(env Getenv) error {
	for _, f := range r.fields {
		if f.Env == "" {
			continue
		}
		if text := env.get(f.Env); text != "" {
			r.doc, r.layer = document{file: f.Env}, Environment
			if err := r.set(f, f.literal(text)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *reader) flags(flags []Flag) error {
	for _, flag := range flags {
		f, ok := r.field(flag.Key)
		if !ok {
			return &Error{File: flag.Name, Msg: "no setting is called " + flag.Key}
		}
		r.doc, r.layer = document{file: flag.Name}, Flags
		if err := r.set(f, f.literal(flag.Value)); err != nil {
			return err
		}
	}
	return nil
}

// literal is a value that was given as text outside of JSON.
func (f Field) literal(text string) hujson.Value {
	switch f.Type {
	case "string":
		return hujson.Value{Value: hujson.String(text)}
	case "array":
		return hujson.Value{Value: &hujson.Array{Elements: []hujson.ArrayElement{{Value: hujson.String(text)}}}}
	}
	v, err := hujson.Parse([]byte(text))
	if err != nil {
		return hujson.Value{Value: hujson.String(text)}
	}
	return v
}
