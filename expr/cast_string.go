package expr

import (
	"strings"
	"unicode/utf8"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// trimBlanks removes the trailing spaces that pad a char(n).
func trimBlanks(s string) string { return strings.TrimRight(s, " ") }

func trimBlankBytes(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	return b
}

// charCount returns the number of characters.
func charCount(b []byte) int {
	// Valid UTF-8 has one character for each byte that is no continuation byte.
	n := 0
	for _, c := range b {
		if c&0xC0 != 0x80 {
			n++
		}
	}
	return n
}

// charOffset returns the byte offset of character n, or len(b) when there are fewer.
func charOffset(b []byte, n int) int {
	if n >= len(b) {
		return len(b)
	}
	for i, c := range b {
		if c&0xC0 != 0x80 {
			if n == 0 {
				return i
			}
			n--
		}
	}
	return len(b)
}

func errTooLong(t catalog.Type) error {
	return sqlerr.New(sqlerr.StringDataRightTruncation, "value too long for type %s", t)
}

// fitString converts between string types: char(n) loses its padding on the way to other types,
// and a length cuts (explicit casts, or blanks) or refuses longer values and pads char(n).
func fitString(d vector.Datum, from, to catalog.Type, explicit bool) (vector.Datum, error) {
	s := d.S
	if from.ID == catalog.Char && to.ID != catalog.Char {
		s = trimBlanks(s)
	}
	if to.ID == catalog.Name {
		return vector.StringDatum(truncateName(s)), nil
	}
	if to.Prec == 0 {
		return vector.StringDatum(s), nil
	}
	if to.ID == catalog.Varchar && len(s) <= int(to.Prec) {
		return vector.StringDatum(s), nil
	}
	b, err := appendFitted(nil, vector.ViewString(s), to, explicit)
	return vector.StringDatum(string(b)), err
}

// appendFitted appends s cut or padded to the length of to.
func appendFitted(dst, s []byte, to catalog.Type, explicit bool) ([]byte, error) {
	limit := int(to.Prec)
	if len(s) > limit {
		if cut := charOffset(s, limit); cut < len(s) {
			if !explicit && len(trimBlankBytes(s[cut:])) > 0 {
				return dst, errTooLong(to)
			}
			s = s[:cut]
		}
	}
	dst = append(dst, s...)
	if to.ID == catalog.Char {
		for n := utf8.RuneCount(s); n < limit; n++ {
			dst = append(dst, ' ')
		}
	}
	return dst, nil
}
