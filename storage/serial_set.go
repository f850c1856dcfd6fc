package storage

import (
	"bytes"
	"slices"
	"sort"

	"github.com/weftdb/weft/catalog"
)

// What one transaction keeps of one table, in ranges of its indexes and in bytes of their keys. Beyond
// that the whole table counts as read or written.
const (
	maxAccessRanges = 2048
	maxAccessBytes  = 256 << 10
)

// rowsIndex numbers, among the indexes of a table, the rows themselves: their references are the keys.
// No index has the number.
const rowsIndex catalog.IndexID = 0

// accessSet is what a transaction read, or what it wrote: tables, and of tables parts of indexes.
type accessSet map[catalog.TableID]*tableAccess

// tableAccess is the part of a table that was read or written. A table that was written without any
// key of an index being noted has no index.
type tableAccess struct {
	whole   bool // every row there is or could be; then indexes is nil
	indexes map[catalog.IndexID]*rangeSet
	ranges  int
	bytes   int
}

// rangeSet is a set of ranges of keys: sorted and apart once tidy was called, in any order before.
type rangeSet struct {
	ranges []keyRange
	mixed  bool // not tidy
}

// table returns the set's part of a table.
func (s accessSet) table(id catalog.TableID) *tableAccess {
	a := s[id]
	if a == nil {
		a = &tableAccess{indexes: map[catalog.IndexID]*rangeSet{}}
		s[id] = a
	}
	return a
}

// addWhole adds all of a table.
func (s accessSet) addWhole(id catalog.TableID) { s.table(id).promote() }

func (a *tableAccess) promote() { *a = tableAccess{whole: true} }

// add adds a range of an index; the range's bytes are the set's from now on.
func (a *tableAccess) add(index catalog.IndexID, r keyRange) {
	if a.whole || bytes.Compare(r.low, r.high) >= 0 {
		return
	}
	set := a.of(index)
	if n := len(set.ranges); n > 0 && set.ranges[n-1].contains(r) {
		return // the usual repetition: one key looked up again and again
	}
	set.ranges, set.mixed = append(set.ranges, r), true
	a.ranges++
	a.bytes += len(r.low) + len(r.high)
	a.bound()
}

// of returns the ranges of an index, which counts as looked at from now on.
func (a *tableAccess) of(index catalog.IndexID) *rangeSet {
	set := a.indexes[index]
	if set == nil {
		set = &rangeSet{}
		a.indexes[index] = set
	}
	return set
}

// bound keeps the access small: repetitions go first, then the table counts as a whole. Half of the
// room must be free after tidying, lest every further range cost another one.
func (a *tableAccess) bound() {
	if a.ranges <= maxAccessRanges && a.bytes <= maxAccessBytes {
		return
	}
	a.tidy()
	if a.ranges > maxAccessRanges/2 || a.bytes > maxAccessBytes/2 {
		a.promote()
	}
}

// addKey adds one key, which is copied.
func (a *tableAccess) addKey(index catalog.IndexID, key []byte) {
	if a.whole {
		return
	}
	both := make([]byte, len(key)+1)
	copy(both, key)
	a.add(index, keyRange{both[:len(key):len(key)], both}) // nothing lies between a key and the key with a zero behind it
}

func (r keyRange) contains(x keyRange) bool {
	return bytes.Compare(r.low, x.low) <= 0 && bytes.Compare(x.high, r.high) <= 0
}

// tidy sorts the ranges and melts those that overlap.
func (s accessSet) tidy() {
	for _, a := range s {
		a.tidy()
	}
}

func (a *tableAccess) tidy() {
	for _, set := range a.indexes {
		if !set.mixed {
			continue
		}
		set.mixed = false
		slices.SortFunc(set.ranges, func(x, y keyRange) int { return bytes.Compare(x.low, y.low) })
		kept := set.ranges[:0]
		for _, r := range set.ranges {
			if n := len(kept) - 1; n >= 0 && bytes.Compare(r.low, kept[n].high) < 0 {
				if bytes.Compare(r.high, kept[n].high) > 0 {
					kept[n].high = r.high
				}
				continue
			}
			kept = append(kept, r)
		}
		clear(set.ranges[len(kept):])
		set.ranges = kept
	}
	a.ranges, a.bytes = 0, 0
	for _, set := range a.indexes {
		a.ranges += len(set.ranges)
		for _, r := range set.ranges {
			a.bytes += len(r.low) + len(r.high)
		}
	}
}

