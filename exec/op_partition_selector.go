package exec

import (
	"sync"
	"time"

	"github.com/bits-and-blooms/bitset"

	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
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

	mu     sync.Mutex // guards leaves
	leaves *bitset.BitSet
	stats  *nodeStats // of the join
}

// selectorOp passes the rows of a join's build side on and finds the partitions that they may have
// matches in.
type selectorOp struct {
	run    *run
	into   *selection
	within *bitset.BitSet
	cols   []*expr.Col
}

type selectorPusher struct {
	op      *selectorOp
	picker  *prune.Picker
	program *expr.Program
	worker  int
	spent   time.Duration
	out     Pusher
}

// addSelectors puts the selectors of a join above its build side.
func (b *builder) addSelectors(n *planner.Join, right []*stream) []*selection {
	var made []*selection
	for _, spec := range n.Selectors {
		s := &selection{spec: spec, above: n, leaves: bitset.New(uint(len(spec.Join.Desc.Leaves))), stats: b.run.stats.of(n)}
		tallied(s.stats, planner.SelectorFact(spec.ID), func(*selectorTally) {}) // there is a line even if no row comes
		op := &selectorOp{run: b.run, into: s, within: spec.Join.Desc.All(), cols: n.Right.Cols()}
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

func (op *selectorOp) Open(w *Worker, out Pusher) (Pusher, error) {
	p := &selectorPusher{op: op, worker: w.ID, picker: op.into.spec.Join.NewPicker(op.run.env, op.within), out: out}
	p.picker.CountDefaults = op.into.stats != nil
	var err error
	p.program, err = expr.CompileAll(op.into.spec.Values, layout(op.cols), op.run.env)
	return p, err
}

func (p *selectorPusher) Push(b *vector.Batch) error {
	var begun time.Time
	if p.op.into.stats != nil {
		begun = time.Now()
	}
	if p.picker.Stopped() {
		p.picker.Add(nil, b.N, b.Sel)
	} else {
		values, err := p.program.Eval(b, b.Sel)
		switch {
		case err == nil:
			p.picker.Add(values, b.N, b.Sel)
		case sqlerr.CodeOf(err).OfData(): // the join may never ask for the value
			p.picker.GiveUp()
		default:
			return err
		}
	}
	if p.op.into.stats != nil {
		p.spent += time.Since(begun)
	}
	return p.out.Push(b)
}

// Flush adds what the worker has found.
func (p *selectorPusher) Flush() error {
	s := p.op.into
	s.mu.Lock()
	s.leaves.InPlaceUnion(p.picker.Set())
	s.mu.Unlock()
	tallied(s.stats, planner.SelectorFact(s.spec.ID), p.addTo)
	return p.out.Flush()
}

func (p *selectorPusher) addTo(t *selectorTally) {
	t.rows, t.nulls, t.routed, t.defaults = t.rows+p.picker.Rows, t.nulls+p.picker.Nulls, t.routed+p.picker.Routed, t.defaults+p.picker.Defaults
	t.early = t.early || p.picker.Stopped() && !p.picker.GaveUp
	t.gaveUp = t.gaveUp || p.picker.GaveUp
	t.spent += p.spent
	t.workers = max(t.workers, int64(p.worker)+1)
}

// selectorTally is what a selector does.
type selectorTally struct {
	// Rows that came; with a NULL in a key; whose values were looked up; of these, those that went to default partitions.
	rows, nulls, routed, defaults int64
	early, gaveUp                 bool // a worker had nothing left to find, or took all
	spent                         time.Duration
	workers                       int64
}

func (t *selectorTally) facts(key string, loops int64) []planner.Fact {
	gaveUp := ""
	if t.gaveUp {
		gaveUp = ", gave up"
	}
	facts := oneFact(key, planner.Parts{{Name: "rows", Value: perLoop(t.rows, loops), Text: "rows %s"}, {Name: "null_keys", Value: perLoop(t.nulls, loops), Text: ", NULL keys %s"},
		{Name: "routed", Value: perLoop(t.routed, loops), Text: ", routed %s"}, {Name: "to_default", Value: perLoop(t.defaults, loops), Text: ", to default %s"},
		{Name: "early_stop", Value: t.early, Text: ", early stop %s"}, {Name: "gave_up", Value: t.gaveUp, Text: gaveUp}, {Name: "time", Value: t.spent / time.Duration(max(loops, 1)), Text: ", time %s"}})
	if t.workers > 1 {
		facts = append(facts, planner.Fact{Key: key + " Workers", Value: planner.Parts{{Name: "merged", Value: t.workers, Text: "%s merged"}}})
	}
	return facts
}
