package sql

import (
	"strings"
	"unicode/utf8"

	"github.com/weftdb/weft/internal/sqlerr"
)

// prefixedString reads E'…', B'…', X'…', N'…', U&'…' and U&"…" when the word src[start:pos] before a
// quote or ampersand is such a prefix. It reports whether it was.
func (l *lexer) prefixedString(t *token, start, pos int) bool {
	src := l.src
	if pos != start+1 {
		return false
	}
	prefix := src[start] | 0x20
	if src[pos] == '&' {
		if prefix != 'u' || pos+1 >= len(src) {
			return false
		}
		switch src[pos+1] {
		case '\'':
			l.quoted(t, pos+1, 'u')
		case '"':
			l.quotedIdent(t, pos+1)
			if t.kind == tokIdent {
				l.unicodeEscapes(t, start)
			}
		default:
			return false
		}
		return true
	}
	switch prefix {
	case 'e', 'b', 'x':
		l.quoted(t, pos, prefix)
	case 'n':
		l.quoted(t, pos, '\'')
	default:
		return false
	}
	return true
}

// quoted reads the string whose opening quote is at pos. The mode is the prefix letter, or a quote
// for a plain string.
func (l *lexer) quoted(t *token, pos int, mode byte) {
	start := int(t.start)
	raw, end, ok := scanQuoted(l.src, pos, mode == 'e')
	if !ok {
		what := "quoted string"
		if mode == 'b' {
			what = "bit string literal"
		} else if mode == 'x' {
			what = "hexadecimal string literal"
		}
		l.fail(t, start, len(l.src), sqlerr.New(sqlerr.SyntaxError, "unterminated %s at or near \"%s\"", what, l.src[start:]))
		return
	}
	l.pos = end
	t.end = int32(end)
	t.kind = tokString
	t.val = raw
	switch mode {
	case 'e':
		l.escapes(t, raw, pos)
	case 'u':
		l.unicodeEscapes(t, start)
	case 'b':
		t.kind = tokBits
		l.checkBits(t, 2)
	case 'x':
		t.kind = tokHexBits
		l.checkBits(t, 16)
	}
}

func (l *lexer) checkBits(t *token, base int) {
	for i := range len(t.val) {
		if isDigit(t.val[i], base) {
			continue
		}
		what := "binary"
		if base == 16 {
			what = "hexadecimal"
		}
		_, n := utf8.DecodeRuneInString(t.val[i:])
		err := sqlerr.New(sqlerr.InvalidTextRepresentation, "\"%s\" is not a valid %s digit", t.val[i:i+n], what)
		l.fail(t, int(t.start), int(t.end), err)
		return
	}
}

// scanQuoted reads a string constant, its opening quote at pos, with the parts that follow on later
// lines. Doubled quotes are undone; backslash sequences are kept for the caller, but a quote after
// a backslash does not end the string.
func scanQuoted(src string, pos int, backslash bool) (value string, end int, ok bool) {
	var parts []byte
	joined := false // parts is in use
	for {
		segment, next, doubled, ok := scanSegment(src, pos, backslash)
		if !ok {
			return "", len(src), false
		}
		if doubled {
			segment = undouble(segment, backslash)
		}
		more := continuation(src, next)
		if more < 0 && !joined {
			return segment, next, true
		}
		parts = append(parts, segment...)
		joined = true
		if more < 0 {
			return string(parts), next, true
		}
		pos = more
	}
}

// scanSegment reads from the opening quote at pos to the closing one.
func scanSegment(src string, pos int, backslash bool) (segment string, end int, doubled, ok bool) {
	start := pos + 1
	for i := start; i < len(src); i++ {
		switch src[i] {
		case '\\':
			if backslash {
				i++
			}
		case '\'':
			if i+1 < len(src) && src[i+1] == '\'' {
				doubled = true
				i++
				continue
			}
			return src[start:i], i + 1, doubled, true
		}
	}
	return "", len(src), false, false
}

