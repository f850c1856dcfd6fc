package exec

import (
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// keySource looks one row up by its primary key.
type keySource struct {
	run  *run
	node *planner.Scan
}

func (s *keySource) Morsels(*Worker) (int, error) { return 1, nil }

type keyScanner struct {
	source *keySource
	out    Pusher
}

func (s *keySource) Open(_ *Worker, out Pusher) (Scanner, error) {
	return &keyScanner{s, out}, nil
}

func (c *keyScanner) Scan(int) error {
	n, r := c.source.node, c.source.run
	key := make([]vector.Datum, len(n.Key))
	for i, e := range n.Key {
		d, err := expr.EvalConst(e, r.env)
		if err != nil || d.Null {
			return err
		}
		key[i] = d
	}
	view := r.query.View
	ref, ok, err := view.LookupKey(n.Table, n.Table.PrimaryKey(), key)
	if err != nil || !ok {
		return err
	}
	cols := make([]int, len(n.Columns))
	for i := range n.Columns {
		cols[i] = n.Columns[i].Pos
	}
	fetcher, err := view.NewFetcher(n.Table, cols)
	if err != nil {
		return err
	}
	defer fetcher.Close()
	b := &vector.Batch{}
	missing, err := fetcher.Fetch(ref.Store(), []uint64{ref.Row()}, b)
	if err != nil || missing != nil && missing.Get(0) {
		return err
	}
	if n.RowRef != nil {
		b.Vecs = append(b.Vecs, vector.FromSlice(vector.I64, []int64{int64(ref)}))
	}
	if cond := conjunction(n.Filter); cond != nil {
		filter, err := expr.CompileFilter(cond, layout(n.Cols()), r.env)
		if err != nil {
			return err
		}
		sel, err := filter.Select(b, nil, nil)
		if err != nil || len(sel) == 0 {
			return err
		}
	}
	return c.out.Push(b)
}
