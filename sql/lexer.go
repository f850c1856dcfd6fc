package sql

import (
	"strings"

	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/internal/sqlname"
)

// lexer turns text into tokens by PostgreSQL's rules. It does not fail: an error becomes a tokError
// token and is kept in err, so that a syntax error before it is reported first.
type lexer struct {
	src   string
	pos   int
	err   *sqlerr.Error
	hints []Span // hint comments, in order
}

// Character classes of the first 256 code units.
const (
	identStart = 1 << iota
	identPart
	digit
	space
	operator
	self // one-character token
)

var charClass = buildCharClass()

func buildCharClass() (c [256]uint8) {
	for i := range c {
		b := byte(i)
		switch {
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b == '_', b >= 0x80:
			c[i] = identStart | identPart
		case b >= '0' && b <= '9':
			c[i] = digit | identPart
		case b == '$':
			c[i] = identPart
		case strings.IndexByte(" \t\n\r\f\v", b) >= 0:
			c[i] = space
		case strings.IndexByte("~!@#^&|`?+-*/%<>=", b) >= 0:
			c[i] = operator
		case strings.IndexByte("()[],;:.", b) >= 0:
			c[i] = self
		}
	}
	return c
}

// statement appends the tokens up to the next semicolon or the end of the text, and then a tokEOF
// for the parser. It reports whether a semicolon was read.
func (l *lexer) statement(toks []token) ([]token, bool) {
	for {
		toks = append(toks, token{})
		t := &toks[len(toks)-1]
		l.next(t)
		switch t.kind {
		case ';':
			t.kind = tokEOF // keeps its end, by which errors tell it from the end of the text
			return toks, true
		case tokError:
			return append(toks, token{kind: tokEOF, start: t.start, end: t.start}), false
		case tokEOF:
			return toks, false
		}
	}
}

// next reads one token into t, which must be zero.
func (l *lexer) next(t *token) {
	l.skipSpace(t)
	src, pos := l.src, l.pos
	if t.kind == tokError {
		return
	}
	t.start = int32(pos)
	if pos >= len(src) {
		t.kind, t.end = tokEOF, int32(pos)
		return
	}
	c := src[pos]
	switch class := charClass[c]; {
	case class&identStart != 0:
		l.word(t)
	case class&digit != 0, c == '.' && pos+1 < len(src) && charClass[src[pos+1]]&digit != 0:
		l.number(t)
	case class&operator != 0:
		l.operator(t)
	case c == '\'':
		l.quoted(t, pos, '\'')
	case c == '"':
		l.quotedIdent(t, pos)
	case c == '$':
		l.dollar(t)
	case class&self != 0:
		l.self(t, c)
	default:
		l.pos++
		t.kind = kind(c)
	}
	t.end = int32(l.pos)
}

// self reads punctuation: one character, or :: := ..
func (l *lexer) self(t *token, c byte) {
	l.pos++
	t.kind = kind(c)
	if l.pos >= len(l.src) {
		return
	}
	switch n := l.src[l.pos]; {
	case c == ':' && n == ':':
		t.kind = tokTypecast
	case c == ':' && n == '=':
		t.kind = tokColonEquals
	case c == '.' && n == '.':
		t.kind = tokDotDot
	default:
		return
	}
	l.pos++
}

// skipSpace moves past white space and comments, noting hint comments.
func (l *lexer) skipSpace(t *token) {
	src := l.src
	for l.pos < len(src) {
		c := src[l.pos]
		switch {
		case charClass[c]&space != 0:
			l.pos++
		case c == '-' && strings.HasPrefix(src[l.pos:], "--"):
			if i := strings.IndexAny(src[l.pos:], "\n\r"); i >= 0 {
				l.pos += i
			} else {
				l.pos = len(src)
			}
		case c == '/' && strings.HasPrefix(src[l.pos:], "/*"):
			start := l.pos
			end := commentEnd(src, start)
			if end < 0 {
				l.fail(t, start, len(src), sqlerr.New(sqlerr.SyntaxError, "unterminated /* comment at or near \"%s\"", src[start:]))
				return
			}
			l.pos = end
			if end > start+4 && src[start+2] == '+' {
				l.hints = append(l.hints, Span{start, end})
				t.hint = true
			}
		default:
			return
		}
	}
}

// commentEnd returns the end of the comment that starts at pos, or -1. Comments nest.
func commentEnd(src string, pos int) int {
	depth := 0
	for pos+1 < len(src) {
		switch {
		case src[pos] == '/' && src[pos+1] == '*':
			depth++
			pos += 2
		case src[pos] == '*' && src[pos+1] == '/':
			depth--
			pos += 2
			if depth == 0 {
				return pos
			}
		default:
			pos++
		}
	}
	return -1
}

// fail makes t the error token that covers src[start:end].
func (l *lexer) fail(t *token, start, end int, err *sqlerr.Error) {
	t.kind, t.start, t.end = tokError, int32(start), int32(end)
	l.pos = end
	if l.err == nil {
		l.err = err.At(start)
	}
}

