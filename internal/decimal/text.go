package decimal

import (
	"errors"
	"math/big"
	"strconv"
	"strings"
)

// ErrSyntax is returned for text that is no number.
var ErrSyntax = errors.New("decimal: invalid syntax")

// appendDigits appends the digits of the magnitude, without leading zeros; 0 has none.
func (d Decimal) appendDigits(dst []byte) []byte {
	if d.big != nil {
		return d.big.Append(dst, 10)
	}
	if d.hi == 0 {
		if d.lo == 0 {
			return dst
		}
		return strconv.AppendUint(dst, d.lo, 10)
	}
	return appendScaled(dst, d.hi, d.lo, 0)
}

// fromDigits makes a number of decimal digits.
func fromDigits(digits []byte, scale int, neg bool) Decimal {
	for len(digits) > 0 && digits[0] == '0' {
		digits = digits[1:]
	}
	if len(digits) <= 19 {
		var lo uint64
		for _, c := range digits {
			lo = lo*10 + uint64(c-'0')
		}
		return Decimal{lo: lo, neg: neg && lo != 0, scale: uint16(scale)}
	}
	if len(digits) <= MaxPow10 {
		x := Int128{}
		for _, c := range digits {
			x = x.Mul(Int128{Lo: 10}).Add(Int128{Lo: uint64(c - '0')})
		}
		return Decimal{lo: x.Lo, hi: uint64(x.Hi), neg: neg, scale: uint16(scale)}
	}
	m, _ := new(big.Int).SetString(string(digits), 10)
	return fromMag(m, scale, neg)
}

// Append appends d as PostgreSQL prints it.
func (d Decimal) Append(dst []byte) []byte {
	switch d.kind {
	case negInf:
		return append(dst, "-Infinity"...)
	case posInf:
		return append(dst, "Infinity"...)
	case nan:
		return append(dst, "NaN"...)
	}
	if d.neg {
		dst = append(dst, '-')
	}
	if d.big == nil {
		return appendScaled(dst, d.hi, d.lo, int(d.scale))
	}
	return appendPoint(dst, d.big.Append(nil, 10), int(d.scale))
}

// String returns d as PostgreSQL prints it.
func (d Decimal) String() string { return string(d.Append(nil)) }

// Parse reads a number as PostgreSQL's numeric input does: blanks around it, a sign, an exponent,
// NaN, Infinity. The scale is the number of fraction digits written.
func Parse(s string) (Decimal, error) {
	s = strings.Trim(s, " \t\n\v\f\r")
	neg, rest := false, s
	if rest != "" && (rest[0] == '+' || rest[0] == '-') {
		neg, rest = rest[0] == '-', rest[1:]
	}
	if rest == "" {
		return Decimal{}, ErrSyntax
	}
	if c := rest[0]; c != '.' && (c < '0' || c > '9') {
		return parseSpecial(s, rest, neg)
	}
	return parseNumber(rest, neg)
}

func parseSpecial(whole, rest string, neg bool) (Decimal, error) {
	switch {
	case strings.EqualFold(whole, "NaN"):
		return NaN, nil
	case strings.EqualFold(rest, "Infinity") || strings.EqualFold(rest, "inf"):
		if neg {
			return NegInf, nil
		}
		return Inf, nil
	}
	return Decimal{}, ErrSyntax
}

func parseNumber(s string, neg bool) (Decimal, error) {
	var buf [64]byte
	digits := buf[:0]
	scale, i, seen, point := 0, 0, false, false
	for ; i < len(s); i++ {
		c := s[i]
		if c >= '0' && c <= '9' {
			seen = true
			if len(digits) > 0 || c != '0' {
				digits = append(digits, c)
			}
			if point {
				scale++
			}
		} else if c == '.' && !point {
			point = true
		} else {
			break
		}
	}
	if !seen {
		return Decimal{}, ErrSyntax
	}
	if i < len(s) {
		if s[i] != 'e' && s[i] != 'E' {
			return Decimal{}, ErrSyntax
		}
		exp, err := strconv.Atoi(s[i+1:])
		if err != nil {
			if errors.Is(err, strconv.ErrRange) {
				return Decimal{}, ErrOverflow
			}
			return Decimal{}, ErrSyntax
		}
		if exp > MaxWhole*2 || exp < -MaxWhole*2 {
			return Decimal{}, ErrOverflow
		}
		scale -= exp
		if len(digits) == 0 {
			scale = max(scale, 0)
		}
	}
	if len(digits)-scale > MaxWhole || scale > MaxScale {
		return Decimal{}, ErrOverflow
	}
	for ; scale < 0; scale++ {
		digits = append(digits, '0')
	}
	return fromDigits(digits, scale, neg), nil
}
