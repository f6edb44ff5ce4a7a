package config

// Secret is a credential. Printing it in any way shows that there is one, not
// what it is; Reveal is the one way to the value.
type Secret string

// Reveal returns the credential itself.
func (s Secret) Reveal() string { return string(s) }

// String says whether there is a credential.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "(set)"
}

// GoString keeps %#v from showing the value.
func (s Secret) GoString() string { return `config.Secret("` + s.String() + `")` }

// MarshalText keeps encoders from writing the value.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
