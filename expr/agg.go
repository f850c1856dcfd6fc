package expr

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// AggCall is a call of an aggregate function. Args already have the types that Fn takes; count(*)
// has none. DISTINCT is the executor's business: it feeds each distinct value once.
type AggCall struct {
	Fn       *Function
	Args     []Expr
	Distinct bool
	Filter   Expr // nil = all rows
	Typ      catalog.Type
}

// Type returns the type of the result.
func (a *AggCall) Type() catalog.Type { return a.Typ }

// Accumulator holds the states of one aggregate for an array of groups. It belongs to one worker.
type Accumulator interface {
	// Grow makes room for groups 0 to groups-1; new ones are empty.
	Grow(groups int)
	// Update adds rows: row i of the batch, for i in sel (nil = n rows), belongs to group
	// groups[i]; groups nil = group 0 for all. args are the values of the call's arguments, as
	// Evaluator.Eval returns them.
	Update(groups []uint32, args []*vector.Vector, n int, sel vector.Sel) error
	// Merge adds the states of another accumulator of the same call: its group g is mapping[g]
	// here; nil = the same number. other must not be used afterwards.
	Merge(other Accumulator, mapping []uint32) error
	// Result appends the results of groups from to to-1 to out, a flat vector of the call's kind.
	Result(from, to int, out *vector.Vector) error
	// SizeBytes is the memory held.
	SizeBytes() int
}

// aggregate describes how a Function accumulates.
type aggregate struct {
	create func(call *AggCall) Accumulator
	// numbers tells that the accumulator takes numerics in whatever form evaluation left them.
	numbers bool
}

// ResolveAgg finds the aggregate for a call; star is count(*).
func ResolveAgg(name string, args []Expr, distinct, star bool, pos int) (*AggCall, error) {
	list := registered.functions[name]
	if star {
		if name != "count" {
			return nil, sqlerr.New(sqlerr.WrongObjectType, "%s(*) specified, but %s is not an aggregate function that takes no arguments", name, name).At(pos)
		}
		return &AggCall{Fn: countStar, Typ: catalog.Type{ID: catalog.Int8}}, nil
	}
	if name == "count" && len(args) == 0 {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "count(*) must be used to call a parameterless aggregate function").At(pos)
	}
	ids := typeIDs(args)
	f := exactMatch(list, ids)
	if f == nil {
		var ambiguous bool
		if f, ambiguous = bestCandidate(list, ids); f == nil {
			return nil, functionError(name, args, ambiguous, pos)
		}
	}
	args, err := convertArgs(f, args, pos)
	if err != nil {
		return nil, err
	}
	return &AggCall{Fn: f, Args: args, Distinct: distinct, Typ: resultType(f, args)}, nil
}

// NewAccumulator makes the accumulator of a call, with no groups.
func NewAccumulator(call *AggCall) Accumulator { return call.Fn.agg.create(call) }

// aggFn makes an aggregate.
func aggFn(name, args, ret string, create func(call *AggCall) Accumulator, options ...func(*Function)) *Function {
	f := fn(name, args, ret, nil)
	f.agg = &aggregate{create: create}
	for _, o := range options {
		o(f)
	}
	return f
}

// takesNumbers marks an aggregate whose accumulator has updateNumbers.
func takesNumbers(f *Function) { f.agg.numbers = true }

// grow returns s with length n, keeping its contents; new elements are zero.
func grow[T any](s []T, n int) []T {
	if n <= len(s) {
		return s
	}
	if n <= cap(s) {
		return s[:n]
	}
	grown := make([]T, n, max(n, 2*cap(s)))
	copy(grown, s)
	return grown
}

// mapGroup applies a mapping of groups.
func mapGroup(mapping []uint32, g int) int {
	if mapping == nil {
		return g
	}
	return int(mapping[g])
}

// emptySel selects no row; unlike nil, which selects all.
var emptySel = vector.Sel{}
