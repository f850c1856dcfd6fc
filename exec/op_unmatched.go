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
	batch  vector.Batch
	idx    []uint32
	out    Pusher
}

func (s *unmatchedSource) Open(w *Worker, out Pusher) (Scanner, error) {
	c := &unmatchedScanner{source: s, w: w, idx: make([]uint32, vector.BatchCap), out: out}
	for _, col := range s.out {
		v := &vector.Vector{}
		if col.side != rightSide {
			v.SetConst(vector.NullDatum(col.kind))
		}
		c.batch.Vecs = append(c.batch.Vecs, v)
	}
	return c, nil
}

func (c *unmatchedScanner) Scan(morsel int) error {
	s := c.source
	from, to := morsel*morselRows, min((morsel+1)*morselRows, s.rows.Rows())
	for from < to {
		var rows []uint32
		if rows, from = s.rows.BuildRows(s.kind, from, to, c.idx); len(rows) == 0 {
			continue
		}
		for i, col := range s.out {
			if col.side == rightSide {
				vector.Pick(c.batch.Vecs[i], s.stored(col.at), rows)
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
