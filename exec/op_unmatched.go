package exec

import (
	"github.com/weftdb/weft/join"
	"github.com/weftdb/weft/vector"
)

// buildRows is what is left of a join's build side after the last probe row.
type buildRows interface {
	Rows() int
	EndProbe(rows int)
	BuildRows(kind join.Kind, from, to int, dst []uint32) (rows []uint32, next int)
}

// unmatchedSource yields the build rows that right and full joins, and the kinds that yield build
// rows only, add after all probe rows.
type unmatchedSource struct {
	*joinPlan
	rows   buildRows
	stored func(col int) *vector.Vector
}

func (s *unmatchedSource) Morsels(*Worker) (int, error) {
	s.rows.EndProbe(s.rows.Rows())
	return (s.rows.Rows() + morselRows - 1) / morselRows, nil
}

type unmatchedScanner struct {
	source *unmatchedSource
	w      *Worker
	right  []storedColumn
	batch  vector.Batch
	idx    []uint32
	out    Pusher
}

func (s *unmatchedSource) Open(w *Worker, out Pusher) (Scanner, error) {
	c := &unmatchedScanner{source: s, w: w, idx: make([]uint32, vector.BatchCap), out: out}
	for _, col := range s.out {
		v, stored := &vector.Vector{}, storedColumn{}
		if col.side == rightSide {
			stored = newStoredColumn(s.stored(col.at))
		} else {
			v.SetConst(vector.NullDatum(col.kind))
		}
		c.batch.Vecs, c.right = append(c.batch.Vecs, v), append(c.right, stored)
	}
	return c, nil
}

func (c *unmatchedScanner) Scan(morsel int) error {
	s := c.source
	from, to := morsel*morselRows, min((morsel+1)*morselRows, s.rows.Rows())
	return c.push(from, to, 0)
}

// push yields those of the build rows from to to−1 that the kind adds. first is the number of the first stored
// one.
func (c *unmatchedScanner) push(from, to, first int) error {
	s := c.source
	for from < to {
		var rows []uint32
		if rows, from = s.rows.BuildRows(s.kind, from, to, c.idx); len(rows) == 0 {
			continue
		}
		if first > 0 {
			for k := range rows {
				rows[k] -= uint32(first)
			}
		}
		for i, col := range s.out {
			if col.side == rightSide {
				c.right[i].pick(c.batch.Vecs[i], rows)
			}
		}
		c.batch.N = len(rows)
		if err := c.w.Check(); err != nil {
			return err
		}
		if err := c.out.Push(&c.batch); err != nil {
			return err
		}
	}
	return nil
}