// word reads an identifier or keyword, or a string with a letter before its quote.
func (l *lexer) word(t *token) {
	src, start := l.src, l.pos
	pos := start
	var h uint32
	upper := false
	for pos < len(src) {
		c := src[pos]
		if charClass[c]&identPart == 0 {
			break
		}
		if c >= 'A' && c <= 'Z' {
			upper = true
			c += 'a' - 'A'
		}
		h = keywordHash(h, c)
		pos++
	}
	if pos < len(src) && (src[pos] == '\'' || src[pos] == '&') && l.prefixedString(t, start, pos) {
		return
	}
	l.pos = pos
	word := src[start:pos]
	if upper {
		// Most upper-case words are keywords: find them without making a lower-case copy.
		var buf [sqlname.MaxBytes]byte
		if len(word) <= len(buf) {
			low := buf[:len(word)]
			foldASCII(low, word)
			if k := lookupKeyword(h, string(low)); k != tokIdent {
				t.kind, t.val = k, keywordTable[k-firstKeyword].word
				return
			}
			t.kind, t.val = tokIdent, string(low)
			return
		}
		low := make([]byte, len(word))
		foldASCII(low, word)
		word = string(low)
	}
	t.kind = lookupKeyword(h, word)
	t.val = truncateIdentifier(word)
}

// foldASCII writes src to dst, which has its length, with ASCII letters in lower case.
func foldASCII(dst []byte, src string) {
	for i := range dst {
		c := src[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst[i] = c
	}
}

// lowered returns s with ASCII letters in lower case.
func lowered(s string) string {
	for i := range len(s) {
		if s[i] >= 'A' && s[i] <= 'Z' {
			low := make([]byte, len(s))
			foldASCII(low, s)
			return string(low)
		}
	}
	return s
}

// truncateIdentifier cuts a name to sqlname.MaxBytes bytes at a character boundary.
func truncateIdentifier(name string) string { return sqlname.Clip(name, sqlname.MaxBytes) }

// operator reads the longest operator. As in PostgreSQL it ends before a comment, and may end in +
// or - only when it holds a character that no standard operator has.
func (l *lexer) operator(t *token) {
	src, start := l.src, l.pos
	pos := start + 1
	special := strings.IndexByte("~!@#%^&|`?", src[start]) >= 0
	for pos < len(src) && charClass[src[pos]]&operator != 0 {
		if c := src[pos]; pos+1 < len(src) && (c == '-' && src[pos+1] == '-' || c == '/' && src[pos+1] == '*') {
			break
		}
		special = special || strings.IndexByte("~!@#%^&|`?", src[pos]) >= 0
		pos++
	}
	if !special {
		for pos > start+1 && (src[pos-1] == '+' || src[pos-1] == '-') {
			pos--
		}
	}
	l.pos = pos
	if pos == start+1 {
		switch c := src[start]; c {
		case '+', '-', '*', '/', '%', '^', '<', '>', '=':
			t.kind = kind(c)
			return
		}
	}
	t.kind = tokOp
	t.val = src[start:pos]
	switch t.val {
	case "=>":
		t.kind = tokEqualsGreater
	case "<=":
		t.kind = tokLessEquals
	case ">=":
		t.kind = tokGreaterEquals
	case "<>", "!=":
		t.kind = tokNotEquals
	}
}

// number reads an integer or numeric constant.
func (l *lexer) number(t *token) {
	src, start := l.src, l.pos
	pos := start
	t.kind = tokInteger
	if base := radix(src[start:]); base != 0 {
		pos = digitRun(src, start+2, base)
		if pos == start+2 {
			l.fail(t, start, pos, sqlerr.New(sqlerr.SyntaxError, "invalid integer constant at or near \"%s\"", src[start:pos]))
			return
		}
	} else {
		pos = digitRun(src, pos, 10)
		if pos < len(src) && src[pos] == '.' && !strings.HasPrefix(src[pos:], "..") {
			t.kind = tokNumeric
			pos = digitRun(src, pos+1, 10)
		}
		if end := exponentEnd(src, pos); end > pos {
			t.kind = tokNumeric
			pos = end
		}
	}
	if pos < len(src) && charClass[src[pos]]&identPart != 0 {
		for pos < len(src) && charClass[src[pos]]&identPart != 0 {
			pos++
		}
		l.fail(t, start, pos, sqlerr.New(sqlerr.SyntaxError, "trailing junk after numeric literal at or near \"%s\"", src[start:pos]))
		return
	}
	l.pos = pos
	t.val = src[start:pos]
	if strings.IndexByte(t.val, '_') >= 0 {
		t.val = strings.ReplaceAll(t.val, "_", "")
	}
}

// radix returns the base of a 0x, 0o or 0b prefix, or 0.
func radix(s string) int {
	if len(s) < 2 || s[0] != '0' {
		return 0
	}
	switch s[1] {
	case 'x', 'X':
		return 16
	case 'o', 'O':
		return 8
	case 'b', 'B':
		return 2
	}
	return 0
}

// digitRun returns the end of the digits at pos. Single underscores may stand between digits, and
// before the first one after a radix prefix.
func digitRun(src string, pos, base int) int {
	start := pos
	for pos < len(src) {
		c := src[pos]
		if c == '_' && pos+1 < len(src) && isDigit(src[pos+1], base) && (pos > start || base != 10) {
			pos++
			continue
		}
		if !isDigit(c, base) {
			break
		}
		pos++
	}
	return pos
}

func isDigit(c byte, base int) bool { return hexValue(c) < base }

// hexValue returns the value of a hexadecimal digit, or 255.
func hexValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return 255
}

// exponentEnd returns the end of an exponent at pos, or pos when there is none.
func exponentEnd(src string, pos int) int {
	if pos >= len(src) || src[pos] != 'e' && src[pos] != 'E' {
		return pos
	}
	i := pos + 1
	if i < len(src) && (src[i] == '+' || src[i] == '-') {
		i++
	}
	if end := digitRun(src, i, 10); end > i {
		return end
	}
	return pos
}
