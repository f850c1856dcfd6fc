package exec

import (
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/storage"
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
	cols := make([]int, len(n.Columns))
	for i := range n.Columns {
		cols[i] = n.Columns[i].Pos
	}
	b := &vector.Batch{}
	ref, ok, err := r.query.View.LookupRow(n.Table, n.Table.PrimaryKey(), key, cols, b)
	if err != nil || !ok {
		return err
	}
	reader := &refReader{node: n}
	if err := reader.compile(r); err != nil {
		return err
	}
	return reader.push(b, []storage.RowRef{ref}, c.out)
}
