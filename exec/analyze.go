package exec

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// planStats collects what EXPLAIN ANALYZE shows. Without ANALYZE nothing of this file runs.
type planStats struct {
	mu    sync.Mutex // guards nodes and filters
	nodes map[planner.Node]*nodeStats
	// filters numbers runtime filters by their join and scan, so that they keep their number when an Apply
	// runs them again.
	filters map[[2]planner.Node]int
}

// nodeStats counts one plan node. Workers add to it concurrently.
type nodeStats struct {
	rows  atomic.Int64
	loops atomic.Int64
	// own is the wall-clock time spent in the node itself; early is what of it passed before its
	// first row.
	own, early atomic.Int64
	mu         sync.Mutex // guards tallies, and what they add up
	tallies    []keyedTally
}

func newPlanStats() *planStats {
	return &planStats{nodes: map[planner.Node]*nodeStats{}, filters: map[[2]planner.Node]int{}}
}

// filterNumber returns the number of the filter that a join lends to a scan.
func (s *planStats) filterNumber(join, scan planner.Node) int {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at := [2]planner.Node{join, scan}
	if s.filters[at] == 0 {
		s.filters[at] = len(s.filters) + 1
	}
	return s.filters[at]
}

// of returns a node's counters; nil when nothing is counted.
func (s *planStats) of(n planner.Node) *nodeStats {
	if s == nil || n == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	stats := s.nodes[n]
	if stats == nil {
		stats = &nodeStats{}
		s.nodes[n] = stats
	}
	return stats
}

// rebuilt makes a node that runs in place of one of the plan count for that one.
func (s *planStats) rebuilt(n, original planner.Node) {
	if s == nil {
		return
	}
	stats := s.of(original)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes[n] = stats
}

// actual is what EXPLAIN shows of a node: times include the inputs', as in PostgreSQL. Each moment
// of the statement belongs to one node, so no node's time is longer than the statement's.
func (s *planStats) actual(n planner.Node) *planner.Actual {
	s.mu.Lock()
	stats := s.nodes[n]
	s.mu.Unlock()
	if stats == nil || stats.loops.Load() == 0 {
		return &planner.Actual{}
	}
	a := &planner.Actual{Rows: stats.rows.Load(), Loops: stats.loops.Load(), TotalNanos: stats.own.Load(), StartupNanos: stats.early.Load()}
	a.Facts, a.Removed = stats.facts(a.Loops), stats.removed()
	for i, kid := range n.Kids() {
		k := s.actual(kid)
		a.TotalNanos += k.TotalNanos
		a.StartupNanos += beforeFirstRow(n, i, k)
	}
	if a.Rows == 0 {
		a.StartupNanos = a.TotalNanos
	}
	return a
}

// beforeFirstRow is what of an input's time passes before the node has its first row.
func beforeFirstRow(n planner.Node, input int, k *planner.Actual) int64 {
	switch n := n.(type) {
	case *planner.Sort, *planner.Aggregate:
		return k.TotalNanos
	case *planner.Join:
		if n.Merge == nil && input == 1 || n.Kind == planner.RightSemiJoin || n.Kind == planner.RightAntiJoin {
			return k.TotalNanos
		}
	case *planner.Apply:
		if input == 1 { // one of its runs
			return k.StartupNanos / max(k.Loops, 1)
		}
	case *planner.Append:
		if input > 0 {
			return 0
		}
	}
	return k.StartupNanos
}

// lap is the time that one worker has spent in a node.
type lap struct {
	stats *nodeStats // nil = what is not the plan's, such as waiting for the reader of the result
	nanos int64
	early int64 // what of it passed before the node's first row
}

// clock attributes a worker's time to the node at work: pushing on enters the consumer's node,
// returning leaves it.
type clock struct {
	on    bool
	laps  []*lap
	stack []*lap
	since time.Time
}

// lap returns where the time in a node adds up; nil when nothing is counted.
func (c *clock) lap(s *nodeStats) *lap {
	if !c.on {
		return nil
	}
	for _, l := range c.laps {
		if l.stats == s {
			return l
		}
	}
	l := &lap{stats: s}
	c.laps = append(c.laps, l)
	return l
}

// inside is the lap for time that a run inside the node at work has spent in s: what is not that
// run's plan's is the node's.
func (c *clock) inside(s *nodeStats) *lap {
	if s == nil && len(c.stack) > 0 {
		return c.stack[len(c.stack)-1]
	}
	return c.lap(s)
}

