package imcv

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/storage"
)

// Options say how column views are kept.
type Options struct {
	Enabled     bool  // enable_htap
	BudgetBytes int64 // htap_max_mem_size
	Workers     int   // htap_flush_workers: groups built at a time
	// FlushPages is the number of changed pages (64 row ids) after which a group is rebuilt, and
	// FlushSeconds the time after which a changed one is rebuilt in any case.
	FlushPages   int
	FlushSeconds int
	// Policy is htap_memctl_policy: PolicySwap, PolicyDelete or PolicyEscape.
	Policy string
	Logger *slog.Logger // nil = silent
}

// Manager keeps the column views of a database. All methods may be called concurrently, except
// Start and Stop.
type Manager struct {
	// Served counts how scans answered row groups since the start.
	Served Served
	// Counters count what happened to units since the start.
	Counters Counters

	engine  *storage.Engine
	files   *unitFiles
	clock   clock
	version atomic.Uint64
	bytes   atomic.Int64 // memory of all groups and units
	// keepFiles is set when the database is being closed: groups leave, their files stay.
	keepFiles atomic.Bool

	mu      sync.RWMutex // guards options and tables
	options Options
	tables  map[catalog.TableID]*tableView

	building sync.Mutex // one round of building at a time decides what to build
	wake     chan struct{}
	stop     context.CancelFunc
	done     chan struct{}
}

// Served counts row groups by the way scans of column views answered them.
type Served struct {
	Units   atomic.Int64 // from units
	Touched atomic.Int64 // of these, with changed rows merged from the row store
	Pruned  atomic.Int64 // skipped by their zones
	Rows    atomic.Int64 // from rows: no usable units, or too many survivors of a hybrid scan
}

// tableView is a table's column view under one definition. It is immutable; its stores fill.
type tableView struct {
	table  *catalog.Table
	stores map[catalog.StoreID]*storeView
}

// storeView is the part of a table's view on one data node.
type storeView struct {
	mu       sync.RWMutex // guards slots and attempts
	slots    []*slot
	attempts []attempt
}

// attempt remembers the last time a group was built or found empty.
type attempt struct {
	seconds int64  // Unix time, 0 = never
	commit  uint64 // commit number it was read at
}

func (s *storeView) attempt(number int) attempt {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if number >= len(s.attempts) {
		return attempt{}
	}
	return s.attempts[number]
}

func (s *storeView) tried(number int, commit uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if number < len(s.attempts) {
		s.attempts[number] = attempt{time.Now().Unix(), commit}
	}
}

// NewManager returns a manager without views; Refresh finds those the catalog defines.
func NewManager(engine *storage.Engine, o Options) *Manager {
	m := &Manager{engine: engine, files: newUnitFiles(engine), tables: map[catalog.TableID]*tableView{}, wake: make(chan struct{}, 1)}
	m.options = m.possible(o)
	return m
}

// possible replaces what the database cannot do: one in memory has no files to swap units to.
func (m *Manager) possible(o Options) Options {
	if o.Policy == PolicySwap && !m.files.ok {
		o.Policy = PolicyDelete
	}
	return o
}

// SetOptions changes the options; they hold from the next round of building.
func (m *Manager) SetOptions(o Options) {
	m.mu.Lock()
	m.options = m.possible(o)
	m.mu.Unlock()
	m.shrink()
	m.nudge()
}

func (m *Manager) currentOptions() Options {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.options
}

// Version changes whenever plans made before may have become poor: a group was loaded for the
// first time, or a view was defined or dropped.
func (m *Manager) Version() uint64 { return m.version.Load() }

// Refresh brings the views in line with the committed catalog: units of dropped and redefined
// tables are let go, new views get their places, and background loading is woken.
func (m *Manager) Refresh() {
	m.mu.Lock()
	if m.options.Enabled {
		m.refreshLocked(m.engine.Catalog())
	}
	m.mu.Unlock()
	m.nudge()
}

