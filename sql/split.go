package sql

import "strings"

// NextStatement finds the first statement of a buffer that is still being typed. When complete, the
// statement is text[:end] with its semicolon; otherwise no semicolon outside quotes and comments
// was found and end is len(text).
func NextStatement(text string) (end int, complete bool) {
	for pos := 0; pos < len(text); {
		next := pos + 1
		switch c := text[pos]; {
		case c == ';':
			return pos + 1, true
		case c == '\'':
			_, next, _ = scanQuoted(text, pos, escapeString(text, pos))
		case c == '"':
			if i := strings.IndexByte(text[pos+1:], '"'); i >= 0 {
				next = pos + 1 + i + 1
			} else {
				next = len(text)
			}
		case c == '$':
			next = dollarEnd(text, pos)
		case c == '-' && strings.HasPrefix(text[pos:], "--"):
			if i := strings.IndexAny(text[pos:], "\n\r"); i >= 0 {
				next = pos + i
			} else {
				next = len(text)
			}
		case c == '/' && strings.HasPrefix(text[pos:], "/*"):
			if next = commentEnd(text, pos); next < 0 {
				next = len(text)
			}
		}
		pos = next
	}
	return len(text), false
}

// escapeString reports whether the quote at pos opens an E'…' string.
func escapeString(text string, pos int) bool {
	return pos > 0 && text[pos-1]|0x20 == 'e' && (pos == 1 || charClass[text[pos-2]]&identPart == 0)
}

// dollarEnd returns the end of the dollar-quoted string at pos, or the next position when the dollar
// sign belongs to a parameter or an identifier.
func dollarEnd(text string, pos int) int {
	if pos > 0 && charClass[text[pos-1]]&identPart != 0 {
		return pos + 1
	}
	tagEnd := dollarTag(text, pos)
	if tagEnd < 0 {
		return pos + 1
	}
	tag := text[pos:tagEnd]
	i := strings.Index(text[tagEnd:], tag)
	if i < 0 {
		return len(text)
	}
	return tagEnd + i + len(tag)
}
