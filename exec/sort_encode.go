package exec

import (
	"math"

	"github.com/weftdb/weft/vector"
)

// sortItem is a row on its way to its place: one word of its keys, and its number.
type sortItem struct {
	key uint64
	row uint32
}

// encode sets the keys of items to word number level.
func (w *sortWords) encode(items []sortItem, level int) {
	for i := range items {
		items[i].key = 0
	}
	for i := range w.words[level] {
		w.words[level][i].encode(items)
	}
}

// encode adds the field to the items' keys; a dispatch table.
func (p *sortPart) encode(items []sortItem) {
	switch p.what {
	case partNull:
		for i := range items {
			code := p.above
			if p.v.IsNull(int(items[i].row)) {
				code = p.null
			}
			items[i].key |= code << p.shift
		}
	case partRank:
		codes := p.v.Codes()
		p.each(items, func(row uint32) uint64 { return uint64(p.ranks[codes[row]]) })
	case partWide:
		p.each(items, func(row uint32) uint64 { return wideAt(p.v, int(row)).Lo - uint64(p.low) })
	case partHigh:
		p.each(items, func(row uint32) uint64 { return uint64(wideAt(p.v, int(row)).Hi) - uint64(p.low) })
	case partLow:
		p.each(items, func(row uint32) uint64 { return wideAt(p.v, int(row)).Lo })
	case partBytes:
		p.each(items, p.someBytes)
	case partLength:
		p.each(items, func(row uint32) uint64 { return uint64(len(p.v.BytesAt(int(row)))) })
	default:
		p.encodeValues(items)
	}
}

// each adds a field whose codes are costly enough to compute that a call per row does not matter.
func (p *sortPart) each(items []sortItem, code func(row uint32) uint64) {
	for i := range items {
		c := p.null
		if row := items[i].row; !p.v.IsNull(int(row)) {
			if c = code(row); p.desc {
				c = p.span - c
			}
			c += p.above
		}
		items[i].key |= c << p.shift
	}
}

// someBytes returns the field's bytes, high byte first, zeros behind the string's end.
func (p *sortPart) someBytes(row uint32) uint64 {
	b := p.v.BytesAt(int(row))
	b = b[min(p.at, len(b)):]
	code := uint64(0)
	for k := range min(int(p.length), len(b)) {
		code |= uint64(b[k]) << (8 * (p.length - 1 - uint(k)))
	}
	return code
}

func (p *sortPart) encodeValues(items []sortItem) {
	switch p.v.Kind {
	case vector.Bool:
		encodeInts(p, items, vector.Of[uint8](p.v))
	case vector.I8:
		encodeInts(p, items, vector.Of[int8](p.v))
	case vector.I16:
		encodeInts(p, items, vector.Of[int16](p.v))
	case vector.I32:
		encodeInts(p, items, vector.Of[int32](p.v))
	case vector.I64:
		encodeInts(p, items, vector.Of[int64](p.v))
	case vector.F32:
		v := vector.Of[float32](p.v)
		p.each(items, func(row uint32) uint64 { return uint64(vector.OrderKey(float64(v[row]))) - uint64(p.low) })
	case vector.F64:
		v := vector.Of[float64](p.v)
		p.each(items, func(row uint32) uint64 { return uint64(vector.OrderKey(v[row])) - uint64(p.low) })
	}
}

func encodeInts[T uint8 | int8 | int16 | int32 | int64](p *sortPart, items []sortItem, v []T) {
	low, valid := uint64(p.low), p.v.Valid
	// A descending code span−(x−low) is (span+low)−x: both directions are one multiplication.
	factor, base := uint64(1), p.above-low
	if p.desc {
		factor, base = ^uint64(0), p.span+low+p.above
	}
	for i := range items {
		row := items[i].row
		code := uint64(int64(v[row]))*factor + base
		if valid != nil && !valid.Get(int(row)) {
			code = p.null
		}
		items[i].key |= code << p.shift
	}
}

// valueRange returns the least and greatest value of an integer vector, of a float vector by
// vector.OrderKey; low > high when all rows are NULL.
func valueRange(v *vector.Vector) (low, high int64) {
	switch v.Kind {
	case vector.Bool:
		return rangeOf(v, vector.Of[uint8](v))
	case vector.I8:
		return rangeOf(v, vector.Of[int8](v))
	case vector.I16:
		return rangeOf(v, vector.Of[int16](v))
	case vector.I32:
		return rangeOf(v, vector.Of[int32](v))
	case vector.I64:
		return rangeOf(v, vector.Of[int64](v))
	}
	low, high = math.MaxInt64, math.MinInt64
	for i := range v.Len {
		if v.IsNull(i) {
			continue
		}
		x := vector.OrderKey(vector.DatumAt(v, i).F)
		low, high = min(low, x), max(high, x)
	}
	return low, high
}

func rangeOf[T uint8 | int8 | int16 | int32 | int64](v *vector.Vector, x []T) (low, high int64) {
	low, high = math.MaxInt64, math.MinInt64
	for i, value := range x[:v.Len] {
		if v.Valid == nil || v.Valid.Get(i) {
			low, high = min(low, int64(value)), max(high, int64(value))
		}
	}
	return low, high
}
