package sql

import (
	"strings"
	"unicode/utf8"

	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/internal/utf8text"
)

// escapes sets t.val to raw with the backslash sequences of E'…' replaced.
func (l *lexer) escapes(t *token, raw string, pos int) {
	if strings.IndexByte(raw, '\\') < 0 {
		return
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' || i+1 == len(raw) {
			out = append(out, raw[i])
			continue
		}
		i++
		switch c := raw[i]; c {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'v':
			out = append(out, '\v')
		case 'u', 'U':
			n := 4
			if c == 'U' {
				n = 8
			}
			r, used := hexRune(raw[i+1:], n)
			if used == 0 {
				l.fail(t, int(t.start), int(t.end), sqlerr.New(sqlerr.InvalidEscapeSequence, "invalid Unicode escape").
					WithHint("Unicode escapes must be \\uXXXX or \\UXXXXXXXX."))
				return
			}
			i += used
			if low, n := surrogatePair(r, raw[i+1:]); n > 0 {
				r, i = low, i+n
			}
			if !utf8.ValidRune(r) || r == 0 {
				l.fail(t, int(t.start), int(t.end), sqlerr.New(sqlerr.SyntaxError, "invalid Unicode escape value at or near \"%s\"", l.src[t.start:t.end]))
				return
			}
			out = utf8.AppendRune(out, r)
		default:
			b, used := numericEscape(raw[i:])
			i += used - 1
			out = append(out, b)
		}
	}
	t.val = string(out)
	if at := utf8text.InvalidString(t.val); at >= 0 {
		l.fail(t, int(t.start), int(t.end), utf8text.Error(t.val, at))
	}
}

// hexRune reads n hexadecimal digits; used is 0 when there are fewer.
func hexRune(s string, n int) (r rune, used int) {
	if len(s) < n {
		return 0, 0
	}
	for i := range n {
		if !isDigit(s[i], 16) {
			return 0, 0
		}
		r = r<<4 | rune(hexValue(s[i]))
	}
	return r, n
}

// surrogatePair joins the high surrogate r with a low one that follows as an escape.
func surrogatePair(r rune, rest string) (joined rune, used int) {
	if r < 0xD800 || r > 0xDBFF || len(rest) < 6 || rest[0] != '\\' || rest[1] != 'u' {
		return 0, 0
	}
	low, n := hexRune(rest[2:], 4)
	if n == 0 || low < 0xDC00 || low > 0xDFFF {
		return 0, 0
	}
	return 0x10000 + (r-0xD800)<<10 + (low - 0xDC00), 6
}

// numericEscape reads an octal or \x escape at the character after the backslash; any other
// character stands for itself.
func numericEscape(s string) (b byte, used int) {
	if s[0] == 'x' && len(s) > 1 && isDigit(s[1], 16) {
		b, used = byte(hexValue(s[1])), 2
		if len(s) > 2 && isDigit(s[2], 16) {
			b, used = b<<4|byte(hexValue(s[2])), 3
		}
		return b, used
	}
	for used < 3 && used < len(s) && isDigit(s[used], 8) {
		b = b<<3 | byte(hexValue(s[used]))
		used++
	}
	if used == 0 {
		return s[0], 1
	}
	return b, used
}

// unicodeEscapes replaces \XXXX and \+XXXXXX in the value of U&'…' or U&"…".
func (l *lexer) unicodeEscapes(t *token, start int) {
	raw := t.val
	if strings.IndexByte(raw, '\\') < 0 {
		return
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			continue
		}
		if strings.HasPrefix(raw[i+1:], "\\") {
			out = append(out, '\\')
			i++
			continue
		}
		skip, n := 1, 4
		if strings.HasPrefix(raw[i+1:], "+") {
			skip, n = 2, 6
		}
		var r rune
		used := 0
		if i+skip <= len(raw) {
			r, used = hexRune(raw[i+skip:], n)
		}
		if used == 0 || !utf8.ValidRune(r) || r == 0 {
			l.fail(t, start, int(l.pos), sqlerr.New(sqlerr.SyntaxError, "invalid Unicode escape").
				WithHint("Unicode escapes must be \\XXXX or \\+XXXXXX."))
			return
		}
		out = utf8.AppendRune(out, r)
		i += skip + n - 1
	}
	t.val = string(out)
}