// undouble replaces doubled quotes by single ones. With backslash, a pair that starts with one is
// copied as it is: the quote of \' is not half of a doubled quote.
func undouble(s string, backslash bool) string {
	if !backslash {
		return strings.ReplaceAll(s, "''", "'")
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		out = append(out, s[i])
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			out = append(out, s[i])
		case s[i] == '\'':
			i++
		}
	}
	return string(out)
}

// continuation returns where the next part of a string constant opens: after white space with at
// least one line break, as SQL demands; or -1.
func continuation(src string, pos int) int {
	newline := false
	for pos < len(src) {
		switch c := src[pos]; {
		case c == '\n' || c == '\r':
			newline = true
			pos++
		case charClass[c]&space != 0:
			pos++
		case newline && strings.HasPrefix(src[pos:], "--"):
			i := strings.IndexAny(src[pos:], "\n\r")
			if i < 0 {
				return -1
			}
			pos += i
		case c == '\'' && newline:
			return pos
		default:
			return -1
		}
	}
	return -1
}

// quotedIdent reads the quoted identifier that opens at pos.
func (l *lexer) quotedIdent(t *token, pos int) {
	src, start := l.src, int(t.start)
	doubled := false
	i := pos + 1
	for ; ; i++ {
		if i >= len(src) {
			l.fail(t, start, len(src), sqlerr.New(sqlerr.SyntaxError, "unterminated quoted identifier at or near \"%s\"", src[start:]))
			return
		}
		if src[i] != '"' {
			continue
		}
		if i+1 >= len(src) || src[i+1] != '"' {
			break
		}
		doubled = true
		i++
	}
	name := src[pos+1 : i]
	l.pos = i + 1
	if name == "" {
		l.fail(t, start, l.pos, sqlerr.New(sqlerr.SyntaxError, "zero-length delimited identifier at or near \"%s\"", src[start:l.pos]))
		return
	}
	if doubled {
		name = strings.ReplaceAll(name, `""`, `"`)
	}
	t.kind, t.quoted = tokIdent, true
	t.val = truncateIdentifier(name)
}

// dollar reads $n or $tag$…$tag$.
func (l *lexer) dollar(t *token) {
	src, start := l.src, l.pos
	pos := start + 1
	if pos < len(src) && charClass[src[pos]]&digit != 0 {
		for pos < len(src) && charClass[src[pos]]&digit != 0 {
			pos++
		}
		t.kind = tokParam
		t.val = src[start+1 : pos]
		l.pos = pos
		if pos < len(src) && charClass[src[pos]]&identStart != 0 {
			for pos < len(src) && charClass[src[pos]]&identPart != 0 {
				pos++
			}
			l.fail(t, start, pos, sqlerr.New(sqlerr.SyntaxError, "trailing junk after parameter at or near \"%s\"", src[start:pos]))
		}
		return
	}
	tagEnd := dollarTag(src, start)
	if tagEnd < 0 {
		l.pos++
		t.kind = '$'
		return
	}
	tag := src[start:tagEnd]
	i := strings.Index(src[tagEnd:], tag)
	if i < 0 {
		l.fail(t, start, len(src), sqlerr.New(sqlerr.SyntaxError, "unterminated dollar-quoted string at or near \"%s\"", src[start:]))
		return
	}
	t.kind = tokString
	t.val = src[tagEnd : tagEnd+i]
	l.pos = tagEnd + i + len(tag)
}

// dollarTag returns the end of the opening $tag$ at pos, or -1.
func dollarTag(src string, pos int) int {
	i := pos + 1
	for i < len(src) && src[i] != '$' {
		class := charClass[src[i]]
		if class&identStart == 0 && (class&digit == 0 || i == pos+1) {
			return -1
		}
		i++
	}
	if i >= len(src) {
		return -1
	}
	return i + 1
}
