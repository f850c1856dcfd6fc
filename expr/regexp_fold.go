package expr

import "strings"

// embeddedOptions cuts off what may come before a regular expression: ***: and the option (?i).
func embeddedOptions(source string) (pattern string, fold bool) {
	source = strings.TrimPrefix(source, "***:")
	if rest, ok := strings.CutPrefix(source, "(?i)"); ok {
		return rest, true
	}
	return source, false
}

// foldRegexp rewrites a regular expression so that letters match in either case: those of ASCII,
// the only ones the C collation knows. Go's own flag folds all of Unicode.
func foldRegexp(pattern string) string {
	out := make([]byte, 0, 4*len(pattern))
	for i := 0; i < len(pattern); {
		switch c := pattern[i]; {
		case c == '\\' && i+1 < len(pattern):
			out = append(out, pattern[i:i+2]...)
			i += 2
		case c == '[':
			n := classLength(pattern[i:])
			out = appendFoldedClass(out, pattern[i:i+n])
			i += n
		case c == '(' && strings.HasPrefix(pattern[i:], "(?"):
			n := strings.IndexAny(pattern[i:], ":=!>)")
			if n < 0 {
				return string(append(out, pattern[i:]...))
			}
			out = append(out, pattern[i:i+n+1]...)
			i += n + 1
		case isUpper(c) || isLower(c):
			out = append(out, '[', c, c^0x20, ']')
			i++
		default:
			out = append(out, c)
			i++
		}
	}
	return string(out)
}

// classLength returns the length of the bracket expression that s begins with.
func classLength(s string) int {
	i := 1
	if strings.HasPrefix(s[i:], "^") {
		i++
	}
	if strings.HasPrefix(s[i:], "]") {
		i++
	}
	for ; i < len(s) && s[i] != ']'; i++ {
		switch {
		case s[i] == '\\':
			i++
		case strings.HasPrefix(s[i:], "[:"):
			if n := strings.Index(s[i:], ":]"); n > 0 {
				i += n + 1
			}
		}
	}
	return min(i+1, len(s))
}

// appendFoldedClass adds to a bracket expression its letters in the other case.
func appendFoldedClass(out []byte, class string) []byte {
	if !strings.HasSuffix(class, "]") {
		return append(out, class...) // an error, for the compiler to report
	}
	body := class[:len(class)-1]
	out = append(out, body...)
	for i := 1; i < len(body); i++ {
		switch c := body[i]; {
		case c == '\\':
			i++
		case strings.HasPrefix(body[i:], "[:"):
			n := max(strings.Index(body[i:], ":]"), 0)
			if name := body[i : i+n]; name == "[:upper" || name == "[:lower" {
				out = append(out, "[:alpha:]"...)
			}
			i += n + 1
		case i+2 < len(body) && body[i+1] == '-':
			out = appendFoldedRange(out, c, body[i+2])
			i += 2
		default:
			out = appendFoldedRange(out, c, c)
		}
	}
	return append(out, ']')
}

// appendFoldedRange adds the other case of the letters from lo to hi.
func appendFoldedRange(out []byte, lo, hi byte) []byte {
	for _, first := range []byte{'A', 'a'} {
		if from, to := max(lo, first), min(hi, first+25); from <= to {
			out = append(out, from^0x20, '-', to^0x20)
		}
	}
	return out
}
