package exec

import (
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/join"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// loopProbe collects the probe rows of one worker while the build of a join without keys is on disk. The
// build is read once for as many of them as memory takes: a block. What is known of a probe row is known when
// its block has met all build rows, so nothing is kept of it beyond that; of the build rows, one bit each.
type loopProbe struct {
	op     *loopJoinOp
	memory *Reservation
	rows   *join.Store
	limit  int64 // bytes of a block
	seen   []uint8
	vecs   []*vector.Vector
	batch  vector.Batch
}

func newLoopProbe(op *loopJoinOp, w *Worker) *loopProbe {
	p := &loopProbe{op: op, memory: w.reservation(), vecs: join.NewBlock(len(op.left))}
	p.limit = op.run.spillBytes() / int64(op.run.threads)
	p.renew()
	w.onClose(func() error { p.memory.free(); return nil })
	return p
}

func (p *loopProbe) renew() {
	p.memory.restart()
	p.rows = join.NewStore(kindsOf(p.op.left), p.memory)
}

// collect adds probe rows to the block, and joins it when it is full.
func (p *loopJoinPusher) collect(b *vector.Batch) error {
	c := p.blocks
	err := c.rows.Append(b.Vecs, b.N, b.Sel)
	if err != nil && sqlerr.CodeOf(err) == sqlerr.OutOfMemory && c.rows.Rows() > 0 {
		if err = p.joinBlocks(); err == nil {
			err = c.rows.Append(b.Vecs, b.N, b.Sel)
		}
	}
	if err != nil || c.rows.Bytes() < c.limit {
		return err
	}
	return p.joinBlocks()
}

// joinBlocks lets the block's rows meet all build rows.
func (p *loopJoinPusher) joinBlocks() error {
	c := p.blocks
	if c.rows.Rows() == 0 {
		return nil
	}
	defer c.renew() // also after ErrStop: Flush has nothing left then
	c.op.passes.Add(1)
	if n := c.rows.Rows(); cap(c.seen) < n {
		c.seen = make([]uint8, n)
	} else {
		c.seen = c.seen[:n]
		clear(c.seen)
	}
	var want func(int) bool
	if p.plan.exists() {
		want = p.undecided
	}
	r := c.op.build.loop.Spool().NewReader()
	for {
		rows, err := r.NextBlock()
		if err != nil {
			return err
		}
		if rows == nil {
			break
		}
		p.first = int(r.First)
		p.tiler.Over(join.LoopOver(rows))
		err = p.eachBatch(func() error { return p.tiler.Each(p.input, want, p.tile) })
		if err != nil {
			return err
		}
	}
	return p.eachBatch(func() error { return p.end(p.input) })
}

// eachBatch makes each batch of the block's rows the input, in turn.
func (p *loopJoinPusher) eachBatch(f func() error) error {
	c := p.blocks
	for from := 0; from < c.rows.Rows(); {
		n := min(join.BatchRows(), c.rows.Rows()-from)
		c.rows.Block(c.vecs, from, n)
		c.batch = vector.Batch{Vecs: c.vecs, N: n}
		p.input, p.seen = &c.batch, c.seen[from:from+n]
		if err := p.w.Check(); err != nil {
			return err
		}
		if err := f(); err != nil {
			return err
		}
		from += n
	}
	return nil
}

// loopRestSource is an unmatchedSource for build rows that may be on disk. Then it is one morsel.
type loopRestSource struct {
	*unmatchedSource
	loop *join.Loop
}

func (s *loopRestSource) Morsels(w *Worker) (int, error) {
	n, err := s.unmatchedSource.Morsels(w)
	if s.loop.Spool() != nil {
		n = min(n, 1)
	}
	return n, err
}

func (s *loopRestSource) Open(w *Worker, out Pusher) (Scanner, error) {
	scanner, err := s.unmatchedSource.Open(w, out)
	if s.loop.Spool() == nil || err != nil {
		return scanner, err
	}
	return &loopRestScanner{scanner.(*unmatchedScanner), s.loop.Spool()}, nil
}

type loopRestScanner struct {
	*unmatchedScanner
	spool *join.Spool
}

func (c *loopRestScanner) Scan(int) error {
	r := c.spool.NewReader()
	for {
		rows, err := r.NextBlock()
		if rows == nil || err != nil {
			return err
		}
		for i, col := range c.source.out {
			if col.side == rightSide {
				c.right[i] = storedColumn{v: rows.Column(col.at)}
			}
		}
		if err := c.push(int(r.First), int(r.First)+rows.Rows(), int(r.First)); err != nil {
			return err
		}
	}
}

// loopEndSource yields nothing: it comes when all rows of a join have, and removes its file.
type loopEndSource struct{ op *loopJoinOp }

func (s *loopEndSource) Morsels(*Worker) (int, error) {
	op := s.op
	spool := op.build.loop.Spool()
	if spool == nil {
		return 0, nil
	}
	err := spool.Close()
	tallied(op.stats, factSpill, func(t *loopSpillTally) { t.bytes, t.passes = t.bytes+spool.Bytes(), t.passes+op.passes.Load() })
	return 0, err
}

// loopSpillTally is what of a build without keys went to disk, and how often it was read.
type loopSpillTally struct{ bytes, passes int64 }

func (t *loopSpillTally) facts(key string, loops int64) []planner.Fact {
	return oneFact(key, planner.Parts{{Name: "build_bytes", Value: planner.Bytes(perLoop(t.bytes, loops)), Text: "build %s"}, {Name: "passes", Value: perLoop(t.passes, loops), Text: ", passes %s"}})
}

// Open is never called: there are no morsels.
func (s *loopEndSource) Open(*Worker, Pusher) (Scanner, error) {
	return nil, sqlerr.New(sqlerr.InternalError, "the end of a nested loop has no rows")
}
