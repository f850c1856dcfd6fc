package exec

import (
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/join"
	"github.com/weftdb/weft/vector"
)

// hashJoinOp probes a hash table.
type hashJoinOp struct {
	*joinPlan
	build *hashBuild
	probe spooledProbe
}

// Finished reports that there is nothing to join to, and that this kind then yields nothing.
func (op *hashJoinOp) Finished() bool {
	return op.kind.NeedsMatch() && op.build.built && op.build.table.Empty()
}

type hashJoinPusher struct {
	joinOutput
	op      *hashJoinOp
	joiner  *join.Joiner
	program *expr.Program
	normal  []*normalizer
	keys    []*vector.Vector
	router  *join.Router     // where a part of the build is on disk
	spooled []*vector.Vector // what it writes
}

func (op *hashJoinOp) Open(w *Worker, out Pusher) (Pusher, error) {
	p := &hashJoinPusher{op: op, keys: make([]*vector.Vector, len(op.node.Keys))}
	p.joinOutput.init(op.joinPlan, w, out, p.stored)
	var list []expr.Expr
	list, p.normal = probeKeys(op.joinPlan)
	var err error
	if p.program, err = expr.CompileAll(list, layout(op.left), op.run.env); err != nil {
		return nil, err
	}
	residual, err := newResidual(op.joinPlan, &p.joinOutput)
	if err != nil {
		return nil, err
	}
	p.joiner = op.build.table.NewJoiner(op.kind, op.node.NullAware, residual, &p.joinOutput)
	return p, nil
}

// stored returns where the values of a build column are that the joiner names rows of.
func (p *hashJoinPusher) stored(col int) *vector.Vector {
	if at := p.op.build.place[col]; at < 0 {
		return p.joiner.Stored(-2 - at)
	}
	return p.op.build.stored(col)
}

// probeKeys returns the keys of the probe side and what brings them to normal form.
func probeKeys(p *joinPlan) (keys []expr.Expr, normal []*normalizer) {
	for _, k := range p.node.Keys {
		keys = append(keys, k.Left)
		normal = append(normal, newKeyNormalizer(k.Left.Type(), k.Right.Type()))
	}
	return keys, normal
}

func (p *hashJoinPusher) Push(b *vector.Batch) error {
	values, err := p.program.Eval(b, b.Sel)
	if err != nil {
		return err
	}
	for i, v := range values {
		p.keys[i] = p.normal[i].apply(v, b.N, b.Sel)
	}
	p.input = b
	sel := b.Sel
	if p.op.build.table.Spilled() {
		if sel, err = p.route(b); err != nil || len(sel) == 0 {
			return err
		}
	}
	return p.joiner.Push(p.keys, b.N, sel)
}

// route writes the rows whose build rows are on disk, and returns the others.
func (p *hashJoinPusher) route(b *vector.Batch) (vector.Sel, error) {
	if p.router == nil {
		p.router = p.op.build.table.NewRouter()
	}
	p.spooled = append(p.spooled[:0], p.keys...)
	for _, c := range p.op.probe.columns {
		p.spooled = append(p.spooled, b.Vecs[c])
	}
	return p.router.Route(p.keys, p.spooled, b.N, b.Sel)
}

func (p *hashJoinPusher) Flush() error {
	if p.router != nil {
		if err := p.router.Flush(); err != nil {
			return err
		}
	}
	return p.out.Flush()
}

// joinOutput makes batches of what a Joiner finds.
type joinOutput struct {
	plan   *joinPlan
	w      *Worker
	out    Pusher
	input  *vector.Batch
	stored func(col int) *vector.Vector
	right  []storedColumn // per output column: its stored values, found at the first batch
	own    []vector.Vector
	probe  []uint32
	batch  vector.Batch
}

func (o *joinOutput) init(p *joinPlan, w *Worker, out Pusher, stored func(int) *vector.Vector) {
	o.plan, o.w, o.out, o.stored = p, w, out, stored
	o.own = make([]vector.Vector, len(p.out))
	o.batch.Vecs = make([]*vector.Vector, len(p.out))
}

// columns finds the stored columns; the table is finished by then.
func (o *joinOutput) columns() {
	if o.right != nil {
		return
	}
	o.right = make([]storedColumn, len(o.plan.out))
	for i, c := range o.plan.out {
		if c.side == rightSide {
			o.right[i] = newStoredColumn(o.stored(c.at))
		}
	}
}

func (o *joinOutput) Once(sel vector.Sel, build []uint32) error {
	o.columns()
	if build != nil && sel != nil && len(sel)*sparse < o.input.N {
		return o.dense(sel, build)
	}
	for i, c := range o.plan.out {
		v := &o.own[i]
		switch {
		case c.side == leftSide:
			v = o.input.Vecs[c.at]
		case sel == nil:
			o.right[i].pick(v, build)
		default:
			o.right[i].pickAt(v, o.input.N, sel, build)
		}
		o.batch.Vecs[i] = v
	}
	o.batch.N, o.batch.Sel = o.input.N, sel
	return o.push()
}

