package imcv

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Values of htap_memctl_policy: what happens to units for which memory is short.
const (
	// PolicySwap writes units that were not used lately to files and reads them back when they are
	// needed. A database in memory has no files: there it is PolicyDelete.
	PolicySwap = "swap"
	// PolicyDelete gives single units up. Their group is read by rows where they are needed, until it is
	// built again because there is room, or because it has changed.
	PolicyDelete = "delete"
	// PolicyEscape gives whole row groups up, in the same way: a query then reads a group in one way.
	PolicyEscape = "escape"
)

// Counters are what has happened to units since the start.
type Counters struct {
	DiskReads  atomic.Int64 // units read from files
	Evictions  atomic.Int64 // units that left memory and have a file
	Deletions  atomic.Int64 // units given up by PolicyDelete, or because no file could be written
	Escapes    atomic.Int64 // times a row group was left to rows because memory was short
	Builds     atomic.Int64 // groups built for the first time
	Rebuilds   atomic.Int64 // groups built again
	Adopted    atomic.Int64 // groups taken over from files of an earlier run
	Damaged    atomic.Int64 // units or files that could not be read and are built again
	FilesBytes atomic.Int64 // of unit files now
}

// clock chooses what leaves memory: its hand goes round the units in memory and passes over those that
// were used since it came by last.
type clock struct {
	mu    sync.Mutex
	ring  []*column // in memory, or were until lately
	hand  int
	sweep int // length at which those that have left are removed
}

func (k *clock) add(c *column) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.ring) >= k.sweep { // while memory suffices, the hand stands still
		k.ring = slices.DeleteFunc(k.ring, func(c *column) bool { return c.unit.Load() == nil })
		k.sweep = 2*len(k.ring) + minSweep
	}
	k.ring = append(k.ring, c)
}

const minSweep = 256

// next takes the next victim out of the ring, nil when there is none.
func (k *clock) next() *column {
	k.mu.Lock()
	defer k.mu.Unlock()
	for steps := 2 * len(k.ring); steps >= 0 && len(k.ring) > 0; steps-- {
		if k.hand >= len(k.ring) {
			k.hand = 0
		}
		c := k.ring[k.hand]
		if c.unit.Load() != nil && c.used.Swap(false) {
			k.hand++
			continue
		}
		last := len(k.ring) - 1
		k.ring[k.hand] = k.ring[last]
		k.ring[last] = nil
		k.ring = k.ring[:last]
		if c.unit.Load() != nil {
			return c
		}
	}
	return nil
}

// reserve adds n bytes to the memory in use, of which others give way where the policy lets them. It
// reports whether there was room; if not, nothing is reserved.
func (m *Manager) reserve(n int64) bool {
	budget := m.currentOptions().BudgetBytes
	if n > budget {
		return false
	}
	if m.bytes.Add(n) <= budget {
		return true
	}
	m.shrink()
	if m.bytes.Load() <= budget {
		return true
	}
	m.bytes.Add(-n)
	return false
}

// shrink lets units go until the memory in use is within the budget, or nothing is left to go. Commits
// and readers never wait for it: readers keep what they use until they are done.
func (m *Manager) shrink() {
	o := m.currentOptions()
	for m.bytes.Load() > o.BudgetBytes {
		c := m.clock.next()
		if c == nil {
			return
		}
		m.release(o, c)
	}
}

// release takes one unit, or its whole group, out of memory.
func (m *Manager) release(o Options, c *column) {
	g := c.group
	if !g.pin() {
		return // its last user is giving everything back
	}
	defer g.unpin()
	if o.Policy == PolicyEscape {
		m.escape(g)
		return
	}
	if o.Policy == PolicySwap && c.place.Load() == nil {
		m.spill(g)
	}
	freed := c.evict()
	if freed == 0 {
		return
	}
	m.bytes.Add(-freed)
	if c.place.Load() != nil {
		m.Counters.Evictions.Add(1)
		return
	}
	m.Counters.Deletions.Add(1)
	g.slot.released.Add(freed)
}

// escape leaves a group to rows: its units go, and its version with them.
func (m *Manager) escape(g *group) {
	freed := int64(0)
	for _, c := range g.columns {
		freed += c.evict()
	}
	m.bytes.Add(-freed)
	m.Counters.Escapes.Add(1)
	g.slot.withdraw(g)
	g.slot.released.Add(freed + g.overheadBytes())
}

// hasRoom reports whether what was given up would fit again without anything else having to go. A tenth
// stays free, so that units do not come and go.
func (m *Manager) hasRoom(o Options, bytes int64) bool {
	return m.bytes.Load()+bytes <= o.BudgetBytes-o.BudgetBytes/10
}

// fetch returns a unit that is not in memory, nil when it is to be done without.
func (m *Manager) fetch(c *column) *unit {
	c.reading.Lock()
	defer c.reading.Unlock()
	if u := c.unit.Load(); u != nil {
		return u
	}
	p, file := c.place.Load(), c.group.file.Load()
	if p == nil || file == nil {
		return nil
	}
	if !m.reserve(c.bytes) {
		m.Counters.Escapes.Add(1)
		return nil
	}
	u, err := m.files.readUnit(file, p, c)
	if err != nil {
		m.bytes.Add(-c.bytes)
		c.place.Store(nil) // the next round builds the group again
		m.Counters.Damaged.Add(1)
		m.warn("read column unit", err)
		m.nudge()
		return nil
	}
	c.unit.Store(u)
	m.clock.add(c)
	m.Counters.DiskReads.Add(1)
	return u
}

func (m *Manager) warn(what string, err error) {
	if log := m.currentOptions().Logger; log != nil {
		log.Warn(what, "error", err)
	}
}

// drop gives back what a group holds that nobody uses any more.
func (m *Manager) drop(g *group) {
	m.engine.UnregisterVersion(g.journal)
	freed := g.overheadBytes()
	for _, c := range g.columns {
		freed += c.evict()
	}
	m.bytes.Add(-freed)
	if file := g.file.Load(); file != nil && !m.keepFiles.Load() {
		m.files.remove(file)
		m.Counters.FilesBytes.Add(-file.bytes)
	}
}
