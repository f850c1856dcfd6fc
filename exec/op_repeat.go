package exec

import "github.com/weftdb/weft/vector"

// repeatOp yields some columns of each row as often as another column says.
type repeatOp struct {
	times int
	cols  []int
}

type repeatPusher struct {
	op    *repeatOp
	idx   []uint32
	batch vector.Batch
	w     *Worker
	out   Pusher
}

func (f *repeatOp) Open(w *Worker, out Pusher) (Pusher, error) {
	p := &repeatPusher{op: f, idx: make([]uint32, 0, vector.BatchCap), w: w, out: out}
	for range f.cols {
		p.batch.Vecs = append(p.batch.Vecs, &vector.Vector{})
	}
	return p, nil
}

func (p *repeatPusher) Push(b *vector.Batch) error {
	times := vector.Of[int64](vector.Flatten(&vector.Vector{}, b.Vecs[p.op.times], b.N))
	one := func(i uint16) error {
		for left := times[i]; left > 0; left-- {
			if p.idx = append(p.idx, uint32(i)); len(p.idx) == vector.BatchCap {
				if err := p.push(b); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for k := range b.Live() {
		i := uint16(k)
		if b.Sel != nil {
			i = b.Sel[k]
		}
		if err := one(i); err != nil {
			return err
		}
	}
	return p.push(b)
}

// push passes the rows collected on.
func (p *repeatPusher) push(b *vector.Batch) error {
	if len(p.idx) == 0 {
		return nil
	}
	for k, c := range p.op.cols {
		vector.Pick(p.batch.Vecs[k], b.Vecs[c], p.idx)
	}
	p.batch.N = len(p.idx)
	p.idx = p.idx[:0]
	if err := p.w.Check(); err != nil {
		return err
	}
	return p.out.Push(&p.batch)
}

func (p *repeatPusher) Flush() error { return p.out.Flush() }
