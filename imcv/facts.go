package imcv

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// UnitInfo describes one unit of a table's view.
type UnitInfo struct {
	Store    catalog.StoreID
	Group    int
	Column   catalog.ColumnID
	Encoding Encoding
	Rows     int
	Nulls    int
	Min, Max vector.Datum // NULL when there is no value, or values have no order
	// PlainBytes is what the values would take as they are, Bytes what they take in memory, and DiskBytes
	// in the group's file, 0 if they are in none.
	PlainBytes, Bytes, DiskBytes int64
	FilterBytes                  int64 // of the Bloom filter
	InMemory                     bool
}

// GroupInfo describes the newest version of a row group of a table's view.
type GroupInfo struct {
	Store    catalog.StoreID
	Group    int
	Loaded   bool
	Voided   bool // the table's definition has changed since
	Rows     int
	BuiltAt  uint64 // commit number
	Versions int    // with those kept for old views
	// TouchedRows are rows that changed since the build, TouchedPages the pages of 64 row ids they are in.
	TouchedRows, TouchedPages int
	JournalBytes              int64 // of all versions
	MemoryBytes               int64 // of all versions
	FileBytes                 int64
	Heat                      int // scans that came by lately
}

// journalBytes is what one version's bitmap of changes takes.
const journalBytes = 8 << 10

// Units lists the units of a table's view, group by group.
func (m *Manager) Units(t *catalog.Table) []UnitInfo {
	var out []UnitInfo
	m.eachSlot(t, func(store catalog.StoreID, number int, s *slot) {
		g := s.newest()
		if g == nil {
			return
		}
		for _, c := range g.columns {
			info := UnitInfo{Store: store, Group: number, Column: c.id, Encoding: c.encoding, Rows: c.zone.Rows, Nulls: c.zone.Nulls, Min: c.zone.Min, Max: c.zone.Max,
				PlainBytes: c.plain, Bytes: c.bytes, FilterBytes: int64(8 * len(c.bloom)), InMemory: c.unit.Load() != nil}
			if p := c.place.Load(); p != nil {
				info.DiskBytes = p.length
			}
			out = append(out, info)
		}
	})
	return out
}

// Groups lists the row groups of a table's view.
func (m *Manager) Groups(t *catalog.Table) []GroupInfo {
	var out []GroupInfo
	m.eachSlot(t, func(store catalog.StoreID, number int, s *slot) {
		info := GroupInfo{Store: store, Group: number, Heat: int(s.heat.Load())}
		if versions := s.versions.Load(); versions != nil && len(*versions) > 0 {
			g := (*versions)[0]
			info.Loaded, info.Rows, info.BuiltAt, info.Versions = g.whole(), g.rows, g.journal.BuiltAt, len(*versions)
			info.Voided = g.journal.VoidedAt() != 0
			info.TouchedRows, info.TouchedPages = g.journal.TouchedCount(), touchedPages(g)
			if f := g.file.Load(); f != nil {
				info.FileBytes = f.bytes
			}
			for _, v := range *versions {
				info.JournalBytes += journalBytes
				info.MemoryBytes += v.memoryBytes()
			}
		}
		out = append(out, info)
	})
	return out
}

// TouchedRows lists the rows of a row group that changed since its newest units were built.
func (m *Manager) TouchedRows(t *catalog.Table, store catalog.StoreID, number int) (refs []storage.RowRef) {
	s := m.slot(t.ID, store, number)
	if s == nil {
		return nil
	}
	g := s.newest()
	if g == nil {
		return nil
	}
	var touched storage.GroupBits
	g.journal.Touched(&touched)
	first := uint64(number) * storage.GroupRows
	for at := range storage.GroupRows {
		if touched.Get(at) {
			refs = append(refs, storage.MakeRowRef(store, first+uint64(at)))
		}
	}
	return refs
}

// eachSlot visits the row groups of a table's view.
func (m *Manager) eachSlot(t *catalog.Table, visit func(store catalog.StoreID, number int, s *slot)) {
	v := m.view(t.ID)
	if v == nil {
		return
	}
	for _, store := range t.Stores {
		if s := v.stores[store]; s != nil {
			for number, sl := range s.all() {
				visit(store, number, sl)
			}
		}
	}
}
