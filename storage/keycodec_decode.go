package storage

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/decimal"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

var errBadKey = sqlerr.New(sqlerr.IndexCorrupted, "malformed index key")

// decode reads a whole key back and returns what follows it. Values come back equal, not
// identical: char(n) is padded again, −0 is 0, an interval is given in days and microseconds, and a
// numeric without modifiers has the smallest scale that holds it.
func (c *keyCodec) decode(key []byte) (values []vector.Datum, rest []byte, err error) {
	values = make([]vector.Datum, len(c.cols))
	for n := range c.cols {
		k := &c.cols[n]
		if len(key) == 0 {
			return nil, nil, errBadKey
		}
		flag := key[0]
		key = key[1:]
		if flag == k.nullFlag() {
			values[n] = vector.NullDatum(k.typ.Kind())
			continue
		}
		if flag != flagValue {
			return nil, nil, errBadKey
		}
		payload := key
		if k.desc {
			payload = append([]byte(nil), key...)
			complement(payload)
		}
		d, used, ok := k.decodePayload(payload)
		if !ok {
			return nil, nil, errBadKey
		}
		values[n], key = d, key[used:]
	}
	return values, key, nil
}

// decodePayload reads one value from the front of b and returns the bytes it took.
func (k *keyColumn) decodePayload(b []byte) (d vector.Datum, used int, ok bool) {
	kind := k.typ.Kind()
	switch k.op {
	case keyNumeric64, keyNumeric128, keyNumericBytes:
		return k.decodeNumeric(b)
	case keyText, keyChar, keyBytea:
		return k.decodeText(b)
	}
	width := kind.Width()
	if len(b) < width {
		return d, 0, false
	}
	switch k.op {
	case keyBool:
		d = vector.BoolDatum(b[0] != 0)
	case keyInt8:
		d = vector.IntDatum(kind, int64(int8(b[0]^0x80)))
	case keyInt16:
		d = vector.IntDatum(kind, int64(int16(binary.BigEndian.Uint16(b)^1<<15)))
	case keyInt32:
		d = vector.IntDatum(kind, int64(readKeyInt32(b)))
	case keyInt64:
		d = vector.IntDatum(kind, readKeyInt64(b))
	case keyInt128:
		d = vector.Int128Datum(readKeyInt128(b))
	case keyFloat32:
		d = vector.FloatDatum(kind, readKeyFloat32(b))
	case keyFloat64:
		d = vector.FloatDatum(kind, floatFromOrder(readKeyInt64(b)))
	case keyInterval:
		d = vector.IntervalDatum(intervalFromSpan(readKeyInt128(b)))
	}
	return d, width, true
}

func (k *keyColumn) decodeNumeric(b []byte) (d vector.Datum, used int, ok bool) {
	value, rest, ok := decimal.FromSortKey(b)
	if !ok {
		return d, 0, false
	}
	used = len(b) - len(rest)
	if k.op == keyNumericBytes {
		return vector.StringDatum(string(decimal.AppendBytes(nil, value))), used, true
	}
	x, fits := value.Int128(int(k.typ.Scale))
	if !fits {
		return d, 0, false
	}
	if k.op == keyNumeric64 {
		return vector.IntDatum(vector.I64, int64(x.Lo)), used, true
	}
	return vector.Int128Datum(vector.Int128(x)), used, true
}

func (k *keyColumn) decodeText(b []byte) (d vector.Datum, used int, ok bool) {
	i := 0
	if k.op != keyBytea {
		if len(b) == 0 || b[0] != collationC {
			return d, 0, false
		}
		i = 1
	}
	var text strings.Builder
	for ; i+1 < len(b); i++ {
		if b[i] != 0 {
			text.WriteByte(b[i])
			continue
		}
		i++
		if b[i] == textTerminator {
			s := text.String()
			if pad := int(k.typ.Prec); k.typ.ID == catalog.Char && pad > 0 {
				s += blanks(pad - len([]rune(s)))
			}
			return vector.StringDatum(s), i + 1, true
		}
		if b[i] != textEscape {
			return d, 0, false
		}
		text.WriteByte(0)
	}
	return d, 0, false
}

func blanks(n int) string { return strings.Repeat(" ", max(n, 0)) }

func readKeyInt32(b []byte) int32 { return int32(binary.BigEndian.Uint32(b) ^ 1<<31) }

func readKeyInt64(b []byte) int64 { return int64(binary.BigEndian.Uint64(b) ^ 1<<63) }

func readKeyInt128(b []byte) vector.Int128 {
	return vector.Int128{Hi: readKeyInt64(b), Lo: binary.BigEndian.Uint64(b[8:])}
}

func readKeyFloat32(b []byte) float64 {
	order := int32(binary.BigEndian.Uint32(b) ^ 1<<31)
	if order == math.MaxInt32 {
		return math.NaN()
	}
	if order < 0 {
		order = math.MinInt32 - order
	}
	return float64(math.Float32frombits(uint32(order)))
}

// floatFromOrder undoes vector.OrderKey.
func floatFromOrder(order int64) float64 {
	if order == math.MaxInt64 {
		return math.NaN()
	}
	if order < 0 {
		order = math.MinInt64 - order
	}
	return math.Float64frombits(uint64(order))
}

// intervalFromSpan returns an interval of days and microseconds that compares equal to the one the
// span was made of; months appear only where days would overflow.
func intervalFromSpan(x vector.Int128) vector.Interval {
	const dayMicros = 86_400_000_000
	neg := x.Hi < 0
	hi, lo := uint64(x.Hi), x.Lo
	if neg {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
	}
	if hi >= dayMicros { // no interval is this long: the key is damaged
		return vector.Interval{}
	}
	days, micros := bits.Div64(hi, lo, dayMicros)
	months, most := uint64(0), uint64(math.MaxInt32)
	if neg {
		most++ // negating it below leaves it as it is, as it has to
	}
	if days > most {
		months = min(days/30, most)
		days -= months * 30
		whole := min(days, most)
		micros += (days - whole) * dayMicros
		days = whole
	}
	v := vector.Interval{Months: int32(months), Days: int32(days), Micros: int64(micros)}
	if neg {
		v.Months, v.Days, v.Micros = -v.Months, -v.Days, -v.Micros
	}
	return v
}

// mulInt64 multiplies to 128 bits.
func mulInt64(a, b int64) vector.Int128 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if a < 0 {
		hi -= uint64(b)
	}
	if b < 0 {
		hi -= uint64(a)
	}
	return vector.Int128{Lo: lo, Hi: int64(hi)}
}

func addInt128(a, b vector.Int128) vector.Int128 {
	lo, carry := bits.Add64(a.Lo, b.Lo, 0)
	hi, _ := bits.Add64(uint64(a.Hi), uint64(b.Hi), carry)
	return vector.Int128{Lo: lo, Hi: int64(hi)}
}
