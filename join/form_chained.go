package join

import (
	"math/bits"

	"github.com/weftdb/weft/vector"
)

// chained is an unchained hash table for keys that do not pack: the candidates of a bucket lie
// side by side in Table.entries. A directory word holds the end of its bucket in entries (48 bits)
// and, above, a Bloom filter of 16 bits over the hashes in the bucket, so that most misses end at
// the directory. An entry holds the row (low half) and 32 bits of hash.
type chained struct {
	directory []uint64 // word 0 belongs to no bucket: bucket i ends at word i+1, and starts at word i
	shift     uint
}

const endMask = 1<<48 - 1

// tagOf selects two of the 16 tag bits from hash bits that neither directory nor entry uses much.
func tagOf(h uint64) uint64 {
	return 1<<(48+(h>>32&15)) | 1<<(48+(h>>36&15))
}

func (t *Table) buildChained(f *Finisher, parts int) error {
	size := 8
	for size < t.rows {
		size *= 2
	}
	if err := t.grow(int64(size)*8 + int64(t.rows)*16); err != nil {
		return err
	}
	b := &chainBuild{t: t, f: f, hashes: make([]uint64, t.rows), starts: make([]uint64, parts),
		form: &chained{directory: make([]uint64, size+1), shift: uint(64 - bits.Len(uint(size-1)))}}
	t.form = b.form
	step := (t.rows/parts + BlockRows) &^ (BlockRows - 1)
	err := f.run(parts, func(part int) error {
		return b.hashRows(min(part*step, t.rows), min((part+1)*step, t.rows))
	})
	if err != nil {
		return err
	}
	if err := f.run(parts, b.count); err != nil {
		return err
	}
	total := uint64(0)
	for part, n := range b.starts {
		b.starts[part] = total
		total += n
	}
	t.entries = make([]uint64, total)
	return f.run(parts, b.fill)
}

// chainBuild is the state of building a chained table. A part has the buckets of a stretch of the
// directory.
type chainBuild struct {
	t      *Table
	f      *Finisher
	form   *chained
	hashes []uint64
	starts []uint64 // per part: its number of entries, then where they start
}

// noHash marks rows with a NULL key that is not null-safe.
const noHash = 0

// buckets returns the part's stretch of the directory.
func (b *chainBuild) buckets(part int) (from, to uint64) {
	size := uint64(len(b.form.directory) - 1)
	parts := uint64(len(b.starts))
	return size * uint64(part) / parts, size * uint64(part+1) / parts
}

// rows calls visit for every row of the part, from the first or from the last.
func (b *chainBuild) rows(part int, backwards bool, visit func(row int, h, bucket uint64)) error {
	from, to := b.buckets(part)
	for k := range b.hashes {
		row := k
		if backwards {
			row = len(b.hashes) - 1 - k
		}
		h := b.hashes[row]
		bucket := h >> b.form.shift
		if bucket-from < to-from && (h != noHash || !b.hasNull(row)) {
			visit(row, h, bucket)
		}
		if k&(1<<16-1) == 0 && b.f.Check != nil {
			if err := b.f.Check(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *chainBuild) count(part int) error {
	directory, n := b.form.directory, uint64(0)
	err := b.rows(part, false, func(_ int, h, bucket uint64) {
		directory[bucket+1] = (directory[bucket+1] + 1) | tagOf(h)
		n++
	})
	b.starts[part] = n
	return err
}

// fill turns the counts into ends and enters rows. Ends serve as cursors that move down to the
// starts, so they are kept aside and restored.
func (b *chainBuild) fill(part int) error {
	directory, entries := b.form.directory, b.t.entries
	from, to := b.buckets(part)
	cursor := make([]uint64, to-from)
	end := b.starts[part]
	for i := from; i < to; i++ {
		end += directory[i+1] & endMask
		directory[i+1] = directory[i+1]&^endMask | end
		cursor[i-from] = end
	}
	return b.rows(part, true, func(row int, h, bucket uint64) {
		at := &cursor[bucket-from]
		*at--
		entries[*at] = h<<32 | uint64(row)
	})
}

// hashRows hashes the keys of rows from to to−1; from is a multiple of the block's size.
func (b *chainBuild) hashRows(from, to int) error {
	t := b.t
	vecs := NewBlock(len(t.spec.Keys))
	for ; from < to; from += BlockRows {
		n := min(BlockRows, to-from)
		hashes := b.hashes[from : from+n]
		for i, v := range vecs {
			vector.Slice(v, t.store.Column(i), from, n)
			vector.Hash(hashes, v, n, nil, i > 0)
		}
		for i, v := range vecs {
			if v.Valid == nil || t.spec.Keys[i].NullSafe {
				continue
			}
			for k := range hashes {
				if !v.Valid.Get(k) {
					hashes[k] = noHash
				}
			}
		}
		if b.f.Check != nil && from&(64*BlockRows-1) == 0 {
			if err := b.f.Check(); err != nil {
				return err
			}
		}
	}
	return nil
}

// hasNull tells rows marked with noHash from those that happen to hash to it.
func (b *chainBuild) hasNull(row int) bool {
	for i, k := range b.t.spec.Keys {
		if !k.NullSafe && b.t.store.Column(i).IsNull(row) {
			return true
		}
	}
	return false
}

func (f *chained) name() string { return "unchained" }

// find delivers buckets whose tag matches: their entries are candidates.
func (f *chained) find(p *Prober) {
	in := p.in
	if in == nil {
		in = allRows[:p.n]
	}
	home := p.home[:len(in)]
	for k, i := range in {
		home[k] = uint32(p.codes[i&(BlockRows-1)] >> f.shift)
	}
	directory, k := f.directory, 0
	for j, i := range in {
		from, bucket := directory[home[j]], directory[home[j]+1]
		tag := tagOf(p.codes[i&(BlockRows-1)])
		p.rowBuf[k&(BlockRows-1)] = i
		p.first[k&(BlockRows-1)] = uint32(from & endMask)
		p.count[k&(BlockRows-1)] = uint32(bucket&endMask) - uint32(from&endMask)
		k += b2i(bucket&tag == tag)
	}
	p.rows = p.rowBuf[:k]
}
