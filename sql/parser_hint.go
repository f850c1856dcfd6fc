package sql

import "strings"

// hintList returns the hints of the comment before the current token.
func (p *parser) hintList() []Hint {
	t := p.tok()
	if !t.hint {
		return nil
	}
	var list []Hint
	from := int(p.toks[max(0, p.pos-1)].end)
	for _, h := range p.hints {
		if h.Start < from || h.End > int(t.start) {
			continue
		}
		hints, ok := parseHints(p.src[h.Start+3:h.End-2], h.Start+3)
		if !ok {
			return nil
		}
		list = append(list, hints...)
	}
	return list
}

// parseHints reads [no] name(args) …; offset is where text starts in the source.
func parseHints(text string, offset int) ([]Hint, bool) {
	var list []Hint
	for pos := 0; ; {
		pos = skipBlanks(text, pos)
		if pos == len(text) {
			return list, true
		}
		var h Hint
		start := pos
		h.Name, pos = hintWord(text, pos)
		if h.Name == "no" {
			h.No = true
			h.Name, pos = hintWord(text, skipBlanks(text, pos))
		}
		if h.Name == "" {
			return nil, false
		}
		if next := skipBlanks(text, pos); next < len(text) && text[next] == '(' {
			end := strings.IndexByte(text[next:], ')')
			if end < 0 {
				return nil, false
			}
			h.Args = hintArgs(text[next+1 : next+end])
			pos = next + end + 1
		}
		h.Span = Span{offset + start, offset + pos}
		list = append(list, h)
	}
}

func skipBlanks(text string, pos int) int {
	for pos < len(text) && charClass[text[pos]]&space != 0 {
		pos++
	}
	return pos
}

// hintWord reads the name at pos in lower case; it is empty when there is none.
func hintWord(text string, pos int) (word string, end int) {
	end = pos
	for end < len(text) && charClass[text[end]]&identPart != 0 {
		end++
	}
	return lowered(text[pos:end]), end
}

// hintArgs splits arguments at blanks and commas. Names are folded unless quoted.
func hintArgs(text string) []string {
	var args []string
	for _, f := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r <= ' ' }) {
		if n := len(f); n >= 2 && (f[0] == '"' || f[0] == '\'') && f[n-1] == f[0] {
			args = append(args, f[1:n-1])
		} else {
			args = append(args, lowered(f))
		}
	}
	return args
}
