package imcv

import (
	"sync/atomic"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// group is one version of a row group's units: what the covered columns held at the build point.
// Only its journal changes after it has been published.
type group struct {
	journal *storage.GroupVersion
	present storage.GroupBits // positions that hold a row
	rows    int               // number of them
	limit   int               // highest position + 1
	units   map[catalog.ColumnID]*unit
	bytes   int64
	// pins counts readers, plus one while the group is published. The journal is unregistered
	// when it reaches zero.
	pins atomic.Int64
	free func(*group)
}

func (g *group) unpin() {
	if g.pins.Add(-1) == 0 {
		g.free(g)
	}
}

// pin keeps the group alive, unless its last user has left already.
func (g *group) pin() bool {
	for {
		n := g.pins.Load()
		if n == 0 {
			return false
		}
		if g.pins.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// validFor reports whether the units may be trusted under a view: they are not newer than it, and
// the table's definition had not changed by then.
func (g *group) validFor(view *storage.View) bool {
	at := view.CommitNumber()
	voided := g.journal.VoidedAt()
	return g.journal.BuiltAt <= at && (voided == 0 || voided > at)
}

// slot holds the published versions of one row group, newest first. A version stays until two
// newer ones exist: a view older than all of them reads rows.
type slot struct {
	versions atomic.Pointer[[]*group]
}

const keptVersions = 2

func (s *slot) newest() *group {
	if v := s.versions.Load(); v != nil && len(*v) > 0 {
		return (*v)[0]
	}
	return nil
}

// publish puts a version in front and drops those beyond the kept ones. One builder at a time works
// on a slot.
func (s *slot) publish(g *group) {
	var next, dropped []*group
	if g != nil {
		next = []*group{g}
	}
	if old := s.versions.Load(); old != nil {
		for _, v := range *old {
			if g != nil && len(next) < keptVersions {
				next = append(next, v)
			} else {
				dropped = append(dropped, v)
			}
		}
	}
	s.versions.Store(&next)
	for _, v := range dropped {
		v.unpin()
	}
}

// GroupReader is a row group's units as one query may use them. It belongs to one goroutine.
//
// Trusted rows are to be taken from the units; rows in Touched from the row store, under the
// query's view, restricted to exactly those positions.
type GroupReader struct {
	group   *group
	Trusted storage.GroupBits
	Touched storage.GroupBits
	// TouchedRows is the number of bits in Touched.
	TouchedRows int
}

// Pin makes r read the newest units of a row group that view may trust and reports whether there
// are any that hold all of cols; if not, the group is to be read by rows. Every successful Pin needs
// an Unpin.
func (m *Manager) Pin(r *GroupReader, view *storage.View, t *catalog.Table, store catalog.StoreID, number int, cols []catalog.ColumnID) bool {
	s := m.slot(t.ID, store, number)
	if s == nil {
		return false
	}
	versions := s.versions.Load()
	if versions == nil {
		return false
	}
	for _, g := range *versions {
		if !g.validFor(view) || !g.holds(cols) || !g.pin() {
			continue
		}
		r.group = g
		// The journal's bits are loaded after the view was taken, so every change the view sees
		// has its bit set; bits of later changes cost a look into the rows and change nothing.
		g.journal.Touched(&r.Touched)
		view.OverlayIDs(store, number, &r.Touched)
		r.TouchedRows = 0
		for i := range r.Touched {
			r.Trusted[i] = g.present[i] &^ r.Touched[i]
		}
		r.TouchedRows = vector.Bitmap(r.Touched[:]).Count(storage.GroupRows)
		return true
	}
	return false
}

func (g *group) holds(cols []catalog.ColumnID) bool {
	for _, id := range cols {
		if g.units[id] == nil {
			return false
		}
	}
	return true
}

// Unpin ends the use of the units; vectors read from them must not be used afterwards.
func (r *GroupReader) Unpin() {
	r.group.unpin()
	r.group = nil
}

// Limit returns the end of the positions the units cover.
func (r *GroupReader) Limit() int { return r.group.limit }

// Rows returns the number of rows the units hold.
func (r *GroupReader) Rows() int { return r.group.rows }

// Read makes v the values of a column at positions from … from+n−1. v shares memory with the unit
// where the encoding allows; it stays readable until Unpin, or v's next use.
func (r *GroupReader) Read(col catalog.ColumnID, v *vector.Vector, from, n int) {
	r.group.units[col].read(v, from, n)
}

// Zone returns the summary of a column's unit. It speaks of all rows at the build point, so it
// holds for the trusted ones.
func (r *GroupReader) Zone(col catalog.ColumnID) Zone { return r.group.units[col].zone }

// Select returns the trusted rows among positions from … from+n−1, relative to from: nil when all
// are, else out's memory.
func (r *GroupReader) Select(from, n int, out vector.Sel) (sel vector.Sel, all bool) {
	out = out[:0]
	if from&63 == 0 && n&63 == 0 {
		all = true
		for _, w := range r.Trusted[from>>6 : (from+n)>>6] {
			all = all && w == ^uint64(0)
		}
		if all {
			return nil, true
		}
	}
	for i := range n {
		if r.Trusted.Get(from + i) {
			out = append(out, uint16(i))
		}
	}
	return out, false
}
