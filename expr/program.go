package expr

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector"
)

// memo shares the evaluators of equal subexpressions, and their results within a batch.
type memo struct {
	exprs  []Expr
	shared []Evaluator
	epoch  uint64 // counts batches
}

func (m *memo) compile(c *compiler, e Expr) (Evaluator, error) {
	switch e.(type) {
	case *Col, *Const, *Param:
		return c.build(e)
	}
	if VolatilityOf(e) == Volatile {
		return c.build(e)
	}
	for i, have := range m.exprs {
		if Equal(have, e) {
			return m.shared[i], nil
		}
	}
	inner, err := c.build(e)
	if err != nil {
		return nil, err
	}
	shared := &sharedEval{memo: m, inner: inner}
	var out Evaluator = shared
	if numbers, ok := inner.(numberEvaluator); ok {
		out = &sharedNumbers{sharedEval: shared, inner: numbers}
	}
	m.exprs, m.shared = append(m.exprs, e), append(m.shared, out)
	return out, nil
}

// sharedEval keeps the result of the current batch for the next user with the same selection.
type sharedEval struct {
	memo  *memo
	inner Evaluator
	epoch uint64
	sel   vector.Sel
	value *vector.Vector
}

func sameSel(a, b vector.Sel) bool {
	return (a == nil) == (b == nil) && len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

func (s *sharedEval) Eval(b *vector.Batch, sel vector.Sel) (*vector.Vector, error) {
	if s.value != nil && s.epoch == s.memo.epoch && sameSel(s.sel, sel) {
		return s.value, nil
	}
	v, err := s.inner.Eval(b, sel)
	s.value, s.epoch, s.sel = v, s.memo.epoch, sel
	return v, err
}

// sharedNumbers is sharedEval for numerics: the open form is shared, too.
type sharedNumbers struct {
	*sharedEval
	inner numberEvaluator
	epoch uint64
	sel   vector.Sel
	have  bool
	nums  numbers
}

func (s *sharedNumbers) evalNumbers(b *vector.Batch, sel vector.Sel) (numbers, error) {
	if s.have && s.epoch == s.memo.epoch && sameSel(s.sel, sel) {
		return s.nums, nil
	}
	x, err := s.inner.evalNumbers(b, sel)
	s.nums, s.epoch, s.sel, s.have = x, s.memo.epoch, sel, err == nil
	return x, err
}

// Program evaluates a list of expressions, computing what they have in common once. It belongs to
// one worker.
type Program struct {
	evals []Evaluator
	memo  *memo
	out   []*vector.Vector
}

// CompileAll makes a program.
func CompileAll(list []Expr, layout Layout, env *Env) (*Program, error) {
	if env == nil {
		env = &Env{}
	}
	p := &Program{memo: &memo{}, out: make([]*vector.Vector, len(list))}
	c := &compiler{layout: layout, env: env, memo: p.memo}
	var err error
	p.evals, err = c.compileList(list)
	return p, err
}

// Eval returns the values of the expressions, each as Evaluator.Eval does. They are valid together
// until the next Eval; the slice is the program's.
func (p *Program) Eval(b *vector.Batch, sel vector.Sel) ([]*vector.Vector, error) {
	p.memo.epoch++
	for i, e := range p.evals {
		v, err := e.Eval(b, sel)
		if err != nil {
			return nil, err
		}
		p.out[i] = v
	}
	return p.out, nil
}

// Aggregation evaluates the arguments and FILTER conditions of aggregate calls and feeds their
// accumulators: faster than Evaluator and Accumulator by hand, because common arguments are
// computed once and numerics are summed in the narrow form they were computed in. It belongs to
// one worker. DISTINCT is ignored: such calls need their own input.
type Aggregation struct {
	memo  *memo
	calls []aggInput
}

type aggInput struct {
	acc    Accumulator
	filter Filter
	args   []Evaluator
	arg    catalog.Type // of the first argument
	nums   numbersAccumulator
	values []*vector.Vector
	sel    vector.Sel
	buf    vector.Vector
}

// numbersAccumulator takes numerics in the form that evaluation left them in.
type numbersAccumulator interface {
	updateNumbers(groups []uint32, x numbers, n int, sel vector.Sel) error
}

// NewAggregation makes an aggregation with no groups.
func NewAggregation(calls []*AggCall, layout Layout, env *Env) (*Aggregation, error) {
	if env == nil {
		env = &Env{}
	}
	a := &Aggregation{memo: &memo{}}
	c := &compiler{layout: layout, env: env, memo: a.memo}
	for _, call := range calls {
		in := aggInput{acc: NewAccumulator(call), values: make([]*vector.Vector, len(call.Args))}
		list := call.Args
		if call.Fn.agg.numbers {
			list = []Expr{widened(call.Args[0])}
			in.arg = list[0].Type()
		}
		var err error
		if in.args, err = c.compileList(list); err != nil {
			return nil, err
		}
		if in.arg.ID == catalog.Numeric {
			in.nums, _ = in.acc.(numbersAccumulator)
		}
		if call.Filter != nil {
			if in.filter, err = c.private().filter(call.Filter); err != nil {
				return nil, err
			}
		}
		a.calls = append(a.calls, in)
	}
	return a, nil
}

// Grow makes room for groups 0 to groups-1.
func (a *Aggregation) Grow(groups int) {
	for i := range a.calls {
		a.calls[i].acc.Grow(groups)
	}
}

// Update adds the rows of sel (nil = all b.N); row i belongs to group groups[i], or to group 0 when
// groups is nil.
func (a *Aggregation) Update(b *vector.Batch, sel vector.Sel, groups []uint32) error {
	a.memo.epoch++
	for i := range a.calls {
		if err := a.calls[i].update(b, sel, groups); err != nil {
			return err
		}
	}
	return nil
}

func (in *aggInput) update(b *vector.Batch, sel vector.Sel, groups []uint32) error {
	if in.filter != nil {
		var err error
		if in.sel, err = in.filter.Select(b, sel, in.sel); err != nil {
			return err
		}
		sel = in.sel
	}
	if count(b.N, sel) == 0 {
		return nil
	}
	if in.nums != nil {
		x, err := evalNumbers(in.args[0], in.arg, b, sel, &in.buf)
		if err != nil {
			return err
		}
		return in.nums.updateNumbers(groups, x, b.N, sel)
	}
	for k, arg := range in.args {
		v, err := arg.Eval(b, sel)
		if err != nil {
			return err
		}
		in.values[k] = v
	}
	return in.acc.Update(groups, in.values, b.N, sel)
}

// Accumulator returns the accumulator of call i, for Result.
func (a *Aggregation) Accumulator(i int) Accumulator { return a.calls[i].acc }

// Merge adds the groups of another aggregation of the same calls: its group g is mapping[g] here;
// nil = the same number.
func (a *Aggregation) Merge(other *Aggregation, mapping []uint32) error {
	for i := range a.calls {
		if err := a.calls[i].acc.Merge(other.calls[i].acc, mapping); err != nil {
			return err
		}
	}
	return nil
}

// SizeBytes is the memory of the accumulators.
func (a *Aggregation) SizeBytes() int {
	n := 0
	for i := range a.calls {
		n += a.calls[i].acc.SizeBytes()
	}
	return n
}
