package exec

import (
	"fmt"
	"sync"
	"time"

	"github.com/bits-and-blooms/bitset"

	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/prune"
	"github.com/weftdb/weft/vector"
)

// selection is the leaves, or data nodes, that a partition selector has found. Workers add to it when they end; the
// scan reads it after the pipeline of the build side.
type selection struct {
	spec      *planner.PartSelector
	above     *planner.Join // whose selector it is
	pipelines []*Pipeline   // that find it

	mu                  sync.Mutex // guards the rest
	leaves              *bitset.BitSet
	rows, nulls, routed int64
	workers, early      int // that added to it; that had nothing left to find
	spent               time.Duration
}

// selectorOp passes the rows of a join's build side on and finds the partitions that they may have
// matches in.
type selectorOp struct {
	run    *run
	into   *selection
	within *bitset.BitSet
	cols   []*expr.Col
	timed  bool
}

type selectorPusher struct {
	op      *selectorOp
	picker  *prune.Picker
	program *expr.Program
	spent   time.Duration
	out     Pusher
}

// addSelectors puts the selectors of a join above its build side.
func (b *builder) addSelectors(n *planner.Join, right []*stream) []*selection {
	var made []*selection
	for _, spec := range n.Selectors {
		s := &selection{spec: spec, above: n, leaves: bitset.New(uint(len(spec.Join.Desc.Leaves)))}
		op := &selectorOp{run: b.run, into: s, within: spec.Join.Desc.All(), cols: n.Right.Cols(), timed: b.run.stats != nil}
		for _, stream := range right {
			stream.add(op, stream.from)
		}
		if b.selections == nil {
			b.selections = map[int]*selection{}
		}
		b.selections[spec.ID] = s
		made = append(made, s)
	}
	return made
}

// selectionsOf returns what selects the partitions or data nodes of a scan, and the pipelines that have to come
// first.
func (b *builder) selectionsOf(p *planner.PartScan) (list []*selection, after []*Pipeline) {
	for _, spec := range p.Selectors {
		s := b.selections[spec.ID]
		list, after = append(list, s), append(after, s.pipelines...)
	}
	return list, after
}

func (op *selectorOp) Open(_ *Worker, out Pusher) (Pusher, error) {
	p := &selectorPusher{op: op, picker: op.into.spec.Join.NewPicker(op.run.env, op.within), out: out}
	var err error
	p.program, err = expr.CompileAll(op.into.spec.Values, layout(op.cols), op.run.env)
	return p, err
}

func (p *selectorPusher) Push(b *vector.Batch) error {
	var begun time.Time
	if p.op.timed {
		begun = time.Now()
	}
	if p.picker.Stopped() {
		p.picker.Add(nil, b.N, b.Sel)
	} else {
		values, err := p.program.Eval(b, b.Sel)
		if err != nil {
			return err
		}
		p.picker.Add(values, b.N, b.Sel)
	}
	if p.op.timed {
		p.spent += time.Since(begun)
	}
	return p.out.Push(b)
}

// Flush adds what the worker has found.
func (p *selectorPusher) Flush() error {
	s := p.op.into
	s.mu.Lock()
	s.leaves.InPlaceUnion(p.picker.Set())
	s.rows, s.nulls, s.routed = s.rows+p.picker.Rows, s.nulls+p.picker.Nulls, s.routed+p.picker.Routed
	s.workers++
	if p.picker.Stopped() {
		s.early++
	}
	s.spent += p.spent
	s.mu.Unlock()
	return p.out.Flush()
}

// describe says in EXPLAIN ANALYZE, under the join, what a selector did.
func (s *selection) describe(stats *nodeStats) {
	if stats == nil {
		return
	}
	early, defaults := "no", int64(0)
	if s.early > 0 {
		early = "yes"
	}
	for i, ok := s.leaves.NextSet(0); ok; i, ok = s.leaves.NextSet(i + 1) {
		if s.spec.Join.Desc.Default(int(i)) {
			defaults++
		}
	}
	text := fmt.Sprintf("rows %d, NULL keys %d, routed %d, default partitions %d, early stop %s, time %.2f ms", s.rows, s.nulls, s.routed, defaults, early, float64(s.spent)/float64(time.Millisecond))
	value := []planner.Fact{{Key: "Selector Rows", Value: s.rows}, {Key: "NULL Keys", Value: s.nulls}, {Key: "Routed", Value: s.routed},
		{Key: "Default Partitions", Value: defaults}, {Key: "Early Stop", Value: s.early > 0}, {Key: "Selector Time", Value: float64(s.spent) / float64(time.Millisecond)}}
	if s.workers > 1 {
		text += fmt.Sprintf(", workers %d merged", s.workers)
		value = append(value, planner.Fact{Key: "Selector Workers", Value: int64(s.workers)})
	}
	stats.fact(planner.Fact{Key: planner.SelectorFact(s.spec.ID), Text: text, Value: value})
}
