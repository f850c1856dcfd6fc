package join

import "github.com/weftdb/weft/vector"

// A direct table is an array with an entry per packed key. It takes 4 bytes per value of the
// key's range, an inline table 32 to 64 per row, so up to 8 values a row it is the smaller one; a
// small array is used whatever the number of rows.
const (
	directPerRow = 8
	directSmall  = 1 << 16
)

func wantDirect(span uint64, rows int) bool {
	return span != 0 && (span <= directSmall || span <= uint64(rows)*directPerRow)
}

// directSet tells which keys occur.
type directSet struct {
	bits vector.Bitmap // one more bit than the span, never set
	span uint64
}

// directUnique holds row+1 of each key, 0 = none.
type directUnique struct {
	heads []uint32 // one more than the span, always 0
	span  uint64
}

// directRanges holds where key k's rows are in Table.adjacent: starts[k] to starts[k+1].
type directRanges struct {
	starts []uint32 // two more than the span
	span   uint64
}

// directShare returns the keys of part i: a stretch of the span that begins at a multiple of 64,
// the last one with the entries behind the span.
func directShare(span uint64, i, parts int) (from, to uint64) {
	step := (span/uint64(parts) + 63) &^ 63
	from, to = min(step*uint64(i), span), min(step*uint64(i+1), span)
	if i == parts-1 {
		to = span
	}
	return from, to
}

func (t *Table) buildDirect(f *Finisher, parts int) error {
	span := t.pack.span
	if t.spec.SetOnly {
		return t.buildDirectSet(f, parts, span)
	}
	if err := t.grow(int64(span) * 4); err != nil {
		return err
	}
	heads := make([]uint32, span+2)
	duplicate := make([]bool, parts)
	err := f.run(parts, func(part int) error {
		low, high := directShare(span, part, parts)
		r, twice := t.newReader(f), false
		err := r.blocks(func(from int, sel vector.Sel) {
			for _, i := range sel {
				k := r.codes[i]
				if k-low >= high-low {
					continue
				}
				twice = twice || heads[k] != 0
				heads[k] = uint32(from) + uint32(i) + 1
			}
		})
		duplicate[part] = twice
		return err
	})
	if err != nil {
		return err
	}
	for _, d := range duplicate {
		if d {
			return t.buildDirectRanges(f, parts, heads)
		}
	}
	t.form = &directUnique{heads: heads[:span+1], span: span}
	return nil
}

func (t *Table) buildDirectSet(f *Finisher, parts int, span uint64) error {
	if err := t.grow(int64(span) / 8); err != nil {
		return err
	}
	bits := vector.NewBitmap(int(span) + 1)
	t.form = &directSet{bits: bits, span: span}
	return f.run(parts, func(part int) error {
		low, high := directShare(span, part, parts)
		r := t.newReader(f)
		return r.blocks(func(_ int, sel vector.Sel) {
			for _, i := range sel {
				if k := r.codes[i]; k-low < high-low {
					bits[k>>6] |= 1 << (k & 63)
				}
			}
		})
	})
}

// buildDirectRanges counts the rows of each key, turns counts into ends, and fills backwards, which
// leaves the starts and keeps the rows of a key in build order.
func (t *Table) buildDirectRanges(f *Finisher, parts int, starts []uint32) error {
	if err := t.grow(int64(t.rows) * 4); err != nil {
		return err
	}
	span := t.pack.span
	totals := make([]uint32, parts)
	err := f.run(parts, func(part int) error {
		low, high := directShare(span, part, parts)
		clear(starts[low:high])
		r, total := t.newReader(f), uint32(0)
		err := r.blocks(func(_ int, sel vector.Sel) {
			for _, i := range sel {
				if k := r.codes[i]; k-low < high-low {
					starts[k]++
					total++
				}
			}
		})
		totals[part] = total
		return err
	})
	if err != nil {
		return err
	}
	all := uint32(0)
	for part, n := range totals {
		totals[part] = all // where the part's rows begin
		all += n
	}
	rows := make([]uint32, all)
	starts[span], starts[span+1] = all, all
	t.form, t.adjacent = &directRanges{starts: starts, span: span}, rows
	return f.run(parts, func(part int) error {
		low, high := directShare(span, part, parts)
		end := totals[part]
		for k := low; k < high; k++ {
			end += starts[k]
			starts[k] = end
		}
		r := t.newReader(f)
		return r.blocksBackwards(func(from int, sel vector.Sel) {
			for j := len(sel) - 1; j >= 0; j-- {
				if k := r.codes[sel[j]]; k-low < high-low {
					starts[k]--
					rows[starts[k]] = uint32(from) + uint32(sel[j])
				}
			}
		})
	})
}

func (f *directSet) name() string    { return "direct-set" }
func (f *directUnique) name() string { return "direct-array" }
func (f *directRanges) name() string { return "direct-ranges" }

func (f *directSet) find(p *Prober) {
	out, k := &p.rowBuf, 0
	if p.in == nil {
		for i, code := range p.codes[:p.n] {
			code = min(code, f.span)
			out[k&(BlockRows-1)] = uint16(i)
			k += int(f.bits[code>>6] >> (code & 63) & 1)
		}
	} else {
		for _, i := range p.in {
			code := min(p.codes[i&(BlockRows-1)], f.span)
			out[k&(BlockRows-1)] = i
			k += int(f.bits[code>>6] >> (code & 63) & 1)
		}
	}
	p.rows = out[:k]
}

func (f *directUnique) find(p *Prober) {
	out, first, k := &p.rowBuf, &p.first, 0
	heads := f.heads[:f.span+1]
	if p.in == nil {
		for i, code := range p.codes[:p.n] {
			head := heads[min(code, f.span)]
			out[k&(BlockRows-1)] = uint16(i)
			first[k&(BlockRows-1)] = head - 1
			k += b2i(head != 0)
		}
	} else {
		for _, i := range p.in {
			head := heads[min(p.codes[i&(BlockRows-1)], f.span)]
			out[k&(BlockRows-1)] = i
			first[k&(BlockRows-1)] = head - 1
			k += b2i(head != 0)
		}
	}
	p.rows = out[:k]
}

func (f *directRanges) find(p *Prober) {
	out, first, count, k := &p.rowBuf, &p.first, &p.count, 0
	in := p.in
	if in == nil {
		in = allRows[:p.n]
	}
	starts := f.starts[:f.span+2]
	for _, i := range in {
		code := min(p.codes[i&(BlockRows-1)], f.span)
		from, to := starts[code], starts[code+1]
		out[k&(BlockRows-1)] = i
		first[k&(BlockRows-1)], count[k&(BlockRows-1)] = from, to-from
		k += b2i(to != from)
	}
	p.rows = out[:k]
}
