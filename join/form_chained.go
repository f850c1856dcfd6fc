package join

import (
	"math/bits"

	"github.com/weftdb/weft/vector"
)

// chained is an unchained hash table for keys that do not pack: the candidates of a bucket lie
// side by side in entries. A directory word holds the end of its bucket in entries (48 bits) and,
// above, a Bloom filter of 16 bits over the hashes in the bucket, so that most misses end at the
// directory. An entry holds the row (low half) and 32 bits of hash.
type chained struct {
	directory []uint64 // entry 0 belongs to no bucket: the start of bucket i is directory[i]'s end
	entries   []uint64
	shift     uint
}

const endMask = 1<<48 - 1

// tagOf selects two of the 16 tag bits from hash bits that neither directory nor entry uses much.
func tagOf(h uint64) uint64 {
	return 1<<(48+(h>>32&15)) | 1<<(48+(h>>36&15))
}

func (b *indexing) chained() error {
	t := b.t
	size := 8
	for size < t.rows {
		size *= 2
	}
	if err := t.grow(int64(size)*8 + int64(t.rows)*16); err != nil {
		return err
	}
	f := &chained{directory: make([]uint64, size+1), shift: uint(64 - bits.Len(uint(size-1)))}
	t.form = f
	hashes := make([]uint64, t.rows)
	if err := b.hashRows(hashes); err != nil {
		return err
	}
	dropped := 0
	for row, h := range hashes {
		if h == noHash && b.hasNull(row) {
			dropped++
			continue
		}
		at := &f.directory[h>>f.shift+1]
		*at = (*at + 1) | tagOf(h)
	}
	end := uint64(0)
	for i := range f.directory {
		end += f.directory[i] & endMask
		f.directory[i] = f.directory[i]&^endMask | end
	}
	f.entries = make([]uint64, t.rows-dropped)
	// Filling backwards moves each end to its bucket's start; the ends come back by moving every
	// word down by one bucket.
	for row := len(hashes) - 1; row >= 0; row-- {
		h := hashes[row]
		if h == noHash && b.hasNull(row) {
			continue
		}
		at := &f.directory[h>>f.shift+1]
		*at--
		f.entries[*at&endMask] = h<<32 | uint64(row)
	}
	for i := 0; i+1 < len(f.directory); i++ {
		f.directory[i] = f.directory[i]&^endMask | f.directory[i+1]&endMask
	}
	f.directory[size] = f.directory[size]&^endMask | uint64(len(f.entries))
	t.entries = f.entries
	return nil
}

// noHash marks rows with a NULL key that is not null-safe.
const noHash = 0

// hashRows hashes the keys of all rows.
func (b *indexing) hashRows(hashes []uint64) error {
	vecs := NewBlock(len(b.t.spec.Keys))
	for from := 0; from < b.t.rows; from += BlockRows {
		n := min(BlockRows, b.t.rows-from)
		for i, v := range vecs {
			vector.Slice(v, b.t.store.Column(i), from, n)
			vector.Hash(hashes[from:from+n], v, n, nil, i > 0)
		}
		for i, v := range vecs {
			if v.Valid == nil || b.t.spec.Keys[i].NullSafe {
				continue
			}
			for k := range n {
				if !v.Valid.Get(k) {
					hashes[from+k] = noHash
				}
			}
		}
		if b.check != nil && from&(64*BlockRows-1) == 0 {
			if err := b.check(); err != nil {
				return err
			}
		}
	}
	return nil
}

// hasNull tells rows marked with noHash from those that happen to hash to it.
func (b *indexing) hasNull(row int) bool {
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
