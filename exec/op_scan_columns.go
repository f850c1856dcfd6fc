package exec

import (
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/imcv"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// columnReader reads a scan's row groups through column units: rows whose units may be trusted
// come from them, rows that changed since the units were built from the row store, both under the
// statement's view. A group without usable units is read by rows. The reader applies the scan's
// filter itself.
//
// In a hybrid scan the units hold the filter's columns only. The filter runs on them, and the
// survivors' other columns are fetched by reference through the same view, so that both parts of a
// row are of one version even if the row is changed in between. A group where too many rows survive
// is read by rows instead.
type columnReader struct {
	scan   *scanSource
	views  *imcv.Manager
	filter expr.Filter // nil = no condition
	coded  codedFilter

	covered []catalog.ColumnID // by scan column; 0 = fetched from rows
	units   []catalog.ColumnID // those that are read from units
	tested  []catalog.ColumnID // of these, those that filters use: they are loaded first
	unread  []*vector.Vector   // by scan column: what stands for values that only the filter needed; nil = they are read

	group   imcv.GroupReader
	pinned  bool
	counted bool // the group is counted as answered by its units, which are all loaded or are not needed
	store   catalog.StoreID
	number  int
	at      int // next position of the unit part
	rows    *storage.Cursor
	rowPart bool // the rest of the group comes from the row store

	lent lentFilters
	have []bool // by scan column: it has been read for the window

	sel, narrowed vector.Sel
	own           []vector.Vector // memory for unpacked columns
	refs          *vector.Vector
	rowBatch      vector.Batch
}

// ColumnViews gives scans access to column units.
type ColumnViews = *imcv.Manager

// newColumnReader returns the reader of a scan by columns, nil when the scan reads rows.
func (s *scanSource) newColumnReader() (*columnReader, error) {
	views := s.run.query.Columns
	if views == nil || s.node.Access != planner.AccessColumns && s.node.Access != planner.AccessHybrid {
		return nil, nil
	}
	r := &columnReader{scan: s, views: views, sel: make(vector.Sel, 0, vector.BatchCap), narrowed: make(vector.Sel, 0, vector.BatchCap)}
	ids, used := map[expr.ColID]catalog.ColumnID{}, expr.Columns(s.cond)
	for i := range s.node.Columns {
		c := &s.node.Columns[i]
		column := &s.node.Table.Columns[c.Pos]
		r.unread = append(r.unread, nil)
		if column.Covered {
			if c.FilterOnly {
				r.unread[i] = vector.ConstOf(vector.Datum{Kind: column.Type.Kind()})
			}
			r.covered = append(r.covered, column.ID)
			r.units = append(r.units, column.ID)
			if used.Has(c.Col.ID) {
				r.tested = append(r.tested, column.ID)
			}
			ids[c.Col.ID] = column.ID
		} else {
			r.covered = append(r.covered, 0)
		}
	}
	if s.cond != nil {
		var err error
		if r.filter, err = expr.CompileFilter(s.cond, s.layout, s.run.env); err != nil {
			return nil, err
		}
	}
	r.coded = newCodedFilter(s, ids)
	r.own = make([]vector.Vector, len(r.covered))
	r.refs = vector.New(vector.I64, vector.BatchCap)
	r.have = make([]bool, len(r.covered))
	return r, nil
}

// whole returns what reads all of the scan's columns: the reader itself, or a hybrid where units hold some
// only.
func (r *columnReader) whole() groupReader {
	if !slices.Contains(r.covered, 0) {
		return r
	}
	return newHybridReader(r)
}

// Open pins the group's units, or turns to rows where there are none.
func (r *columnReader) Open(store catalog.StoreID, number int) error {
	r.unpin()
	r.store, r.number, r.at, r.rowPart, r.counted = store, number, 0, false, false
	s := r.scan
	if !r.views.Pin(&r.group, s.run.query.View, s.node.Table, store, number, r.units) {
		return r.byRows()
	}
	r.pinned = true
	switch {
	case r.coded.units.Skip(&r.group), r.skipByKeys():
		s.stats.count(factPruned, 1)
		r.views.Served.Pruned.Add(1)
		r.at, r.counted = r.group.Limit(), true
		return nil
	case !r.views.Load(&r.group, r.tested):
		return r.byRows()
	}
	r.lent.mark()
	return r.coded.bind(&r.group)
}

// byRows turns to the row store for the whole group.
func (r *columnReader) byRows() error {
	r.unpin()
	r.scan.stats.count(factByRows, 1)
	r.views.Served.Rows.Add(1)
	return r.openRows(nil)
}

// loadRest loads the columns that filters do not use, when a row of the group has passed them: before that nothing
// of it has been handed out. If it fails, the group is to be read by rows.
func (r *columnReader) loadRest() bool {
	if !r.counted {
		if !r.views.Load(&r.group, r.units) {
			return false
		}
		r.countUnits()
	}
	return true
}

// countUnits counts a group that is answered by its units, and where they came from.
func (r *columnReader) countUnits() {
	r.counted = true
	if r.group.FromDisk > 0 {
		r.scan.stats.count(factFromDisk, 1)
	}
	r.scan.stats.count(factUnits, 1)
	r.views.Served.Units.Add(1)
}

func (r *columnReader) unpin() {
	if r.pinned {
		r.group.Unpin()
		r.pinned = false
	}
}

// window makes b the trusted rows from a position on that pass the filter, reading the filter's
// columns only, and returns the number of positions it covers.
func (r *columnReader) window(b *vector.Batch, from int) (int, error) {
	n := min(vector.BatchCap, r.group.Limit()-from)
	sel, all := r.coded.units.Select(&r.group, from, n, r.sel)
	b.N, b.Sel = n, sel
	if !all {
		r.sel = sel
	}
	clear(r.have)
	rest := r.coded.rest
	if rest == nil || b.Live() == 0 {
		r.narrowLent(b, from, n)
		return n, nil
	}
	for i, used := range rest.tested {
		if used {
			r.read(b, i, from, n)
		}
	}
	out, err := rest.filter.Select(b, b.Sel, r.narrowed)
	if err != nil {
		return n, err
	}
	r.narrowed = out
	if len(out) < n {
		b.Sel = out
	}
	r.narrowLent(b, from, n)
	return n, nil
}

// read makes scan column i of the batch the values of a window.
func (r *columnReader) read(b *vector.Batch, i, from, n int) {
	if !r.have[i] {
		r.group.Read(r.covered[i], b.Vecs[i], from, n, b.Sel)
		r.have[i] = true
	}
}

// Next yields the trusted rows first, then the changed ones.
func (r *columnReader) Next(b *vector.Batch) (bool, error) {
	for !r.rowPart {
		if r.at >= r.group.Limit() {
			if !r.counted {
				r.countUnits()
			}
			if r.group.TouchedRows == 0 {
				return false, nil
			}
			r.scan.stats.count(factTouched, int64(r.group.TouchedRows))
			r.views.Served.Touched.Add(1)
			if err := r.openRows(&r.group.Touched); err != nil {
				return false, err
			}
			break
		}
		from := r.at
		for i := range r.own {
			b.Vecs[i] = &r.own[i]
		}
		n, err := r.window(b, from)
		if err != nil {
			return false, err
		}
		r.at += n
		if b.Live() == 0 {
			continue
		}
		if !r.loadRest() {
			r.lent.forget()
			if err := r.byRows(); err != nil {
				return false, err
			}
			break
		}
		return true, r.complete(b, from, n)
	}
	return r.nextRows(b)
}

// complete adds the columns that the filters did not need.
func (r *columnReader) complete(b *vector.Batch, from, n int) error {
	for i, id := range r.covered {
		switch {
		case id == 0 || r.have[i]:
		case r.unread[i] != nil:
			b.Vecs[i] = r.unread[i]
		default:
			r.read(b, i, from, n)
		}
	}
	wantRefs := r.scan.node.RowRef != nil
	if wantRefs {
		r.refs.Reset(vector.I64, n)
		first := int64(storage.MakeRowRef(r.store, uint64(r.number)*storage.GroupRows+uint64(from)))
		for i, out := 0, vector.Of[int64](r.refs); i < n; i++ {
			out[i] = first + int64(i)
		}
		b.Vecs[len(r.covered)] = r.refs
	}
	return nil
}

// openRows turns to the row store for the given positions of the group, nil for all.
func (r *columnReader) openRows(positions *storage.GroupBits) error {
	r.rowPart = true
	if r.rows != nil {
		return r.rows.Reset(r.store, r.number, positions)
	}
	s := r.scan
	var err error
	r.rows, err = s.run.query.View.ScanGroup(s.node.Table, r.store, r.number, s.cols, storage.ScanOptions{Refs: s.node.RowRef != nil, Positions: positions})
	return err
}

// nextRows yields rows from the row store that pass the filter.
func (r *columnReader) nextRows(b *vector.Batch) (bool, error) {
	more, err := r.rows.Next(&r.rowBatch)
	if err != nil || !more {
		return false, err
	}
	copy(b.Vecs, r.rowBatch.Vecs)
	b.N, b.Sel = r.rowBatch.N, nil
	if r.filter != nil {
		out, err := r.filter.Select(b, nil, r.narrowed)
		if err != nil {
			return false, err
		}
		r.narrowed = out
		if len(out) < b.N {
			b.Sel = out
		}
	}
	r.lent.narrow(b)
	return true, nil
}

// Rest yields nothing: no row waits at the end of a group.
func (r *columnReader) Rest(*vector.Batch) (bool, error) { return false, nil }

// Close releases the units and the row store's cursors.
func (r *columnReader) Close() error {
	r.unpin()
	var err error
	if r.rows != nil {
		err = r.rows.Close()
	}
	return err
}
