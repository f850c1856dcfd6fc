package exec

import (
	"errors"
	"sync/atomic"
)

// rounds are pipelines that run again and again, in order, over other parts of their sources' rows each
// time. What their rows go to stays open from the first round to the last: it cannot tell rounds apart.
type rounds struct {
	driver  roundDriver
	members []*Pipeline
}

// roundDriver says what the rounds are.
type roundDriver interface {
	// next prepares the next round; false = there is none.
	next(w *Worker) (bool, error)
	// end is called after the last one.
	end()
}

// round is what a pipeline that runs in rounds keeps.
type round struct {
	of *rounds
	// fresh is how many of its operators are opened anew in each round; −1 = all, and the sink, which is
	// finished in each round, after the last of the pipelines that feed it.
	fresh   int
	workers []*roundWorker
	stopped atomic.Bool // its sink wants no more rows
}

// roundWorker is a worker with what it keeps open.
type roundWorker struct {
	*Worker
	out  Pusher
	kept int // closers of what stays open
}

// keptOpen passes batches on to what stays open.
type keptOpen struct{ Pusher }

// Flush does nothing: there may be more rows in the next round.
func (keptOpen) Flush() error { return nil }

// runRounds runs all pipelines of g to their end.
func (r *run) runRounds(g *rounds) (err error) {
	for _, p := range g.members {
		p.started = true
	}
	for _, p := range g.members {
		for _, before := range p.After {
			if p.finished() {
				break
			}
			if err := r.run(before); err != nil {
				return err
			}
		}
	}
	defer func() {
		for _, p := range g.members {
			for _, w := range p.round.workers {
				err = w.close(err)
			}
		}
	}()
	for {
		more, err := r.nextRound(g)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		for _, p := range g.members {
			if err := r.runRound(p); err != nil {
				return err
			}
		}
	}
	g.driver.end()
	for _, p := range g.members {
		if p.round.fresh < 0 {
			continue
		}
		if err := r.flushRounds(p); err != nil {
			return err
		}
		if err := r.fed(p); err != nil {
			return err
		}
	}
	return nil
}

// nextRound prepares a round, unless nothing wants its rows.
func (r *run) nextRound(g *rounds) (more bool, err error) {
	// Rows that are discarded are wanted by the pipeline of what they have matched, which may be another
	// join's and run later.
	all, wanted := true, false
	for _, p := range g.members {
		if _, discards := p.Sink.Sink.(discardSink); p.round.fresh >= 0 && !discards {
			all, wanted = false, wanted || !p.wantsNothing()
		}
	}
	if !wanted && !all {
		return false, nil
	}
	err = r.guard(func() error {
		w := r.newWorker(0, &g.members[0].halted)
		defer r.beginStretch().end(w)
		more, err = g.driver.next(w)
		return w.close(err)
	})
	return more, err
}

// wantsNothing reports whether what stays open of p takes no more rows.
func (p *Pipeline) wantsNothing() bool {
	if f, ok := p.Sink.Sink.(finished); ok && f.Finished() || p.round.stopped.Load() {
		return true
	}
	for _, op := range p.Ops[p.round.fresh:] {
		if f, ok := op.(finished); ok && f.Finished() {
			return true
		}
	}
	return false
}

// runRound runs p once.
func (r *run) runRound(p *Pipeline) error {
	p.next.Store(0)
	if p.round.fresh < 0 {
		if !p.finished() {
			if err := r.scan(p); err != nil {
				return err
			}
		}
		if p.Sink.pending--; p.Sink.pending > 0 {
			return nil
		}
		p.Sink.pending = p.Sink.feeders
		return r.finish(p)
	}
	if p.finished() || p.round.stopped.Load() {
		return nil
	}
	return r.scan(p)
}

// worker returns a worker of p: in rounds, the one of the rounds before.
func (r *run) worker(p *Pipeline, id int) (*Worker, error) {
	if p.round == nil || p.round.fresh < 0 {
		return r.newWorker(id, &p.halted), nil
	}
	if id == len(p.round.workers) {
		w := r.newWorker(id, &p.halted)
		stays := &roundWorker{Worker: w}
		p.round.workers = append(p.round.workers, stays)
		err := r.guard(func() (err error) {
			stays.out, err = p.openFrom(p.round.fresh, w)
			return err
		})
		stays.kept = len(w.closers)
		if err != nil {
			return w, err
		}
	}
	return p.round.workers[id].Worker, nil
}

// flushRounds ends what p has kept open, and its workers.
func (r *run) flushRounds(p *Pipeline) error {
	took := r.beginStretch()
	var workers []*Worker
	defer func() { took.end(workers...) }()
	for _, w := range p.round.workers {
		workers = append(workers, w.Worker)
		err := r.guard(w.out.Flush)
		if errors.Is(err, ErrStop) {
			err = nil
		}
		if err = w.close(err); err != nil {
			return err
		}
	}
	return nil
}
