package imcv

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// group is one version of a row group's units: what the covered columns held at the build point.
// Its journal changes after it has been published, and units leave memory and come back.
type group struct {
	slot    *slot
	table   catalog.TableID
	epoch   uint64
	journal *storage.GroupVersion
	present storage.GroupBits // positions that hold a row
	rows    int               // number of them
	limit   int               // highest position + 1
	columns []*column
	// supersededAt is the build number of the next version, 0 while there is none. Views from that
	// number on must not use this one, because its journal is not kept up any more.
	supersededAt atomic.Uint64
	// pins counts readers, plus one while the group is published. What it holds is given back when the
	// count reaches zero.
	pins atomic.Int64
	free func(*group)

	spilling sync.Mutex // guards writing of file
	file     atomic.Pointer[groupFile]
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

// validFor reports whether the units may be trusted under a view: they are not newer than it, the
// table's definition had not changed by then, and the journal knows all changes up to it.
func (g *group) validFor(view *storage.View) bool {
	at := view.CommitNumber()
	voided, superseded := g.journal.VoidedAt(), g.supersededAt.Load()
	return g.journal.BuiltAt <= at && (voided == 0 || voided > at) && (superseded == 0 || superseded > at)
}

func (g *group) column(id catalog.ColumnID) *column {
	for _, c := range g.columns {
		if c.id == id {
			return c
		}
	}
	return nil
}

// whole reports whether no unit has been given up.
func (g *group) whole() bool {
	return !slices.ContainsFunc(g.columns, func(c *column) bool { return !c.available() })
}

// swapped reports whether some unit is in a file alone.
func (g *group) swapped() bool { return slices.ContainsFunc(g.columns, (*column).swapped) }

// memoryBytes is what the group takes now.
func (g *group) memoryBytes() int64 {
	n := g.overheadBytes()
	for _, c := range g.columns {
		if c.unit.Load() != nil {
			n += c.bytes
		}
	}
	return n
}

// overheadBytes is what the group takes without its units: the presence bitmap, which the reference system
// calls the hidden row-id column, the journal's bitmap, and what is known of units.
func (g *group) overheadBytes() int64 {
	n := int64(2*storage.GroupRows/8 + 1024)
	for _, c := range g.columns {
		n += int64(8 * len(c.bloom))
	}
	return n
}

// slot holds the published versions of one row group, newest first.
type slot struct {
	mu       sync.Mutex // held by whoever replaces versions
	versions atomic.Pointer[[]*group]
	heat     atomic.Uint32 // scans that came by lately
	// released is what the group took when memory was too short for it, 0 = it is not missed.
	released atomic.Int64
}

// maxVersions is how many versions of a group are kept for old views. They cost memory, which can be
// swapped, but commits mark changes in the newest only.
const maxVersions = 4

func (s *slot) newest() *group {
	if v := s.versions.Load(); v != nil && len(*v) > 0 {
		return (*v)[0]
	}
	return nil
}

// publish puts a version in front, nil drops all.
//
// The version before it stays usable by views that are older than the new one, with the changes its
// journal has by now: among them are all that such views see. So it needs no further marking, and a
// view that stays open for long finds its version as useful as on the first day. retire ends the
// marking; it comes after both the new list and the number are in place, so that a view taken later
// cannot use the old version.
func (s *slot) publish(g *group, live []uint64, retire func(*group)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var kept, dropped []*group
	if old := s.versions.Load(); old != nil {
		kept = *old
	}
	if g == nil {
		kept, dropped = nil, kept
	} else {
		kept, dropped = needed(append([]*group{g}, kept...), live)
	}
	s.versions.Store(&kept)
	for i := 1; i < len(kept); i++ {
		if kept[i].supersededAt.CompareAndSwap(0, kept[i-1].journal.BuiltAt) {
			retire(kept[i])
		}
	}
	for _, v := range dropped {
		v.supersededAt.CompareAndSwap(0, v.journal.BuiltAt)
		v.unpin()
	}
}

// trim drops versions that no view needs any more.
func (s *slot) trim(live []uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.versions.Load()
	if old == nil || len(*old) < 2 {
		return
	}
	kept, dropped := needed(*old, live)
	if len(dropped) == 0 {
		return
	}
	s.versions.Store(&kept)
	for _, v := range dropped {
		v.unpin()
	}
}

// withdraw takes one version away; with the newest go those behind it, which would look like the newest and
// no longer learn of changes.
func (s *slot) withdraw(g *group) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.versions.Load()
	if old == nil || !slices.Contains(*old, g) {
		return
	}
	gone := []*group{g}
	if (*old)[0] == g {
		gone = *old
	}
	kept := slices.DeleteFunc(slices.Clone(*old), func(v *group) bool { return slices.Contains(gone, v) })
	s.versions.Store(&kept)
	for _, v := range gone {
		v.unpin()
	}
}

