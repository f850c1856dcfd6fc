package expr

import (
	"fmt"

	"github.com/weftdb/weft/vector"
)

// Layout tells where a batch holds a column: the index into Batch.Vecs.
type Layout func(ColID) int

// Evaluator computes an expression for batches. An instance belongs to one worker.
//
// The result of Eval lines up with the batch's physical rows: row i of the batch is row i of the
// result, in any form. Only the rows of sel (nil = all b.N) are computed and can raise errors; the
// others hold arbitrary values. The result may be a vector of the batch; otherwise it is the
// evaluator's and stays valid until its next Eval.
type Evaluator interface {
	Eval(b *vector.Batch, sel vector.Sel) (*vector.Vector, error)
}

// Filter keeps the rows for which a condition is true. An instance belongs to one worker.
//
// Select returns the rows of in (nil = all b.N) that remain, ascending, in out's memory when that
// is large enough; out may be in.
type Filter interface {
	Select(b *vector.Batch, in, out vector.Sel) (vector.Sel, error)
}

// builder compiles one call of a function.
type builder func(c *compiler, call *Call) (Evaluator, error)

type compiler struct {
	layout Layout
	env    *Env
	memo   *memo // shares equal subexpressions, nil = do not
	noDict bool  // compiling the inside of a dictionary predicate
}

// Compile makes an evaluator. env may be nil for expressions without parameters and session
// dependence.
func Compile(e Expr, layout Layout, env *Env) (Evaluator, error) {
	if env == nil {
		env = &Env{}
	}
	c := &compiler{layout: layout, env: env}
	return c.compile(e)
}

// CompileFilter makes a filter of a condition.
func CompileFilter(e Expr, layout Layout, env *Env) (Filter, error) {
	if env == nil {
		env = &Env{}
	}
	c := &compiler{layout: layout, env: env}
	return c.filter(e)
}

func (c *compiler) compile(e Expr) (Evaluator, error) {
	if c.memo != nil {
		return c.memo.compile(c, e)
	}
	return c.build(e)
}

// build compiles a node; a pure dispatch table.
func (c *compiler) build(e Expr) (Evaluator, error) {
	switch e := e.(type) {
	case *Col:
		return &colEval{index: c.layout(e.ID)}, nil
	case *Const:
		return newConst(e), nil
	case *Param:
		return &paramEval{index: e.Index, kind: e.Typ.Kind(), env: c.env}, nil
	case *Call:
		if e.Fn.build == nil {
			return nil, fmt.Errorf("expr: function %s has no evaluator", e.Fn.Name)
		}
		return e.Fn.build(c, e)
	case *Cast:
		return c.compileCast(e)
	case *BoolOp:
		return c.compileBool(e)
	case *Not:
		return c.compileNot(e)
	case *IsNull:
		arg, err := c.compile(e.Arg)
		return &isNullEval{arg: arg, negated: e.Negated}, err
	case *IsDistinct:
		return c.compileDistinct(e)
	case *InList:
		return c.compileIn(e)
	case *Case:
		return c.compileCase(e)
	case *Coalesce:
		return c.compileCoalesce(e)
	}
	return nil, fmt.Errorf("expr: cannot evaluate %T", e)
}

func (c *compiler) compileList(list []Expr) ([]Evaluator, error) {
	out := make([]Evaluator, len(list))
	for i, e := range list {
		var err error
		if out[i], err = c.compile(e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// private returns a compiler for subexpressions that are evaluated for some rows only: their
// evaluators must not be shared.
func (c *compiler) private() *compiler {
	p := *c
	p.memo = nil
	return &p
}

type colEval struct{ index int }

func (e *colEval) Eval(b *vector.Batch, _ vector.Sel) (*vector.Vector, error) {
	return b.Vecs[e.index], nil
}

type constEval struct {
	value *vector.Vector
	datum vector.Datum
}

func newConst(e *Const) *constEval {
	d := e.Value
	d.Kind = e.Typ.Kind()
	return &constEval{value: vector.ConstOf(d), datum: d}
}

func (e *constEval) Eval(*vector.Batch, vector.Sel) (*vector.Vector, error) { return e.value, nil }

// paramEval reads its value anew for every batch: a sub-plan's parameters change between runs.
type paramEval struct {
	index int
	kind  vector.Kind
	env   *Env
	value *vector.Vector
	last  vector.Datum
}

func (e *paramEval) Eval(b *vector.Batch, sel vector.Sel) (*vector.Vector, error) {
	d, err := e.env.Param(e.index)
	if err != nil {
		if count(b.N, sel) > 0 {
			return nil, err
		}
		d.Null = true
	}
	d.Kind = e.kind
	if e.value == nil || d != e.last {
		e.value, e.last = vector.ConstOf(d), d
	}
	return e.value, nil
}

// flat returns v as a flat or constant vector, flattening dictionaries into buf.
func flat(v, buf *vector.Vector, n int) *vector.Vector {
	if v.Form == vector.Dict {
		return vector.Flatten(buf, v, n)
	}
	return v
}

// count returns the number of rows to compute.
func count(n int, sel vector.Sel) int {
	if sel != nil {
		return len(sel)
	}
	return n
}

// setValid gives out the rows that are valid in all inputs. It reports false when a constant NULL
// makes every row NULL.
func setValid(out *vector.Vector, n int, inputs ...*vector.Vector) bool {
	var have bool
	for _, v := range inputs {
		if v.Valid == nil {
			continue
		}
		if v.Form == vector.Const {
			if v.IsNull(0) {
				return false
			}
			continue
		}
		if !have {
			copy(out.AllValid(n), v.Valid)
			have = true
			continue
		}
		valid := out.Valid
		for i := range min(len(valid), len(v.Valid)) {
			valid[i] &= v.Valid[i]
		}
	}
	return true
}

// setNull makes out a constant NULL.
func setNull(out *vector.Vector, kind vector.Kind) *vector.Vector {
	out.SetConst(vector.NullDatum(kind))
	return out
}

var oneRow = &vector.Batch{N: 1}

// EvalConst evaluates an expression without columns.
func EvalConst(e Expr, env *Env) (vector.Datum, error) {
	ev, err := Compile(e, func(ColID) int { return 0 }, env)
	if err != nil {
		return vector.Datum{}, err
	}
	v, err := ev.Eval(oneRow, nil)
	if err != nil {
		return vector.Datum{}, err
	}
	d := vector.DatumAt(v, 0)
	d.Kind = e.Type().Kind()
	return d, nil
}
