package exec

import (
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/vector"
)

// sparseRows puts the few live rows of many batches into one: every operator, and above all handing a
// batch to the query's reader, costs as much for a row as for hundreds. Rows keep their order. It
// belongs to one worker.
type sparseRows struct {
	vecs  []vector.Vector
	batch vector.Batch
	idx   []uint32
	rows  int
	quota int // rows to wait for; grows, so that a LIMIT does not wait for many
}

// sparseShare is the part of a batch up to which its live rows are few.
const sparseShare = 8

func (s *sparseRows) init(cols []*expr.Col) {
	s.vecs, s.quota = make([]vector.Vector, len(cols)), 1
	for i, c := range cols {
		s.vecs[i].Reset(c.Typ.Kind(), 0)
		s.batch.Vecs = append(s.batch.Vecs, &s.vecs[i])
	}
}

// push passes a batch on, or keeps its live rows if they are few.
func (s *sparseRows) push(b *vector.Batch, out Pusher) error {
	n := b.Live()
	if n*sparseShare > vector.BatchCap || n >= s.quota || len(s.vecs) == 0 {
		if err := s.flush(out); err != nil {
			return err
		}
		s.quota = min(2*s.quota, vector.BatchCap)
		return out.Push(b)
	}
	if s.rows+n > vector.BatchCap {
		if err := s.flush(out); err != nil {
			return err
		}
	}
	s.idx = s.idx[:0]
	for k := range n {
		if b.Sel != nil {
			k = int(b.Sel[k])
		}
		s.idx = append(s.idx, uint32(k))
	}
	for i := range s.vecs {
		vector.AppendGather(&s.vecs[i], b.Vecs[i], s.idx)
	}
	if s.rows += n; s.rows < s.quota {
		return nil
	}
	return s.flush(out)
}

// flush passes on the rows that were kept.
func (s *sparseRows) flush(out Pusher) error {
	if s.rows == 0 {
		return nil
	}
	s.batch.N, s.batch.Sel = s.rows, nil
	err := out.Push(&s.batch)
	for i := range s.vecs {
		s.vecs[i].Reset(s.vecs[i].Kind, 0)
	}
	s.rows, s.quota = 0, min(2*s.quota, vector.BatchCap)
	return err
}
