package exec

import (
	"slices"

	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// refReader reads a scan's rows by reference, whatever the scan's own way of reading is, and
// applies its filter. It belongs to one worker.
type refReader struct {
	node   *planner.Scan
	view   *storage.View
	cols   []int // positions in Table.Columns
	filter expr.Filter
	ids    []uint64
	sel    vector.Sel
}

func newRefReader(r *run, n *planner.Scan, view *storage.View) (*refReader, error) {
	f := &refReader{node: n, view: view, cols: make([]int, len(n.Columns))}
	for i := range n.Columns {
		f.cols[i] = n.Columns[i].Pos
	}
	if cond := conjunction(n.Filter); cond != nil {
		var err error
		if f.filter, err = expr.CompileFilter(cond, layout(n.Cols()), r.env); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// read pushes those of the rows that exist in the view and pass the filter. It sorts refs.
func (f *refReader) read(refs []storage.RowRef, out Pusher) error {
	slices.Sort(refs)
	for len(refs) > 0 {
		store, n := refs[0].Store(), 0
		f.ids = f.ids[:0]
		for n < len(refs) && n < vector.BatchCap && refs[n].Store() == store {
			f.ids = append(f.ids, refs[n].Row())
			n++
		}
		if err := f.readStore(refs[:n], out); err != nil {
			return err
		}
		refs = refs[n:]
	}
	return nil
}

// readStore pushes rows of one store, whose ids are in f.ids.
func (f *refReader) readStore(refs []storage.RowRef, out Pusher) error {
	b := &vector.Batch{}
	missing, err := f.view.Fetch(f.node.Table, refs[0].Store(), f.ids, f.cols, b)
	if err != nil {
		return err
	}
	if f.node.RowRef != nil {
		column := make([]int64, len(refs))
		for i, ref := range refs {
			column[i] = int64(ref)
		}
		b.Vecs = append(b.Vecs, vector.FromSlice(vector.I64, column))
	}
	f.sel = f.sel[:0]
	for i := range refs {
		if missing == nil || !missing.Get(i) {
			f.sel = append(f.sel, uint16(i))
		}
	}
	if f.filter != nil && len(f.sel) > 0 {
		if f.sel, err = f.filter.Select(b, f.sel, make(vector.Sel, 0, len(f.sel))); err != nil {
			return err
		}
	}
	if len(f.sel) == 0 {
		return nil
	}
	b.Sel = f.sel
	return out.Push(b)
}

// newestRows are rows that scans read, in their newest version, in place of their tables.
type newestRows struct {
	view *storage.View
	refs map[int][]storage.RowRef // by Scan.Lock
}

func (r *newestRows) of(n *planner.Scan) (refs []storage.RowRef, ok bool) {
	if r != nil && n.Lock != 0 {
		refs, ok = r.refs[n.Lock]
	}
	return refs, ok
}

// recheck runs a plan again with only the newest versions of some rows, which are locked, in place
// of their tables. The other tables are read as the statement sees them. (PostgreSQL calls this
// EvalPlanQual.)
func (r *run) recheck(n planner.Node, refs map[int][]storage.RowRef, out Pusher) error {
	view := r.query.Txn.LatestView()
	defer view.Release()
	again := *r
	// CTEs are computed anew, for the rows may be read in one.
	again.threads, again.outer, again.ctes, again.stats = 1, nil, nil, nil
	again.newest = &newestRows{view: view, refs: refs}
	again.account = &account{budget: r.account.budget}
	defer again.account.release()
	return again.collect(n, &pusherSink{out})
}

// pusherSink ends a plan that runs inside of a pusher; what follows that one is not flushed.
type pusherSink struct{ Pusher }

func (s *pusherSink) Open(*Worker) (Pusher, error) { return s, nil }
func (s *pusherSink) Finish(*Worker) error         { return nil }
func (s *pusherSink) Flush() error                 { return nil }

// newestSource reads rows in their newest version in place of a scan.
type newestSource struct {
	run  *run
	node *planner.Scan
	refs []storage.RowRef
}

type newestScanner struct {
	reader *refReader
	refs   []storage.RowRef
	out    Pusher
}

func (s *newestSource) Morsels(*Worker) (int, error) { return 1, nil }

func (s *newestSource) Open(_ *Worker, out Pusher) (Scanner, error) {
	reader, err := newRefReader(s.run, s.node, s.run.newest.view)
	return &newestScanner{reader, s.refs, out}, err
}

func (c *newestScanner) Scan(int) error { return c.reader.read(c.refs, c.out) }
