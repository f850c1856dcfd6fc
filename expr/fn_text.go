package expr

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"strings"
	"unicode/utf8"

	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/internal/sqlname"
)

// textFunctions are the functions on strings.
func textFunctions() []*Function {
	list := []*Function{
		fn("lower", "text", "text", textRow(func(r *row, dst []byte) ([]byte, error) { return appendLower(dst, r.bytes(0)), nil })),
		fn("upper", "text", "text", textRow(func(r *row, dst []byte) ([]byte, error) { return appendUpper(dst, r.bytes(0)), nil })),
		fn("initcap", "text", "text", textRow(initcap)),
		fn("ascii", "text", "int4", intRow(func(r *row) (int64, error) {
			c, size := utf8.DecodeRune(r.bytes(0))
			if size == 0 {
				c = 0
			}
			return int64(c), nil
		})),
		fn("chr", "int4", "text", textRow(chr)),
		fn("reverse", "text", "text", textRow(reverse)),
		fn("repeat", "text int4", "text", textRow(repeat)),
		fn("replace", "text text text", "text", textRow(replace)),
		fn("translate", "text text text", "text", textRow(translate)),
		fn("split_part", "text text int4", "text", textRow(splitPart)),
		fn("starts_with", "text text", "bool", boolRow(func(r *row) (bool, error) { return bytes.HasPrefix(r.bytes(0), r.bytes(1)), nil })),
		fn("left", "text int4", "text", textRow(left)),
		fn("right", "text int4", "text", textRow(right)),
		fn("strpos", "text text", "int4", intRow(strpos)),
		fn("position", "text text", "int4", intRow(strpos)),
		fn("position", "bytea bytea", "int4", intRow(func(r *row) (int64, error) { return int64(bytes.Index(r.bytes(0), r.bytes(1)) + 1), nil })),
		fn("md5", "text", "text", textRow(md5Hex)),
		fn("md5", "bytea", "text", textRow(md5Hex)),
		fn("sha256", "bytea", "bytea", textRow(func(r *row, dst []byte) ([]byte, error) {
			sum := sha256.Sum256(r.bytes(0))
			return append(dst, sum[:]...), nil
		})),
		fn("encode", "bytea text", "text", textRow(encodeBytes)),
		fn("decode", "text text", "bytea", textRow(decodeBytes)),
		fn("concat", "any", "text", textRow(concatRow), variadic, notStrict, stable),
		fn("concat_ws", "text any", "text", textRow(concatSeparated), variadic, notStrict, stable),
		fn("quote_literal", "text", "text", textRow(func(r *row, dst []byte) ([]byte, error) { return append(dst, quoteLiteral(r.str(0))...), nil })),
		fn("quote_ident", "text", "text", textRow(func(r *row, dst []byte) ([]byte, error) { return append(dst, sqlname.Quote(r.str(0))...), nil })),
		fn("overlay", "text text int4 int4", "text", textRow(overlay)),
		fn("overlay", "text text int4", "text", textRow(overlay)),
		fn("like_escape", "text text", "text", textRow(func(r *row, dst []byte) ([]byte, error) { return likeEscape(dst, r.str(0), r.str(1)) })),
		fn("similar_to_escape", "text", "text", textRow(func(r *row, dst []byte) ([]byte, error) { return similarEscape(dst, r.str(0), `\`) })),
		fn("similar_to_escape", "text text", "text", textRow(func(r *row, dst []byte) ([]byte, error) { return similarEscape(dst, r.str(0), r.str(1)) })),
		fn("to_hex", "int4", "text", textRow(func(r *row, dst []byte) ([]byte, error) { return appendBase(dst, uint64(uint32(r.int(0))), 16), nil })),
		fn("to_hex", "int8", "text", textRow(func(r *row, dst []byte) ([]byte, error) { return appendBase(dst, uint64(r.int(0)), 16), nil })),
	}
	list = append(list, lengthFunctions()...)
	list = append(list, trimFunctions()...)
	return append(list, regexpFunctions()...)
}

func lengthFunctions() []*Function {
	chars := intRow(func(r *row) (int64, error) { return int64(charCount(r.bytes(0))), nil })
	trimmedChars := intRow(func(r *row) (int64, error) { return int64(charCount(trimBlankBytes(r.bytes(0)))), nil })
	octets := intRow(func(r *row) (int64, error) { return int64(len(r.bytes(0))), nil })
	bitCount := intRow(func(r *row) (int64, error) { return int64(len(r.bytes(0))) * 8, nil })
	var list []*Function
	for _, name := range []string{"length", "char_length", "character_length"} {
		list = append(list, fn(name, "text", "int4", chars), fn(name, "bpchar", "int4", trimmedChars))
	}
	return append(list,
		fn("length", "bytea", "int4", octets),
		fn("octet_length", "text", "int4", octets), fn("octet_length", "bpchar", "int4", octets), fn("octet_length", "bytea", "int4", octets),
		fn("bit_length", "text", "int4", bitCount), fn("bit_length", "bytea", "int4", bitCount))
}

func trimFunctions() []*Function {
	var list []*Function
	for _, t := range []struct {
		name        string
		left, right bool
	}{{"btrim", true, true}, {"ltrim", true, false}, {"rtrim", false, true}} {
		list = append(list,
			fn(t.name, "text", "text", textRow(func(r *row, dst []byte) ([]byte, error) {
				return append(dst, trimSet(r.str(0), " ", t.left, t.right)...), nil
			})),
			fn(t.name, "text text", "text", textRow(func(r *row, dst []byte) ([]byte, error) {
				return append(dst, trimSet(r.str(0), r.str(1), t.left, t.right)...), nil
			})))
	}
	pad := func(left bool) builder {
		return textRow(func(r *row, dst []byte) ([]byte, error) { return appendPadded(r, dst, left) })
	}
	for _, name := range []string{"substr", "substring"} {
		list = append(list,
			fn(name, "text int4", "text", buildSubstring), fn(name, "text int4 int4", "text", buildSubstring),
			fn(name, "bytea int4", "bytea", textRow(substringBytes)), fn(name, "bytea int4 int4", "bytea", textRow(substringBytes)))
	}
	return append(list,
		fn("lpad", "text int4", "text", pad(true)), fn("lpad", "text int4 text", "text", pad(true)),
		fn("rpad", "text int4", "text", pad(false)), fn("rpad", "text int4 text", "text", pad(false)))
}

func trimSet(s, set string, left, right bool) string {
	if left {
		s = strings.TrimLeft(s, set)
	}
	if right {
		s = strings.TrimRight(s, set)
	}
	return s
}

// Case is a matter of the collation: C has no letters but those of ASCII.

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }

func isLetterOrDigit(c byte) bool { return isUpper(c) || isLower(c) || c >= '0' && c <= '9' }

func appendLower(dst, s []byte) []byte {
	start := len(dst)
	dst = append(dst, s...)
	for i, c := range dst[start:] {
		if isUpper(c) {
			dst[start+i] = c ^ 0x20
		}
	}
	return dst
}

func appendUpper(dst, s []byte) []byte {
	start := len(dst)
	dst = append(dst, s...)
	for i, c := range dst[start:] {
		if isLower(c) {
			dst[start+i] = c ^ 0x20
		}
	}
	return dst
}

func initcap(r *row, dst []byte) ([]byte, error) {
	inWord := false
	for _, c := range r.bytes(0) {
		if inWord && isUpper(c) || !inWord && isLower(c) {
			c ^= 0x20
		}
		inWord = isLetterOrDigit(c)
		dst = append(dst, c)
	}
	return dst, nil
}

func chr(r *row, dst []byte) ([]byte, error) {
	c := r.int(0)
	switch {
	case c < 0:
		return dst, sqlerr.New(sqlerr.InvalidParameterValue, "character number must be positive")
	case c == 0:
		return dst, sqlerr.New(sqlerr.ProgramLimitExceeded, "null character not permitted")
	case c > 0x10FFFF || c >= 0xD800 && c < 0xE000:
		return dst, sqlerr.New(sqlerr.ProgramLimitExceeded, "requested character too large for encoding: %d", c)
	}
	return utf8.AppendRune(dst, rune(c)), nil
}

func reverse(r *row, dst []byte) ([]byte, error) {
	for s := r.bytes(0); len(s) > 0; {
		_, size := utf8.DecodeLastRune(s)
		dst = append(dst, s[len(s)-size:]...)
		s = s[:len(s)-size]
	}
	return dst, nil
}

const maxTextBytes = 1 << 30 // PostgreSQL's limit of a value

var errTextTooLong = sqlerr.New(sqlerr.ProgramLimitExceeded, "requested length too large")

func repeat(r *row, dst []byte) ([]byte, error) {
	s, n := r.bytes(0), max(r.int(1), 0)
	if int64(len(s))*n > maxTextBytes {
		return dst, errTextTooLong
	}
	for ; n > 0; n-- {
		dst = append(dst, s...)
	}
	return dst, nil
}

func replace(r *row, dst []byte) ([]byte, error) {
	s, from, to := r.bytes(0), r.bytes(1), r.bytes(2)
	if len(from) == 0 {
		return append(dst, s...), nil
	}
	for {
		i := bytes.Index(s, from)
		if i < 0 {
			return append(dst, s...), nil
		}
		dst = append(append(dst, s[:i]...), to...)
		s = s[i+len(from):]
	}
}

func translate(r *row, dst []byte) ([]byte, error) {
	from, to := []rune(r.str(1)), []rune(r.str(2))
next:
	for _, c := range r.str(0) {
		for i, f := range from {
			if f == c {
				if i < len(to) {
					dst = utf8.AppendRune(dst, to[i])
				}
				continue next
			}
		}
		dst = utf8.AppendRune(dst, c)
	}
	return dst, nil
}

func splitPart(r *row, dst []byte) ([]byte, error) {
	s, sep, n := r.bytes(0), r.bytes(1), r.int(2)
	if n == 0 {
		return dst, sqlerr.New(sqlerr.InvalidParameterValue, "field position must not be zero")
	}
	if len(sep) == 0 {
		if n == 1 || n == -1 {
			dst = append(dst, s...)
		}
		return dst, nil
	}
	if n < 0 {
		n += int64(bytes.Count(s, sep)) + 2
		if n < 1 {
			return dst, nil
		}
	}
	for ; n > 1; n-- {
		i := bytes.Index(s, sep)
		if i < 0 {
			return dst, nil
		}
		s = s[i+len(sep):]
	}
	if i := bytes.Index(s, sep); i >= 0 {
		s = s[:i]
	}
	return append(dst, s...), nil
}

func left(r *row, dst []byte) ([]byte, error) {
	s, n := r.bytes(0), r.int(1)
	if n < 0 {
		n = max(int64(charCount(s))+n, 0)
	}
	return append(dst, s[:charOffset(s, int(n))]...), nil
}

func right(r *row, dst []byte) ([]byte, error) {
	s, n := r.bytes(0), r.int(1)
	if n < 0 {
		n = -n
	} else {
		n = max(int64(charCount(s))-n, 0)
	}
	return append(dst, s[charOffset(s, int(min(n, maxTextBytes))):]...), nil
}

func strpos(r *row) (int64, error) {
	s := r.bytes(0)
	i := bytes.Index(s, r.bytes(1))
	if i < 0 {
		return 0, nil
	}
	return int64(charCount(s[:i])) + 1, nil
}

func md5Hex(r *row, dst []byte) ([]byte, error) {
	sum := md5.Sum(r.bytes(0))
	return appendHex(dst, sum[:]), nil
}

func appendBase(dst []byte, u uint64, base uint64) []byte {
	var buf [64]byte
	i := len(buf)
	for {
		i--
		buf[i] = "0123456789abcdef"[u%base]
		if u /= base; u == 0 {
			return append(dst, buf[i:]...)
		}
	}
}

// appendOutput appends argument k as text.
func appendOutput(r *row, dst []byte, k int) []byte {
	return AppendText(dst, r.types[k], r.args[k], r.i, r.env)
}

func concatRow(r *row, dst []byte) ([]byte, error) {
	for k := range r.args {
		if !r.isNull(k) {
			dst = appendOutput(r, dst, k)
		}
	}
	return dst, nil
}

func concatSeparated(r *row, dst []byte) ([]byte, error) {
	if r.isNull(0) {
		r.null = true
		return dst, nil
	}
	sep, some := r.bytes(0), false
	for k := 1; k < len(r.args); k++ {
		if r.isNull(k) {
			continue
		}
		if some {
			dst = append(dst, sep...)
		}
		dst, some = appendOutput(r, dst, k), true
	}
	return dst, nil
}

func overlay(r *row, dst []byte) ([]byte, error) {
	s, with, from := r.bytes(0), r.bytes(1), r.int(2)
	n := int64(charCount(with))
	if len(r.args) > 3 {
		n = r.int(3)
	}
	if from <= 0 {
		return dst, errNegativeSubstring
	}
	if from > int64(maxTextBytes)*2 || n > int64(maxTextBytes)*2 {
		return dst, errInt4Range
	}
	dst = append(dst, s[:charOffset(s, int(from-1))]...)
	dst = append(dst, with...)
	return append(dst, s[charOffset(s, int(max(from-1+n, 0))):]...), nil
}

var errNegativeSubstring = sqlerr.New(sqlerr.SubstringError, "negative substring length not allowed")

// substringBounds turns SQL's start and length into character offsets.
func substringBounds(start, length int64, hasLength bool) (from, to int, err error) {
	if !hasLength {
		return int(max(start-1, 0)), maxTextBytes, nil
	}
	if length < 0 {
		return 0, 0, errNegativeSubstring
	}
	end := start + length - 1
	return int(max(start-1, 0)), int(min(max(end, 0), maxTextBytes)), nil
}

func substringBytes(r *row, dst []byte) ([]byte, error) {
	b := r.bytes(0)
	length := int64(0)
	if len(r.args) > 2 {
		length = r.int(2)
	}
	from, to, err := substringBounds(r.int(1), length, len(r.args) > 2)
	if err != nil {
		return dst, err
	}
	to = min(to, len(b))
	if from < to {
		dst = append(dst, b[from:to]...)
	}
	return dst, nil
}

var substringRow = textRow(func(r *row, dst []byte) ([]byte, error) {
	s := r.bytes(0)
	length := int64(0)
	if len(r.args) > 2 {
		length = r.int(2)
	}
	from, to, err := substringBounds(r.int(1), length, len(r.args) > 2)
	if err != nil || from >= to {
		return dst, err
	}
	rest := s[charOffset(s, from):]
	return append(dst, rest[:charOffset(rest, to-from)]...), nil
})

func buildSubstring(c *compiler, call *Call) (Evaluator, error) { return substringRow(c, call) }

func appendPadded(r *row, dst []byte, left bool) ([]byte, error) {
	s, n, fill := r.bytes(0), int(max(r.int(1), 0)), " "
	if len(r.args) > 2 {
		fill = r.str(2)
	}
	if n > maxTextBytes/4 {
		return dst, errTextTooLong
	}
	have := charCount(s)
	if have >= n || fill == "" {
		return append(dst, s[:charOffset(s, n)]...), nil
	}
	if !left {
		dst = append(dst, s...)
	}
	for i := n - have; i > 0; {
		for _, c := range fill {
			if i == 0 {
				break
			}
			dst = utf8.AppendRune(dst, c)
			i--
		}
	}
	if left {
		dst = append(dst, s...)
	}
	return dst, nil
}
