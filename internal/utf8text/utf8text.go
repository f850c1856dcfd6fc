// Package utf8text checks the text that enters the engine: it must be UTF-8 without NUL, so that
// everything behind the entrances may rely on it.
package utf8text

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/weftdb/weft/internal/sqlerr"
)

// Invalid returns the offset of the first byte that is not part of a character, or is NUL; −1 when
// b is valid text.
func Invalid(b []byte) int {
	if utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 {
		return -1
	}
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == 0 || r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// InvalidString is Invalid for a string.
func InvalidString(s string) int {
	return Invalid(unsafe.Slice(unsafe.StringData(s), len(s)))
}

// Error is the 22021 error for text that Invalid stopped in at offset at. It names the bytes that
// the first of them announces as one character, as PostgreSQL does.
func Error[T string | []byte](text T, at int) *sqlerr.Error {
	n := 1
	switch c := text[at]; {
	case c>>5 == 0b110:
		n = 2
	case c>>4 == 0b1110:
		n = 3
	case c>>3 == 0b11110:
		n = 4
	}
	var list []string
	for _, c := range []byte(text[at:min(at+n, len(text))]) {
		list = append(list, fmt.Sprintf("0x%02x", c))
	}
	return sqlerr.New(sqlerr.CharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\": %s", strings.Join(list, " "))
}

// Check returns the error of a string that is not valid text.
func Check(s string) error {
	if at := InvalidString(s); at >= 0 {
		return Error(s, at)
	}
	return nil
}
