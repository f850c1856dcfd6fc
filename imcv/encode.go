package imcv

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector"
)

// unitBuilder collects one column of a row group in position order.
type unitBuilder struct {
	kind   vector.Kind
	values *vector.Vector // index = position; holes are zero values
	nulls  int
	rows   int // rows added
	// unordered values cannot be compared by their representation: numerics in byte form.
	unordered bool
}

func newUnitBuilder(t catalog.Type) *unitBuilder {
	kind := t.Kind()
	return &unitBuilder{kind: kind, values: vector.New(kind, 0), unordered: t.ID == catalog.Numeric && kind == vector.Bytes}
}

// add appends the rows of v, whose positions are given in ascending order.
func (b *unitBuilder) add(v *vector.Vector, positions []int) {
	for i, at := range positions {
		b.pad(at)
		if v.IsNull(i) {
			b.nulls++
			vector.AppendDatum(b.values, vector.NullDatum(b.kind))
			continue
		}
		b.append(v, i)
	}
	b.rows += len(positions)
}

// append adds row i of v without boxing it.
func (b *unitBuilder) append(v *vector.Vector, i int) {
	for v.Form != vector.Flat {
		if v.Form == vector.Dict {
			i, v = int(v.Codes()[i]), v.Dict
			continue
		}
		i = 0
		break
	}
	at := b.values.Len
	switch b.kind {
	case vector.Bool, vector.I8:
		vector.Append(b.values, vector.Of[uint8](v)[i])
	case vector.I16:
		vector.Append(b.values, vector.Of[int16](v)[i])
	case vector.I32:
		vector.Append(b.values, vector.Of[int32](v)[i])
	case vector.I64:
		vector.Append(b.values, vector.Of[int64](v)[i])
	case vector.I128:
		vector.Append(b.values, vector.Of[vector.Int128](v)[i])
	case vector.F32:
		vector.Append(b.values, vector.Of[float32](v)[i])
	case vector.F64:
		vector.Append(b.values, vector.Of[float64](v)[i])
	case vector.KindInterval:
		vector.Append(b.values, vector.Of[vector.Interval](v)[i])
	case vector.Bytes:
		b.values.AppendBytes(v.BytesAt(i))
	}
	if b.values.Valid != nil {
		b.values.SetNull(at, at+1) // grows the bitmap
		b.values.Valid.Set(at)
	}
}

// pad fills positions without rows, which nobody reads, up to at.
func (b *unitBuilder) pad(at int) {
	for b.values.Len < at {
		vector.AppendDatum(b.values, vector.Datum{Kind: b.kind})
	}
}

// finish chooses an encoding by measuring the values and returns the unit. present tells which positions
// hold rows.
func (b *unitBuilder) finish(present vector.Bitmap) *unit {
	n := b.values.Len
	u := &unit{kind: b.kind, rows: n}
	set := vector.NewBitmap(n) // rows with a value
	copy(set, present)
	if b.nulls > 0 {
		u.valid = append(vector.Bitmap(nil), b.values.Valid.Grow(n)...)
		for i := range set {
			set[i] &= u.valid[i]
		}
	}
	null := vector.NullDatum(b.kind)
	u.zone = Zone{Min: null, Max: null, Nulls: b.nulls, Rows: b.rows}
	if b.nulls == b.rows {
		u.values = &constant{null}
		return u
	}
	switch b.kind {
	case vector.Bool, vector.I8, vector.I16, vector.I32, vector.I64:
		b.finishIntegers(u, set)
	case vector.Bytes:
		b.finishStrings(u, set)
	default:
		u.zone.Min, u.zone.Max = bounds(b.values, set)
		u.values = b.fixedValues(set)
	}
	if !b.unordered {
		u.bloom = makeBloom(u, b.values, set)
	}
	return u
}

