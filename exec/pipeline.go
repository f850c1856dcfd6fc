package exec

import (
	"errors"
	"sync/atomic"

	"github.com/weftdb/weft/internal/invariants"
	"github.com/weftdb/weft/vector"
)

// ErrStop is returned by a Pusher that wants no more rows: LIMIT. It ends its own pipeline's
// scanning, on all workers; what was pushed before is flushed and finished as usual. It never
// leaves the pipeline.
var ErrStop = errors.New("exec: no more input wanted")

// Pusher is one operator instance in one worker.
type Pusher interface {
	// Push takes a batch with at least one live row. b and its vectors are borrowed for the call:
	// nothing of them may be kept or changed; an operator that narrows or extends a batch passes
	// on a Batch of its own.
	Push(b *vector.Batch) error
	// Flush is called once, after the worker's last Push, also after ErrStop but not after another
	// error. It may push, and flushes what follows.
	Flush() error
}

// Source produces batches. Its morsels are handed out to workers by one atomic counter.
type Source interface {
	// Morsels returns the number of morsels. It is called once per run of the pipeline, after all
	// pipelines that must come before have finished.
	Morsels(w *Worker) (int, error)
	// Open returns a worker's scanner, which pushes to out.
	Open(w *Worker, out Pusher) (Scanner, error)
}

// Scanner is a source's instance in one worker.
type Scanner interface {
	// Scan pushes every batch of a morsel. A scanner that is a holder may keep some rows for later.
	Scan(morsel int) error
}

// holder is implemented by scanners that keep rows for larger batches.
type holder interface {
	// Flush pushes them when the worker has scanned its last morsel.
	Flush() error
}

// Operator is a streaming operator: filter, projection, probe.
type Operator interface {
	// Open returns a worker's instance, which pushes to out.
	Open(w *Worker, out Pusher) (Pusher, error)
}

// Sink takes a pipeline's batches: hash build, aggregation, sort, result. Often it is the Source
// of another pipeline too. Several pipelines may share a sink.
type Sink interface {
	// Open returns a worker's instance.
	Open(w *Worker) (Pusher, error)
	// Finish is called once, after the last worker of the last pipeline that feeds the sink, and
	// puts their states together.
	Finish(w *Worker) error
}

// finished is implemented by operators that can tell, before a pipeline starts, that it will push
// nothing to its sink: an inner join with nothing to join to, a LIMIT reached by another pipeline.
type finished interface{ Finished() bool }

// morselRows is how many stored rows, groups or values of a series make a morsel: as many as a row
// group has. Smaller ones cost more to hand out, larger ones leave workers idle at the end. Tests
// shrink it.
var morselRows = 1 << 16

// Pipeline is a source, the operators its rows stream through, and a sink.
type Pipeline struct {
	Source Source
	Ops    []Operator
	Sink   *SharedSink
	// After must finish first: hash builds, shared subplans, pipelines before in order.
	After []*Pipeline
	// Serial pipelines run on one worker: their rows' order matters, or they write.
	Serial bool

	round   *round // nil: it runs once
	started bool
	next    atomic.Int64
	halted  atomic.Bool
}

// SharedSink counts the pipelines that still have to feed a sink.
type SharedSink struct {
	Sink
	feeders int        // all of them
	pending int        // those that have not run, in rounds: in this one
	owner   *nodeStats // EXPLAIN ANALYZE: who the time of Finish belongs to
}

// feed makes p feed the sink.
func (s *SharedSink) feed(p *Pipeline) {
	p.Sink = s
	s.feeders++
	s.pending++
}

// run runs the pipelines that p needs, then p, unless that has happened before. The graph is
// acyclic, and one pipeline runs at a time, with all workers: a query never needs more threads
// than it was given, whatever its plan.
func (r *run) run(p *Pipeline) error {
	if p.started {
		return nil
	}
	if p.round != nil {
		return r.runRounds(p.round.of)
	}
	p.started = true
	for _, before := range p.After {
		if p.finished() {
			break
		}
		if err := r.run(before); err != nil {
			return err
		}
	}
	if p.finished() {
		p.leaveUnread()
	} else if err := r.scan(p); err != nil {
		return err
	}
	return r.fed(p)
}

// leaveUnread lets a source say that none of its rows are wanted.
func (p *Pipeline) leaveUnread() {
	switch s := untimed(p.Source).(type) {
	case *partitionSource:
		if s.stats != nil {
			s.leaveUnread()
		}
	case *scanSource:
		s.reportNodes(nil)
	}
}

// fed notes that p has fed its sink, which is finished after the last pipeline that feeds it.
func (r *run) fed(p *Pipeline) error {
	if p.Sink.pending--; p.Sink.pending > 0 {
		return nil
	}
	return r.finish(p)
}

func (r *run) finish(p *Pipeline) error {
	return r.guard(func() error {
		w := r.newWorker(0, &p.halted)
		defer r.beginStretch().end(w)
		w.clock.enter(w.clock.lap(p.Sink.owner))
		err := p.Sink.Finish(w)
		w.clock.leave()
		return w.close(err)
	})
}