// needed splits versions into the newest with those that some live view would use, and the rest. live
// are the views' commit numbers.
func needed(versions []*group, live []uint64) (kept, dropped []*group) {
	for i, v := range versions {
		use := i == 0
		for _, at := range live {
			use = use || at >= v.journal.BuiltAt && at < versions[i-1].journal.BuiltAt
		}
		if use && len(kept) < maxVersions {
			kept = append(kept, v)
		} else {
			dropped = append(dropped, v)
		}
	}
	return kept, dropped
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
	// FromDisk is the number of units that Load had to read from a file.
	FromDisk int

	columns []*column
	units   []*unit // of columns, nil = not loaded
	scratch scratch
}

// Pin makes r read the newest units of a row group that view may trust and reports whether there
// are any that hold all of cols; if not, the group is to be read by rows. Every successful Pin needs
// an Unpin. Zones can be looked at then; values of columns after their Load.
func (m *Manager) Pin(r *GroupReader, view *storage.View, t *catalog.Table, store catalog.StoreID, number int, cols []catalog.ColumnID) bool {
	s := m.slot(t.ID, store, number)
	if s == nil {
		return false
	}
	s.heat.Add(1)
	versions := s.versions.Load()
	if versions == nil {
		return false
	}
	for _, g := range *versions {
		if !g.validFor(view) || !r.find(g, cols) || !g.pin() {
			continue
		}
		r.group, r.FromDisk = g, 0
		// The journal's bits are loaded after the view was taken, so every change the view sees
		// has its bit set; bits of later changes cost a look into the rows and change nothing.
		g.journal.Touched(&r.Touched)
		view.OverlayIDs(store, number, &r.Touched)
		for i := range r.Touched {
			r.Trusted[i] = g.present[i] &^ r.Touched[i]
		}
		r.TouchedRows = vector.Bitmap(r.Touched[:]).Count(storage.GroupRows)
		return true
	}
	return false
}

// find looks for the columns in a version and reports whether it has the units of all.
func (r *GroupReader) find(g *group, cols []catalog.ColumnID) bool {
	r.columns, r.units = r.columns[:0], r.units[:0]
	for _, id := range cols {
		c := g.column(id)
		if c == nil || !c.available() {
			return false
		}
		r.columns, r.units = append(r.columns, c), append(r.units, nil)
	}
	return true
}

// Load makes the values of some of the pinned columns readable, from files where they are not in memory. If
// it fails, because a file is damaged or memory too short, the group is to be read by rows.
func (m *Manager) Load(r *GroupReader, cols []catalog.ColumnID) bool {
	for _, id := range cols {
		i := r.index(id)
		if r.units[i] != nil {
			continue
		}
		c := r.columns[i]
		u := c.unit.Load()
		if u == nil {
			if u = m.fetch(c); u == nil {
				return false
			}
			r.FromDisk++
		}
		if !c.used.Load() {
			c.used.Store(true)
		}
		r.units[i] = u
	}
	return true
}

// Unpin ends the use of the units; vectors read from them must not be used afterwards.
func (r *GroupReader) Unpin() {
	r.group.unpin()
	r.group = nil
	clear(r.units)
}

// Limit returns the end of the positions the units cover.
func (r *GroupReader) Limit() int { return r.group.limit }

// Rows returns the number of rows the units hold.
func (r *GroupReader) Rows() int { return r.group.rows }

// index returns the place of a pinned column, −1 if it is not pinned.
func (r *GroupReader) index(col catalog.ColumnID) int {
	for i, c := range r.columns {
		if c.id == col {
			return i
		}
	}
	return -1
}

// Read makes v the values of a column at positions from … from+n−1. v shares memory with the unit
// where the encoding allows; it stays readable until Unpin, or v's next use. Where sel is given,
// rows outside of it may be left undecoded.
func (r *GroupReader) Read(col catalog.ColumnID, v *vector.Vector, from, n int, sel vector.Sel) {
	r.units[r.index(col)].read(v, from, n, sel, &r.scratch)
}

// Zone returns the summary of a column's unit. It speaks of all rows at the build point, so it
// holds for the trusted ones.
func (r *GroupReader) Zone(col catalog.ColumnID) Zone { return r.columns[r.index(col)].zone }

// Select returns the trusted rows among positions from … from+n−1, relative to from: nil when all
// are, else out's memory.
func (r *GroupReader) Select(from, n int, out vector.Sel) (sel vector.Sel, all bool) {
	return selection(r.trusted(from, n), n, out)
}

// trusted returns the trusted rows of a window as a mask in r's scratch memory.
func (r *GroupReader) trusted(from, n int) []uint64 {
	mask := r.scratch.masks[:(n+63)/64]
	shiftBits(mask, r.Trusted[:], from)
	if rest := uint(n) & 63; rest != 0 {
		mask[len(mask)-1] &= 1<<rest - 1
	}
	return mask
}
