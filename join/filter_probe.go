package join

import "github.com/weftdb/weft/vector"

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

// Select keeps the rows of in (nil = n rows) whose values, one vector per key, may pass; NULL does not. The
// result is in out's memory when that is large enough; out may be in.
func (p *FilterProbe) Select(keys []*vector.Vector, n int, in, out vector.Sel) vector.Sel {
	f := p.filter
	if cap(out) < n {
		out = make(vector.Sel, n, max(n, vector.BatchCap))
	}
	if len(keys) > 1 {
		return p.selectRows(keys, n, in, out)
	}
	v := keys[0]
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
		vector.Hash(p.hashes[:], v, n, whole(in, n), false)
		return p.selectBloom(in, out)
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
	low, beyond, k := uint64(f.keys[0].low), uint64(f.keys[0].high)-uint64(f.keys[0].low)+1, 0
	set := f.set
	for _, i := range in {
		at := min(uint64(int64(v[i]))-low, beyond) // bit beyond is never set
		out[k] = i
		k += int(set[at>>6] >> (at & 63) & 1)
	}
	return out[:k]
}

// whole is in, or nil for all n rows.
func whole(in vector.Sel, n int) vector.Sel {
	if len(in) == n {
		return nil
	}
	return in
}

// selectRows is Select for several keys.
func (p *FilterProbe) selectRows(keys []*vector.Vector, n int, in, out vector.Sel) vector.Sel {
	for _, v := range keys {
		switch {
		case v.Valid == nil:
		case v.Form != vector.Const:
			in = vector.SelectValid(v.Valid, n, in, out[:n])
		case v.IsNull(0):
			return out[:0]
		}
	}
	if in == nil {
		in = allRows[:n]
	}
	for i, v := range keys {
		vector.Hash(p.hashes[:], v, n, whole(in, n), i > 0)
	}
	return p.selectBloom(in, out[:len(in)])
}

// selectBloom keeps the rows of in whose hashes may be in the Bloom filter.
func (p *FilterProbe) selectBloom(in, out vector.Sel) vector.Sel {
	bloom, shift, k := p.filter.bloom, p.filter.shift, 0
	for _, i := range in {
		h := p.hashes[i&(BlockRows-1)]
		mask := bloomMask(h)
		out[k] = i
		k += b2i(bloom[h>>shift]&mask == mask)
	}
	return out[:k]
}

// test applies the filter to a dictionary's values.
func (p *FilterProbe) test(dict *vector.Vector) {
	p.dict = dict
	codes := max(dict.Len, 1) // without values, all rows are NULL and have code 0
	if cap(p.flags) < codes {
		p.flags = make([]uint8, codes)
	}
	p.flags = p.flags[:codes]
	f := p.filter
	for i := range dict.Len {
		if f.set != nil {
			at := min(uint64(intAt(dict, i))-uint64(f.keys[0].low), uint64(f.keys[0].high)-uint64(f.keys[0].low)+1)
			p.flags[i] = uint8(f.set[at>>6] >> (at & 63) & 1)
			continue
		}
		h := vector.HashRow(dict, i)
		mask := bloomMask(h)
		p.flags[i] = uint8(b2i(f.bloom[h>>f.shift]&mask == mask))
	}
}
