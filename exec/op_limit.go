package exec

import (
	"math"
	"sync/atomic"

	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// limitOp skips offset rows and passes count on. Workers, and pipelines that go through the same
// LIMIT, share the counter: which rows pass is unspecified then, as in SQL.
type limitOp struct {
	offset, end int64 // rows [offset, end) pass, counted over all workers
	seen        atomic.Int64
}

// newLimit evaluates LIMIT and OFFSET.
func newLimit(count, offset expr.Expr, env *expr.Env) (*limitOp, error) {
	skip, err := rowCount(offset, 0, env, sqlerr.InvalidRowCountInOffset, "OFFSET")
	if err != nil {
		return nil, err
	}
	n, err := rowCount(count, math.MaxInt64, env, sqlerr.InvalidRowCountInLimit, "LIMIT")
	if err != nil {
		return nil, err
	}
	return &limitOp{offset: skip, end: skip + min(n, math.MaxInt64-skip)}, nil
}

// rowCount evaluates an expression without columns; NULL counts as not given.
func rowCount(e expr.Expr, absent int64, env *expr.Env, code sqlerr.Code, name string) (int64, error) {
	if e == nil {
		return absent, nil
	}
	d, err := expr.EvalConst(e, env)
	if err != nil {
		return 0, err
	}
	if d.Null {
		return absent, nil
	}
	if d.I < 0 {
		return 0, sqlerr.New(code, "%s must not be negative", name)
	}
	return d.I, nil
}

// Finished reports whether no further row would pass.
func (f *limitOp) Finished() bool { return f.seen.Load() >= f.end }

type limitPusher struct {
	op    *limitOp
	sel   vector.Sel
	batch vector.Batch
	out   Pusher
}

func (f *limitOp) Open(_ *Worker, out Pusher) (Pusher, error) {
	return &limitPusher{op: f, sel: make(vector.Sel, vector.BatchCap), out: out}, nil
}

func (p *limitPusher) Push(b *vector.Batch) error {
	n := int64(b.Live())
	to := p.op.seen.Add(n)
	from := to - n
	first, last := max(p.op.offset-from, 0), min(p.op.end-from, n)
	if first < last {
		out := b
		if first > 0 || last < n {
			p.batch = vector.Batch{N: b.N, Sel: cut(b, int(first), int(last), p.sel), Vecs: b.Vecs}
			out = &p.batch
		}
		if err := p.out.Push(out); err != nil {
			return err
		}
	}
	if to >= p.op.end {
		return ErrStop
	}
	return nil
}

// cut returns the selection of live rows first to last−1.
func cut(b *vector.Batch, first, last int, buf vector.Sel) vector.Sel {
	if b.Sel != nil {
		return b.Sel[first:last]
	}
	buf = buf[:last-first]
	for i := range buf {
		buf[i] = uint16(first + i)
	}
	return buf
}

func (p *limitPusher) Flush() error { return p.out.Flush() }
