package expr

import (
	"strings"
	"unicode/utf8"

	"github.com/weftdb/weft/internal/sqlerr"
)

// similarEscape translates a SIMILAR TO pattern to a regular expression for ~, as PostgreSQL's
// similar_to_escape: a SIMILAR TO b is a ~ similar_to_escape(b).
func similarEscape(dst []byte, pattern, escape string) ([]byte, error) {
	if utf8.RuneCountInString(escape) > 1 {
		return dst, sqlerr.New(sqlerr.InvalidEscapeSequence, "invalid escape string").WithHint("Escape string must be empty or one character.")
	}
	dst = append(dst, "^(?:"...)
	inClass := false
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		switch {
		case escape != "" && strings.HasPrefix(pattern[i:], escape):
			if i += len(escape); i < len(pattern) {
				dst = append(dst, '\\', pattern[i])
			}
		case inClass:
			inClass = c != ']'
			if c == '\\' {
				dst = append(dst, '\\')
			}
			dst = append(dst, c)
		case c == '[':
			inClass = true
			dst = append(dst, c)
		case c == '%':
			dst = append(dst, ".*"...)
		case c == '_':
			dst = append(dst, '.')
		case c == '(':
			dst = append(dst, "(?:"...)
		case c == '\\' || c == '.' || c == '^' || c == '$':
			dst = append(dst, '\\', c)
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, ")$"...), nil
}
