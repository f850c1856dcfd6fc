package join

import (
	"math"
	"math/bits"

	"github.com/weftdb/weft/vector"
)

// Filter tells of values whether they can be among a finished table's values of one key. It errs
// on one side only: a value that is among them is never refused. It is immutable.
type Filter struct {
	kind      vector.Kind
	low, high int64         // of integer keys
	set       vector.Bitmap // integers by distance from low; nil = bloom
	bloom     []uint64
	shift     uint
}

// A filter's exact set takes a bit per value of the key's range. Up to 1 MB it is made whatever the
// number of rows: testing a bit takes a quarter of the time of hashing. Blooms take 16 bits a key:
// about one in a hundred values passes wrongly.
const (
	filterBits    = 1 << 23
	filterPerRow  = 64
	bloomPerWord  = 4
	largestFilter = 1 << 25 // rows from which probing the filter costs as much as the table
)

// KeyFilter makes the filter of key i over all build rows, those on disk included; nil when it would not
// be worth its cost, or there is no memory for it. The caller sees to it that the key's equality is that of the values' bytes. Errors
// are those of reading temporary files.
func (t *Table) KeyFilter(i int) (*Filter, error) {
	rows := t.allRows()
	if rows > largestFilter || t.spec.Keys[i].NullSafe {
		return nil, nil
	}
	f := &Filter{kind: t.spec.Keys[i].Kind, low: 1}
	switch {
	case integerKind(f.kind):
		if err := f.bound(t, i); err != nil {
			return nil, err
		}
		if f.low > f.high {
			f.low, f.high = 1, 0
			f.set = vector.NewBitmap(1)
			return f, nil
		}
		span := uint64(f.high) - uint64(f.low)
		if span < filterBits || span/filterPerRow <= uint64(rows) {
			if t.spec.Memory != nil && t.spec.Memory.Grow(int64(span/8)) != nil {
				return nil, nil
			}
			f.set = vector.NewBitmap(int(span) + 2)
			return f, f.enter(t, i, func(_ []uint64, i uint16, b *vector.Vector) {
				f.set.Set(int(uint64(intAt(b, int(i))) - uint64(f.low)))
			})
		}
	case f.kind != vector.Bytes:
		return nil, nil
	}
	words := 64
	for int64(words)*bloomPerWord < rows {
		words *= 2
	}
	if t.spec.Memory != nil && t.spec.Memory.Grow(int64(8*words)) != nil {
		return nil, nil
	}
	f.bloom, f.shift = make([]uint64, words), uint(64-bits.Len(uint(words-1)))
	return f, f.enter(t, i, func(hashes []uint64, i uint16, _ *vector.Vector) {
		f.bloom[hashes[i]>>f.shift] |= bloomMask(hashes[i])
	})
}

// bound sets low and high to the bounds of key i, low > high where it has no values.
func (f *Filter) bound(t *Table, i int) error {
	f.low, f.high = math.MaxInt64, math.MinInt64
	return t.keyBlocks(i, func(block *vector.Vector, _ int) {
		low, high := columnRange(block)
		f.low, f.high = min(f.low, low), max(f.high, high)
	})
}

// enter calls add for each valid row of key i, with the hashes of its block.
func (f *Filter) enter(t *Table, i int, add func(hashes []uint64, i uint16, block *vector.Vector)) error {
	var hashes [BlockRows]uint64
	return t.keyBlocks(i, func(block *vector.Vector, n int) {
		if f.set == nil {
			vector.Hash(hashes[:], block, n, nil, false)
		}
		for i := range n {
			if !block.IsNull(i) {
				add(hashes[:], uint16(i), block)
			}
		}
	})
}

// keyBlocks calls visit with the values of key i of all build rows, block by block.
func (t *Table) keyBlocks(i int, visit func(block *vector.Vector, n int)) error {
	var block vector.Vector
	for from := 0; from < t.rows; from += BlockRows {
		n := min(BlockRows, t.rows-from)
		vector.Slice(&block, t.store.Column(i), from, n)
		visit(&block, n)
	}
	if !t.Spilled() {
		return nil
	}
	for p, probe := range t.spill.probe {
		if probe == nil {
			continue // in memory
		}
		r := t.spill.build[p].NewReader()
		for {
			vecs, n, err := r.Next()
			if err != nil {
				return err
			}
			if n == 0 {
				break
			}
			visit(vecs[i], n)
		}
	}
	return nil
}

