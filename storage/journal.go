package storage

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/weftdb/weft/catalog"
)

// groupID names a group of a store.
type groupID struct {
	store catalog.StoreID
	group int
}

// groupState is what is known in memory of a group that was changed since the database was opened
// or that has registered versions.
type groupState struct {
	id groupID
	// lastChange is the number of the last commit that changed the group. It, pages and the bits of
	// versions are set before that commit becomes visible: whoever takes a view and then looks here
	// finds every change the view sees.
	lastChange atomic.Uint64
	// pages are last-change numbers per page, nil = only lastChange is known. They are dropped
	// when too many groups have them.
	pages atomic.Pointer[pageChanges]
	// changes counts the single rows written since the group was last folded.
	changes atomic.Int64
	// versions is replaced, never changed in place, under Engine.commitMu.
	versions atomic.Pointer[[]*GroupVersion]
}

type pageChanges [GroupPages]atomic.Uint64

// maxPageChanges is how many groups have last-change numbers per page (8 KB each). Fewer make the
// rest compare rows where a number would do; more cost memory.
const maxPageChanges = 2048

// journal holds the group states of an engine.
type journal struct {
	mu     sync.RWMutex
	groups map[groupID]*groupState // guarded by mu
	// floor is a commit number: groups without a state were last changed no later. It is the number
	// the database was opened at, and rises when states are dropped.
	floor atomic.Uint64
	// withPages lists the groups that have pages, oldest first. Guarded by Engine.commitMu.
	withPages []*groupState
}

func (j *journal) find(id groupID) *groupState {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.groups[id]
}

// get returns a group's state, made on first use.
func (j *journal) get(id groupID) *groupState {
	if g := j.find(id); g != nil {
		return g
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	g := j.groups[id]
	if g == nil {
		g = &groupState{id: id}
		g.lastChange.Store(j.floor.Load())
		j.groups[id] = g
	}
	return g
}

// dropStore forgets the groups of a store that no longer exists.
func (j *journal) dropStore(store catalog.StoreID) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for id, g := range j.groups {
		if id.store == store {
			j.floor.Store(max(j.floor.Load(), g.lastChange.Load())) // older views may still ask
			delete(j.groups, id)
		}
	}
}

// pageLastChange returns the number of the last commit that changed a page, or a later one.
func (j *journal) pageLastChange(store catalog.StoreID, page uint64) uint64 {
	g := j.find(groupID{store, int(page >> 10)})
	if g == nil {
		return j.floor.Load()
	}
	return g.pageLastChange(int(page & 1023))
}

// pageLastChange is that of a page of the group.
func (g *groupState) pageLastChange(page int) uint64 {
	if p := g.pages.Load(); p != nil {
		return p[page].Load()
	}
	return g.lastChange.Load()
}

// record notes that commit n changes the positions of g, and writes a number of single rows in it. The commit
// mutex is held and the commit is not visible yet.
func (j *journal) record(g *groupState, positions []uint16, single int, n uint64) {
	p := g.pages.Load()
	if p == nil {
		p = &pageChanges{}
		before := g.lastChange.Load()
		for i := range p {
			p[i].Store(before)
		}
		if len(j.withPages) >= maxPageChanges {
			j.withPages[0].pages.Store(nil)
			j.withPages = j.withPages[1:]
		}
		j.withPages = append(j.withPages, g)
	}
	last := -1
	for _, pos := range positions {
		if page := int(pos >> 6); page != last {
			p[page].Store(n)
			last = page
		}
	}
	g.lastChange.Store(n)
	g.pages.Store(p)
	g.changes.Add(int64(single))
}

// GroupVersion is the change journal of one version of a group's column units.
//
// Every commit after BuiltAt that inserts, updates or deletes a row of the group sets the row's bit
// before the change becomes visible. So a reader whose view is at or after BuiltAt and who loads
// the bits after taking the view sees the bit of every row whose visible version differs from the
// one at BuiltAt. Set bits are never cleared; some may belong to commits later than the view, or to
// commits that failed, which costs time, not correctness.
//
// All methods may be called concurrently.
type GroupVersion struct {
	Store   catalog.StoreID
	Group   int
	BuiltAt uint64 // commit number of the build view

	touched [GroupPages]atomic.Uint64
	count   atomic.Int64
	voided  atomic.Uint64
}

