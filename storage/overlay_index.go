package storage

import (
	"bytes"
	"math"
	"slices"
	"sort"

	"github.com/weftdb/weft/catalog"
)

// overlayIndex holds a transaction's changes of one index.
type overlayIndex struct {
	id   catalog.IndexID
	list keyList
}

// keyVersion is one version of an index entry.
type keyVersion struct {
	key     arenaBytes // with the index's prefix, as on disk
	payload arenaBytes // of included columns, nil = none
	ref     RowRef
	index   catalog.IndexID
	cmd     uint32
	prev    int32
	deleted bool
	// suffixed tells that key ends with the row's reference: entries that are not unique.
	suffixed bool
}

func (o *overlay) index(id catalog.IndexID) *overlayIndex {
	ix := o.indexes[id]
	if ix == nil {
		ix = &overlayIndex{id: id, list: keyList{arena: &o.arena}}
		if o.indexes == nil {
			o.indexes = map[catalog.IndexID]*overlayIndex{}
		}
		o.indexes[id] = ix
	}
	return ix
}

// putKey adds a version of an index entry. mu is held.
func (o *overlay) putKey(id catalog.IndexID, x indexEntry, suffixed bool, cmd uint32) {
	head, key := o.index(id).list.insert(x.key)
	*head = o.keys.add(keyVersion{key: key, payload: o.arena.add(x.payload), index: id, ref: x.ref, cmd: cmd, prev: *head, deleted: x.deleted, suffixed: suffixed})
	o.anything = true
}

// visibleKey returns the version of a chain that a view with command number cmd sees, −1 = none.
func (o *overlay) visibleKey(head int32, cmd uint32) int32 {
	for head >= 0 && o.keys.at(head).cmd >= cmd {
		head = o.keys.at(head).prev
	}
	return head
}

// lookupKey returns what a view with command number cmd sees of an index entry.
func (o *overlay) lookupKey(id catalog.IndexID, key []byte, cmd uint32) (ref RowRef, deleted, ok bool, err error) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	if ix := o.indexes[id]; ix != nil {
		if head := ix.list.at(key); head != nil {
			if v := o.visibleKey(*head, cmd); v >= 0 {
				return o.keys.at(v).ref, o.keys.at(v).deleted, true, nil
			}
		}
	}
	r := spillReader{store: o.spill}
	v, ok, err := r.findKey(id, key, cmd)
	if ok && err == nil {
		ref, deleted = readRef(v.rest), v.deleted()
	}
	return ref, deleted, ok, r.close(err)
}

// indexEntry is an index entry as a view sees it in the overlay.
type indexEntry struct {
	key     []byte
	payload []byte
	ref     RowRef
	deleted bool
}

// maxRangeKeys is how many spilled entries rangeKeys returns at most. More take memory, fewer cost
// iterators.
const maxRangeKeys = 1024

// rangeKeys appends the entries with low <= key < high that a view with command number cmd sees, in the
// order of their keys or in reverse. If there are very many it stops before the end: rest is then the
// part of the range that is left.
func (o *overlay) rangeKeys(dst []indexEntry, id catalog.IndexID, r keyRange, cmd uint32, reverse bool) (_ []indexEntry, rest *keyRange, err error) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	start := len(dst)
	if o.spill != nil {
		var more bool
		if dst, more, err = o.spill.entries(dst, id, r.low, r.high, cmd, maxRangeKeys, reverse); err != nil {
			return dst, nil, err
		}
		if more && reverse {
			last := dst[len(dst)-1].key
			r.low, rest = last, &keyRange{r.low, last}
		} else if more {
			next := successor(dst[len(dst)-1].key) // no key of an index starts with another
			r.high, rest = next, &keyRange{next, r.high}
		}
	}
	spilled := len(dst)
	if ix := o.indexes[id]; ix != nil {
		ix.list.scan(r.low, func(key []byte, head int32) bool {
			if bytes.Compare(key, r.high) >= 0 {
				return false
			}
			if n := o.visibleKey(head, cmd); n >= 0 {
				v := o.keys.at(n)
				dst = append(dst, indexEntry{key, o.arena.at(v.payload), v.ref, v.deleted})
			}
			return true
		})
	}
	if reverse {
		slices.Reverse(dst[spilled:])
	}
	if spilled > start && spilled < len(dst) {
		dst = append(dst[:start], mergeEntries(dst[start:spilled], dst[spilled:], reverse)...)
	}
	return dst, rest, nil
}

// mergeEntries merges two ordered lists of entries; of one key that of newer counts.
func mergeEntries(older, newer []indexEntry, reverse bool) []indexEntry {
	merged := make([]indexEntry, 0, len(older)+len(newer))
	for len(older) > 0 && len(newer) > 0 {
		order := bytes.Compare(older[0].key, newer[0].key)
		if reverse {
			order = -order
		}
		if order < 0 {
			merged, older = append(merged, older[0]), older[1:]
			continue
		}
		if order == 0 {
			older = older[1:]
		}
		merged, newer = append(merged, newer[0]), newer[1:]
	}
	return append(append(merged, older...), newer...)
}

