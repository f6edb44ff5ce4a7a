package ignore

import (
	"path"
	"strings"
)

// includeDepth is how deep git lets configuration files include each other.
const includeDepth = 10

// Global finds the user's own ignore file as git does (core.excludesFile,
// gitignore(5)) and reads it for a folder. Only the user's and the machine's
// configuration is asked, never a repository's: that is not the user's word.
// configHome is XDG_CONFIG_HOME, or "".
func Global(folder, home, configHome string, read func(path string) ([]byte, error)) File {
	if configHome == "" && home != "" {
		configHome = path.Join(home, ".config")
	}
	c := gitConfig{home: home, read: read}
	if configHome != "" {
		c.excludes = path.Join(configHome, "git", "ignore")
	}
	c.file("/etc/gitconfig", 0)
	if configHome != "" {
		c.file(path.Join(configHome, "git", "config"), 0)
	}
	if home != "" {
		c.file(path.Join(home, ".gitconfig"), 0)
	}
	if !path.IsAbs(c.excludes) {
		return File{}
	}
	data, err := read(c.excludes)
	if err != nil {
		return File{} // as git has it: what is not there says nothing
	}
	return Parse(folder, data)
}

// gitConfig collects what configuration files say about the ignore file; later
// ones win.
type gitConfig struct {
	home     string
	read     func(path string) ([]byte, error)
	excludes string
}

func (c *gitConfig) file(name string, depth int) {
	data, err := c.read(name)
	if err != nil || depth > includeDepth {
		return
	}
	for key, value := range settings(string(data)) {
		switch key {
		case "core.excludesfile":
			c.excludes = c.expand(value)
		case "include.path":
			if value = c.expand(value); value != "" && !path.IsAbs(value) {
				value = path.Join(path.Dir(name), value)
			}
			c.file(value, depth+1)
		}
	}
}

func (c *gitConfig) expand(value string) string {
	if rest, ok := strings.CutPrefix(value, "~/"); ok && c.home != "" {
		return path.Join(c.home, rest)
	}
	return value
}

// settings are the keys and values of a configuration file (git-config(1)), in
// order; those of sections with a name of their own are left out. It ends where
// git would refuse the file.
func settings(text string) func(yield func(key, value string) bool) {
	return func(yield func(string, string) bool) {
		section := ""
		text = strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "\ufeff")
		for {
			text = strings.TrimLeft(text, " \t\n")
			switch {
			case text == "":
				return
			case text[0] == '#' || text[0] == ';':
				_, text, _ = strings.Cut(text, "\n")
				continue
			case text[0] == '[':
				head, rest, closed := strings.Cut(text[1:], "]")
				if !closed {
					return
				}
				section, text = strings.ToLower(head), rest
				continue
			}
			end := strings.IndexAny(text, "=\n#;")
			if end < 0 {
				return
			}
			key := strings.ToLower(strings.TrimSpace(text[:end]))
			var value string
			if text[end] == '=' {
				value, text = configValue(text[end+1:])
			} else {
				text = text[end:]
			}
			if !yield(section+"."+key, value) {
				return
			}
		}
	}
}

// configValue reads a value and says what follows its line.
func configValue(text string) (value, rest string) {
	var b strings.Builder
	quoted := false
	kept := 0 // what a blank at the end does not shorten
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n':
			return b.String()[:kept], text[i+1:]
		case !quoted && (c == '#' || c == ';'):
			_, rest, _ = strings.Cut(text[i:], "\n")
			return b.String()[:kept], rest
		case c == '"':
			quoted, kept = !quoted, b.Len()
			continue
		case c == '\\' && i+1 < len(text):
			if i++; text[i] != '\n' {
				b.WriteString(unescaped(text[i]))
			}
			kept = b.Len()
		case !quoted && (c == ' ' || c == '\t'):
			if b.Len() > 0 {
				b.WriteByte(c)
			}
		default:
			b.WriteByte(c)
			kept = b.Len()
		}
	}
	return b.String()[:kept], ""
}

func unescaped(c byte) string {
	switch c {
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case 'b':
		return "\b"
	}
	return string(c)
}
