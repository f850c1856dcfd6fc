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
	view := r.query.View
	ref, ok, err := view.LookupKey(n.Table, n.Table.PrimaryKey(), key)
	if err != nil || !ok {
		return err
	}
	reader, err := newRefReader(r, n, view)
	if err != nil {
		return err
	}
	return reader.read([]storage.RowRef{ref}, c.out)
}
