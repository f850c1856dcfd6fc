package expr

import (
	"strings"

	"github.com/weftdb/weft/internal/sqlerr"
)

// regexpFunctions are the functions on regular expressions.
func regexpFunctions() []*Function {
	return []*Function{
		fn("regexp_replace", "text text text", "text", textRow(regexpReplace)),
		fn("regexp_replace", "text text text text", "text", textRow(regexpReplace)),
		fn("substring", "text text", "text", textRow(regexpSubstring)),
		fn("regexp_like", "text text", "bool", boolRow(func(r *row) (bool, error) {
			re, err := cachedRegexp(r, r.str(1), false)
			if err != nil {
				return false, err
			}
			return re.Match(r.bytes(0)), nil
		})),
	}
}

func regexpReplace(r *row, dst []byte) ([]byte, error) {
	flags := ""
	if len(r.args) > 3 {
		flags = r.str(3)
	}
	if bad := strings.Trim(flags, "gin"); bad != "" {
		return dst, sqlerr.New(sqlerr.InvalidParameterValue, "invalid regular expression option: \"%s\"", bad[:1])
	}
	re, err := cachedRegexp(r, r.str(1), strings.Contains(flags, "i"))
	if err != nil {
		return dst, err
	}
	s, with := r.bytes(0), r.str(2)
	last := 0
	for _, m := range re.FindAllSubmatchIndex(s, matchLimit(flags)) {
		dst = append(dst, s[last:m[0]]...)
		for i := 0; i < len(with); i++ {
			if with[i] != '\\' || i+1 == len(with) {
				dst = append(dst, with[i])
				continue
			}
			i++
			switch c := with[i]; {
			case c == '&':
				dst = append(dst, s[m[0]:m[1]]...)
			case c >= '1' && c <= '9':
				if g := int(c-'0') * 2; g < len(m) && m[g] >= 0 {
					dst = append(dst, s[m[g]:m[g+1]]...)
				}
			case c == '\\':
				dst = append(dst, '\\')
			default:
				dst = append(dst, '\\', c)
			}
		}
		last = m[1]
	}
	return append(dst, s[last:]...), nil
}

func matchLimit(flags string) int {
	if strings.Contains(flags, "g") {
		return -1
	}
	return 1
}

func regexpSubstring(r *row, dst []byte) ([]byte, error) {
	re, err := cachedRegexp(r, r.str(1), false)
	if err != nil {
		return dst, err
	}
	s := r.bytes(0)
	m := re.FindSubmatchIndex(s)
	if m == nil {
		r.null = true
		return dst, nil
	}
	if len(m) > 2 {
		if m[2] < 0 {
			r.null = true
			return dst, nil
		}
		return append(dst, s[m[2]:m[3]]...), nil
	}
	return append(dst, s[m[0]:m[1]]...), nil
}
