package imcv

import (
	"context"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// build makes a new version of a row group's units. The journal is registered and the view taken
// in one step, so every change after the view is in the journal and none is missed.
//
// It returns nil without an error when the group holds no rows, or when the table has changed
// meanwhile: the next round starts from its new definition.
func (m *Manager) build(ctx context.Context, t *catalog.Table, store catalog.StoreID, number int) (g *group, commit uint64, err error) {
	journal, view, err := m.engine.RegisterVersion(store, number)
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
	current := view.Catalog().Table(t.ID)
	if current == nil || current.Epoch != t.Epoch {
		return nil, commit, nil
	}
	b, err := m.readGroup(ctx, view, current, store, number)
	if err != nil || b.rows == 0 {
		return nil, commit, err
	}
	g = &group{journal: journal, present: b.present, rows: b.rows, limit: b.limit, units: map[catalog.ColumnID]*unit{}, free: m.drop}
	for i, c := range b.columns {
		u := b.builders[i].finish(g.present.Get)
		g.units[c.id] = u
		g.bytes += u.sizeBytes()
	}
	g.bytes += groupOverheadBytes
	g.pins.Store(1)
	keep = true
	return g, commit, nil
}

// groupOverheadBytes is the presence bitmap, which the reference system calls the hidden row-id
// column, with the journal's bitmap and the maps.
const groupOverheadBytes = 2*storage.GroupRows/8 + 1024

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
		}
		data.rows += batch.N
		data.limit = positions[len(positions)-1] + 1
	}
}
