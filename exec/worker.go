package exec

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/weftdb/weft/internal/sqlerr"
)

// errHalted stops the workers of a pipeline in which another one has failed.
var errHalted = errors.New("exec: another worker failed")

// Worker is one goroutine's share of a pipeline: what it holds is nobody else's, so nothing is
// locked.
type Worker struct {
	ID     int
	Ctx    context.Context
	Memory Reservation

	run     *run
	halted  *atomic.Bool
	closers []func() error
	clock   clock
}

func (r *run) newWorker(id int, halted *atomic.Bool) *Worker {
	w := &Worker{ID: id, Ctx: r.ctx, Memory: newReservation(r.account), run: r, halted: halted}
	w.clock.on = r.stats != nil
	return w
}

// Check returns an error when the statement was cancelled or another worker failed. It costs two
// loads; loops that take longer than a batch call it now and then.
func (w *Worker) Check() error {
	if w.run.cancelled.Load() {
		return w.Ctx.Err()
	}
	if w.halted.Load() {
		return errHalted
	}
	return nil
}

// onClose registers what has to be released when the worker ends.
func (w *Worker) onClose(f func() error) { w.closers = append(w.closers, f) }

// close releases what the worker holds and returns the first error.
func (w *Worker) close(err error) error { return w.closeFrom(0, err) }

// closeFrom releases what the worker holds but for the first things.
func (w *Worker) closeFrom(first int, err error) error {
	err = closeAll(w.closers[first:], err)
	w.closers = w.closers[:first]
	return err
}

// closeAll calls closers, latest first, and returns the first error.
func closeAll(closers []func() error, err error) error {
	for i := len(closers) - 1; i >= 0; i-- {
		if e := closers[i](); err == nil {
			err = e
		}
	}
	return err
}

// reservation returns a reservation of its own for a structure that outlives the worker.
func (w *Worker) reservation() *Reservation {
	r := newReservation(w.run.account)
	return &r
}

// guard turns a panic into an error: a bug ends the statement, not the process.
func (r *run) guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = sqlerr.Panicked(p, r.query.Statement)
		}
	}()
	return f()
}
