package storage

import (
	"math"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/weftdb/weft/catalog"
)

// overlay holds a transaction's writes until it commits.
//
// Every write is a version with the number of the command that made it; versions of one row or
// index key form a chain, newest first. A view with command number c sees, of each chain, the
// newest version of a command before c; chains without one are as in the snapshot. Undoing means
// dropping the newest versions again.
//
// When the versions take too much memory, all of them move to a store of their own on disk, and chains
// begin anew: what is in memory of a row or key is newer than what was spilled of it.
type overlay struct {
	// mu guards everything below. A statement's workers add versions while its scans, and cursors
	// left open by earlier statements, look at older ones. The bytes versions point to never
	// change, so readers copy references and leave.
	mu       sync.RWMutex
	stores   map[catalog.StoreID]*overlayStore
	groupAt  []*overlayGroup // all groups, by their numbers in rowVersion
	recent   *overlayGroup   // the one written last, nil = none
	indexes  map[catalog.IndexID]*overlayIndex
	rows     versionList[rowVersion]
	keys     versionList[keyVersion]
	arena    byteArena
	anything bool        // some version was ever added
	spill    *spillStore // nil = everything is in memory

	// found is the last single row that a view of the transaction has read.
	found atomic.Pointer[foundRow]

	// users are the transaction, until it has ended, and the views that read the overlay. The last one
	// removes the spilled versions.
	users atomic.Int64
}

// overlayStore holds the rows written in one store.
type overlayStore struct {
	id     catalog.StoreID
	groups map[int]*overlayGroup
}

// overlayGroup maps in-group positions to their newest version, −1 = undone. Positions ascend: the
// usual orders of insertion append, and a group is small enough to shift otherwise.
type overlayGroup struct {
	id     groupID
	number uint32 // in overlay.groupAt
	pos    []uint16
	head   []int32
}

// rowVersion is one version of a row. A nil row is a tombstone.
type rowVersion struct {
	row      arenaBytes
	group    uint32 // its number
	cmd      uint32
	prev     int32
	pos      uint16
	inserted bool // on the oldest version: the row does not exist outside the transaction
}

// group returns a group of the overlay, made on first use. mu is held.
func (o *overlay) group(store catalog.StoreID, number int) *overlayGroup {
	id := groupID{store, number}
	if o.recent != nil && o.recent.id == id {
		return o.recent
	}
	s := o.stores[store]
	if s == nil {
		s = &overlayStore{id: store}
		if o.stores == nil {
			o.stores = map[catalog.StoreID]*overlayStore{}
		}
		o.stores[store] = s
	}
	g := s.groups[number]
	if g == nil {
		g = &overlayGroup{id: id, number: uint32(len(o.groupAt))}
		o.groupAt = append(o.groupAt, g)
		if s.groups == nil {
			s.groups = map[int]*overlayGroup{}
		}
		s.groups[number] = g
	}
	o.recent = g
	return g
}

// slot returns where a position's head is, made on first use.
func (g *overlayGroup) slot(pos uint16) int {
	n := len(g.pos)
	if n == 0 || g.pos[n-1] < pos {
		g.pos, g.head = append(g.pos, pos), append(g.head, -1)
		return n
	}
	i := g.search(pos)
	if g.pos[i] != pos {
		g.pos, g.head = append(g.pos, 0), append(g.head, 0)
		copy(g.pos[i+1:], g.pos[i:n])
		copy(g.head[i+1:], g.head[i:n])
		g.pos[i], g.head[i] = pos, -1
	}
	return i
}

// search returns the first index whose position is at least pos.
func (g *overlayGroup) search(pos uint16) int {
	return sort.Search(len(g.pos), func(i int) bool { return g.pos[i] >= pos })
}

// put adds a version of a row; row nil deletes it. inserted tells that the row is new. mu is held.
func (o *overlay) put(ref RowRef, cmd uint32, row []byte, inserted bool) {
	g := o.group(ref.Store(), ref.Group())
	pos := uint16(ref.Row())
	i := g.slot(pos)
	g.head[i] = o.rows.add(rowVersion{row: o.arena.add(row), group: g.number, cmd: cmd, prev: g.head[i], pos: pos, inserted: inserted})
	o.anything = true
}

// newest returns a row's newest version in memory whatever its command. mu is held.
func (o *overlay) newest(ref RowRef) (v *rowVersion, ok bool) {
	s := o.stores[ref.Store()]
	if s == nil {
		return nil, false
	}
	g := s.groups[ref.Group()]
	if g == nil {
		return nil, false
	}
	pos := uint16(ref.Row())
	i := g.search(pos)
	if i == len(g.pos) || g.pos[i] != pos || g.head[i] < 0 {
		return nil, false
	}
	return o.rows.at(g.head[i]), true
}

// visible returns the version of a chain that a view with command number cmd sees, −1 = none.
func (o *overlay) visible(head int32, cmd uint32) int32 {
	for head >= 0 && o.rows.at(head).cmd >= cmd {
		head = o.rows.at(head).prev
	}
	return head
}

// overlayRow is a row as a view sees it in the overlay; a nil row is deleted.
type overlayRow struct {
	pos uint16
	row []byte
}

