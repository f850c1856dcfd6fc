package vector

import (
	"math"
	"unsafe"
)

// Datum is one value outside a vector: a literal, a bound, a statistic. It is comparable with ==,
// which means "same representation", not SQL equality.
type Datum struct {
	Kind Kind
	Null bool
	I    int64 // Bool, I8…I64; low half of I128; Interval micros
	Hi   int64 // high half of I128; Interval months<<32 | uint32(days)
	F    float64
	S    string // Bytes
}

// NullDatum returns the NULL of a kind.
func NullDatum(k Kind) Datum { return Datum{Kind: k, Null: true} }

// BoolDatum returns a Bool.
func BoolDatum(b bool) Datum {
	if b {
		return Datum{Kind: Bool, I: 1}
	}
	return Datum{Kind: Bool}
}

// IntDatum returns an integer of kind I8 to I64.
func IntDatum(k Kind, i int64) Datum { return Datum{Kind: k, I: i} }

// FloatDatum returns an F32 or F64.
func FloatDatum(k Kind, f float64) Datum { return Datum{Kind: k, F: f} }

// StringDatum returns a Bytes value.
func StringDatum(s string) Datum { return Datum{Kind: Bytes, S: s} }

// Int128Datum returns an I128.
func Int128Datum(x Int128) Datum { return Datum{Kind: I128, I: int64(x.Lo), Hi: x.Hi} }

// IntervalDatum returns an interval.
func IntervalDatum(x Interval) Datum {
	return Datum{Kind: KindInterval, I: x.Micros, Hi: int64(x.Months)<<32 | int64(uint32(x.Days))}
}

// Int128 returns the value of an I128 datum.
func (d Datum) Int128() Int128 { return Int128{Lo: uint64(d.I), Hi: d.Hi} }

// Interval returns the value of an interval datum.
func (d Datum) Interval() Interval {
	return Interval{Months: int32(d.Hi >> 32), Days: int32(uint32(d.Hi)), Micros: d.I}
}

// DatumAt reads row i of v in any form. The result does not share v's memory.
func DatumAt(v *Vector, i int) Datum {
	if v.IsNull(i) {
		return NullDatum(v.Kind)
	}
	switch v.Form {
	case Const:
		i = 0
	case Dict:
		return DatumAt(v.Dict, int(v.Codes()[i]))
	}
	switch v.Kind {
	case Bool:
		return Datum{Kind: Bool, I: int64(Of[uint8](v)[i])}
	case I8:
		return IntDatum(I8, int64(Of[int8](v)[i]))
	case I16:
		return IntDatum(I16, int64(Of[int16](v)[i]))
	case I32:
		return IntDatum(I32, int64(Of[int32](v)[i]))
	case I64:
		return IntDatum(I64, Of[int64](v)[i])
	case I128:
		return Int128Datum(Of[Int128](v)[i])
	case F32:
		return FloatDatum(F32, float64(Of[float32](v)[i]))
	case F64:
		return FloatDatum(F64, Of[float64](v)[i])
	case KindInterval:
		return IntervalDatum(Of[Interval](v)[i])
	case Bytes:
		return StringDatum(string(v.BytesAt(i)))
	}
	panic("vector: datum of kind " + v.Kind.String())
}

// AppendDatum adds d to a flat vector of d's kind. NULL rows of Bytes vectors are empty strings.
func AppendDatum(v *Vector, d Datum) {
	row := v.Len
	switch v.Kind {
	case Bool, I8:
		Append(v, int8(d.I))
	case I16:
		Append(v, int16(d.I))
	case I32:
		Append(v, int32(d.I))
	case I64:
		Append(v, d.I)
	case I128:
		Append(v, d.Int128())
	case F32:
		Append(v, float32(d.F))
	case F64:
		Append(v, d.F)
	case KindInterval:
		Append(v, d.Interval())
	case Bytes:
		v.AppendString(d.S)
	default:
		panic("vector: append to kind " + v.Kind.String())
	}
	if d.Null {
		v.SetNull(row, row+1)
	} else if v.Valid != nil && row < len(v.Valid)*64 {
		v.Valid.Set(row)
	} else if v.Valid != nil {
		v.SetNull(row, row+1)
		v.Valid.Set(row)
	}
}

// SetConst makes v a constant vector of d, keeping its memory.
func (v *Vector) SetConst(d Datum) {
	if d.Kind == Bytes {
		v.Reset(Bytes, 1)
	} else {
		v.Reset(d.Kind, 1)
		v.Len = 0
		v.data = v.data[:0]
	}
	AppendDatum(v, d)
	v.Form = Const
}

// ConstOf returns a new constant vector.
func ConstOf(d Datum) *Vector {
	v := &Vector{}
	v.SetConst(d)
	return v
}

// OrderKey maps a float to an integer that orders as PostgreSQL orders floats: NaN greatest,
// −0 equal to 0.
func OrderKey(f float64) int64 {
	if f != f {
		return math.MaxInt64
	}
	if f == 0 {
		f = 0 // −0 and 0 are one value
	}
	bits := int64(math.Float64bits(f + 0))
	if bits < 0 {
		return math.MinInt64 - bits
	}
	return bits
}

// ViewString views s as bytes without copying; they must not be changed.
func ViewString(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// StringOf views b as a string without copying; b must not change while the string is used.
func StringOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
