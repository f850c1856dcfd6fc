package expr

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/weftdb/weft/internal/sqlerr"
)

var errLikeEscape = sqlerr.New(sqlerr.InvalidEscapeSequence, "LIKE pattern must not end with escape character")

// likePattern is a compiled LIKE pattern: literal pieces between % signs. A piece may hold _, which
// stands for one character; patterns without any are matched by substring search alone.
type likePattern struct {
	pieces    []likePiece
	openStart bool // begins with %
	openEnd   bool // ends with %
	fold      bool // ILIKE: pieces are lower case
	equal     bool // no % at all
	simple    bool // one piece without _, with % on one side or both
	// incomplete is the whole pattern when it ends in its escape character: an error, but only for
	// strings whose matching gets there.
	incomplete []byte
}

type likePiece struct {
	text []byte
	any  []bool // per byte of text: a _ instead of a byte; nil = none
}

// compileLike reads a pattern with backslash as its escape character.
func compileLike(pattern string, fold bool) *likePattern {
	if fold {
		pattern = string(appendLower(nil, []byte(pattern)))
	}
	p := &likePattern{fold: fold, equal: true}
	var piece likePiece
	wild := false
	flush := func() {
		if len(piece.text) > 0 {
			if !wild {
				piece.any = nil
			}
			p.pieces = append(p.pieces, piece)
		}
		piece, wild = likePiece{}, false
	}
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		any := false
		switch c {
		case '%':
			p.equal = false
			if i == 0 {
				p.openStart = true
			}
			flush()
			p.openEnd = i == len(pattern)-1
			continue
		case '_':
			any, wild = true, true
		case '\\':
			if i++; i == len(pattern) {
				p.incomplete = []byte(pattern)
				return p
			}
			c = pattern[i]
		}
		piece.text, piece.any = append(piece.text, c), append(piece.any, any)
	}
	flush()
	p.simple = len(p.pieces) == 1 && p.pieces[0].any == nil && !p.fold && (p.openStart || p.openEnd)
	return p
}

// matchIncomplete is the plain algorithm, for patterns that end in their escape character.
func matchIncomplete(s, pattern []byte) (bool, error) {
	for len(s) > 0 && len(pattern) > 0 {
		switch c := pattern[0]; c {
		case '%':
			for rest := s; ; rest = rest[1:] {
				if ok, err := matchIncomplete(rest, pattern[1:]); ok || err != nil || len(rest) == 0 {
					return ok, err
				}
			}
		case '_':
			_, size := utf8.DecodeRune(s)
			s, pattern = s[size:], pattern[1:]
			continue
		case '\\':
			if pattern = pattern[1:]; len(pattern) == 0 {
				return false, errLikeEscape
			}
		}
		if s[0] != pattern[0] {
			return false, nil
		}
		s, pattern = s[1:], pattern[1:]
	}
	for len(pattern) > 0 && pattern[0] == '%' {
		pattern = pattern[1:]
	}
	return len(s) == 0 && len(pattern) == 0, nil
}

// match reports whether s matches a pattern that is not incomplete.
func (p *likePattern) match(s []byte) bool {
	if p.simple {
		// One literal piece: a prefix, a suffix or a substring.
		text := p.pieces[0].text
		switch {
		case len(s) < len(text):
			return false
		case !p.openStart:
			return string(s[:len(text)]) == string(text)
		case !p.openEnd:
			return string(s[len(s)-len(text):]) == string(text)
		}
		return bytes.Contains(s, text)
	}
	if p.fold {
		s = appendLower(nil, s)
	}
	if p.equal {
		if len(p.pieces) == 0 {
			return len(s) == 0
		}
		n, ok := p.pieces[0].matchAt(s)
		return ok && n == len(s)
	}
	pieces := p.pieces
	if !p.openStart && len(pieces) > 0 {
		n, ok := pieces[0].matchAt(s)
		if !ok {
			return false
		}
		s, pieces = s[n:], pieces[1:]
	}
	if len(pieces) == 0 {
		return true // everything after the prefix is %
	}
	last := len(pieces)
	if !p.openEnd {
		last--
	}
	for i := range pieces[:last] {
		// The first place is always good enough: what follows is free to start later.
		end := pieces[i].find(s)
		if end < 0 {
			return false
		}
		s = s[end:]
	}
	return p.openEnd || pieces[last].matchEnd(s)
}

// matchAt matches the piece at the start of s and returns its length there.
func (q *likePiece) matchAt(s []byte) (n int, ok bool) {
	if q.any == nil {
		return len(q.text), bytes.HasPrefix(s, q.text)
	}
	for i, c := range q.text {
		if n >= len(s) {
			return 0, false
		}
		if q.any[i] {
			_, size := utf8.DecodeRune(s[n:])
			n += size
			continue
		}
		if s[n] != c {
			return 0, false
		}
		n++
	}
	return n, true
}

// find returns the end of the first match in s, -1 if there is none.
func (q *likePiece) find(s []byte) int {
	if q.any == nil {
		i := bytes.Index(s, q.text)
		if i < 0 {
			return -1
		}
		return i + len(q.text)
	}
	for i := 0; i <= len(s); {
		if n, ok := q.matchAt(s[i:]); ok {
			return i + n
		}
		if i == len(s) {
			return -1
		}
		_, size := utf8.DecodeRune(s[i:])
		i += size
	}
	return -1
}

// matchEnd matches the piece at the end of s.
func (q *likePiece) matchEnd(s []byte) bool {
	if q.any == nil {
		return bytes.HasSuffix(s, q.text)
	}
	chars := 0
	for i, c := range q.text {
		if q.any[i] || c&0xC0 != 0x80 {
			chars++
		}
	}
	start := len(s)
	for ; chars > 0; chars-- {
		if start == 0 {
			return false
		}
		_, size := utf8.DecodeLastRune(s[:start])
		start -= size
	}
	n, ok := q.matchAt(s[start:])
	return ok && n == len(s)-start
}

// likeEscape rewrites a pattern with another escape character to one with backslash.
func likeEscape(dst []byte, pattern, escape string) ([]byte, error) {
	if utf8.RuneCountInString(escape) > 1 {
		return dst, sqlerr.New(sqlerr.InvalidEscapeSequence, "invalid escape string").WithHint("Escape string must be empty or one character.")
	}
	if escape == `\` {
		return append(dst, pattern...), nil
	}
	for i := 0; i < len(pattern); {
		if escape != "" && strings.HasPrefix(pattern[i:], escape) {
			i += len(escape)
			dst = append(dst, '\\')
			if i < len(pattern) {
				_, size := utf8.DecodeRuneInString(pattern[i:])
				dst = append(dst, pattern[i:i+size]...)
				i += size
			}
			continue
		}
		if pattern[i] == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, pattern[i])
		i++
	}
	return dst, nil
}
