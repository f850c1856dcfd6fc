package exec

import (
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/join"
	"github.com/weftdb/weft/vector"
)

// aggregateSource yields the groups of an aggregation. A morsel is a stretch of one part.
type aggregateSource struct {
	sink    *aggregateSink
	morsels []groupRange
}

type groupRange struct {
	part     *aggregatePart
	from, to int
}

func (s *aggregateSource) Morsels(*Worker) (int, error) {
	s.morsels = s.morsels[:0]
	for _, p := range s.sink.result {
		for from := 0; from < p.count; from += morselRows {
			s.morsels = append(s.morsels, groupRange{p, from, min(from+morselRows, p.count)})
		}
	}
	return len(s.morsels), nil
}

type aggregateScanner struct {
	source *aggregateSource
	w      *Worker
	block  []*vector.Vector
	batch  vector.Batch
	out    Pusher
}

func (s *aggregateSource) Open(w *Worker, out Pusher) (Scanner, error) {
	c := &aggregateScanner{source: s, w: w, out: out}
	if first := s.sink.result[0]; first.groups != nil {
		c.block = join.NewBlock(first.groups.Store().Columns())
	}
	c.batch.Vecs = make([]*vector.Vector, len(s.sink.keys)+len(s.sink.place))
	for i := range s.sink.place {
		c.batch.Vecs[len(s.sink.keys)+i] = &vector.Vector{}
	}
	return c, nil
}

// accumulator returns the accumulator of the node's i-th aggregate.
func (p *aggregatePart) accumulator(at callPlace) expr.Accumulator {
	if at.distinct {
		return p.distinct[at.at].acc
	}
	return p.agg.Accumulator(at.at)
}

func (c *aggregateScanner) Scan(morsel int) error {
	sink, m := c.source.sink, c.source.morsels[morsel]
	for from := m.from; from < m.to; {
		n := min(join.BatchRows(), m.to-from)
		if m.part.groups != nil {
			m.part.groups.Store().Block(c.block, from, n)
			for i, k := range sink.keep {
				c.batch.Vecs[i] = c.block[k]
			}
		}
		for i, at := range sink.place {
			v := c.batch.Vecs[len(sink.keys)+i]
			v.Reset(sink.node.Aggs[i].Call.Typ.Kind(), 0)
			if err := m.part.accumulator(at).Result(from, from+n, v); err != nil {
				return err
			}
		}
		c.batch.N = n
		if err := c.w.Check(); err != nil {
			return err
		}
		if err := c.out.Push(&c.batch); err != nil {
			return err
		}
		from += n
	}
	return nil
}
