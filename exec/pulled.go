package exec

import (
	"iter"
	"time"

	"github.com/weftdb/weft/vector"
)

// pulled is a serial pipeline whose batches are taken one by one by an operator of another pipeline. It runs
// as a coroutine: while the operator looks at a batch, the pipeline waits in Push, which keeps what the
// batch borrows; while the pipeline runs, the operator waits. So there is one worker at a time all the same,
// and nothing is read that nobody asks for.
type pulled struct {
	w     *Worker // the operator's
	batch func() (*vector.Batch, bool)
	stop  func()
	err   error
}

// pull prepares a pipeline whose sink is sink to be read by an operator in worker w. It starts with the first
// batch that is asked for, and ends with the worker at the latest.
func pull(w *Worker, p *Pipeline, sink *cursorSink) *pulled {
	c := &pulled{w: w}
	inner := *w.run
	if w.clock.on {
		inner.clock, inner.inTurns = &w.clock, true
	}
	c.batch, c.stop = iter.Pull(func(yield func(*vector.Batch) bool) {
		sink.yield = yield
		c.err = inner.run(p)
	})
	w.onClose(c.close)
	return c
}

// next returns the next batch, borrowed until the next call; nil at the end.
func (c *pulled) next() (*vector.Batch, error) {
	c.w.clock.pause()
	b, ok := c.batch()
	c.w.clock.resume()
	if !ok {
		return nil, c.err
	}
	return b, nil
}

// close ends the pipeline, wherever it is.
func (c *pulled) close() error {
	c.w.clock.pause()
	c.stop()
	c.w.clock.resume()
	return c.err
}

// cursorSink hands batches to who pulls them.
type cursorSink struct{ yield func(*vector.Batch) bool }

type cursorPusher struct {
	sink *cursorSink
	w    *Worker
}

func (s *cursorSink) Open(w *Worker) (Pusher, error) { return &cursorPusher{s, w}, nil }
func (s *cursorSink) Finish(*Worker) error           { return nil }

func (p *cursorPusher) Push(b *vector.Batch) error {
	p.w.clock.pause()
	wanted := p.sink.yield(b)
	p.w.clock.resume()
	if !wanted {
		return ErrStop
	}
	return nil
}

func (p *cursorPusher) Flush() error { return nil }

// pause settles the clock before time passes that another one counts.
func (c *clock) pause() {
	if c.on {
		c.settle()
	}
}

// resume lets the clock go on.
func (c *clock) resume() {
	if c.on {
		c.since = time.Now()
	}
}