// Touched copies the bits into dst.
func (v *GroupVersion) Touched(dst *GroupBits) {
	if v.count.Load() == 0 { // bits are counted before they are set
		*dst = GroupBits{}
		return
	}
	for i := range v.touched {
		dst[i] = v.touched[i].Load()
	}
}

// TouchedCount returns the number of set bits; it may run ahead of the bits for a moment.
func (v *GroupVersion) TouchedCount() int { return int(v.count.Load()) }

// VoidedAt returns the number of the first commit after BuiltAt that changed the table's epoch or
// dropped the store, 0 if there is none: views from that commit on must not use the version.
func (v *GroupVersion) VoidedAt() uint64 { return v.voided.Load() }

// touch sets the bits of positions, which ascend.
func (v *GroupVersion) touch(positions []uint16) {
	for i := 0; i < len(positions); {
		word, mask := positions[i]>>6, uint64(0)
		for ; i < len(positions) && positions[i]>>6 == word; i++ {
			mask |= 1 << (positions[i] & 63)
		}
		if fresh := mask &^ v.touched[word].Load(); fresh != 0 {
			// The count goes first, so that a reader who finds it 0 may trust that no bit is set
			// that it had to see. Bits set twice by racing markers are counted twice; that only
			// makes the group look a little more worn.
			v.count.Add(int64(bits.OnesCount64(fresh)))
			v.touched[word].Or(fresh)
		}
	}
}

// void tells the versions of stores that commit n ends their use.
func (j *journal) void(stores []catalog.StoreID, n uint64) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	for _, store := range stores {
		for id, g := range j.groups {
			if id.store != store {
				continue
			}
			if list := g.versions.Load(); list != nil {
				for _, v := range *list {
					v.voided.CompareAndSwap(0, n)
				}
			}
		}
	}
}

// RegisterVersion starts a journal for a new version of a group's units and returns it with the
// view to build from. Both are made under the commit mutex: no change can fall between them. The
// caller releases the view and unregisters the version.
func (e *Engine) RegisterVersion(store catalog.StoreID, group int) (*GroupVersion, *View, error) {
	if err := e.failed(); err != nil {
		return nil, nil, err
	}
	e.commitMu.Lock()
	defer e.commitMu.Unlock()
	s := e.snapshot() // no commit is under way
	v := &GroupVersion{Store: store, Group: group, BuiltAt: s.state.commit}
	g := e.journal.get(groupID{store, group})
	list := []*GroupVersion{v}
	if old := g.versions.Load(); old != nil {
		list = append(list, *old...)
	}
	g.versions.Store(&list)
	return v, newView(s, s.state.catalog), nil
}

// UnregisterVersion ends the marking of changes in v.
func (e *Engine) UnregisterVersion(v *GroupVersion) {
	e.commitMu.Lock()
	defer e.commitMu.Unlock()
	g := e.journal.find(groupID{v.Store, v.Group})
	if g == nil { // the store was dropped
		return
	}
	old := g.versions.Load()
	if old == nil {
		return
	}
	var list []*GroupVersion
	for _, x := range *old {
		if x != v {
			list = append(list, x)
		}
	}
	g.versions.Store(&list)
}

// GroupLastChange returns the number of the last commit that changed the group, 0 if none did.
func (e *Engine) GroupLastChange(store catalog.StoreID, group int) (uint64, error) {
	if g := e.journal.find(groupID{store, group}); g != nil && g.lastChange.Load() > e.journal.floor.Load() {
		return g.lastChange.Load(), nil
	}
	return readU64(e.db, groupKey(store, group))
}

// PageLastChange returns the number of the last commit that changed one of the 64 rows of a page
// (numbered from the store's start), or a later number. A copy of the page made under a view with
// commit number P is right for a view S if P ≤ S and PageLastChange, called after S was taken,
// is ≤ P.
func (e *Engine) PageLastChange(store catalog.StoreID, page uint64) uint64 {
	return e.journal.pageLastChange(store, page)
}