// maxLeaf is the most keys a leaf of a keyList holds. Larger leaves shift more per insertion,
// smaller ones make the list of leaves longer.
const maxLeaf = 128

// keyList is an ordered list of keys, each with the head of its chain: a tree of two levels, which
// suits the up to some millions of keys of one transaction.
type keyList struct {
	arena  *byteArena // of the keys
	leaves []*keyLeaf // none is empty
}

type keyLeaf struct {
	keys []arenaBytes
	head []int32
}

// leaf returns the number of the leaf a key belongs to. Keys that arrive in order belong to the last.
func (l *keyList) leaf(key []byte) int {
	if last := len(l.leaves) - 1; bytes.Compare(l.arena.at(l.leaves[last].keys[0]), key) <= 0 {
		return last
	}
	n := sort.Search(len(l.leaves), func(i int) bool { return bytes.Compare(l.arena.at(l.leaves[i].keys[0]), key) > 0 })
	return max(n-1, 0)
}

func (f *keyLeaf) search(arena *byteArena, key []byte) (i int, found bool) {
	if n := len(f.keys); bytes.Compare(arena.at(f.keys[n-1]), key) < 0 {
		return n, false
	}
	i = sort.Search(len(f.keys), func(i int) bool { return bytes.Compare(arena.at(f.keys[i]), key) >= 0 })
	return i, i < len(f.keys) && bytes.Equal(arena.at(f.keys[i]), key)
}

// at returns a key's head, nil if the key is not in the list. It is valid until the next insert.
func (l *keyList) at(key []byte) *int32 {
	if len(l.leaves) == 0 {
		return nil
	}
	f := l.leaves[l.leaf(key)]
	if i, found := f.search(l.arena, key); found {
		return &f.head[i]
	}
	return nil
}

// insert returns the key's head, −1 if the key is new, and the list's own copy of the key.
func (l *keyList) insert(key []byte) (head *int32, stored arenaBytes) {
	if len(l.leaves) == 0 {
		stored = l.arena.add(key)
		l.leaves = append(l.leaves, &keyLeaf{keys: []arenaBytes{stored}, head: []int32{-1}})
		return &l.leaves[0].head[0], stored
	}
	n := l.leaf(key)
	f := l.leaves[n]
	i, found := f.search(l.arena, key)
	if found {
		return &f.head[i], f.keys[i]
	}
	if len(f.keys) == maxLeaf {
		cut := maxLeaf / 2
		if n == len(l.leaves)-1 && i == maxLeaf {
			cut = maxLeaf // keys that arrive in order leave full leaves behind
		}
		right := &keyLeaf{keys: append(make([]arenaBytes, 0, maxLeaf), f.keys[cut:]...), head: append(make([]int32, 0, maxLeaf), f.head[cut:]...)}
		f.keys, f.head = f.keys[:cut], f.head[:cut]
		l.leaves = append(l.leaves, nil)
		copy(l.leaves[n+2:], l.leaves[n+1:])
		l.leaves[n+1] = right
		if i >= cut {
			f, i = right, i-cut
		}
	}
	stored = l.arena.add(key)
	f.keys, f.head = append(f.keys, arenaBytes{}), append(f.head, 0)
	copy(f.keys[i+1:], f.keys[i:])
	copy(f.head[i+1:], f.head[i:])
	f.keys[i], f.head[i] = stored, -1
	return &f.head[i], stored
}

// scan calls fn for every key from low on, in order, until it returns false.
func (l *keyList) scan(low []byte, fn func(key []byte, head int32) bool) {
	if len(l.leaves) == 0 {
		return
	}
	for n := l.leaf(low); n < len(l.leaves); n++ {
		f := l.leaves[n]
		i, _ := f.search(l.arena, low)
		for ; i < len(f.keys); i++ {
			if !fn(l.arena.at(f.keys[i]), f.head[i]) {
				return
			}
		}
	}
}

// newestKey returns what an index entry is in its newest version, whatever its command. mu is held.
func (o *overlay) newestKey(r *spillReader, id catalog.IndexID, key []byte) (ref RowRef, deleted, found bool, err error) {
	if ix := o.indexes[id]; ix != nil {
		if head := ix.list.at(key); head != nil && *head >= 0 {
			v := o.keys.at(*head)
			return v.ref, v.deleted, true, nil
		}
	}
	v, found, err := r.findKey(id, key, math.MaxUint32)
	if !found || err != nil {
		return 0, false, false, err
	}
	return readRef(v.rest), v.deleted(), true, nil
}
