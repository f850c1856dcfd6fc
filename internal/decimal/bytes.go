package decimal

import (
	"encoding/binary"
	"math/big"

	"github.com/zeebo/xxh3"
)

// The byte form of a value:
//
//	byte 0     0x00 non-negative number, 0x01 negative number, 0x02 -Infinity, 0x03 Infinity, 0x04 NaN
//	bytes 1-2  display scale, big-endian (numbers only)
//	bytes 3-   magnitude, big-endian without leading zeros; empty for 0
//
// Equal values of different scale have different byte forms: compare with Cmp or CompareBytes, hash
// with Hash, or use sort keys.
const (
	tagPositive = 0x00
	tagNegative = 0x01
	tagNegInf   = 0x02
	tagPosInf   = 0x03
	tagNaN      = 0x04
)

// AppendBytes appends the byte form of d.
func AppendBytes(dst []byte, d Decimal) []byte {
	switch d.kind {
	case negInf:
		return append(dst, tagNegInf)
	case posInf:
		return append(dst, tagPosInf)
	case nan:
		return append(dst, tagNaN)
	}
	tag := byte(tagPositive)
	if d.neg {
		tag = tagNegative
	}
	dst = append(dst, tag, byte(d.scale>>8), byte(d.scale))
	if d.big != nil {
		return append(dst, d.big.Bytes()...)
	}
	return appendMag(dst, d.hi, d.lo)
}

func appendMag(dst []byte, hi, lo uint64) []byte {
	var buf [16]byte
	binary.BigEndian.PutUint64(buf[:], hi)
	binary.BigEndian.PutUint64(buf[8:], lo)
	i := 0
	if hi == 0 {
		i = 8
	}
	for i < 16 && buf[i] == 0 {
		i++
	}
	return append(dst, buf[i:]...)
}

// FromBytes reads a byte form; b is not kept. An empty b, which stands at NULL rows, reads as 0.
func FromBytes(b []byte) Decimal {
	if len(b) < 3 {
		if len(b) == 0 {
			return Decimal{}
		}
		switch b[0] {
		case tagNegInf:
			return NegInf
		case tagPosInf:
			return Inf
		}
		return NaN
	}
	d := Decimal{neg: b[0] == tagNegative, scale: binary.BigEndian.Uint16(b[1:])}
	m := b[3:]
	switch {
	case len(m) <= 8:
		for _, c := range m {
			d.lo = d.lo<<8 | uint64(c)
		}
	case len(m) <= 16:
		for _, c := range m[:len(m)-8] {
			d.hi = d.hi<<8 | uint64(c)
		}
		d.lo = binary.BigEndian.Uint64(m[len(m)-8:])
	default:
		d.big = new(big.Int).SetBytes(m)
	}
	return d
}

// ValidBytes reports whether b is a byte form that AppendBytes writes.
func ValidBytes(b []byte) bool {
	if len(b) == 1 {
		return b[0] >= tagNegInf && b[0] <= tagNaN
	}
	return len(b) >= 3 && b[0] <= tagNegative && (len(b) == 3 || b[3] != 0)
}

// CompareBytes compares two byte forms by value.
func CompareBytes(a, b []byte) int { return FromBytes(a).Cmp(FromBytes(b)) }

// Classes of sort keys, in SQL order.
const (
	keyNegInf   = 0x01
	keyNegative = 0x02
	keyZero     = 0x03
	keyPositive = 0x04
	keyPosInf   = 0x05
	keyNaN      = 0x06
)

// AppendSortKey appends a key that compares bytewise as Cmp compares values; equal values have
// equal keys, whatever their scale, and no key is a prefix of another.
//
// A class byte; then, for numbers other than 0, the decimal exponent (3 bytes, biased), the
// significant digits in pairs plus one, and a zero byte; all complemented for negative numbers.
func AppendSortKey(dst []byte, d Decimal) []byte {
	switch {
	case d.kind == negInf:
		return append(dst, keyNegInf)
	case d.kind == posInf:
		return append(dst, keyPosInf)
	case d.kind == nan:
		return append(dst, keyNaN)
	case d.IsZero():
		return append(dst, keyZero)
	}
	var buf [48]byte
	digits := d.appendDigits(buf[:0])
	exponent := uint32(len(digits) - int(d.scale) + 1<<23)
	for digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	class, flip := byte(keyPositive), byte(0)
	if d.neg {
		class, flip = keyNegative, 0xFF
	}
	dst = append(dst, class, byte(exponent>>16)^flip, byte(exponent>>8)^flip, byte(exponent)^flip)
	for i := 0; i < len(digits); i += 2 {
		pair := (digits[i] - '0') * 10
		if i+1 < len(digits) {
			pair += digits[i+1] - '0'
		}
		dst = append(dst, (pair+1)^flip)
	}
	return append(dst, flip)
}

// FromSortKey reads a sort key back; the scale is the smallest possible one. It returns the rest of
// key after it, and false for a malformed key.
func FromSortKey(key []byte) (d Decimal, rest []byte, ok bool) {
	if len(key) == 0 {
		return d, nil, false
	}
	switch key[0] {
	case keyNegInf:
		return NegInf, key[1:], true
	case keyPosInf:
		return Inf, key[1:], true
	case keyNaN:
		return NaN, key[1:], true
	case keyZero:
		return d, key[1:], true
	}
	flip := byte(0)
	if key[0] == keyNegative {
		flip = 0xFF
	} else if key[0] != keyPositive {
		return d, nil, false
	}
	if len(key) < 6 {
		return d, nil, false
	}
	exponent := int(key[1]^flip)<<16 | int(key[2]^flip)<<8 | int(key[3]^flip)
	exponent -= 1 << 23
	digits := make([]byte, 0, 40)
	i := 4
	for ; i < len(key) && key[i] != flip; i++ {
		pair := key[i] ^ flip - 1
		if pair > 99 {
			return d, nil, false
		}
		digits = append(digits, '0'+pair/10, '0'+pair%10)
	}
	if i == len(key) || len(digits) == 0 {
		return d, nil, false
	}
	if digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	scale := len(digits) - exponent
	for ; scale < 0; scale++ {
		digits = append(digits, '0')
	}
	if scale > MaxScale {
		return d, nil, false
	}
	return fromDigits(digits, scale, flip != 0), key[i+1:], true
}

// Hash hashes d by value: equal values of different scale hash equal.
func Hash(d Decimal) uint64 {
	var buf [48]byte
	return xxh3.Hash(AppendSortKey(buf[:0], d))
}

// AppendBase10000 appends the base-10000 digits of |d|, most significant first, without leading
// and trailing zero digits, and returns the weight of the first: d = ±Σ digits[i]·10000^(weight-i).
// PostgreSQL's hash_numeric is built on these. 0 has no digits.
func AppendBase10000(dst []int16, d Decimal) (digits []int16, weight int) {
	if d.kind != finite || d.IsZero() {
		return dst, 0
	}
	var buf [48]byte
	dec := d.appendDigits(buf[:0])
	exp := len(dec) - 1 - int(d.scale)
	weight = exp >> 2
	take := exp - 4*weight + 1
	start := len(dst)
	for len(dec) > 0 {
		v := int16(0)
		for i := range take {
			v *= 10
			if i < len(dec) {
				v += int16(dec[i] - '0')
			}
		}
		dec = dec[min(take, len(dec)):]
		take = 4
		dst = append(dst, v)
	}
	for len(dst) > start && dst[len(dst)-1] == 0 {
		dst = dst[:len(dst)-1]
	}
	return dst, weight
}
