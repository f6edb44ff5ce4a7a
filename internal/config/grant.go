package config

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/tailscale/hujson"

	"github.com/khaelor/khaelor/internal/disk"
)

// grantName is LocalFile within the project's .khaelor folder.
const grantName = "config.local.json"

// PersistGrant adds an allow rule to the project's local file, whose comments
// stay. The Dir is the project's .khaelor folder. A rule that is there already
// is not added twice. The ConfigHash of the project changes with it.
func PersistGrant(project disk.Dir, rule string) error {
	data, err := readAll(project, grantName)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("persist grant: %w", err)
	}
	doc, err := parseDocument(LocalFile, data)
	if err != nil {
		return fmt.Errorf("persist grant: %w", err)
	}
	if slices.Contains(allowed(doc.root), rule) {
		return nil
	}
	if err := addAllowed(&doc.root, rule); err != nil {
		return fmt.Errorf("persist grant: %s: %w", LocalFile, err)
	}
	doc.root.Format()
	if err := project.WriteFile(grantName, doc.root.Pack()); err != nil {
		return fmt.Errorf("persist grant: %w", err)
	}
	return nil
}

// addAllowed appends to /permissions/allow, making what is not there.
func addAllowed(root *hujson.Value, rule string) error {
	steps := []struct{ path, value string }{
		{"/permissions", "{}"}, {"/permissions/allow", "[]"},
	}
	for _, s := range steps {
		if root.Find(s.path) != nil {
			continue
		}
		if err := root.Patch([]byte(`[{"op": "add", "path": "` + s.path + `", "value": ` + s.value + `}]`)); err != nil {
			return err
		}
	}
	if _, ok := root.Find("/permissions/allow").Value.(*hujson.Array); !ok {
		return errors.New("permissions.allow: want a list of texts")
	}
	return root.Patch([]byte(`[{"op": "add", "path": "/permissions/allow/-", "value": ` + quote(rule) + `}]`))
}

func allowed(root hujson.Value) []string {
	var rules []string
	list := root.Find("/permissions/allow")
	if list == nil {
		return nil
	}
	if array, ok := list.Value.(*hujson.Array); ok {
		for _, e := range array.Elements {
			if lit, ok := e.Value.(hujson.Literal); ok {
				rules = append(rules, lit.String())
			}
		}
	}
	return rules
}