// groupRows appends the rows of a group that a view with command number cmd sees, ascending. ok is
// false when some may have been spilled: those are read page by page.
func (o *overlay) groupRows(dst []overlayRow, store catalog.StoreID, group int, cmd uint32) (rows []overlayRow, ok bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	if o.spilledGroup(store, group, cmd) != nil {
		return dst, false
	}
	s := o.stores[store]
	if s == nil {
		return dst, true
	}
	g := s.groups[group]
	if g == nil {
		return dst, true
	}
	for i, pos := range g.pos {
		if v := o.visible(g.head[i], cmd); v >= 0 {
			dst = append(dst, overlayRow{pos, o.arena.at(o.rows.at(v).row)})
		}
	}
	return dst, true
}

// groupIDs sets the bits of the rows of a group that a view with command number cmd sees in the
// overlay, and maybe those of spilled versions it does not see, and reports whether there are any.
func (o *overlay) groupIDs(dst *GroupBits, store catalog.StoreID, group int, cmd uint32) (any bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	if spilled := o.spilledGroup(store, group, cmd); spilled != nil {
		any = true
		for i, word := range spilled {
			dst[i] |= word
		}
	}
	s := o.stores[store]
	if s == nil || s.groups[group] == nil {
		return any
	}
	g := s.groups[group]
	for i, pos := range g.pos {
		if o.visible(g.head[i], cmd) >= 0 {
			dst.Set(int(pos))
			any = true
		}
	}
	return any
}

// pageRows appends the rows of one page that a view with command number cmd sees, ascending.
func (o *overlay) pageRows(dst []overlayRow, store catalog.StoreID, page uint64, cmd uint32) ([]overlayRow, error) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	start, inMemory := len(dst), uint64(0)
	group, first := int(page>>10), uint16(page&1023)<<6
	if s := o.stores[store]; s != nil && s.groups[group] != nil {
		g := s.groups[group]
		for i := g.search(first); i < len(g.pos) && g.pos[i]-first < PageRows; i++ {
			if v := o.visible(g.head[i], cmd); v >= 0 {
				dst = append(dst, overlayRow{g.pos[i], o.arena.at(o.rows.at(v).row)})
				inMemory |= 1 << (g.pos[i] & 63)
			}
		}
	}
	spilled := o.spilledGroup(store, group, cmd)
	if spilled == nil || spilled[page&1023]&^inMemory == 0 {
		return dst, nil
	}
	n := len(dst)
	dst, err := o.spill.pageRows(dst, store, page, spilled[page&1023]&^inMemory, cmd)
	if n > start && len(dst) > n {
		slices.SortFunc(dst[start:], func(a, b overlayRow) int { return int(a.pos) - int(b.pos) })
	}
	return dst, err
}

// groups returns one more than the largest group number with rows in a store.
func (o *overlay) groups(store catalog.StoreID) int {
	o.mu.RLock()
	defer o.mu.RUnlock()
	n := 0
	if s := o.stores[store]; s != nil {
		for number := range s.groups {
			n = max(n, number+1)
		}
	}
	if o.spill != nil {
		n = max(n, o.spill.stores[store])
	}
	return n
}

// size returns about how many bytes a commit writes. Spilled versions count as very many.
func (o *overlay) size() int {
	o.mu.RLock()
	defer o.mu.RUnlock()
	if o.spill != nil {
		return math.MaxInt
	}
	const perRow, perKey = rowKeyLen + 4, 12 // keys, references and lengths
	return o.arena.used() + perRow*o.rows.len() + perKey*o.keys.len()
}

// overlayMark is a state of the overlay to return to: the numbers of the versions added next.
type overlayMark struct{ rows, keys int }

// firstInMemory returns the numbers of the oldest versions in memory. mu is held.
func (o *overlay) firstInMemory() (m overlayMark) {
	if o.spill != nil {
		m.rows, m.keys = o.spill.rows.next, o.spill.keys.next
	}
	return m
}

func (o *overlay) mark() overlayMark {
	o.mu.RLock()
	defer o.mu.RUnlock()
	m := o.firstInMemory()
	return overlayMark{m.rows + o.rows.len(), m.keys + o.keys.len()}
}

// undo drops every version added after the mark.
func (o *overlay) undo(m overlayMark) {
	o.mu.Lock()
	defer o.mu.Unlock()
	first := o.firstInMemory()
	rows, keys := max(m.rows-first.rows, 0), max(m.keys-first.keys, 0)
	for i := o.rows.len() - 1; i >= rows; i-- {
		v := o.rows.at(int32(i))
		g := o.groupAt[v.group]
		g.head[g.search(v.pos)] = v.prev
	}
	o.rows.cut(rows)
	for i := o.keys.len() - 1; i >= keys; i-- {
		v := o.keys.at(int32(i))
		*o.indexes[v.index].list.at(o.arena.at(v.key)) = v.prev
	}
	o.keys.cut(keys)
	if o.spill != nil {
		o.spill.rows.kill(m.rows)
		o.spill.keys.kill(m.keys)
	}
}
