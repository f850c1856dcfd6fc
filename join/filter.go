package join

import (
	"cmp"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/weftdb/weft/vector"
)

// Filter tells of values, or combinations of values, whether they can be among a finished table's of some
// keys. It errs on one side only: what is among them is never refused. It is immutable.
type Filter struct {
	keys  []filterKey
	rows  int64          // build rows with a value in each key
	few   []vector.Datum // all values of a single key, nil = they are many
	set   vector.Bitmap  // a single key's integers by distance from its low; nil = bloom
	bloom []uint64       // over the keys' hash, of all of them together
	shift uint
}

// filterKey is what a filter knows of one key: bounds, if it is of integers, low > high where there is none.
type filterKey struct {
	kind      vector.Kind
	low, high int64
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

// A filter lists up to maxFew values, outside of sets if it finds them in up to maxFewRows rows.
const (
	maxFew     = 64
	maxFewRows = 1 << 14
)

// KeyFilter makes the filter of some keys over all build rows, those on disk included; nil when it would
// not be worth its cost, or there is no memory for it. The caller sees to it that no key is null-safe, and
// that values which are equal are alike on both sides. Errors are those of reading temporary files.
func (t *Table) KeyFilter(keys ...int) (*Filter, error) {
	if t.allRows() > largestFilter {
		return nil, nil
	}
	m := &filterMaker{Filter: &Filter{}, t: t, at: keys}
	for _, i := range keys {
		m.keys = append(m.keys, filterKey{kind: t.spec.Keys[i].Kind, low: math.MaxInt64, high: math.MinInt64})
	}
	if err := m.bound(); err != nil {
		return nil, err
	}
	room, dense := m.plan()
	if t.spec.Memory != nil && t.spec.Memory.Grow(room) != nil {
		return nil, nil
	}
	if dense {
		return m.Filter, m.enterSet()
	}
	return m.Filter, m.enterBloom(int(room / 8))
}

// filterMaker makes a filter.
type filterMaker struct {
	*Filter
	t  *Table
	at []int // the keys' places
}

// bound finds the bounds of integer keys.
func (m *filterMaker) bound() error {
	for i := range m.keys {
		if !integerKind(m.keys[i].kind) {
			continue
		}
		k := &m.keys[i]
		err := m.blocks(func(vecs []*vector.Vector, _ int) {
			low, high := columnRange(vecs[i])
			k.low, k.high = min(k.low, low), max(k.high, high)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// plan decides between a set and a Bloom filter, and tells how many bytes that takes.
func (m *filterMaker) plan() (bytes int64, dense bool) {
	rows := m.t.allRows()
	if k := &m.keys[0]; len(m.keys) == 1 && integerKind(k.kind) {
		if k.low > k.high {
			k.low, k.high = 1, 0
			return 8, true
		}
		span := uint64(k.high) - uint64(k.low)
		if span < filterBits || span/filterPerRow <= uint64(rows) {
			return int64(span / 8), true
		}
	}
	words := 64
	for int64(words)*bloomPerWord < rows {
		words *= 2
	}
	return int64(8 * words), false
}

// enterSet fills the set and lists its values if they are few.
func (m *filterMaker) enterSet() error {
	k := m.keys[0]
	if k.low > k.high {
		m.few, m.set = []vector.Datum{}, vector.NewBitmap(1)
		return nil
	}
	m.set = vector.NewBitmap(int(k.high-k.low) + 2)
	err := m.blocks(func(vecs []*vector.Vector, n int) {
		v := vecs[0]
		for i := range n {
			if !v.IsNull(i) {
				m.set.Set(int(uint64(intAt(v, i)) - uint64(k.low)))
				m.rows++
			}
		}
	})
	if err != nil {
		return err
	}
	few := []vector.Datum{}
	for w, word := range m.set {
		for ; word != 0; word &= word - 1 {
			if len(few) == maxFew {
				return nil
			}
			few = append(few, vector.IntDatum(k.kind, k.low+int64(w*64+bits.TrailingZeros64(word))))
		}
	}
	m.few = few
	return nil
}

// enterBloom fills the Bloom filter, and lists a single key's values if they are few.
func (m *filterMaker) enterBloom(words int) error {
	m.bloom, m.shift = make([]uint64, words), uint(64-bits.Len(uint(words-1)))
	seen := map[vector.Datum]bool{}
	if len(m.keys) > 1 || !integerKind(m.keys[0].kind) && m.keys[0].kind != vector.Bytes {
		seen = nil
	}
	var hashes [BlockRows]uint64
	err := m.blocks(func(vecs []*vector.Vector, n int) {
		for i, v := range vecs {
			vector.Hash(hashes[:], v, n, nil, i > 0)
		}
	rows:
		for i := range n {
			for _, v := range vecs {
				if v.IsNull(i) {
					continue rows
				}
			}
			m.rows++
			m.bloom[hashes[i]>>m.shift] |= bloomMask(hashes[i])
			if seen == nil {
				continue
			}
			if d := vector.DatumAt(vecs[0], i); !seen[d] {
				if d.Kind == vector.Bytes {
					d.S = strings.Clone(d.S)
				}
				seen[d] = true
			}
			if len(seen) > maxFew || m.rows > maxFewRows {
				seen = nil
			}
		}
	})
	if err != nil || seen == nil {
		return err
	}
	m.few = slices.AppendSeq([]vector.Datum{}, maps.Keys(seen))
	slices.SortFunc(m.few, func(a, b vector.Datum) int { return cmp.Or(cmp.Compare(a.I, b.I), cmp.Compare(a.S, b.S)) })
	return nil
}

// blocks calls visit with the keys' values of all build rows, block by block.
func (m *filterMaker) blocks(visit func(vecs []*vector.Vector, n int)) error {
	t, vecs := m.t, NewBlock(len(m.at))
	for from := 0; from < t.rows; from += BlockRows {
		n := min(BlockRows, t.rows-from)
		for k, i := range m.at {
			vector.Slice(vecs[k], t.store.Column(i), from, n)
		}
		visit(vecs, n)
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
			all, n, err := r.Next()
			if err != nil {
				return err
			}
			if n == 0 {
				break
			}
			for k, i := range m.at {
				vecs[k] = all[i]
			}
			visit(vecs, n)
		}
	}
	return nil
}

// Rows returns the number of build rows that have values in all keys of the filter.
func (f *Filter) Rows() int64 { return f.rows }

// Few returns all values of a single key if they are known to be few, else nil.
func (f *Filter) Few() []vector.Datum { return f.few }

// Bounds returns the bounds of the values of the i-th key of the filter; false if it is not of integers. Low
// is above high where there are no values.
func (f *Filter) Bounds(i int) (low, high int64, ok bool) {
	return f.keys[i].low, f.keys[i].high, integerKind(f.keys[i].kind)
}

// Meets reports whether the i-th key may have values from low to high; it knows of integers only.
func (f *Filter) Meets(i int, low, high int64) bool {
	k := f.keys[i]
	if !integerKind(k.kind) {
		return true
	}
	low, high = max(low, k.low), min(high, k.high)
	switch {
	case low > high:
		return false
	case f.set != nil:
		return anySet(f.set, uint64(low)-uint64(k.low), uint64(high)-uint64(k.low))
	case f.few != nil:
		return slices.ContainsFunc(f.few, func(d vector.Datum) bool { return low <= d.I && d.I <= high })
	}
	return true
}

// anySet reports whether one of the bits from … to is set.
func anySet(set vector.Bitmap, from, to uint64) bool {
	first, last := from>>6, to>>6
	head, tail := ^uint64(0)<<(from&63), ^uint64(0)>>(63-to&63)
	if first == last {
		return set[first]&head&tail != 0
	}
	return set[first]&head != 0 || set[last]&tail != 0 ||
		slices.ContainsFunc(set[first+1:last], func(w uint64) bool { return w != 0 })
}

// Form names what the filter consists of, for EXPLAIN.
func (f *Filter) Form() string {
	switch {
	case f.few != nil:
		return "in"
	case f.set != nil:
		return "bitmap"
	case slices.ContainsFunc(f.keys, func(k filterKey) bool { return integerKind(k.kind) }):
		return "range,bloom"
	}
	return "bloom"
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
