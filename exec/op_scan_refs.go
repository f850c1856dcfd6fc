package exec

import (
	"slices"

	"github.com/weftdb/weft/catalog"
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
	home   home
	cols   []int // positions in Table.Columns
	filter expr.Filter
	ids    []uint64
	sel    vector.Sel

	removed int64 // rows that the filter refused, for EXPLAIN ANALYZE
}

// counted reports what the filter removed when the worker ends.
func (f *refReader) counted(w *Worker, stats *nodeStats) {
	if stats != nil && f.filter != nil {
		w.onClose(func() error {
			stats.count(factByFilter, f.removed)
			return nil
		})
	}
}

func newRefReader(r *run, n *planner.Scan, view *storage.View) (*refReader, error) {
	f := &refReader{node: n, view: view, cols: make([]int, len(n.Columns)), home: homeOf(n)}
	for i := range n.Columns {
		f.cols[i] = n.Columns[i].Pos
	}
	return f, f.compile(r)
}

func (f *refReader) compile(r *run) (err error) {
	if cond := conjunction(f.node.Filter); cond != nil {
		f.filter, err = expr.CompileFilter(cond, layout(f.node.Cols()), r.env)
	}
	return err
}

// read pushes those of the rows that exist in the view and pass the filter. It sorts refs.
func (f *refReader) read(refs []storage.RowRef, out Pusher) error {
	slices.Sort(refs)
	for len(refs) > 0 {
		n := f.collectIDs(refs)
		if err := f.readStore(refs[:n], out); err != nil {
			return err
		}
		refs = refs[n:]
	}
	return nil
}

// collectIDs puts into f.ids the rows of the first references that one Fetch can read: of one store,
// at most a batch. It returns how many they are.
func (f *refReader) collectIDs(refs []storage.RowRef) (n int) {
	f.ids = f.ids[:0]
	for n < len(refs) && n < vector.BatchCap && refs[n].Store() == refs[0].Store() {
		f.ids = append(f.ids, refs[n].Row())
		n++
	}
	return n
}

// readStore pushes rows of one store, whose ids are in f.ids.
func (f *refReader) readStore(refs []storage.RowRef, out Pusher) error {
	b := &vector.Batch{}
	missing, err := f.fetch(refs[0].Store(), b)
	if err != nil {
		return err
	}
	f.sel = f.sel[:0]
	for i := range refs {
		if missing == nil || !missing.Get(i) {
			f.sel = append(f.sel, uint16(i))
		}
	}
	switch len(f.sel) {
	case 0:
		return nil
	case len(refs):
	default:
		b.Sel = f.sel
	}
	return f.push(b, refs, out)
}

// fetch reads the rows of one store whose ids are in f.ids.
func (f *refReader) fetch(store catalog.StoreID, b *vector.Batch) (vector.Bitmap, error) {
	table, err := f.home.leaf(store)
	if err != nil {
		return nil, err
	}
	return f.view.Fetch(table, store, f.ids, f.home.columns(store, f.cols), b)
}

// push adds the references, which belong to the batch's rows one by one, filters and pushes.
func (f *refReader) push(b *vector.Batch, refs []storage.RowRef, out Pusher) error {
	if f.node.RowRef != nil {
		column := make([]int64, len(refs))
		for i, ref := range refs {
			column[i] = int64(ref)
		}
		b.Vecs = append(b.Vecs, vector.FromSlice(vector.I64, column))
	}
	if f.filter != nil && b.Live() > 0 {
		before := b.Live()
		sel, err := f.filter.Select(b, b.Sel, make(vector.Sel, 0, b.N))
		if err != nil {
			return err
		}
		if f.removed += int64(before - len(sel)); len(sel) == 0 {
			return nil
		}
		b.Sel = sel
	}
	if b.Live() == 0 {
		return nil
	}
	return out.Push(b)
}

// readInOrder is read for rows, at most a batch of them, that are wanted in the order of refs: they
// are fetched in the order they are stored in and put into the other one.
func (f *refReader) readInOrder(refs []storage.RowRef, out Pusher) error {
	sorted := slices.Clone(refs)
	slices.Sort(sorted)
	all := &vector.Batch{}
	at := map[storage.RowRef]uint32{} // rows that exist: where they are in all
	for rest := sorted; len(rest) > 0; {
		n := f.collectIDs(rest)
		part := &vector.Batch{}
		missing, err := f.fetch(rest[0].Store(), part)
		if err != nil {
			return err
		}
		for i, ref := range rest[:n] {
			if missing == nil || !missing.Get(i) {
				at[ref] = uint32(all.N + i)
			}
		}
		all.N += n
		for i, v := range part.Vecs {
			if len(all.Vecs) == i {
				all.Vecs = append(all.Vecs, vector.New(v.Kind, len(refs)))
			}
			vector.AppendRange(all.Vecs[i], v, 0, n)
		}
		rest = rest[n:]
	}
	idx, kept := make([]uint32, 0, len(refs)), make([]storage.RowRef, 0, len(refs))
	for _, ref := range refs {
		if i, ok := at[ref]; ok {
			idx, kept = append(idx, i), append(kept, ref)
		}
	}
	b := &vector.Batch{N: len(idx)}
	for _, v := range all.Vecs {
		ordered := &vector.Vector{}
		vector.Gather(ordered, v, idx)
		b.Vecs = append(b.Vecs, ordered)
	}
	return f.push(b, kept, out)
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
