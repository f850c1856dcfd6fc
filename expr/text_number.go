package expr

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
)

func errSyntax(id catalog.TypeID, s string) error {
	return sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type %s: \"%s\"", catalog.Type{ID: id}, s)
}

func appendInt(dst []byte, i int64) []byte { return strconv.AppendInt(dst, i, 10) }

const blanks = " \t\n\v\f\r"

// parseInteger reads integer input: blanks around it, a sign, digits.
func parseInteger(s string, id catalog.TypeID) (int64, error) {
	t := strings.Trim(s, blanks)
	i, neg := 0, false
	if t != "" && (t[0] == '-' || t[0] == '+') {
		i, neg = 1, t[0] == '-'
	}
	if i == len(t) {
		return 0, errSyntax(id, s)
	}
	var u uint64
	over := false
	for ; i < len(t); i++ {
		c := t[i] - '0'
		if c > 9 {
			return 0, errSyntax(id, s)
		}
		over = over || u > (math.MaxUint64-9)/10
		u = u*10 + uint64(c)
	}
	limit := uint64(math.MaxInt64)
	switch id {
	case catalog.Int2:
		limit = math.MaxInt16
	case catalog.Int4:
		limit = math.MaxInt32
	case catalog.Oid:
		limit = math.MaxUint32
	}
	if neg && id != catalog.Oid {
		limit++
	}
	if over || u > limit {
		return 0, sqlerr.New(sqlerr.NumericValueOutOfRange, "value \"%s\" is out of range for type %s", s, catalog.Type{ID: id})
	}
	if neg {
		return -int64(u), nil
	}
	return int64(u), nil
}

// parseFloat reads float input.
func parseFloat(s string, id catalog.TypeID) (float64, error) {
	t := strings.Trim(s, blanks)
	width := 64
	if id == catalog.Float4 {
		width = 32
	}
	if t == "" || strings.ContainsAny(t, "_pPxX") {
		return 0, errSyntax(id, s)
	}
	if strings.EqualFold(strings.TrimLeft(t, "+-"), "nan") && len(t) <= len("-nan") {
		return math.NaN(), nil // a sign before it says nothing
	}
	f, err := strconv.ParseFloat(t, width)
	if err != nil {
		if e, ok := err.(*strconv.NumError); ok && e.Err == strconv.ErrRange {
			return 0, sqlerr.New(sqlerr.NumericValueOutOfRange, "\"%s\" is out of range for type %s", t, catalog.Type{ID: id})
		}
		return 0, errSyntax(id, s)
	}
	if f == 0 && strings.ContainsAny(mantissa(t), "123456789") {
		return 0, sqlerr.New(sqlerr.NumericValueOutOfRange, "\"%s\" is out of range for type %s", t, catalog.Type{ID: id})
	}
	return f, nil
}

func mantissa(s string) string {
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		return s[:i]
	}
	return s
}

// appendFloat appends the shortest text that reads back as f, in PostgreSQL's notation.
func appendFloat(dst []byte, f float64, width int) []byte {
	switch {
	case f != f:
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	case f == 0:
		if math.Signbit(f) {
			return append(dst, "-0"...)
		}
		return append(dst, '0')
	}
	abs, top := math.Abs(f), 1e15
	if width == 32 {
		top = 1e6
	}
	prec := -1
	if abs >= 1<<24 {
		prec = strictPrecision(f, width)
	}
	if abs < 1e-4 || abs >= top {
		return strconv.AppendFloat(dst, f, 'e', prec, width)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, width)
}

// strictPrecision finds the digits for a float whose shortest text lies exactly half way to its
// neighbour, which Go accepts and PostgreSQL's algorithm does not; -1 for all others.
func strictPrecision(f float64, width int) int {
	mantissaBits := 53
	if width == 32 {
		mantissaBits = 24
	}
	_, exp := math.Frexp(f)
	if exp <= mantissaBits {
		return -1 // integers this small are exact
	}
	text := strconv.FormatFloat(f, 'e', -1, width)
	halfway := func(text string) bool {
		exact, _ := new(big.Float).SetPrec(400).SetString(text)
		diff := exact.Sub(exact, new(big.Float).SetFloat64(f))
		half := new(big.Float).SetMantExp(big.NewFloat(1), exp-mantissaBits-1)
		return diff.Abs(diff).Cmp(half) >= 0
	}
	if !halfway(text) {
		return -1
	}
	digits := len(strings.TrimLeft(mantissa(text), "-")) - 1
	for prec := digits; prec < 17; prec++ {
		if !halfway(strconv.FormatFloat(f, 'e', prec, width)) {
			return prec
		}
	}
	return -1
}

// parseBool reads boolean input: any unique prefix of true, false, yes, no, on, off, 1, 0.
func parseBool(s string) (bool, error) {
	t := strings.ToLower(strings.Trim(s, blanks))
	if t != "" {
		switch {
		case strings.HasPrefix("true", t), strings.HasPrefix("yes", t), t == "on", t == "1":
			return true, nil
		case strings.HasPrefix("false", t), strings.HasPrefix("no", t), t == "off", t == "of", t == "0":
			return false, nil
		}
	}
	return false, errSyntax(catalog.Bool, s)
}

// parseBytea reads hex or escape format.
func parseBytea(dst []byte, s string) ([]byte, error) {
	if strings.HasPrefix(s, `\x`) {
		return parseHex(dst, s[2:])
	}
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			dst = append(dst, s[i])
			continue
		}
		switch {
		case i+1 < len(s) && s[i+1] == '\\':
			dst = append(dst, '\\')
			i++
		case i+3 < len(s) && s[i+1] >= '0' && s[i+1] <= '3' && octal(s[i+2]) && octal(s[i+3]):
			dst = append(dst, (s[i+1]-'0')<<6|(s[i+2]-'0')<<3|(s[i+3]-'0'))
			i += 3
		default:
			return dst, sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type bytea")
		}
	}
	return dst, nil
}

func octal(c byte) bool { return c >= '0' && c <= '7' }

func parseHex(dst []byte, s string) ([]byte, error) {
	high, have := byte(0), false
	for i := range len(s) {
		c := s[i]
		var n byte
		switch {
		case c >= '0' && c <= '9':
			n = c - '0'
		case c >= 'a' && c <= 'f':
			n = c - 'a' + 10
		case c >= 'A' && c <= 'F':
			n = c - 'A' + 10
		case strings.IndexByte(blanks, c) >= 0 && !have:
			continue
		default:
			return dst, sqlerr.New(sqlerr.InvalidParameterValue, "invalid hexadecimal digit: \"%c\"", c)
		}
		if have {
			dst = append(dst, high<<4|n)
		}
		high, have = n, !have
	}
	if have {
		return dst, sqlerr.New(sqlerr.InvalidParameterValue, "invalid hexadecimal data: odd number of digits")
	}
	return dst, nil
}

func appendHex(dst []byte, b []byte) []byte {
	const digits = "0123456789abcdef"
	for _, c := range b {
		dst = append(dst, digits[c>>4], digits[c&15])
	}
	return dst
}
