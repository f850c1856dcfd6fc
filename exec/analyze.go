package exec

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// planStats collects what EXPLAIN ANALYZE shows. Without ANALYZE nothing of this file runs.
type planStats struct {
	start time.Time
	mu    sync.Mutex // guards nodes
	nodes map[planner.Node]*nodeStats
}

// nodeStats counts one plan node. Workers add to it concurrently.
type nodeStats struct {
	node  planner.Node
	rows  atomic.Int64
	loops atomic.Int64
	// own is the time spent in the node itself; early is what of it passed before its first row.
	own, early atomic.Int64
	blocking   bool // yields nothing before it has read its inputs
	mu         sync.Mutex
	facts      []planner.Fact
	sums       map[string]int64
}

func newPlanStats(start time.Time) *planStats {
	return &planStats{start: start, nodes: map[planner.Node]*nodeStats{}}
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
		stats = &nodeStats{node: n}
		switch n.(type) {
		case *planner.Sort, *planner.Aggregate:
			stats.blocking = true
		}
		s.nodes[n] = stats
	}
	return stats
}

// fact sets a line under the node.
func (s *nodeStats) fact(key, format string, args ...any) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	value := fmt.Sprintf(format, args...)
	for i := range s.facts {
		if s.facts[i].Key == key {
			s.facts[i].Value = value
			return
		}
	}
	s.facts = append(s.facts, planner.Fact{Key: key, Value: value})
}

// count adds to a line that shows a sum over all workers.
func (s *nodeStats) count(key string, n int64) {
	if s == nil {
		return
	}
	s.mu.Lock()
	if s.sums == nil {
		s.sums = map[string]int64{}
	}
	s.sums[key] += n
	total := s.sums[key]
	s.mu.Unlock()
	s.fact(key, "%d", total)
}

// actual is what EXPLAIN shows of a node: times include the inputs', as in PostgreSQL.
func (s *planStats) actual(n planner.Node) *planner.Actual {
	s.mu.Lock()
	stats := s.nodes[n]
	s.mu.Unlock()
	if stats == nil || stats.loops.Load() == 0 {
		return nil
	}
	a := &planner.Actual{Rows: stats.rows.Load(), Loops: stats.loops.Load(), Facts: stats.facts}
	a.TotalNanos, a.StartupNanos = stats.own.Load(), 0
	for _, kid := range n.Kids() {
		if k := s.actual(kid); k != nil {
			a.TotalNanos += k.TotalNanos
			if stats.blocking {
				a.StartupNanos += k.TotalNanos
			} else {
				a.StartupNanos += k.StartupNanos
			}
		}
	}
	if stats.blocking {
		a.StartupNanos += stats.early.Load()
	}
	return a
}

// clock attributes a worker's time to the node at work: pushing on enters the consumer's node,
// returning leaves it.
type clock struct {
	on    bool
	stack []*nodeStats
	since time.Time
}

func (c *clock) enter(s *nodeStats) {
	if !c.on {
		return
	}
	c.settle()
	c.stack = append(c.stack, s)
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
		if top := c.stack[len(c.stack)-1]; top != nil {
			spent := now.Sub(c.since).Nanoseconds()
			top.own.Add(spent)
			if top.rows.Load() == 0 {
				top.early.Add(spent)
			}
		}
	}
	c.since = now
}

// counter is an operator behind a node that counts its rows and switches the clock to the consumer.
type counter struct{ from, to *nodeStats }

type countPusher struct {
	counter
	w   *Worker
	out Pusher
}

func (c *counter) Open(w *Worker, out Pusher) (Pusher, error) {
	return &countPusher{counter: *c, w: w, out: out}, nil
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
	w     *Worker
	stats *nodeStats
}

func (s *timedSource) Morsels(w *Worker) (int, error) {
	w.clock.enter(s.stats)
	defer w.clock.leave()
	return s.Source.Morsels(w)
}

func (s *timedSource) Open(w *Worker, out Pusher) (Scanner, error) {
	scanner, err := s.Source.Open(w, out)
	return &timedScanner{scanner, w, s.stats}, err
}

func (s *timedScanner) Scan(morsel int) error {
	s.w.clock.enter(s.stats)
	err := s.Scanner.Scan(morsel)
	s.w.clock.leave()
	return err
}
