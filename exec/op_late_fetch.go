package exec

import (
	"cmp"
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// lateFetchOp adds columns to rows by the references they carry, through the statement's view.
type lateFetchOp struct {
	run   *run
	node  *planner.LateFetch
	ref   int   // column of the input
	cols  []int // positions in Table.Columns
	stats *nodeStats
}

func (b *builder) lateFetch(n *planner.LateFetch) ([]*stream, error) {
	streams, err := b.build(n.Input, n)
	if err != nil {
		return nil, err
	}
	input := n.Input.Cols()
	op := &lateFetchOp{run: b.run, node: n, ref: layout(input)(n.Ref.ID), stats: b.run.stats.of(n)}
	for i := range n.Columns {
		op.cols = append(op.cols, n.Columns[i].Pos)
	}
	from := make([]int, 0, len(input)+len(op.cols))
	for i := range input {
		from = append(from, i)
	}
	for range op.cols {
		from = append(from, -1)
	}
	for _, s := range streams {
		s.add(op, s.mapped(from))
	}
	return streams, nil
}

// lateFetcher is a lateFetchOp in one worker.
type lateFetcher struct {
	op     *lateFetchOp
	home   home
	w      *Worker
	byLeaf map[*catalog.Table]*storage.Fetcher // of the tables that rows have come from
	order  []wantedRow
	live   []uint32 // rows of the batch, where it has a selection
	ids    []uint64
	at     []uint32 // by row of the batch: which of the rows fetched it is
	part   vector.Batch
	all    []vector.Vector // rows fetched, without duplicates
	own    []vector.Vector // of the batch handed on: picked input columns, then fetched ones
	batch  vector.Batch
	out    Pusher
}

// wantedRow is a row of a batch with its reference.
type wantedRow struct {
	ref storage.RowRef
	row uint32
}

func (op *lateFetchOp) Open(w *Worker, out Pusher) (Pusher, error) {
	inputs := len(op.node.Input.Cols())
	f := &lateFetcher{op: op, home: home{table: op.node.Table, desc: op.node.Parts}, w: w, byLeaf: map[*catalog.Table]*storage.Fetcher{}, all: make([]vector.Vector, len(op.cols)), own: make([]vector.Vector, inputs+len(op.cols)), out: out}
	f.batch.Vecs = make([]*vector.Vector, len(f.own))
	return f, nil
}

func (f *lateFetcher) Push(b *vector.Batch) error {
	n := b.Live()
	f.sort(b)
	if err := f.fetch(); err != nil {
		return err
	}
	f.op.stats.count(factFetched, int64(n))
	for i, v := range b.Vecs {
		f.batch.Vecs[i] = v
		if b.Sel != nil {
			pickRows(&f.own[i], v, f.live)
			f.batch.Vecs[i] = &f.own[i]
		}
	}
	for k := range f.all {
		dst := &f.own[len(b.Vecs)+k]
		vector.Gather(dst, &f.all[k], f.at[:n])
		f.batch.Vecs[len(b.Vecs)+k] = dst
	}
	f.batch.N, f.batch.Sel = n, nil
	return f.out.Push(&f.batch)
}

// sort lists the rows of a batch in the order of their references.
func (f *lateFetcher) sort(b *vector.Batch) {
	f.order, f.live = f.order[:0], f.live[:0]
	refs := b.Vecs[f.op.ref]
	if refs.Form != vector.Flat {
		refs = vector.Flatten(&vector.Vector{}, refs, b.N)
	}
	values := vector.Of[int64](refs)
	for k := range b.Live() {
		row := k
		if b.Sel != nil {
			row = int(b.Sel[k])
			f.live = append(f.live, uint32(row))
		}
		f.order = append(f.order, wantedRow{storage.RowRef(values[row]), uint32(k)})
	}
	slices.SortFunc(f.order, func(a, b wantedRow) int { return cmp.Compare(a.ref, b.ref) })
}

// fetch fetches each of the wanted rows once.
func (f *lateFetcher) fetch() error {
	for k, pos := range f.op.cols {
		f.all[k].Reset(f.op.node.Table.Columns[pos].Type.Kind(), 0)
	}
	f.at = slices.Grow(f.at[:0], len(f.order))[:len(f.order)]
	fetched := 0
	for from := 0; from < len(f.order); {
		store, to := f.order[from].ref.Store(), from
		f.ids = f.ids[:0]
		for ; to < len(f.order) && f.order[to].ref.Store() == store; to++ {
			if id := f.order[to].ref.Row(); len(f.ids) == 0 || f.ids[len(f.ids)-1] != id {
				f.ids = append(f.ids, id)
			}
			f.at[f.order[to].row] = uint32(fetched + len(f.ids) - 1)
		}
		fetcher, err := f.fetcher(store)
		if err != nil {
			return err
		}
		missing, err := fetcher.Fetch(store, f.ids, &f.part)
		if err != nil {
			return err
		}
		if missing != nil {
			return errNoRow
		}
		for k := range f.all {
			vector.AppendRange(&f.all[k], f.part.Vecs[k], 0, len(f.ids))
		}
		fetched += len(f.ids)
		from = to
	}
	return nil
}

// fetcher returns what reads rows of a store: of one leaf of a partitioned table.
func (f *lateFetcher) fetcher(store catalog.StoreID) (*storage.Fetcher, error) {
	leaf, err := f.home.leaf(store)
	if err != nil {
		return nil, err
	}
	fetcher := f.byLeaf[leaf]
	if fetcher == nil {
		if fetcher, err = f.op.run.query.View.NewFetcher(leaf, f.home.columns(store, f.op.cols)); err != nil {
			return nil, err
		}
		f.w.onClose(fetcher.Close)
		f.byLeaf[leaf] = fetcher
	}
	return fetcher, nil
}

func (f *lateFetcher) Flush() error { return f.out.Flush() }

// pickRows gathers rows, keeping constants constant.
func pickRows(dst, src *vector.Vector, picks []uint32) {
	if src.Form == vector.Const {
		dst.SetConst(vector.DatumAt(src, 0))
		return
	}
	vector.Pick(dst, src, picks)
}
