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
// An entry has the rows of the page in commit At. It serves a view S if At ≤ S and the page has not
// changed after At: it was then the same in both (design.md §2). Or it says that some rows are not
// packed and have to be looked for one by one, which stays so until the page is folded: folding drops
// the entry, so that the packed form gets in.
//
// All methods may be called concurrently.
type pageCache struct {
	limit int64
	bytes atomic.Int64

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

// cachedPage is a page in memory. It is immutable but for used.
type cachedPage struct {
	at   uint64 // commit
	data []byte // a packed page that parsed; nil = not all rows are packed
	used atomic.Bool
}

type cachedSlot struct {
	group *cachedGroup
	page  uint16
	entry *cachedPage
}

// cachedPageOverhead is about what an entry takes besides its page.
const cachedPageOverhead = 96

func newPageCache(limitBytes int64) *pageCache {
	return &pageCache{limit: limitBytes, groups: map[groupID]*cachedGroup{}}
}

func (p *cachedPage) sizeBytes() int64 { return int64(len(p.data)) + cachedPageOverhead }

// find returns the cached pages of a group, nil if there are none.
func (c *pageCache) find(id groupID) *cachedGroup {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.groups[id]
}

// get returns the entry of a page that serves a view of commit number commit; nil if there is none.
// changed is the last commit that changed the page, found out after the view was taken.
func (g *cachedGroup) get(page int, commit, changed uint64) *cachedPage {
	if g == nil {
		return nil
	}
	p := g[page].Load()
	if p == nil || p.data != nil && (p.at > commit || changed > p.at) {
		return nil
	}
	if !p.used.Load() {
		p.used.Store(true)
	}
	return p
}

// put remembers a page as a view of commit `at` saw it: data is copied; nil says that not all rows are
// packed. Without evict it is only kept if there is room.
func (c *pageCache) put(id groupID, page int, at uint64, data []byte, evict bool) {
	size := int64(len(data)) + cachedPageOverhead
	if size > c.limit/8 || !evict && c.bytes.Load()+size > c.limit {
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
	if old != nil && old.at >= at {
		return
	}
	entry := &cachedPage{at: at, data: bytes.Clone(data)}
	if !g[page].CompareAndSwap(old, entry) {
		return
	}
	c.bytes.Add(size)
	c.pages.Add(1)
	c.gone(old)
	c.ringMu.Lock()
	defer c.ringMu.Unlock()
	if c.ring = append(c.ring, cachedSlot{g, uint16(page), entry}); len(c.ring) > 2*int(c.pages.Load())+1024 {
		c.ring = slices.DeleteFunc(c.ring, func(s cachedSlot) bool { return s.group[s.page].Load() != s.entry })
	}
	c.makeRoom()
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
