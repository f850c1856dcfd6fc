package expr

import (
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// specialCalls are calls with rules of their own for the types of their arguments.
var specialCalls map[string]func(args []Expr, pos int) (Expr, error)

func init() { // breaks the cycle through ResolveBinary
	specialCalls = map[string]func(args []Expr, pos int) (Expr, error){
		"coalesce": resolveCoalesce,
		"nullif":   resolveNullIf,
		"greatest": resolveExtreme("greatest", greatestFn),
		"least":    resolveExtreme("least", leastFn),
		"extract":  resolveExtract,
		"pg_typeof": func(args []Expr, pos int) (Expr, error) {
			if len(args) != 1 {
				return nil, functionError("pg_typeof", args, false, pos)
			}
			return &Const{Value: vector.StringDatum(args[0].Type().Base().String()), Typ: textType}, nil
		},
	}
}

func noArguments(name string, pos int) error {
	return sqlerr.New(sqlerr.SyntaxError, "%s needs arguments", name).At(pos)
}

// unify converts expressions to their common type.
func unify(args []Expr, context string, pos int) ([]Expr, catalog.Type, error) {
	t, err := CommonType(args, context)
	if err != nil {
		return nil, t, at(err, pos)
	}
	out := make([]Expr, len(args))
	for i, a := range args {
		if out[i], err = Coerce(a, t, ImplicitCast, pos); err != nil {
			return nil, t, err
		}
	}
	return out, t, nil
}

func resolveCoalesce(args []Expr, pos int) (Expr, error) {
	if len(args) == 0 {
		return nil, noArguments("COALESCE", pos)
	}
	args, t, err := unify(args, "COALESCE", pos)
	return &Coalesce{Args: args, Typ: t}, err
}

func resolveExtreme(name string, f *Function) func(args []Expr, pos int) (Expr, error) {
	return func(args []Expr, pos int) (Expr, error) {
		if len(args) == 0 {
			return nil, noArguments(name, pos)
		}
		args, t, err := unify(args, strings.ToUpper(f.Name), pos)
		return &Call{Fn: f, Args: args, Typ: t, Pos: pos}, err
	}
}

// resolveNullIf: the arguments are compared as = would, the result has the first one's type.
func resolveNullIf(args []Expr, pos int) (Expr, error) {
	if len(args) != 2 {
		return nil, functionError("nullif", args, false, pos)
	}
	eq, err := ResolveBinary("=", args[0], args[1], pos)
	if err != nil {
		return nil, err
	}
	sides := eq.(*Call).Args
	return &Call{Fn: nullIfFn, Args: []Expr{sides[0], sides[1]}, Typ: sides[0].Type(), Pos: pos}, nil
}

var (
	nullIfFn   = fn("nullif", "any any", "any", buildNullIf, notStrict)
	greatestFn = fn("greatest", "any", "any", buildExtreme(1), notStrict, variadic)
	leastFn    = fn("least", "any", "any", buildExtreme(-1), notStrict, variadic)
)

func conditionalFunctions() []*Function {
	return []*Function{
		fn("num_nulls", "any", "int4", intRow(func(r *row) (int64, error) { return countNulls(r, true), nil }), variadic, notStrict),
		fn("num_nonnulls", "any", "int4", intRow(func(r *row) (int64, error) { return countNulls(r, false), nil }), variadic, notStrict),
	}
}

func countNulls(r *row, nulls bool) int64 {
	n := int64(0)
	for k := range r.args {
		if r.isNull(k) == nulls {
			n++
		}
	}
	return n
}

// buildNullIf compiles NULLIF(a, b) as CASE WHEN a = b THEN NULL ELSE a END.
func buildNullIf(c *compiler, call *Call) (Evaluator, error) {
	eq, err := ResolveBinary("=", call.Args[0], call.Args[1], call.Pos)
	if err != nil {
		return nil, err
	}
	return c.compile(&Case{Whens: []When{{eq, nullOf(call.Typ)}}, Else: call.Args[0], Typ: call.Typ})
}

// extremeEval is GREATEST or LEAST, which ignore NULLs.
type extremeEval struct {
	want    int // sign of the comparison that replaces the best so far
	args    []Evaluator
	kind    vector.Kind
	compare func(a *vector.Vector, i int, b *vector.Vector, j int) int
	values  []*vector.Vector
	out     vector.Vector
}

func buildExtreme(want int) builder {
	return func(c *compiler, call *Call) (Evaluator, error) {
		args, err := c.compileList(call.Args)
		return &extremeEval{want: want, args: args, kind: call.Typ.Kind(), compare: CompareValues(call.Typ),
			values: make([]*vector.Vector, len(args))}, err
	}
}

func (e *extremeEval) Eval(b *vector.Batch, sel vector.Sel) (*vector.Vector, error) {
	for k, a := range e.args {
		v, err := a.Eval(b, sel)
		if err != nil {
			return nil, err
		}
		e.values[k] = v
	}
	n := b.N
	e.out.Reset(e.kind, n)
	for k := range count(n, sel) {
		i := k
		if sel != nil {
			i = int(sel[k])
		}
		var best *vector.Vector
		for _, v := range e.values {
			if !v.IsNull(i) && (best == nil || e.compare(v, i, best, i) == e.want) {
				best = v
			}
		}
		if e.kind == vector.Bytes {
			e.out.CloseTo(i)
		}
		switch {
		case best == nil:
			e.out.SetNull(i, n)
		case e.kind == vector.Bytes:
			e.out.AppendBytes(best.BytesAt(i))
		default:
			vector.CopyRow(&e.out, i, best, i)
		}
	}
	if e.kind == vector.Bytes {
		e.out.CloseTo(n)
	}
	return &e.out, nil
}
