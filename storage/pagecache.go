package storage

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/weftdb/weft/catalog"
)

// pageCache keeps packed pages in memory, so that reading their rows takes no search in Pebble.
//
// An entry has the packed rows of a page as they were in commit At, and marks the slots whose rows have
// changed since, or were not packed then. It serves a view S if At ≤ S, for all slots that are not marked:
// those rows are the same in both (design.md §2). The others have to be looked for one by one, until the
// page is folded: folding drops the entry, so that the new packed form gets in. A view from before that
// must not bring the old form back: what it finds unpacked is not put in.
//
// A commit marks what it changes before it becomes visible, and after it has noted that in the journal; who
// puts a page in looks at the journal once it is there, and makes it ready for readers after that. So one of the
// two finds the other's.
//
// All methods may be called concurrently.
type pageCache struct {
	limit   int64
	bytes   atomic.Int64
	changes *journal
	folds   *atomic.Uint64 // Engine.folds

	mu     sync.RWMutex
	groups map[groupID]*cachedGroup // guarded by mu

	// ringMu guards ring, what was put in, in the order in which it is looked at when room is needed
	// (the clock algorithm). Pages that were forgotten leave it when their turn comes.
	ringMu sync.Mutex
	ring   []cachedSlot
	hand   int
	pages  atomic.Int64 // in the cache
}

// cachedGroup holds the cached pages of a group.
type cachedGroup [GroupPages]atomic.Pointer[cachedPage]

// cachedPage is a page in memory. It is immutable but for changed and used.
type cachedPage struct {
	at      uint64        // commit
	data    []byte        // a packed page that parsed; nil = nothing is packed
	changed atomic.Uint64 // slots that data does not have, or not any more
	ready   atomic.Bool
	used    atomic.Bool
}

// allSlots marks every row of a page.
const allSlots = ^uint64(0)

type cachedSlot struct {
	group *cachedGroup
	page  uint16
	entry *cachedPage
}

// cachedPageOverhead is about what an entry takes besides its page.
const cachedPageOverhead = 96

func newPageCache(limitBytes int64, changes *journal, folds *atomic.Uint64) *pageCache {
	return &pageCache{limit: limitBytes, changes: changes, folds: folds, groups: map[groupID]*cachedGroup{}}
}

func (p *cachedPage) sizeBytes() int64 { return int64(len(p.data)) + cachedPageOverhead }

// find returns the cached pages of a group, nil if there are none.
func (c *pageCache) find(id groupID) *cachedGroup {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.groups[id]
}

// get returns the entry of a page that serves a view of commit number commit, or that has no row for any
// view; nil if there is none.
func (g *cachedGroup) get(page int, commit uint64) *cachedPage {
	if g == nil {
		return nil
	}
	p := g[page].Load()
	if p == nil || !p.ready.Load() || p.data != nil && p.at > commit {
		return nil
	}
	if !p.used.Load() {
		p.used.Store(true)
	}
	return p
}

// put remembers a page as a snapshot saw it: data, which is copied, nil = nothing is packed, and the slots
// that are not to be taken from it. Without evict it is only kept if there is room.
func (c *pageCache) put(id groupID, page int, s *snapshot, data []byte, changed uint64, evict bool) {
	size, at := int64(len(data))+cachedPageOverhead, s.state.commit
	if size > c.limit/8 || !evict && c.bytes.Load()+size > c.limit || changed != 0 && c.folds.Load() != s.folds {
		return
	}
	g := c.find(id)
	if g == nil {
		c.mu.Lock()
		if g = c.groups[id]; g == nil {
			g = &cachedGroup{}
			c.groups[id] = g
		}
		c.mu.Unlock()
	}
	old := g[page].Load()
	if old != nil && (old.at >= at || changed != 0 && (data == nil || old.data != nil && old.changed.Load()&^changed == 0)) {
		return // what is there is newer, or has as much
	}
	entry := &cachedPage{at: at, data: bytes.Clone(data)}
	entry.changed.Store(changed)
	if !g[page].CompareAndSwap(old, entry) {
		return
	}
	c.bytes.Add(size)
	c.pages.Add(1)
	c.gone(old)
	if c.changes.pageLastChange(id.store, uint64(id.group)<<10|uint64(page)) > at || changed != 0 && c.folds.Load() != s.folds {
		if g[page].CompareAndSwap(entry, nil) {
			c.gone(entry)
		}
		return
	}
	entry.ready.Store(true)
	c.ringMu.Lock()
	defer c.ringMu.Unlock()
	if c.ring = append(c.ring, cachedSlot{g, uint16(page), entry}); len(c.ring) > 2*int(c.pages.Load())+1024 {
		c.ring = slices.DeleteFunc(c.ring, func(s cachedSlot) bool { return s.group[s.page].Load() != s.entry })
	}
	c.makeRoom()
}

// change marks the rows of a group at positions, which ascend, as changed. The journal has them already,
// and the commit is not visible yet.
func (c *pageCache) change(id groupID, positions []uint16) {
	g := c.find(id)
	for i := 0; g != nil && i < len(positions); {
		page, slots := positions[i]>>6, uint64(0)
		for ; i < len(positions) && positions[i]>>6 == page; i++ {
			slots |= 1 << (positions[i] & 63)
		}
		if p := g[page].Load(); p != nil {
			p.changed.Or(slots)
		}
	}
}

// gone counts an entry that was taken out; nil is none.
func (c *pageCache) gone(old *cachedPage) {
	if old != nil {
		c.bytes.Add(-old.sizeBytes())
		c.pages.Add(-1)
	}
}

// makeRoom drops pages that were not used since the hand last passed them. ringMu is held.
func (c *pageCache) makeRoom() {
	for c.bytes.Load() > c.limit && len(c.ring) > 0 {
		if c.hand >= len(c.ring) {
			c.hand = 0
		}
		s := c.ring[c.hand]
		if s.group[s.page].Load() == s.entry && s.entry.used.Swap(false) {
			c.hand++
			continue
		}
		if s.group[s.page].CompareAndSwap(s.entry, nil) {
			c.gone(s.entry)
		}
		last := len(c.ring) - 1
		c.ring[c.hand], c.ring[last] = c.ring[last], cachedSlot{}
		c.ring = c.ring[:last]
	}
}

// forget drops a page.
func (c *pageCache) forget(id groupID, page int) {
	if g := c.find(id); g != nil {
		c.gone(g[page].Swap(nil))
	}
}

// dropStore drops the pages of a store that no longer exists; views that still read it find them in
// Pebble.
func (c *pageCache) dropStore(store catalog.StoreID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, g := range c.groups {
		if id.store != store {
			continue
		}
		for i := range g {
			c.gone(g[i].Swap(nil))
		}
		delete(c.groups, id)
	}
}
