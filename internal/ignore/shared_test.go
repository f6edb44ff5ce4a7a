package ignore

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// shared reads a file of the reference data where it is.
func shared(t *testing.T, elem ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{"..", "..", "..", "shared"}, elem...)...)
	data, err := os.ReadFile(path)
	if err != nil && os.Getenv("KHAELOR_REQUIRE_SHARED") == "" {
		t.Skip("shared data not here: " + path)
	}
	must(t, err)
	return string(data)
}

func must(t failer, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
