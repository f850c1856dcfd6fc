package exec

import (
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/join"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// mergeSource joins two inputs that come in the order of the join's keys. It is one morsel. Either side is
// read only as far as the other's keys, or who reads the result, ask for it; what a side needs before its
// first row has run before.
type mergeSource struct {
	*joinPlan
	inputs [2]mergeInput // left, right
}

// mergeInput is a side of a merge join.
type mergeInput struct {
	pipeline *Pipeline
	sink     *cursorSink
	cols     []*expr.Col
	keys     []expr.Expr
}

func (b *builder) mergeJoin(p *joinPlan) ([]*stream, error) {
	s := &mergeSource{joinPlan: p}
	var after []*Pipeline
	for i, input := range p.node.Kids() {
		streams, err := b.build(input, p.node)
		if err != nil {
			return nil, err
		}
		if len(streams) != 1 {
			return nil, sqlerr.New(sqlerr.InternalError, "an input of a merge join comes in %d streams", len(streams))
		}
		streams[0].serial = true
		in := mergeInput{sink: &cursorSink{}, cols: input.Cols()}
		in.pipeline = b.into(streams, in.sink, p.node)[0]
		for _, k := range p.node.Keys {
			in.keys = append(in.keys, [2]expr.Expr{k.Left, k.Right}[i])
		}
		after = append(after, in.pipeline.After...)
		s.inputs[i] = in
	}
	out := one(s, after)
	out[0].serial = true
	return out, nil
}

func (s *mergeSource) Morsels(*Worker) (int, error) { return 1, nil }

type mergeScanner struct {
	plan   *joinPlan
	merger *join.Merger
	left   *orderedCursor
	output joinOutput
	sel    vector.Sel
}

func (s *mergeSource) Open(w *Worker, out Pusher) (Scanner, error) {
	c := &mergeScanner{plan: s.joinPlan}
	c.output.init(s.joinPlan, w, out, func(col int) *vector.Vector { return c.merger.Column(col) })
	residual, err := newResidual(s.joinPlan, &c.output)
	if err != nil {
		return nil, err
	}
	if c.left, err = s.open(0, w); err != nil {
		return nil, err
	}
	right, err := s.open(1, w)
	if err != nil {
		return nil, err
	}
	c.merger = join.NewMerger(s.spec(w), right, residual, c)
	w.onClose(func() error { c.describe(); return c.merger.Close() })
	return c, nil
}

// spec describes the join to package join.
func (s *mergeSource) spec(w *Worker) join.MergeSpec {
	spec := join.MergeSpec{Kind: s.kind, Columns: kindsOf(s.right), RightUnique: s.node.RightUnique, Memory: w.reservation()}
	for i, k := range s.node.Keys {
		z := newKeyNormalizer(k.Right.Type(), k.Left.Type())
		spec.KeyKinds = append(spec.KeyKinds, z.kind(k.Right.Type().Kind()))
		spec.Keys = append(spec.Keys, join.MergeKey{NullSafe: k.NullSafe, Desc: s.node.Merge[i].Desc, NullsFirst: s.node.Merge[i].NullsFirst})
	}
	if limit := s.run.spillBytes(); limit > 0 {
		spec.Spill = join.Spill{Files: s.run.files.of(s.stats), LimitBytes: limit}
	}
	return spec
}

// Scan joins all rows.
func (c *mergeScanner) Scan(int) error {
	for {
		keys, b, err := c.left.next()
		if err != nil {
			return err
		}
		c.output.input = b
		if b == nil { // what comes now is of the right side
			return c.merger.Finish()
		}
		if err := c.merger.Push(keys, b.N, b.Sel); err != nil {
			return err
		}
	}
}

// Pairs implements join.MergeOutput.
func (c *mergeScanner) Pairs(left, right []uint32, columns []*vector.Vector) error {
	o := &c.output
	if c.plan.exists() {
		c.sel = c.sel[:0]
		for _, row := range left {
			c.sel = append(c.sel, uint16(row))
		}
		return o.Once(c.sel, nil)
	}
	for i, col := range c.plan.out {
		v := &o.own[i]
		switch {
		case col.side == rightSide:
			vector.PickOuter(v, columns[col.at], right)
		case o.input == nil:
			v.SetConst(vector.NullDatum(col.kind))
		default:
			vector.PickOuter(v, o.input.Vecs[col.at], left)
		}
		o.batch.Vecs[i] = v
	}
	o.batch.N, o.batch.Sel = len(left), nil
	return o.push()
}

// describe says in EXPLAIN ANALYZE what went to disk.
func (c *mergeScanner) describe() {
	groups, bytes := c.merger.Spilled()
	if c.plan.stats == nil || groups == 0 {
		return
	}
	tallied(c.plan.stats, factSpill, func(t *mergeSpillTally) { t.groups, t.bytes = t.groups+int64(groups), t.bytes+bytes })
}

// mergeSpillTally is what groups of equal keys went to disk.
type mergeSpillTally struct{ groups, bytes int64 }

func (t *mergeSpillTally) facts(key string, loops int64) []planner.Fact {
	return oneFact(key, planner.Parts{{Name: "groups", Value: perLoop(t.groups, loops), Text: "groups %s"}, {Name: "bytes", Value: planner.Bytes(perLoop(t.bytes, loops)), Text: ", %s"}})
}

// orderedCursor reads a side of a merge join, with its keys.
type orderedCursor struct {
	*pulled
	program *expr.Program
	normal  []*normalizer
	keys    []*vector.Vector
}

// open returns a cursor of a side.
func (s *mergeSource) open(side int, w *Worker) (*orderedCursor, error) {
	in, other := s.inputs[side], s.inputs[1-side]
	c := &orderedCursor{keys: make([]*vector.Vector, len(in.keys))}
	for i, k := range in.keys {
		c.normal = append(c.normal, newKeyNormalizer(k.Type(), other.keys[i].Type()))
	}
	var err error
	if c.program, err = expr.CompileAll(in.keys, layout(in.cols), s.run.env); err != nil {
		return nil, err
	}
	c.pulled = pull(w, in.pipeline, in.sink)
	return c, nil
}

// next returns the next batch, nil at the end.
func (c *orderedCursor) next() (keys []*vector.Vector, b *vector.Batch, err error) {
	if b, err = c.pulled.next(); b == nil || err != nil {
		return nil, nil, err
	}
	values, err := c.program.Eval(b, b.Sel)
	if err != nil {
		return nil, nil, err
	}
	for i, v := range values {
		c.keys[i] = c.normal[i].apply(v, b.N, b.Sel)
	}
	return c.keys, b, nil
}

// Next implements join.MergeCursor.
func (c *orderedCursor) Next() (keys, columns []*vector.Vector, n int, sel vector.Sel, err error) {
	keys, b, err := c.next()
	if b == nil || err != nil {
		return nil, nil, 0, nil, err
	}
	return keys, b.Vecs, b.N, b.Sel, nil
}