// sparse is the share of rows left below which a batch is closed up: what follows then works on
// full lines of memory and need not look rows up.
const sparse = 4

// dense is Once with the rows side by side.
func (o *joinOutput) dense(sel vector.Sel, build []uint32) error {
	o.probe = o.probe[:0]
	for _, k := range sel {
		o.probe = append(o.probe, uint32(k))
	}
	return o.Pairs(o.probe, build)
}

func (o *joinOutput) Pairs(probe, build []uint32) error {
	o.columns()
	for i, c := range o.plan.out {
		v := &o.own[i]
		switch {
		case c.side == rightSide:
			o.right[i].pick(v, build)
		case o.input.Vecs[c.at].Form == vector.Const:
			v = o.input.Vecs[c.at]
		default:
			vector.Pick(v, o.input.Vecs[c.at], probe)
		}
		o.batch.Vecs[i] = v
	}
	o.batch.N, o.batch.Sel = len(probe), nil
	return o.push()
}

func (o *joinOutput) Marks(sel vector.Sel, marks []uint8) error {
	for i, c := range o.plan.out {
		if c.side == leftSide {
			o.batch.Vecs[i] = o.input.Vecs[c.at]
			continue
		}
		v := &o.own[i]
		v.Reset(vector.Bool, len(marks))
		flags := vector.Of[uint8](v)
		null := false
		for k, m := range marks {
			flags[k] = m & 1
			null = null || m == join.Null
		}
		if null {
			valid := v.AllValid(len(marks))
			for k, m := range marks {
				if m == join.Null {
					valid.Clear(k)
				}
			}
		}
		o.batch.Vecs[i] = v
	}
	o.batch.N, o.batch.Sel = o.input.N, sel
	return o.push()
}

func (o *joinOutput) push() error {
	if err := o.w.Check(); err != nil {
		return err
	}
	return o.out.Push(&o.batch)
}

// residual evaluates the conditions beyond the keys over pairs of rows.
type residual struct {
	output *joinOutput
	cols   []outColumn // the condition's columns
	filter expr.Filter
	eval   expr.Evaluator // instead of filter, where NULL differs from FALSE
	own    []vector.Vector
	batch  vector.Batch
	flat   vector.Vector
	sel    vector.Sel
}

// newResidual returns nil where a join has no conditions beyond its keys.
func newResidual(p *joinPlan, o *joinOutput) (join.Residual, error) {
	if p.residual == nil {
		return nil, nil
	}
	r := &residual{output: o, sel: make(vector.Sel, 0, vector.BatchCap)}
	used := expr.Columns(p.residual)
	var cols []*expr.Col
	for i, c := range p.left {
		if used.Has(c.ID) {
			r.cols, cols = append(r.cols, outColumn{leftSide, i, c.Typ.Kind()}), append(cols, c)
		}
	}
	for i, c := range p.right {
		if used.Has(c.ID) {
			r.cols, cols = append(r.cols, outColumn{rightSide, i, c.Typ.Kind()}), append(cols, c)
		}
	}
	r.own = make([]vector.Vector, len(cols))
	r.batch.Vecs = make([]*vector.Vector, len(cols))
	var err error
	if p.threeValued() {
		r.eval, err = expr.Compile(p.residual, layout(cols), p.run.env)
	} else {
		r.filter, err = expr.CompileFilter(p.residual, layout(cols), p.run.env)
	}
	return r, err
}

// Test implements join.Residual.
func (r *residual) Test(probe, build []uint32, flags []uint8) error {
	if err := r.output.w.Check(); err != nil {
		return err
	}
	for i, c := range r.cols {
		v := &r.own[i]
		switch {
		case c.side == rightSide:
			vector.Pick(v, r.output.stored(c.at), build)
		case r.output.input.Vecs[c.at].Form == vector.Const:
			v = r.output.input.Vecs[c.at]
		default:
			vector.Pick(v, r.output.input.Vecs[c.at], probe)
		}
		r.batch.Vecs[i] = v
	}
	r.batch.N = len(probe)
	if r.eval != nil {
		v, err := r.eval.Eval(&r.batch, nil)
		if err != nil {
			return err
		}
		truthValues(flags, vector.Flatten(&r.flat, v, len(flags)))
		return nil
	}
	sel, err := r.filter.Select(&r.batch, nil, r.sel)
	if err != nil {
		return err
	}
	r.sel = sel
	clear(flags)
	for _, k := range sel {
		flags[k] = join.True
	}
	return nil
}

// truthValues translates booleans.
func truthValues(flags []uint8, v *vector.Vector) {
	copy(flags, vector.Of[uint8](v))
	if v.Valid != nil {
		for k := range flags {
			if !v.Valid.Get(k) {
				flags[k] = join.Null
			}
		}
	}
}