func (c *clock) enter(l *lap) {
	if !c.on {
		return
	}
	c.settle()
	c.stack = append(c.stack, l)
}

func (c *clock) leave() {
	if !c.on {
		return
	}
	c.settle()
	c.stack = c.stack[:len(c.stack)-1]
}

// settle gives the time since the last switch to the node on top of the stack.
func (c *clock) settle() {
	now := time.Now()
	if len(c.stack) > 0 {
		c.stack[len(c.stack)-1].add(now.Sub(c.since).Nanoseconds())
	}
	c.since = now
}

func (l *lap) add(nanos int64) {
	l.nanos += nanos
	if l.stats != nil && l.stats.rows.Load() == 0 {
		l.early += nanos
	}
}

// stretch is a part of a run whose wall-clock time is divided among plan nodes: a pipeline's
// scanning, or the end of a sink. A run's stretches follow each other.
type stretch struct {
	run   *run
	began time.Time
}

func (r *run) beginStretch() stretch {
	if r.stats == nil {
		return stretch{}
	}
	if r.clock != nil {
		r.clock.settle()
	}
	return stretch{r, time.Now()}
}

// end divides the stretch among the nodes in proportion to the time that its workers spent in
// them. What runs inside an operator's worker is a part of that worker's time.
func (s stretch) end(workers ...*Worker) {
	if s.run == nil {
		return
	}
	now := time.Now()
	spent := int64(0)
	for _, w := range workers {
		for _, l := range w.clock.laps {
			spent += l.nanos
		}
	}
	share := float64(now.Sub(s.began)) / float64(max(spent, 1))
	if s.run.inTurns { // what passed includes turns of others
		share = 1
	}
	for _, w := range workers {
		for _, l := range w.clock.laps {
			nanos, early := int64(float64(l.nanos)*share), int64(float64(l.early)*share)
			if s.run.clock != nil {
				outer := s.run.clock.inside(l.stats)
				outer.nanos += nanos
				outer.early += early
			} else if l.stats != nil {
				l.stats.own.Add(nanos)
				l.stats.early.Add(early)
			}
		}
	}
	for _, w := range workers {
		for _, l := range w.clock.laps { // the worker may go on
			l.nanos, l.early = 0, 0
		}
	}
	if s.run.clock != nil {
		s.run.clock.since = now
	}
}

// counter is an operator behind a node that counts its rows and switches the clock to the consumer.
type counter struct{ from, to *nodeStats }

type countPusher struct {
	from *nodeStats
	to   *lap
	w    *Worker
	out  Pusher
}

func (c *counter) Open(w *Worker, out Pusher) (Pusher, error) {
	return &countPusher{from: c.from, to: w.clock.lap(c.to), w: w, out: out}, nil
}

func (p *countPusher) Push(b *vector.Batch) error {
	p.from.rows.Add(int64(b.Live()))
	p.w.clock.enter(p.to)
	err := p.out.Push(b)
	p.w.clock.leave()
	return err
}

func (p *countPusher) Flush() error {
	p.w.clock.enter(p.to)
	err := p.out.Flush()
	p.w.clock.leave()
	return err
}

// timedSource is a source whose time belongs to a node.
type timedSource struct {
	Source
	stats *nodeStats
}

type timedScanner struct {
	Scanner
	w    *Worker
	node *lap
}

// untimed returns the source whose time is measured, or the source itself.
func untimed(s Source) Source {
	if timed, ok := s.(*timedSource); ok {
		return timed.Source
	}
	return s
}

func (s *timedSource) Morsels(w *Worker) (int, error) {
	w.clock.enter(w.clock.lap(s.stats))
	defer w.clock.leave()
	return s.Source.Morsels(w)
}

func (s *timedSource) Open(w *Worker, out Pusher) (Scanner, error) {
	scanner, err := s.Source.Open(w, out)
	return &timedScanner{scanner, w, w.clock.lap(s.stats)}, err
}

func (s *timedScanner) Scan(morsel int) error {
	s.w.clock.enter(s.node)
	err := s.Scanner.Scan(morsel)
	s.w.clock.leave()
	return err
}

func (s *timedScanner) Flush() error {
	s.w.clock.enter(s.node)
	err := pushHeld(s.Scanner)
	s.w.clock.leave()
	return err
}