func (m *Manager) refreshLocked(c *catalog.Snapshot) {
	for id, v := range m.tables {
		if t := c.Table(id); t == nil || !t.HasView || t.Epoch != v.table.Epoch || !sameStores(t, v.table) {
			v.drop()
			delete(m.tables, id)
			m.version.Add(1)
		} else {
			// Renamed, or another change that does not concern units: they stay.
			m.tables[id] = &tableView{table: t, stores: v.stores}
		}
	}
	for _, t := range c.Tables() {
		if t.HasView && m.tables[t.ID] == nil {
			v := &tableView{table: t, stores: map[catalog.StoreID]*storeView{}}
			for _, s := range t.Stores {
				v.stores[s] = &storeView{}
			}
			m.tables[t.ID] = v
			m.version.Add(1)
		}
	}
}

func sameStores(a, b *catalog.Table) bool {
	if len(a.Stores) != len(b.Stores) {
		return false
	}
	for i := range a.Stores {
		if a.Stores[i] != b.Stores[i] {
			return false
		}
	}
	return true
}

// drop lets all units of the view go.
func (v *tableView) drop() {
	for _, s := range v.stores {
		s.mu.Lock()
		slots := s.slots
		s.slots, s.attempts = nil, nil
		s.mu.Unlock()
		for _, sl := range slots {
			sl.publish(nil, nil, nil)
		}
	}
}

func (m *Manager) view(id catalog.TableID) *tableView {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.tables[id]
}

func (m *Manager) slot(id catalog.TableID, store catalog.StoreID, number int) *slot {
	v := m.view(id)
	if v == nil {
		return nil
	}
	s := v.stores[store]
	if s == nil {
		return nil
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if number >= len(s.slots) {
		return nil
	}
	return s.slots[number]
}

func (s *storeView) slotAt(number int) *slot {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if number >= len(s.slots) { // dropped meanwhile
		return nil
	}
	return s.slots[number]
}

// all returns the slots there are.
func (s *storeView) all() []*slot {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.slots
}

// grow makes room for n groups.
func (s *storeView) grow(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.slots) < n {
		s.slots = append(s.slots, &slot{})
		s.attempts = append(s.attempts, attempt{})
	}
}

// State is what planning needs to know of a table's view.
type State struct {
	Groups       int // row groups that hold rows
	LoadedGroups int
	TouchedRows  int // rows of loaded groups that are read from the row store
}

// State returns the state of a table's view.
func (m *Manager) State(t *catalog.Table) State {
	var out State
	for _, info := range m.info(t, func(*Info, *group) {}) {
		out.Groups += info.Groups
		out.LoadedGroups += info.LoadedGroups
		out.TouchedRows += info.TouchedRows
	}
	return out
}

// Info describes a table's view on one data node.
type Info struct {
	Groups        int // row groups that hold rows
	LoadedGroups  int
	TouchedRows   int
	UnitsInMemory int // covered columns and the hidden row-id unit, of all loaded groups
	MemoryBytes   int64
	UnitsOnDisk   int
	DiskBytes     int64
}

// Info returns a table's view node by node.
func (m *Manager) Info(t *catalog.Table) []Info { return m.info(t, (*Info).count) }

// info describes the view; count adds what takes looking at every unit.
func (m *Manager) info(t *catalog.Table, count func(*Info, *group)) []Info {
	out := make([]Info, len(t.Stores))
	v := m.view(t.ID)
	current := m.engine.View()
	defer current.Release()
	for node, store := range t.Stores {
		info := &out[node]
		groups, err := current.Groups(store)
		if err != nil {
			continue // the view is of no use then, and the statement will see the error itself
		}
		info.Groups = groups
		if v == nil || v.stores[store] == nil {
			continue
		}
		s := v.stores[store]
		s.mu.RLock()
		slots := s.slots
		s.mu.RUnlock()
		for _, sl := range slots {
			if g := sl.newest(); g != nil {
				info.LoadedGroups++
				info.TouchedRows += g.journal.TouchedCount()
				count(info, g)
			}
		}
		info.LoadedGroups = min(info.LoadedGroups, info.Groups)
	}
	return out
}

// count adds the units of a group.
func (i *Info) count(g *group) {
	i.UnitsInMemory++
	i.MemoryBytes += g.memoryBytes()
	for _, c := range g.columns {
		if c.unit.Load() != nil {
			i.UnitsInMemory++
		} else if p := c.place.Load(); p != nil {
			i.UnitsOnDisk++
			i.DiskBytes += p.length
		}
	}
}

// MemoryBytes returns the memory that units take, including versions that only old readers use.
func (m *Manager) MemoryBytes() int64 { return m.bytes.Load() }