// size is about how many bytes the set takes.
func (s accessSet) size() int {
	const perTable, perRange = 160, 48
	n := 0
	for _, a := range s {
		n += perTable + perRange*a.ranges + a.bytes
	}
	return n
}

// merge adds another set, which must not be used any more.
func (s accessSet) merge(other accessSet) {
	for id, b := range other {
		a := s[id]
		switch {
		case a == nil:
			s[id] = b
			continue
		case a.whole:
			continue
		case b.whole || !sameIndexes(a, b):
			a.promote() // an index one of them did not know: see readsWrite
			continue
		}
		for index, set := range b.indexes {
			into := a.of(index)
			into.ranges, into.mixed = append(into.ranges, set.ranges...), true
		}
		a.ranges, a.bytes = a.ranges+b.ranges, a.bytes+b.bytes
		a.bound()
	}
}

// sameIndexes reports whether two accesses name the same indexes, the rows left aside.
func sameIndexes(a, b *tableAccess) bool {
	count := func(x *tableAccess) int {
		if _, ok := x.indexes[rowsIndex]; ok {
			return len(x.indexes) - 1
		}
		return len(x.indexes)
	}
	for index := range a.indexes {
		if _, ok := b.indexes[index]; !ok && index != rowsIndex {
			return false
		}
	}
	return count(a) == count(b)
}

// readsWrite reports whether a transaction that read s could have seen what another one wrote. Both
// are tidy.
func (s accessSet) readsWrite(written accessSet) bool {
	if len(s) > len(written) {
		for id, w := range written {
			if r := s[id]; r != nil && r.readsWrite(w) {
				return true
			}
		}
		return false
	}
	for id, r := range s {
		if w := written[id]; w != nil && r.readsWrite(w) {
			return true
		}
	}
	return false
}

func (r *tableAccess) readsWrite(w *tableAccess) bool {
	if r.whole || w.whole {
		return true
	}
	for index, read := range r.indexes {
		// A writer that has no keys of the index wrote when it did not exist yet or any more, for a
		// reader of another age: nothing tells the two apart.
		set := w.indexes[index]
		if set == nil || read.overlaps(set) {
			return true
		}
	}
	return false
}

// replaces reports whether both sets have a row, or a key of a unique index, in common: the writer of
// one has taken the place of what the other left. Keys of other indexes must not be asked about, for
// equal ones of different rows stand side by side: they are noted with the row behind them. Both
// sets are tidy.
func (s accessSet) replaces(other accessSet) bool {
	for id, a := range s {
		b := other[id]
		if b == nil {
			continue
		}
		if a.whole || b.whole {
			return true
		}
		for index, set := range a.indexes {
			if o := b.indexes[index]; o != nil && set.overlaps(o) {
				return true
			}
		}
	}
	return false
}

// covers reports whether a key of an index is in the set.
func (s accessSet) covers(table catalog.TableID, index catalog.IndexID, key []byte) bool {
	a := s[table]
	if a == nil {
		return false
	}
	return a.whole || a.indexes[index] != nil && slices.ContainsFunc(a.indexes[index].ranges, func(r keyRange) bool {
		return bytes.Compare(r.low, key) <= 0 && bytes.Compare(key, r.high) < 0
	})
}

// overlaps reports whether two tidy sets have a key in common. The shorter one is looked up in the
// longer one.
func (s *rangeSet) overlaps(o *rangeSet) bool {
	few, many := s.ranges, o.ranges
	if len(few) > len(many) {
		few, many = many, few
	}
	for _, r := range few {
		i := sort.Search(len(many), func(i int) bool { return bytes.Compare(many[i].high, r.low) > 0 })
		if i < len(many) && bytes.Compare(many[i].low, r.high) < 0 {
			return true
		}
	}
	return false
}
