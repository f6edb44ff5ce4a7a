package builtin

import (
	"regexp"
	"strings"
)

// device matches the names of devices, with any extension, as they are listed in
// "Naming Files, Paths, and Namespaces" of the Windows documentation.
const device = `(?i)^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])(\..*)?$`

// reservedIn is the first name of a path that no file can have on Windows, ""
// without one. It is worth a word and no more: most projects never go there.
func reservedIn(path string) string {
	devices := regexp.MustCompile(device)
	for name := range strings.SplitSeq(path, "/") {
		trimmed := strings.TrimRight(name, ". ")
		odd := strings.ContainsAny(name, `<>:"|?*\`) || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' })
		if odd || trimmed != name && strings.Trim(name, ".") != "" || devices.MatchString(trimmed) {
			return name
		}
	}
	return ""
}
