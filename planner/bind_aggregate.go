package planner

import (
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

// aggregateRef stands for an aggregate call until grouping replaces it.
type aggregateRef struct {
	call *expr.AggCall
	pos  int // of the call in the statement
}

func (e *aggregateRef) Type() catalog.Type { return e.call.Typ }

// EqualTo reports whether two calls have one result.
func (e *aggregateRef) EqualTo(other expr.Expr) bool {
	o, ok := other.(*aggregateRef)
	return ok && equalCalls(e.call, o.call)
}

// Children returns the arguments, then the FILTER condition.
func (e *aggregateRef) Children() []expr.Expr {
	kids := append([]expr.Expr(nil), e.call.Args...)
	if e.call.Filter != nil {
		kids = append(kids, e.call.Filter)
	}
	return kids
}

// WithChildren returns the call with other arguments.
func (e *aggregateRef) WithChildren(kids []expr.Expr) expr.Expr {
	call := *e.call
	call.Args = kids[:len(e.call.Args)]
	if e.call.Filter != nil {
		call.Filter = kids[len(kids)-1]
	}
	return &aggregateRef{call: &call, pos: e.pos}
}

// outerAggregate is an aggregate call written in a subquery that belongs to the query around it.
// The subquery refers to its column, which the outer query's Aggregate computes.
type outerAggregate struct {
	item AggItem
	pos  int
}

// forbidAggregates refuses the aggregates that belong to s until the result is called.
func (s *scope) forbidAggregates(where string) (allow func()) {
	before := s.noAggregates
	s.noAggregates = "aggregate functions are not allowed in " + where
	return func() { s.noAggregates = before }
}

// aggregateCall binds an aggregate. It belongs to the innermost query of whose columns its
// arguments or its FILTER use any, and to the query it is written in when they use none: one that
// only uses columns of an outer query is that query's aggregate, a constant in this one.
func (b *binder) aggregateCall(e *sql.FuncCall, s *scope) (expr.Expr, error) {
	if len(e.OrderBy) > 0 {
		return nil, b.unsupported(e, "ORDER BY inside an aggregate")
	}
	before := len(b.refs)
	args, err := b.exprs(e.Args, s)
	if err != nil {
		return nil, err
	}
	var filter expr.Expr
	if e.Filter != nil {
		allow := s.forbidAggregates("FILTER")
		filter, err = b.condition(e.Filter, s, "FILTER")
		allow()
		if err != nil {
			return nil, err
		}
	}
	call, err := expr.ResolveAgg(e.Name.Name, args, e.Distinct, e.Star, e.Start)
	if err != nil {
		return nil, err
	}
	for _, a := range call.Args {
		b.noteParams(a)
	}
	call.Filter = filter
	ref := &aggregateRef{call: call, pos: e.Start}
	owner, err := s.aggregateOwner(ref)
	if err != nil {
		return nil, err
	}
	if owner.noAggregates != "" {
		return nil, sqlerr.New(sqlerr.GroupingError, "%s", owner.noAggregates).At(e.Start)
	}
	own := setOf(owner.columns())
	b.refs = append(b.refs[:before], slices.DeleteFunc(b.refs[before:], func(r columnUse) bool { return own[r.id] })...)
	if owner == s {
		return ref, nil
	}
	return owner.takeAggregate(b, ref), nil
}

// aggregateOwner returns the scope of the query that an aggregate written in s belongs to.
func (s *scope) aggregateOwner(ref *aggregateRef) (*scope, error) {
	const nested = "aggregate function calls cannot be nested"
	for _, arg := range ref.Children() {
		if inner := findAggregate(arg); inner != nil {
			return nil, sqlerr.New(sqlerr.GroupingError, nested).At(inner.pos)
		}
	}
	if s.parent == nil && len(s.outerAggs) == 0 {
		return s, nil
	}
	used := columnSet(ref.Children()...)
	for at := s; at != nil; at = at.parent {
		for _, outer := range at.outerAggs {
			if used[outer.item.Col.ID] {
				return nil, sqlerr.New(sqlerr.GroupingError, nested).At(outer.pos)
			}
		}
		if setOf(at.columns()).meets(used) {
			return at, s.checkCTEsBelow(at, ref)
		}
	}
	return s, nil
}

// checkCTEsBelow refuses an aggregate of an outer query whose arguments read a WITH query that the
// outer query does not know.
func (s *scope) checkCTEsBelow(owner *scope, ref *aggregateRef) error {
	for at := s; at != owner; at = at.parent {
		for name, c := range at.ctes {
			for _, arg := range ref.Children() {
				if readsCTE(arg, c.cte) {
					return sqlerr.New(sqlerr.FeatureNotSupported, "outer-level aggregate cannot use a nested CTE").At(ref.pos).
						WithDetail("CTE %q is below the aggregate's semantic level.", name)
				}
			}
		}
	}
	return nil
}

func readsCTE(e expr.Expr, cte *CTE) bool {
	found := false
	expr.Walk(e, func(e expr.Expr) bool {
		ref, ok := e.(*subqueryRef)
		if !ok {
			return !found
		}
		walkNodes(ref.plan, func(n Node) bool {
			scan, ok := n.(*CTEScan)
			found = found || ok && scan.CTE == cte
			visitExprs(n, func(e expr.Expr) { found = found || readsCTE(e, cte) })
			return !found
		})
		return !found
	})
	return found
}

// takeAggregate makes a subquery's aggregate one of the query that s belongs to and returns the
// column of its result. Equal calls share one.
func (s *scope) takeAggregate(b *binder, ref *aggregateRef) *expr.Col {
	for _, have := range s.outerAggs {
		if equalCalls(have.item.Call, ref.call) {
			return have.item.Col
		}
	}
	col := b.column(ref.call.Fn.Name, ref.call.Typ, false)
	s.outerAggs = append(s.outerAggs, outerAggregate{item: AggItem{Col: col, Call: ref.call}, pos: ref.pos})
	return col
}

// findAggregate returns the first aggregate of e that belongs to the query e is part of, nil if
// there is none.
func findAggregate(e expr.Expr) *aggregateRef {
	var found *aggregateRef
	expr.Walk(e, func(e expr.Expr) bool {
		if ref, ok := e.(*aggregateRef); ok && found == nil {
			found = ref
		}
		return found == nil
	})
	return found
}

// aggregatePosition tells where in e there is an aggregate of the query that s belongs to, be it
// in a subquery.
func (s *scope) aggregatePosition(e expr.Expr) (pos int, found bool) {
	if ref := findAggregate(e); ref != nil {
		return ref.pos, true
	}
	if len(s.outerAggs) == 0 {
		return 0, false
	}
	used := columnSet(e)
	for _, outer := range s.outerAggs {
		if used[outer.item.Col.ID] {
			return outer.pos, true
		}
	}
	return 0, false
}

func equalCalls(a, b *expr.AggCall) bool {
	if a.Fn != b.Fn || a.Distinct != b.Distinct || len(a.Args) != len(b.Args) || (a.Filter == nil) != (b.Filter == nil) {
		return false
	}
	for i := range a.Args {
		if !expr.Equal(a.Args[i], b.Args[i]) {
			return false
		}
	}
	return a.Filter == nil || expr.Equal(a.Filter, b.Filter)
}

func hasAggregate(exprs []expr.Expr) bool {
	return slices.ContainsFunc(exprs, func(e expr.Expr) bool { return findAggregate(e) != nil })
}