func intAt(v *vector.Vector, i int) int64 {
	switch v.Kind {
	case vector.Bool:
		return int64(vector.Of[uint8](v)[i])
	case vector.I8:
		return int64(vector.Of[int8](v)[i])
	case vector.I16:
		return int64(vector.Of[int16](v)[i])
	case vector.I32:
		return int64(vector.Of[int32](v)[i])
	}
	return vector.Of[int64](v)[i]
}

// bloomMask selects three bits of a word by hash bits that do not choose the word.
func bloomMask(h uint64) uint64 { return 1<<(h&63) | 1<<(h>>6&63) | 1<<(h>>12&63) }

// FilterProbe applies a filter to batches. It belongs to one worker.
type FilterProbe struct {
	filter *Filter
	hashes [BlockRows]uint64
	flat   vector.Vector
	dict   *vector.Vector // the dictionary that flags speaks of
	flags  []uint8
}

// Probe returns a probe of the filter.
func (f *Filter) Probe() *FilterProbe { return &FilterProbe{filter: f} }

// Filter returns the filter probed.
func (p *FilterProbe) Filter() *Filter { return p.filter }

// Select keeps the rows of in (nil = n rows) whose value may pass; NULL does not. The result is in
// out's memory when that is large enough; out may be in.
func (p *FilterProbe) Select(v *vector.Vector, n int, in, out vector.Sel) vector.Sel {
	f := p.filter
	if cap(out) < n {
		out = make(vector.Sel, n, max(n, vector.BatchCap))
	}
	if v.Form == vector.Dict && v.Dict.Len <= maxWords {
		if p.dict != v.Dict {
			p.test(v.Dict)
		}
		out = vector.SelectCodes(p.flags, v.Codes(), n, in, out[:n])
		if v.Valid != nil {
			out = vector.SelectValid(v.Valid, n, out, out)
		}
		return out
	}
	if v.Form != vector.Flat {
		v = vector.Flatten(&p.flat, v, n)
	}
	if v.Valid != nil {
		in = vector.SelectValid(v.Valid, n, in, out[:n])
	}
	if in == nil {
		in = allRows[:n]
	}
	out = out[:len(in)]
	if f.set == nil {
		return p.selectBloom(v, n, in, out)
	}
	switch v.Kind {
	case vector.Bool:
		return selectSet(f, vector.Of[uint8](v), in, out)
	case vector.I8:
		return selectSet(f, vector.Of[int8](v), in, out)
	case vector.I16:
		return selectSet(f, vector.Of[int16](v), in, out)
	case vector.I32:
		return selectSet(f, vector.Of[int32](v), in, out)
	}
	return selectSet(f, vector.Of[int64](v), in, out)
}

func selectSet[T uint8 | int8 | int16 | int32 | int64](f *Filter, v []T, in, out vector.Sel) vector.Sel {
	low, beyond, k := uint64(f.low), uint64(f.high)-uint64(f.low)+1, 0
	set := f.set
	for _, i := range in {
		at := min(uint64(int64(v[i]))-low, beyond) // bit beyond is never set
		out[k] = i
		k += int(set[at>>6] >> (at & 63) & 1)
	}
	return out[:k]
}

func (p *FilterProbe) selectBloom(v *vector.Vector, n int, in, out vector.Sel) vector.Sel {
	f, sel := p.filter, in
	if len(in) == n {
		sel = nil
	}
	vector.Hash(p.hashes[:], v, n, sel, false)
	k := 0
	for _, i := range in {
		h := p.hashes[i&(BlockRows-1)]
		mask := bloomMask(h)
		out[k] = i
		k += b2i(f.bloom[h>>f.shift]&mask == mask)
	}
	return out[:k]
}

// test applies the filter to a dictionary's values.
func (p *FilterProbe) test(dict *vector.Vector) {
	p.dict = dict
	if cap(p.flags) < dict.Len {
		p.flags = make([]uint8, max(dict.Len, 1))
	}
	p.flags = p.flags[:max(dict.Len, 1)]
	f := p.filter
	for i := range dict.Len {
		if f.set != nil {
			at := min(uint64(intAt(dict, i))-uint64(f.low), uint64(f.high)-uint64(f.low)+1)
			p.flags[i] = uint8(f.set[at>>6] >> (at & 63) & 1)
			continue
		}
		h := vector.HashRow(dict, i)
		mask := bloomMask(h)
		p.flags[i] = uint8(b2i(f.bloom[h>>f.shift]&mask == mask))
	}
}