func (b *unitBuilder) finishIntegers(u *unit, set vector.Bitmap) {
	x := b.integers()
	facts := survey(x, set)
	u.zone.Min, u.zone.Max = vector.IntDatum(b.kind, facts.min), vector.IntDatum(b.kind, facts.max)
	s := packInts(x, set, facts, b.kind.Width())
	// A dictionary of half the width or less: few values that lie far apart.
	if s.width >= 4 && s.starts == nil && (b.kind == vector.I32 || b.kind == vector.I64) {
		if d := numberDictionary(b.values, set); d != nil && 2*d.sizeBytes() <= s.sizeBytes() {
			u.values = d
			return
		}
	}
	u.values = &integers{b.kind, s}
}

// integers copies the values of an integer kind.
func (b *unitBuilder) integers() []int64 {
	x := make([]int64, b.values.Len)
	switch b.kind.Width() {
	case 1:
		copyIntegers(x, vector.Of[int8](b.values))
	case 2:
		copyIntegers(x, vector.Of[int16](b.values))
	case 4:
		copyIntegers(x, vector.Of[int32](b.values))
	default:
		copy(x, vector.Of[int64](b.values))
	}
	return x
}

func copyIntegers[T integer](dst []int64, src []T) {
	for i := range dst {
		dst[i] = int64(src[i])
	}
}

// finishStrings chooses between a dictionary, symbols and the strings as they are. Where strings repeat
// often a dictionary wins at once: it is the fastest to read.
func (b *unitBuilder) finishStrings(u *unit, set vector.Bitmap) {
	if !b.unordered {
		u.zone.Min, u.zone.Max = bounds(b.values, set)
	}
	d := findRepeated(b.values, set, dictionaryLimit(b.rows-b.nulls))
	switch {
	case d != nil && len(d.distinct) == 1 && !b.unordered:
		u.values = &constant{vector.StringDatum(d.distinct[0])}
		return
	case d != nil && 8*len(d.distinct) <= b.rows:
		u.values = d.dictionary(set)
		return
	}
	if s := encodeSymbols(b.values); s != nil && (d == nil || s.sizeBytes() < d.sizeBytes()) {
		u.values = s
	} else if d != nil {
		u.values = d.dictionary(set)
	} else {
		u.values = &plainStrings{append([]int32(nil), b.values.Offsets()...), append([]byte(nil), b.values.Heap()...)}
	}
}

// fixedValues encodes floats, 128-bit integers and intervals.
func (b *unitBuilder) fixedValues(set vector.Bitmap) values {
	v, n := b.values, b.values.Len
	plain := n * b.kind.Width()
	if s := b.asIntegers(set); s != nil && 4*s.sizeBytes() <= 3*plain {
		return s
	}
	if d := numberDictionary(v, set); d != nil && 2*d.sizeBytes() <= plain {
		return d
	}
	x := &fixed{b.kind, alignedBytes(plain)}
	copy(x.data, vector.Of[uint8](v))
	return x
}

// asIntegers stores values that stand for whole numbers as such; nil if some do not.
func (b *unitBuilder) asIntegers(set vector.Bitmap) values {
	v, n := b.values, b.values.Len
	switch b.kind {
	case vector.I128:
		x := make([]int64, n)
		for i, value := range vector.Of[vector.Int128](v) {
			if x[i] = int64(value.Lo); set.Get(i) && value.Hi != x[i]>>63 {
				return nil
			}
		}
		return &narrow{packInts(x, set, survey(x, set), 8)}
	case vector.F32, vector.F64:
		get := func(i int) float64 { return vector.Of[float64](v)[i] }
		if b.kind == vector.F32 {
			get = func(i int) float64 { return float64(vector.Of[float32](v)[i]) }
		}
		if x, divisor := scaleFloats(b.kind, n, set, get); x != nil {
			return &scaled{b.kind, divisor, packInts(x, set, survey(x, set), 8)}
		}
	}
	return nil
}

// bounds returns the smallest and the largest of the values whose bits are set.
func bounds(v *vector.Vector, set vector.Bitmap) (low, high vector.Datum) {
	lo, hi := -1, -1
	for i := range v.Len {
		switch {
		case !set.Get(i):
		case lo < 0:
			lo, hi = i, i
		case vector.CompareRows(v, i, v, lo) < 0:
			lo = i
		case vector.CompareRows(v, i, v, hi) > 0:
			hi = i
		}
	}
	return vector.DatumAt(v, lo), vector.DatumAt(v, hi)
}
