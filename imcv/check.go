package imcv

import (
	"context"
	"fmt"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// Check compares every loaded unit with the rows of the latest committed state, but for the rows
// that the journal says have changed. It reports what differs and returns the number of units.
func (m *Manager) Check(ctx context.Context, report func(storage.Finding)) (units int, err error) {
	view := m.engine.View()
	defer view.Release()
	for _, t := range view.Catalog().Tables() {
		defined := m.view(t.ID)
		if defined == nil {
			continue
		}
		for _, store := range t.Stores {
			s := defined.stores[store]
			if s == nil {
				continue
			}
			s.mu.RLock()
			slots := s.slots
			s.mu.RUnlock()
			for number, sl := range slots {
				c := &unitCheck{manager: m, ctx: ctx, view: view, table: t, store: store, number: number, report: report}
				n, err := c.slot(sl)
				units += n
				if err != nil {
					return units, err
				}
			}
		}
	}
	return units, nil
}

// maxUnitFindings is how many findings about a version of a row group are reported: a wrong unit is
// mostly wrong in thousands of rows.
const maxUnitFindings = 20

// unitCheck checks the units of one row group.
type unitCheck struct {
	manager *Manager
	ctx     context.Context
	view    *storage.View
	table   *catalog.Table
	store   catalog.StoreID
	number  int
	report  func(storage.Finding)
	found   int
}

func (c *unitCheck) at(position int, format string, args ...any) {
	if c.found++; c.found > maxUnitFindings {
		return
	}
	place := fmt.Sprintf("store %d group %d", c.store, c.number)
	if position >= 0 {
		place = fmt.Sprintf("store %d row %d", c.store, c.number*storage.GroupRows+position)
	}
	c.report(storage.Finding{Table: c.table.Schema + "." + c.table.Name, Place: place, What: "column view: " + fmt.Sprintf(format, args...)})
}

// slot checks the published versions that the view may trust.
func (c *unitCheck) slot(s *slot) (units int, err error) {
	versions := s.versions.Load()
	if versions == nil {
		return 0, nil
	}
	for _, g := range *versions {
		if !g.validFor(c.view) || !g.pin() {
			continue
		}
		// As for queries: the bits are loaded after the view was taken.
		r := &GroupReader{group: g}
		var ids []catalog.ColumnID
		for _, col := range g.columns {
			if col.available() {
				ids = append(ids, col.id)
			}
		}
		r.find(g, ids)
		g.journal.Touched(&r.Touched)
		for i := range r.Touched {
			r.Trusted[i] = g.present[i] &^ r.Touched[i]
		}
		c.found = 0
		var err error
		if c.manager.Load(r, ids) { // else it is read by rows
			err = c.version(r)
			units += len(r.columns)
		}
		r.Unpin()
		if err != nil && c.ctx.Err() != nil {
			return units, c.ctx.Err()
		}
		if err != nil {
			c.at(-1, "its rows cannot be read: %v", err)
		}
	}
	return units, nil
}

// version compares one version with the rows.
func (c *unitCheck) version(r *GroupReader) (err error) {
	var cols []int
	var unitCols []catalog.ColumnID
	var units []*unit
	for i, col := range r.columns {
		if at := c.table.ColumnByID(col.id); at >= 0 {
			cols, unitCols, units = append(cols, at), append(unitCols, col.id), append(units, r.units[i])
		}
	}
	if !c.counts(r) {
		return nil
	}
	cursor, err := c.view.ScanGroup(c.table, c.store, c.number, cols, storage.ScanOptions{Refs: true, FromStore: true})
	if err != nil {
		return err
	}
	defer func() {
		if cerr := cursor.Close(); err == nil { // else it says the same again, or less
			err = cerr
		}
	}()
	missing := r.Trusted // rows of the units that the scan has not met
	var b vector.Batch
	values := make([]vector.Vector, len(cols))
	for {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		more, err := cursor.Next(&b)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		refs := vector.Of[int64](b.Vecs[len(cols)])
		first := int(storage.RowRef(refs[0]).Row() % storage.GroupRows)
		last := min(int(storage.RowRef(refs[b.N-1]).Row()%storage.GroupRows), r.group.limit-1)
		for k, id := range unitCols {
			if first <= last {
				r.Read(id, &values[k], first, last-first+1, nil)
			}
		}
		for i := range b.N {
			position := int(storage.RowRef(refs[i]).Row() % storage.GroupRows)
			if r.Touched.Get(position) {
				continue
			}
			if !r.Trusted.Get(position) {
				c.at(position, "the row is missing")
				continue
			}
			missing[position>>6] &^= 1 << (position & 63)
			for k := range unitCols {
				c.value(units[k], c.table.Columns[cols[k]], position, vector.DatumAt(b.Vecs[k], i), vector.DatumAt(&values[k], position-first))
			}
		}
	}
	for position := range storage.GroupRows {
		if missing.Get(position) {
			c.at(position, "it holds a row that the table does not have")
		}
	}
	return nil
}

// counts checks the numbers kept with a version and reports whether its units can be read.
func (c *unitCheck) counts(r *GroupReader) bool {
	readable := true
	g := r.group
	if n := vector.Bitmap(g.present[:]).Count(storage.GroupRows); n != g.rows {
		c.at(-1, "%d rows are present, %d are counted", n, g.rows)
	}
	for i, u := range r.units {
		at := c.table.ColumnByID(r.columns[i].id)
		switch {
		case at < 0:
			c.at(-1, "there is a unit of column %d, which does not exist", r.columns[i].id)
		case u.rows < g.limit:
			c.at(-1, "the unit of column %s ends at row %d, the group at %d", c.table.Columns[at].Name, u.rows, g.limit)
			readable = false
		}
	}
	return readable
}

// value compares a row's value with its unit's, and with the bounds that let queries skip the unit.
func (c *unitCheck) value(u *unit, col catalog.Column, position int, want, have vector.Datum) {
	if want != have && (want.F == want.F || have.F == have.F || want.Kind != have.Kind) { // NaN is not equal to itself
		c.at(position, "column %s differs from the row: %s unit", col.Name, u.values.encoding())
		return
	}
	if want.Null {
		if u.zone.Nulls == 0 {
			c.at(position, "column %s is NULL, its zone has no NULL", col.Name)
		}
		return
	}
	if u.zone.Nulls == u.zone.Rows || comparable(col.Type) && !u.zone.Min.Null && (compare(want, u.zone.Min) < 0 || compare(want, u.zone.Max) > 0) {
		c.at(position, "column %s lies outside of its zone", col.Name)
	}
}
