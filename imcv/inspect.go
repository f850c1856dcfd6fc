package imcv

import (
	"context"
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// GroupInfo describes the newest units of a row group.
type GroupInfo struct {
	Node         int
	Store        catalog.StoreID
	Number       int
	Loaded       bool
	BuiltAt      uint64 // commit number
	Voided       bool   // the table's definition has changed since
	Rows         int
	Touched      []storage.RowRef // rows that changed since
	TouchedPages int
	JournalBytes int64
	Units        []UnitInfo // in the order of the columns
}

// UnitInfo describes a column unit.
type UnitInfo struct {
	Column   catalog.ColumnID
	Encoding string
	Bytes    int64 // in memory
	RawBytes int64 // of the values, one after another
	Rows     int
	Nulls    int
	Min, Max vector.Datum // Null where unknown
}

// Inspect describes the row groups of a table's view, those without units too.
func (m *Manager) Inspect(t *catalog.Table) ([]GroupInfo, error) {
	v := m.view(t.ID)
	if v == nil {
		return nil, nil
	}
	current := m.engine.View()
	defer current.Release()
	var out []GroupInfo
	for node, store := range t.Stores {
		groups, err := current.Groups(store)
		if err != nil {
			return nil, err
		}
		for number := range groups {
			info := GroupInfo{Node: node, Store: store, Number: number}
			if s := v.stores[store]; s != nil {
				if sl := s.slotAt(number); sl != nil {
					if g := sl.newest(); g != nil && g.pin() {
						g.describe(&info, t)
						g.unpin()
					}
				}
			}
			out = append(out, info)
		}
	}
	return out, nil
}

func (g *group) describe(info *GroupInfo, t *catalog.Table) {
	info.Loaded, info.BuiltAt, info.Voided, info.Rows = true, g.journal.BuiltAt, g.journal.VoidedAt() != 0, g.rows
	var touched storage.GroupBits
	g.journal.Touched(&touched)
	info.TouchedPages, info.JournalBytes = touchedPages(g), storage.GroupRows/8
	first := uint64(info.Number) * storage.GroupRows
	for at := range storage.GroupRows {
		if touched.Get(at) {
			info.Touched = append(info.Touched, storage.MakeRowRef(info.Store, first+uint64(at)))
		}
	}
	for _, id := range t.CoveredColumns() {
		if u := g.units[id]; u != nil {
			info.Units = append(info.Units, UnitInfo{Column: id, Encoding: u.encoding.String(), Bytes: u.sizeBytes(), RawBytes: g.rawBytes(u),
				Rows: u.zone.Rows, Nulls: u.zone.Nulls, Min: u.zone.Min, Max: u.zone.Max})
		}
	}
}

// rawBytes is the size of a unit's values as they are: of strings their bytes.
func (g *group) rawBytes(u *unit) int64 {
	if width := u.kind.Width(); width > 0 {
		return int64(width) * int64(u.zone.Rows)
	}
	size := int64(0)
	var v, flat vector.Vector
	for from := 0; from < g.limit; from += vector.BatchCap {
		n := min(vector.BatchCap, g.limit-from)
		u.read(&v, from, n)
		values := vector.Flatten(&flat, &v, n)
		for i := range n {
			if g.present.Get(from+i) && !values.IsNull(i) {
				size += int64(len(values.BytesAt(i)))
			}
		}
	}
	return size
}

// FlushOptions say what FlushWith does.
type FlushOptions struct {
	Workers     int  // 0 = htap_flush_workers
	MissingOnly bool // leave groups alone that have units, however old
}

// FlushWith loads the row groups of a table's view that have no units, those let go by Unload too, and
// rebuilds those that are not up to date. It returns the number of groups built.
func (m *Manager) FlushWith(ctx context.Context, t *catalog.Table, f FlushOptions) (int, error) {
	m.building.Lock()
	defer m.building.Unlock()
	o := m.currentOptions()
	if !o.Enabled {
		return 0, nil
	}
	if f.Workers > 0 {
		o.Workers = f.Workers
	}
	if v := m.view(t.ID); v != nil {
		for _, s := range v.stores {
			s.retry()
		}
	}
	tasks, err := m.due(o, t, !f.MissingOnly)
	if err != nil {
		return 0, err
	}
	if f.MissingOnly {
		var missing []task
		for _, t := range tasks {
			if t.slot.newest() == nil {
				missing = append(missing, t)
			}
		}
		tasks = missing
	}
	if len(tasks) == 0 {
		return 0, nil
	}
	return m.work(ctx, o, tasks)
}

// retry forgets when groups without units were last looked at.
func (s *storeView) retry() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.attempts {
		if s.slots[i].newest() == nil {
			s.attempts[i] = attempt{}
		}
	}
}

// Unload lets the units of a table's view go and returns how many row groups had some. They are read
// by rows until FlushWith, or until they change and the interval between rebuilds has passed.
func (m *Manager) Unload(t *catalog.Table) int {
	m.building.Lock()
	defer m.building.Unlock()
	v := m.view(t.ID)
	if v == nil {
		return 0
	}
	n := 0
	now := m.engine.CommitNumber()
	for _, s := range v.stores {
		s.mu.RLock()
		slots := s.slots
		s.mu.RUnlock()
		for number, sl := range slots {
			if sl.newest() == nil {
				continue
			}
			sl.publish(nil)
			s.tried(number, now)
			n++
		}
	}
	m.version.Add(1)
	return n
}

// sampledGroups is how many row groups of a store EstimateBytes builds.
const sampledGroups = 2

// Estimate is the memory that units of a table's columns would take on a data node.
type Estimate struct {
	Columns  map[catalog.ColumnID]int64
	Overhead int64 // whatever the columns
}

// EstimateBytes estimates the memory that units of some columns would take, by data node: it builds
// those of a few row groups and counts their bytes.
func (m *Manager) EstimateBytes(ctx context.Context, t *catalog.Table, columns []catalog.ColumnID) ([]Estimate, error) {
	c := t.Clone()
	for i := range c.Columns {
		c.Columns[i].Covered = slices.Contains(columns, c.Columns[i].ID)
	}
	view := m.engine.View()
	defer view.Release()
	out := make([]Estimate, len(c.Stores))
	for node, store := range c.Stores {
		e := &out[node]
		e.Columns = map[catalog.ColumnID]int64{}
		groups, err := view.Groups(store)
		if err != nil {
			return nil, err
		}
		sampled := min(groups, sampledGroups)
		for k := range sampled {
			data, err := m.readGroup(ctx, view, c, store, k*groups/sampled)
			if err != nil {
				return nil, err
			}
			if data.rows == 0 {
				continue
			}
			scale := func(bytes int64) int64 { return bytes * int64(groups) / int64(sampled) }
			e.Overhead += scale(groupOverheadBytes)
			for i, b := range data.builders {
				e.Columns[data.columns[i].id] += scale(b.finish(data.present.Get).sizeBytes())
			}
		}
	}
	return out, nil
}

// Bytes is the memory of all columns of the estimate.
func (e *Estimate) Bytes() int64 {
	sum := e.Overhead
	for _, bytes := range e.Columns {
		sum += bytes
	}
	return sum
}
