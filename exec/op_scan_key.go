package exec

import (
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
	reader *refReader
	key    []vector.Datum
	refs   []storage.RowRef
	out    Pusher
}

func (s *keySource) Open(_ *Worker, out Pusher) (Scanner, error) {
	reader, err := newRefReader(s.run, s.node, nil)
	return &keyScanner{source: s, reader: reader, key: make([]vector.Datum, len(s.node.Key)), refs: make([]storage.RowRef, 1), out: out}, err
}

func (c *keyScanner) Scan(int) error {
	n, r := c.source.node, c.source.run
	for i, e := range n.Key {
		d, err := constantValue(e, r.env)
		if err != nil || d.Null {
			return err
		}
		c.key[i] = d
	}
	b := &vector.Batch{}
	ref, ok, err := r.query.View.LookupRow(n.Table, n.Table.PrimaryKey(), c.key, c.reader.cols, b)
	if err != nil || !ok {
		return err
	}
	c.refs[0] = ref
	return c.reader.push(b, c.refs, c.out)
}
