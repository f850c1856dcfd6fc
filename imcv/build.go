package imcv

import (
	"context"
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// build makes a new version of a row group's units. The journal is registered and the view taken
// in one step, so every change after the view is in the journal and none is missed.
//
// It returns nil without an error when the group holds no rows, or when the table has changed
// meanwhile: the next round starts from its new definition.
func (m *Manager) build(ctx context.Context, t task) (g *group, commit uint64, err error) {
	journal, view, err := m.engine.RegisterVersion(t.store, t.number)
	if err != nil {
		return nil, 0, err
	}
	commit = journal.BuiltAt
	keep := false
	defer func() {
		view.Release()
		if !keep {
			m.engine.UnregisterVersion(journal)
		}
	}()
	current := view.Catalog().Table(t.table.ID)
	if current == nil || current.Epoch != t.table.Epoch {
		return nil, commit, nil
	}
	g = &group{slot: t.slot, table: current.ID, epoch: current.Epoch, journal: journal, free: m.drop}
	g.pins.Store(1)
	if t.slot.newest() == nil && m.adopt(g, current, t) {
		keep = true
		return g, commit, nil
	}
	b, err := m.readGroup(ctx, view, current, t.store, t.number)
	if err != nil || b.rows == 0 {
		return nil, commit, err
	}
	g.present, g.rows, g.limit = b.present, b.rows, b.limit
	for i, c := range b.columns {
		g.columns = append(g.columns, newColumn(g, c.id, b.builders[i].finish(g.present[:])))
		b.builders[i] = nil
	}
	keep = true
	return g, commit, nil
}

// adopt makes g of the file that an earlier run left for it, if it fits. g's journal is registered, so a change from
// now on is marked in it.
func (m *Manager) adopt(g *group, t *catalog.Table, at task) bool {
	file := m.files.take(at.store, at.number)
	if file == nil {
		return false
	}
	if !m.fits(file, t) {
		m.files.remove(file)
		return false
	}
	copy(g.present[:], file.present)
	g.rows, g.limit, file.present = file.rows, file.limit, nil
	for i := range file.units {
		c := &column{unitFacts: file.units[i].facts, group: g}
		c.place.Store(&file.units[i].place)
		g.columns = append(g.columns, c)
	}
	g.file.Store(file)
	m.Counters.Adopted.Add(1)
	m.Counters.FilesBytes.Add(file.bytes)
	return true
}

// fits reports whether nothing has changed since a file was written: it is of the same definition and was built no
// earlier than its group's last change.
func (m *Manager) fits(file *groupFile, t *catalog.Table) bool {
	changed, err := m.engine.GroupLastChange(file.store, file.number)
	return err == nil && changed <= file.builtAt && file.table == t.ID && file.epoch == t.Epoch && file.covers(t)
}

// covers reports whether the file has the units of just the columns that the table's view covers.
func (f *groupFile) covers(t *catalog.Table) bool {
	n := 0
	for i := range t.Columns {
		c := &t.Columns[i]
		if !c.Covered {
			continue
		}
		n++
		if !slices.ContainsFunc(f.units, func(u fileUnit) bool { return u.facts.id == c.ID && u.facts.kind == c.Type.Kind() }) {
			return false
		}
	}
	return n == len(f.units)
}

// maxHeapBytes is how much text a unit holds: offsets have 32 bits. A group with more is left to rows, as one
// without rows is.
const maxHeapBytes = 1 << 30

// groupData is a row group read for building.
type groupData struct {
	columns  []columnType
	builders []*unitBuilder
	present  storage.GroupBits
	rows     int
	limit    int
}

// readGroup reads the covered columns of a row group under a view.
func (m *Manager) readGroup(ctx context.Context, view *storage.View, t *catalog.Table, store catalog.StoreID, number int) (data *groupData, err error) {
	data = &groupData{}
	var cols []int
	for i := range t.Columns {
		if c := &t.Columns[i]; c.Covered {
			cols = append(cols, i)
			data.columns = append(data.columns, columnType{c.ID, c.Type})
			data.builders = append(data.builders, newUnitBuilder(c.Type))
		}
	}
	cursor, err := view.ScanGroup(t, store, number, cols, storage.ScanOptions{Refs: true})
	if err != nil {
		return nil, err
	}
	defer func() {
		if cerr := cursor.Close(); err == nil {
			err = cerr
		}
	}()
	batch := &vector.Batch{}
	var positions []int
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		more, err := cursor.Next(batch)
		if err != nil {
			return nil, err
		}
		if !more {
			return data, nil
		}
		positions = positions[:0]
		refs := vector.Of[int64](batch.Vecs[len(cols)])
		for _, ref := range refs[:batch.N] {
			at := int(storage.RowRef(ref).Row() % storage.GroupRows)
			positions = append(positions, at)
			data.present.Set(at)
		}
		for i := range cols {
			data.builders[i].add(batch.Vecs[i], positions)
			if len(data.builders[i].values.Heap()) > maxHeapBytes {
				return &groupData{}, nil
			}
		}
		data.rows += batch.N
		data.limit = positions[len(positions)-1] + 1
	}
}
