package join

import (
	"math/bits"

	"github.com/weftdb/weft/vector"
)

// KeyFigures tell how a finished table's rows divide among its keys, for EXPLAIN ANALYZE. Rows that can match
// nothing do not count.
type KeyFigures struct {
	Keys int64
	// Most is how many rows the key with the most has; 0 = not known, because the table keeps keys only.
	Most int64

	row uint32 // one of that key's
}

// KeyFigures looks through the index of the rows in memory.
func (t *Table) KeyFigures() (f KeyFigures) {
	t.form.keys(t, func(row uint32, rows int64) {
		f.Keys++
		if rows > f.Most {
			f.Most, f.row = rows, row
		}
	})
	return f
}

// HeaviestKey returns the hash of the key that has at least half of the rows in memory; false where there is
// none, or it is not known.
func (t *Table) HeaviestKey() (hash uint64, ok bool) {
	f := t.KeyFigures()
	if f.Most == 0 || 2*f.Most < int64(t.rows) {
		return 0, false
	}
	var hashes [1]uint64
	vecs := NewBlock(len(t.spec.Keys))
	for i, v := range vecs {
		vector.Slice(v, t.store.Column(i), int(f.row), 1)
		vector.Hash(hashes[:], v, 1, nil, i > 0)
	}
	return hashes[0], true
}

func (f *directSet) keys(_ *Table, visit func(row uint32, rows int64)) {
	for _, word := range f.bits {
		for range bits.OnesCount64(word) {
			visit(0, 0)
		}
	}
}

func (f *directUnique) keys(_ *Table, visit func(row uint32, rows int64)) {
	for _, head := range f.heads {
		if head != 0 {
			visit(head-1, 1)
		}
	}
}

func (f *directRanges) keys(t *Table, visit func(row uint32, rows int64)) {
	for k := range f.span {
		if from, to := f.starts[k], f.starts[k+1]; from != to {
			visit(t.adjacent[from], int64(to-from))
		}
	}
}

func (f *inlineTable) keys(t *Table, visit func(row uint32, rows int64)) {
	for _, s := range f.slots {
		if s.value == 0 {
			continue
		}
		row := uint32(s.value)
		if f.ranges {
			row = t.adjacent[row]
		}
		visit(row, int64(s.value>>32))
	}
}

func (f *payloadTable) keys(_ *Table, visit func(row uint32, rows int64)) {
	row := uint32(0) // slots do not name theirs, and keys are unique
	for _, s := range f.slots {
		if s.key != f.none {
			visit(row, 1)
		}
	}
}

// keys takes entries of a bucket with equal halves of their hashes for one key's: with those bits that choose
// the bucket, they agree in more than 32.
func (f *chained) keys(t *Table, visit func(row uint32, rows int64)) {
	type key struct {
		row  uint32
		half uint64
		rows int64
	}
	var bucket []key
	for i := range len(f.directory) - 1 {
		bucket = bucket[:0]
	entries:
		for _, e := range t.entries[f.directory[i]&endMask : f.directory[i+1]&endMask] {
			for k := range bucket {
				if bucket[k].half == e>>32 {
					bucket[k].rows++
					continue entries
				}
			}
			bucket = append(bucket, key{uint32(e), e >> 32, 1})
		}
		for _, k := range bucket {
			visit(k.row, k.rows)
		}
	}
}

// Size is the memory that a filter's set or Bloom filter takes.
func (f *Filter) Size() int64 { return int64(8 * (len(f.set) + len(f.bloom))) }

// Keys returns the number of different values that the filter was made of; false where it has not counted them.
func (f *Filter) Keys() (n int64, ok bool) {
	switch {
	case f.few != nil:
		return int64(len(f.few)), true
	case f.set == nil:
		return 0, false
	}
	for _, word := range f.set {
		n += int64(bits.OnesCount64(word))
	}
	return n, true
}

// Structure names what the filter tests values with, for EXPLAIN.
func (f *Filter) Structure() string {
	if f.set != nil {
		return "bitmap"
	}
	return "bloom"
}
