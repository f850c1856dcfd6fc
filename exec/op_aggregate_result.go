package exec

import (
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/join"
	"github.com/weftdb/weft/vector"
)

// aggregateSource yields the groups of an aggregation.
type aggregateSource struct{ sink *aggregateSink }

func (s *aggregateSource) Morsels(*Worker) (int, error) {
	return (s.sink.states[0].count() + morselRows - 1) / morselRows, nil
}

type aggregateScanner struct {
	sink  *aggregateSink
	w     *Worker
	block []*vector.Vector
	batch vector.Batch
	accs  []expr.Accumulator
	kinds []vector.Kind
	out   Pusher
}

func (s *aggregateSource) Open(w *Worker, out Pusher) (Scanner, error) {
	c := &aggregateScanner{sink: s.sink, w: w, out: out}
	state := s.sink.states[0]
	if state.groups != nil {
		c.block = join.NewBlock(state.groups.Store().Columns())
	}
	c.batch.Vecs = make([]*vector.Vector, len(s.sink.keys)+len(s.sink.place))
	for i, p := range s.sink.place {
		if p.distinct {
			c.accs = append(c.accs, state.distinct[p.at].acc)
		} else {
			c.accs = append(c.accs, state.agg.Accumulator(p.at))
		}
		c.kinds = append(c.kinds, s.sink.node.Aggs[i].Call.Typ.Kind())
		c.batch.Vecs[len(s.sink.keys)+i] = &vector.Vector{}
	}
	return c, nil
}

func (c *aggregateScanner) Scan(morsel int) error {
	state := c.sink.states[0]
	from, last := morsel*morselRows, min((morsel+1)*morselRows, state.count())
	for from < last {
		n := min(join.BatchRows(), last-from)
		if state.groups != nil {
			state.groups.Store().Block(c.block, from, n)
			for i, k := range state.keep {
				c.batch.Vecs[i] = c.block[k]
			}
		}
		for i, acc := range c.accs {
			v := c.batch.Vecs[len(c.sink.keys)+i]
			v.Reset(c.kinds[i], 0)
			if err := acc.Result(from, from+n, v); err != nil {
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
