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

func (b *indexing) direct() error {
	t, span := b.t, b.t.pack.span
	if t.spec.SetOnly {
		return b.directSet(span)
	}
	if err := t.grow(int64(span) * 4); err != nil {
		return err
	}
	heads := make([]uint32, span+2)
	duplicate := false
	err := b.blocks(func(from, n int, sel vector.Sel) {
		if sel == nil {
			sel = allRows[:n]
		}
		for _, i := range sel {
			k := b.codes[i]
			duplicate = duplicate || heads[k] != 0
			heads[k] = uint32(from+int(i)) + 1
		}
	})
	if err != nil {
		return err
	}
	if !duplicate {
		t.form = &directUnique{heads: heads[:span+1], span: span}
		return nil
	}
	clear(heads)
	return b.directRanges(heads, span)
}

func (b *indexing) directSet(span uint64) error {
	if err := b.t.grow(int64(span) / 8); err != nil {
		return err
	}
	bits := vector.NewBitmap(int(span) + 1)
	b.t.form = &directSet{bits: bits, span: span}
	return b.blocks(func(_, n int, sel vector.Sel) {
		if sel == nil {
			sel = allRows[:n]
		}
		for _, i := range sel {
			k := b.codes[i]
			bits[k>>6] |= 1 << (k & 63)
		}
	})
}

// directRanges counts the rows of each key, turns counts into ends, and fills backwards, which
// leaves the starts and keeps the rows of a key in build order.
func (b *indexing) directRanges(starts []uint32, span uint64) error {
	t := b.t
	if err := t.grow(int64(t.rows) * 4); err != nil {
		return err
	}
	err := b.blocks(func(_, n int, sel vector.Sel) {
		if sel == nil {
			sel = allRows[:n]
		}
		for _, i := range sel {
			starts[b.codes[i]]++
		}
	})
	if err != nil {
		return err
	}
	total := uint32(0)
	for k := range starts {
		if starts[k] != 0 {
			t.distinct++
		}
		total += starts[k]
		starts[k] = total
	}
	rows := make([]uint32, total)
	err = b.blocksBackwards(func(from, n int, sel vector.Sel) {
		if sel == nil {
			sel = allRows[:n]
		}
		for j := len(sel) - 1; j >= 0; j-- {
			k := b.codes[sel[j]]
			starts[k]--
			rows[starts[k]] = uint32(from + int(sel[j]))
		}
	})
	t.form, t.adjacent = &directRanges{starts: starts, span: span}, rows
	return err
}

// blocksBackwards is blocks from the last block to the first.
func (b *indexing) blocksBackwards(visit func(from, n int, sel vector.Sel)) error {
	t := b.t
	for from := (t.rows - 1) &^ (BlockRows - 1); from >= 0; from -= BlockRows {
		n := min(BlockRows, t.rows-from)
		for i := range b.vecs {
			vector.Slice(b.vecs[i], t.store.Column(i), from, n)
		}
		visit(from, n, t.pack.rows(b.codes[:], b.vecs, n, nil, b.sel[:]))
		if b.check != nil && from&(64*BlockRows-1) == 0 {
			if err := b.check(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *directSet) name() string    { return "direct set" }
func (f *directUnique) name() string { return "direct array" }
func (f *directRanges) name() string { return "direct ranges" }

func (f *directSet) find(p *Prober) {
	out, k := p.rowBuf[:], 0
	if p.in == nil {
		for i, code := range p.codes[:p.n] {
			code = min(code, f.span)
			out[k&(BlockRows-1)] = uint16(i)
			k += int(f.bits[code>>6] >> (code & 63) & 1)
		}
	} else {
		for _, i := range p.in {
			code := min(p.codes[i], f.span)
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
