package builtin

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/search"
	"github.com/khaelor/khaelor/internal/tool"
)

// filter is a list of globs for files below a folder, which may also be written
// from the working directory or from the root of all files.
func filter(env *tool.Env, list string, folder target) (search.Filter, error) {
	if list == "" {
		return nil, nil
	}
	var f search.Filter
	for _, glob := range search.Globs(list) {
		if !doublestar.ValidatePattern(strings.TrimPrefix(glob, "!")) {
			return nil, badGlob(glob)
		}
		prefix := ""
		if folder.shown != "." && !filepath.IsAbs(folder.shown) {
			prefix = folder.shown
		}
		glob, prefix, err := rooted(env, glob, prefix, folder)
		if err != nil {
			return nil, err
		}
		g, _ := search.NewGlob(glob, prefix)
		f = append(f, g)
	}
	return f, nil
}

// rooted makes a glob that leads to a folder of its own one from there or from
// the folder searched, whichever is above. One that begins with a slash is from
// the folder searched if there is no such folder.
func rooted(env *tool.Env, glob, prefix string, folder target) (string, string, error) {
	bare, not := strings.CutPrefix(glob, "!")
	base, rest := doublestar.SplitPattern(bare)
	if base == "/" || !path.IsAbs(base) && base != "~" && !strings.HasPrefix(base, "~/") && !slices.Contains(strings.Split(base, "/"), "..") {
		return glob, prefix, nil
	}
	top, err := locate(env, base, false)
	if err != nil || path.IsAbs(base) && !top.Exists {
		return glob, prefix, nil
	}
	from, to := top.Path.Path, folder.Path.Path
	sub, below := under(from, to)
	up, above := under(to, from)
	switch {
	case above:
		rest, prefix = "/"+rest, "/"
		if up != "" {
			rest = "/" + escaped(up) + rest
		}
	case below && reaches(rest, strings.Count(sub, "/")+1):
		rest, prefix = "/"+rest, "/"+sub
	default:
		return "", "", tool.Errorf(event.ToolInvalidInput, "glob %q is for files outside %s, which is searched; give their folder as path.", glob, folder.shown)
	}
	if not {
		rest = "!" + rest
	}
	return rest, prefix, nil
}

// under is the path of what lies in a folder, from there.
func under(folder, path string) (rest string, ok bool) {
	if folder == path {
		return "", true
	}
	return strings.CutPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}

// reaches reports a glob that can fit below so many folders.
func reaches(glob string, depth int) bool {
	return strings.Contains(glob, "**") || strings.Contains(glob, "{") || strings.Count(glob, "/") >= depth
}

// escaped is a path as a glob for itself.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`, "}", `\}`, ",", `\,`).Replace(path)
}
