package storage

import (
	"sort"
	"sync"

	"github.com/weftdb/weft/catalog"
)

// overlay holds a transaction's writes until it commits.
//
// Every write is a version with the number of the command that made it; versions of one row or
// index key form a chain, newest first. A view with command number c sees, of each chain, the
// newest version of a command before c; chains without one are as in the snapshot. Undoing means
// dropping the newest versions again.
type overlay struct {
	// mu guards everything below. A statement's workers add versions while its scans, and cursors
	// left open by earlier statements, look at older ones. The bytes versions point to never
	// change, so readers copy references and leave.
	mu       sync.RWMutex
	stores   map[catalog.StoreID]*overlayStore
	indexes  map[catalog.IndexID]*overlayIndex
	rows     []rowVersion
	keys     []keyVersion
	arena    byteArena
	anything bool // some version was ever added
}

// overlayStore holds the rows written in one store.
type overlayStore struct {
	id     catalog.StoreID
	groups map[int]*overlayGroup
}

// overlayGroup maps in-group positions to their newest version, −1 = undone. Positions ascend: the
// usual orders of insertion append, and a group is small enough to shift otherwise.
type overlayGroup struct {
	pos  []uint16
	head []int32
}

// rowVersion is one version of a row. A nil row is a tombstone.
type rowVersion struct {
	row      []byte
	group    *overlayGroup
	cmd      uint32
	prev     int32
	pos      uint16
	inserted bool // on the oldest version: the row does not exist outside the transaction
}

// byteArena hands out memory for many small byte strings that all live as long as the overlay.
type byteArena struct {
	chunk []byte
	total int
}

// arenaChunk is the size of an arena's pieces from the second on: larger ones waste memory in small
// transactions, smaller ones cost allocations in large ones.
const arenaChunk = 64 << 10

func (a *byteArena) add(b []byte) []byte {
	if len(b) > cap(a.chunk)-len(a.chunk) {
		size := arenaChunk
		if a.total == 0 {
			size = 512
		}
		a.chunk = make([]byte, 0, max(size, len(b)))
		a.total += cap(a.chunk)
	}
	start := len(a.chunk)
	a.chunk = append(a.chunk, b...)
	return a.chunk[start:len(a.chunk):len(a.chunk)]
}

// group returns a group of the overlay, made on first use. mu is held.
func (o *overlay) group(store catalog.StoreID, number int) *overlayGroup {
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
		g = &overlayGroup{}
		if s.groups == nil {
			s.groups = map[int]*overlayGroup{}
		}
		s.groups[number] = g
	}
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
	if row != nil {
		row = o.arena.add(row)
	}
	o.rows = append(o.rows, rowVersion{row: row, group: g, cmd: cmd, prev: g.head[i], pos: pos, inserted: inserted})
	g.head[i] = int32(len(o.rows) - 1)
	o.anything = true
}

// newest returns a row's newest version whatever its command. mu is held.
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
	return &o.rows[g.head[i]], true
}

// visible returns the version of a chain that a view with command number cmd sees, −1 = none.
func (o *overlay) visible(head int32, cmd uint32) int32 {
	for head >= 0 && o.rows[head].cmd >= cmd {
		head = o.rows[head].prev
	}
	return head
}

// overlayRow is a row as a view sees it in the overlay; a nil row is deleted.
type overlayRow struct {
	pos uint16
	row []byte
}

// groupRows appends the rows of a group that a view with command number cmd sees, ascending.
func (o *overlay) groupRows(dst []overlayRow, store catalog.StoreID, group int, cmd uint32) []overlayRow {
	o.mu.RLock()
	defer o.mu.RUnlock()
	s := o.stores[store]
	if s == nil {
		return dst
	}
	g := s.groups[group]
	if g == nil {
		return dst
	}
	for i, pos := range g.pos {
		if v := o.visible(g.head[i], cmd); v >= 0 {
			dst = append(dst, overlayRow{pos, o.rows[v].row})
		}
	}
	return dst
}

// pageRows appends the rows of one page, as groupRows does for a group.
func (o *overlay) pageRows(dst []overlayRow, store catalog.StoreID, page uint64, cmd uint32) []overlayRow {
	o.mu.RLock()
	defer o.mu.RUnlock()
	s := o.stores[store]
	if s == nil {
		return dst
	}
	g := s.groups[int(page>>10)]
	if g == nil {
		return dst
	}
	first := uint16(page&1023) << 6
	for i := g.search(first); i < len(g.pos) && g.pos[i]-first < PageRows; i++ {
		if v := o.visible(g.head[i], cmd); v >= 0 {
			dst = append(dst, overlayRow{g.pos[i], o.rows[v].row})
		}
	}
	return dst
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
	return n
}

// overlayMark is a state of the overlay to return to.
type overlayMark struct{ rows, keys int }

func (o *overlay) mark() overlayMark {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return overlayMark{len(o.rows), len(o.keys)}
}

// undo drops every version added after the mark.
func (o *overlay) undo(m overlayMark) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := len(o.rows) - 1; i >= m.rows; i-- {
		v := &o.rows[i]
		v.group.head[v.group.search(v.pos)] = v.prev
	}
	clear(o.rows[m.rows:])
	o.rows = o.rows[:m.rows]
	for i := len(o.keys) - 1; i >= m.keys; i-- {
		v := &o.keys[i]
		*v.index.list.at(v.key) = v.prev
	}
	clear(o.keys[m.keys:])
	o.keys = o.keys[:m.keys]
}