func (p *Pipeline) finished() bool {
	if f, ok := p.Sink.Sink.(finished); ok && f.Finished() {
		return true
	}
	for _, op := range p.Ops {
		if f, ok := op.(finished); ok && f.Finished() {
			return true
		}
	}
	return false
}

// scan runs p's source to its end on the workers that its morsels can keep busy.
func (r *run) scan(p *Pipeline) error {
	took := r.beginStretch()
	first, err := r.worker(p, 0)
	workers := []*Worker{first}
	var morsels int
	if err == nil {
		err = r.guard(func() (err error) {
			morsels, err = p.Source.Morsels(first)
			return err
		})
	}
	for id := 1; err == nil && id < min(r.threads, morsels) && !p.Serial; id++ {
		var w *Worker
		w, err = r.worker(p, id)
		workers = append(workers, w)
	}
	if err != nil || morsels == 0 {
		took.end(workers...)
		for _, w := range workers {
			err = p.leave(w, err)
		}
		return err
	}
	failed := make(chan error, len(workers))
	for _, w := range workers[1:] {
		go func() { failed <- r.work(p, w, morsels) }()
	}
	err = r.work(p, workers[0], morsels)
	for range workers[1:] {
		if other := <-failed; worse(other, err) {
			err = other
		}
	}
	took.end(workers...)
	return err
}

// worse reports whether error a says more than b: what stopped a worker halted the others.
func worse(a, b error) bool {
	return a != nil && (b == nil || errors.Is(b, errHalted))
}

// work is one worker's part of a pipeline.
func (r *run) work(p *Pipeline, w *Worker, morsels int) error {
	err := r.guard(func() error { return r.pushMorsels(p, w, morsels) })
	if err != nil {
		p.halted.Store(true)
	}
	return p.leave(w, err)
}

// leave releases what a worker holds, but for what stays open for more rounds.
func (p *Pipeline) leave(w *Worker, err error) error {
	if p.round == nil || p.round.fresh < 0 {
		return w.close(err)
	}
	return w.closeFrom(p.round.workers[w.ID].kept, err)
}

// hostile puts a mangler in front of a pusher in builds with the invariants tag.
func hostile(out Pusher) Pusher {
	if invariants.Enabled {
		return &mangler{out}
	}
	return out
}

// open opens a worker's instances of the source and of what its rows are pushed to.
func (p *Pipeline) open(w *Worker) (Scanner, Pusher, error) {
	var out Pusher
	var err error
	if p.round != nil && p.round.fresh >= 0 {
		out = keptOpen{p.round.workers[w.ID].out}
		for i := p.round.fresh - 1; i >= 0 && err == nil; i-- {
			out, err = p.Ops[i].Open(w, hostile(out))
		}
	} else {
		out, err = p.openFrom(0, w)
	}
	if err != nil {
		return nil, nil, err
	}
	out = hostile(out)
	scanner, err := p.Source.Open(w, out)
	return scanner, out, err
}

// openFrom opens the sink and the operators from one on.
func (p *Pipeline) openFrom(first int, w *Worker) (Pusher, error) {
	out, err := p.Sink.Open(w)
	for i := len(p.Ops) - 1; i >= first && err == nil; i-- {
		out, err = p.Ops[i].Open(w, hostile(out))
	}
	return out, err
}

func (r *run) pushMorsels(p *Pipeline, w *Worker, morsels int) error {
	scanner, out, err := p.open(w)
	if err != nil {
		return err
	}
	for {
		m := int(p.next.Add(1)) - 1
		if m >= morsels {
			err = pushHeld(scanner)
			if err != nil && !errors.Is(err, ErrStop) {
				return err
			}
			break
		}
		if err = w.Check(); err == nil {
			err = scanner.Scan(m)
		}
		if errors.Is(err, ErrStop) {
			p.next.Store(int64(morsels)) // the others end after their morsel
			if p.round != nil {
				p.round.stopped.Store(true)
			}
			break
		}
		if err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil && !errors.Is(err, ErrStop) {
		return err
	}
	return nil
}

func pushHeld(s Scanner) error {
	if h, ok := s.(holder); ok {
		return h.Flush()
	}
	return nil
}

// parallel runs f(0) … f(n−1) on as many goroutines as the query may use, and returns an error of
// one of them.
func (r *run) parallel(n int, f func(i int) error) error {
	workers := min(n, r.threads)
	var next atomic.Int64
	work := func() error {
		return r.guard(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return nil
				}
				if err := f(i); err != nil {
					next.Store(int64(n))
					return err
				}
			}
		})
	}
	errs := make(chan error, workers)
	for range workers - 1 {
		go func() { errs <- work() }()
	}
	err := work()
	for range workers - 1 {
		if other := <-errs; err == nil {
			err = other
		}
	}
	return err
}
