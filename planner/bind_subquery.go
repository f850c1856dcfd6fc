package planner

import (
	"strconv"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

func itoa(n int) string { return strconv.Itoa(n) }

type subqueryKind uint8

const (
	scalarSubquery subqueryKind = iota
	existsSubquery
	anySubquery // some row makes all conditions in on true
)

// subqueryRef stands for a subquery in an expression until attach turns it into a join, or into a
// parameter set by an init plan.
type subqueryRef struct {
	kind subqueryKind
	plan Node
	on   []expr.Expr // anySubquery: comparisons of outer expressions with the plan's columns
	typ  catalog.Type
	// source is the expression in the statement and scope what its names mean.
	source sql.Expr
	scope  *scope
}

// EqualTo reports whether two subqueries are written alike in the same place, so that one may
// stand for the other.
func (e *subqueryRef) EqualTo(other expr.Expr) bool {
	o, ok := other.(*subqueryRef)
	return ok && e.kind == o.kind && e.scope == o.scope && sql.Format(e.source) == sql.Format(o.source)
}

func (e *subqueryRef) Type() catalog.Type    { return e.typ }
func (e *subqueryRef) Children() []expr.Expr { return e.on }

// WithChildren returns the subquery with other conditions.
func (e *subqueryRef) WithChildren(kids []expr.Expr) expr.Expr {
	c := *e
	c.on = kids
	return &c
}

func hasSubquery(e expr.Expr) bool {
	return expr.Contains(e, func(e expr.Expr) bool {
		_, ok := e.(*subqueryRef)
		return ok
	})
}

func (b *binder) subquery(e sql.Expr, s *scope) (expr.Expr, error) {
	if s.noSubqueries != "" {
		pos := e.SourceSpan().Start
		if q, ok := e.(*sql.Quantified); ok {
			pos = q.OpPos
		}
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "%s", s.noSubqueries).At(pos)
	}
	switch e := e.(type) {
	case *sql.Exists:
		q, err := b.query(e.Query, s)
		if err != nil {
			return nil, err
		}
		return &subqueryRef{kind: existsSubquery, plan: q.plan, typ: boolType, source: e, scope: s}, nil
	case *sql.ScalarSubquery:
		q, err := b.query(e.Query, s)
		if err != nil {
			return nil, err
		}
		if len(q.names) != 1 {
			return nil, sqlerr.New(sqlerr.SyntaxError, "subquery must return only one column").At(e.Start)
		}
		q = b.settle(q)
		return &subqueryRef{kind: scalarSubquery, plan: q.plan, typ: q.cols()[0].Typ, source: e, scope: s}, nil
	case *sql.Quantified:
		return b.quantified(e, s)
	case *sql.In:
		return b.inQuery(e, s)
	}
	panic("planner: unknown subquery")
}

var likeNames = map[string]string{"like": "~~", "not like": "!~~", "ilike": "~~*", "not ilike": "!~~*"}

// negatedOperators gives the operator that is true where the other is false.
var negatedOperators = map[string]string{"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">",
	"~~": "!~~", "!~~": "~~", "~~*": "!~~*", "!~~*": "~~*", "~": "!~", "!~": "~", "~*": "!~*", "!~*": "~*"}

// quantified binds left op ANY (query) and left op ALL (query), the latter as NOT (left not-op ANY).
func (b *binder) quantified(e *sql.Quantified, s *scope) (expr.Expr, error) {
	if e.Query == nil {
		return nil, b.unsupported(e, "ANY or ALL over an array")
	}
	op := e.Op
	if l, ok := likeNames[op]; ok {
		op = l
	}
	if e.All {
		negated, ok := negatedOperators[op]
		if !ok {
			return nil, b.unsupported(e, "ALL with operator "+op)
		}
		op = negated
	}
	left, err := b.rowArgs(e.Left, s)
	if err != nil {
		return nil, err
	}
	ref, err := b.any(left, op, e.Query, s, e.OpPos)
	if err != nil {
		return nil, err
	}
	ref.source = e
	if e.All {
		return &expr.Not{Arg: ref}, nil
	}
	return ref, nil
}

// rowArgs binds an expression or the elements of a row value.
func (b *binder) rowArgs(e sql.Expr, s *scope) ([]expr.Expr, error) {
	if row, ok := e.(*sql.Row); ok {
		return b.exprs(row.Args, s)
	}
	return b.exprs([]sql.Expr{e}, s)
}

func (b *binder) any(left []expr.Expr, op string, query *sql.Select, s *scope, pos int) (*subqueryRef, error) {
	q, err := b.query(query, s)
	if err != nil {
		return nil, err
	}
	if len(q.names) != len(left) {
		word := "few"
		if len(q.names) > len(left) {
			word = "many"
		}
		return nil, sqlerr.New(sqlerr.SyntaxError, "subquery has too %s columns", word).At(pos)
	}
	if len(left) > 1 && op != "=" {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "operator %s on row values with a subquery is not supported yet", op).At(pos)
	}
	plan, cols := distinctCols(b, b.settle(q).plan)
	ref := &subqueryRef{kind: anySubquery, plan: plan, typ: boolType, scope: s}
	for i := range left {
		cond, err := b.noted(expr.ResolveBinary(op, left[i], cols[i], pos))
		if err != nil {
			return nil, err
		}
		ref.on = append(ref.on, cond)
	}
	return ref, nil
}

func (b *binder) in(e *sql.In, s *scope) (expr.Expr, error) {
	bind := b.inList
	if e.Query != nil {
		bind = func(*sql.In, *scope) (expr.Expr, error) { return b.subquery(e, s) }
	}
	out, err := bind(e, s)
	if err != nil || !e.Not {
		return out, err
	}
	if list, ok := out.(*expr.InList); ok {
		return &expr.InList{Arg: list.Arg, List: list.List, Negated: true}, nil
	}
	return &expr.Not{Arg: out}, nil
}

// inQuery binds left IN (query), without a NOT.
func (b *binder) inQuery(e *sql.In, s *scope) (expr.Expr, error) {
	left, err := b.rowArgs(e.Expr, s)
	if err != nil {
		return nil, err
	}
	ref, err := b.any(left, "=", e.Query, s, e.Start)
	if err != nil {
		return nil, err
	}
	positive := *e
	positive.Not = false
	ref.source = &positive
	return ref, nil
}

// inList binds expr IN (…). A list of one type becomes an InList, anything else an OR of
// comparisons.
func (b *binder) inList(e *sql.In, s *scope) (expr.Expr, error) {
	if _, ok := e.Expr.(*sql.Row); ok {
		return b.inRows(e, s)
	}
	args, err := b.exprs(append([]sql.Expr{e.Expr}, e.List...), s)
	if err != nil {
		return nil, err
	}
	unified, err := b.unify(args, "IN", e.Start)
	if err != nil {
		// No common type: PostgreSQL then compares one by one, which may still find operators.
		return b.inComparisons(args[0], args[1:], e.Start)
	}
	return &expr.InList{Arg: unified[0], List: unified[1:]}, nil
}

func (b *binder) inComparisons(arg expr.Expr, list []expr.Expr, pos int) (expr.Expr, error) {
	out := &expr.BoolOp{Or: true}
	for _, item := range list {
		eq, err := b.noted(expr.ResolveBinary("=", arg, item, pos))
		if err != nil {
			return nil, err
		}
		out.Args = append(out.Args, eq)
	}
	if len(out.Args) == 1 {
		return out.Args[0], nil
	}
	return out, nil
}

func (b *binder) inRows(e *sql.In, s *scope) (expr.Expr, error) {
	out := &expr.BoolOp{Or: true}
	for _, item := range e.List {
		cmp, err := b.expr(&sql.Binary{Span: e.Span, Op: "=", OpPos: e.Start, Left: e.Expr, Right: item}, s)
		if err != nil {
			return nil, err
		}
		out.Args = append(out.Args, cmp)
	}
	if len(out.Args) == 1 {
		return out.Args[0], nil
	}
	return out, nil
}

// filter keeps the rows of plan for which cond is true. Subqueries that are whole conjuncts become
// semi and anti joins; others become columns first.
func (b *binder) filter(plan Node, cond expr.Expr) (Node, error) {
	var plain []expr.Expr
	var rest []expr.Expr
	for _, c := range expr.Conjuncts(cond) {
		if hasSubquery(c) {
			rest = append(rest, c)
		} else {
			plain = append(plain, c)
		}
	}
	if len(plain) > 0 {
		plan = &Filter{Input: plan, Conds: plain}
	}
	for _, c := range rest {
		joined, err := b.filterJoin(plan, c)
		if err != nil {
			return nil, err
		}
		if joined != nil {
			plan = joined
			continue
		}
		width := plan.Cols()
		next, exprs, err := b.attach(plan, []expr.Expr{c})
		if err != nil {
			return nil, err
		}
		plan = &Filter{Input: next, Conds: exprs}
		plan = keepColumns(plan, width)
	}
	return plan, nil
}

// keepColumns drops the columns that attach added.
func keepColumns(plan Node, cols []*expr.Col) Node {
	if len(plan.Cols()) == len(cols) {
		return plan
	}
	p := &Project{Input: plan}
	for _, c := range cols {
		p.Items = append(p.Items, Item{Col: c, Expr: c})
	}
	return p
}

// filterJoin returns the join a conjunct stands for when it is [NOT] EXISTS or [NOT] IN, else nil.
func (b *binder) filterJoin(plan Node, c expr.Expr) (Node, error) {
	negated := false
	for {
		n, ok := c.(*expr.Not)
		if !ok {
			break
		}
		negated, c = !negated, n.Arg
	}
	ref, ok := c.(*subqueryRef)
	if !ok || ref.kind == scalarSubquery {
		return nil, nil
	}
	correlated := len(freeColumns(ref.plan)) > 0
	for _, cond := range ref.on {
		if hasSubquery(cond) {
			return nil, nil
		}
	}
	join := &Join{Kind: SemiJoin, Left: plan, Right: ref.plan, On: ref.on}
	switch {
	case ref.kind == existsSubquery && !correlated:
		return nil, nil // an init plan is cheaper
	case ref.kind == existsSubquery && negated:
		join.Kind = AntiJoin
	case negated && allNotNull(ref.on):
		join.Kind = AntiJoin
	case negated && !correlated && len(ref.on) == 1 && isEquality(ref.on[0]):
		join.Kind = NullAwareAntiJoin
	case negated:
		return nil, nil // NOT of a mark
	}
	return join, nil
}

// allNotNull reports whether no condition can be NULL, so that NOT IN is a plain anti join.
func allNotNull(conds []expr.Expr) bool {
	for _, c := range conds {
		call, ok := c.(*expr.Call)
		if !ok || !call.Fn.Strict {
			return false
		}
		for _, a := range call.Args {
			for {
				cast, ok := a.(*expr.Cast)
				if !ok {
					break
				}
				a = cast.Arg
			}
			if !neverNull(a) {
				return false
			}
		}
	}
	return true
}

// attach replaces the subqueries in exprs by columns of joins added to plan, or by parameters where
// a subquery does not depend on plan. A nil plan stays nil unless a join was needed.
func (b *binder) attach(plan Node, exprs []expr.Expr) (Node, []expr.Expr, error) {
	var failed error
	out := make([]expr.Expr, len(exprs))
	for i, e := range exprs {
		if !hasSubquery(e) {
			out[i] = e
			continue
		}
		out[i] = expr.Transform(e, func(e expr.Expr) expr.Expr {
			ref, ok := e.(*subqueryRef)
			if !ok || failed != nil {
				return e
			}
			var value expr.Expr
			plan, value, failed = b.attachOne(plan, ref)
			return value
		})
	}
	return plan, out, failed
}

// computedOnce replaces the subqueries of an expression over a row that is being written: they run once,
// before the statement, so they must not depend on the row.
func (b *binder) computedOnce(e expr.Expr, at sql.Node, clause string) (expr.Expr, error) {
	if !hasSubquery(e) {
		return e, nil
	}
	depends := expr.Contains(e, func(e expr.Expr) bool {
		ref, ok := e.(*subqueryRef)
		return ok && (ref.kind == anySubquery || len(freeColumns(ref.plan)) > 0)
	})
	if depends {
		return nil, b.unsupported(at, "a subquery in "+clause+" that depends on the row")
	}
	_, out, err := b.attach(nil, []expr.Expr{e})
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

func (b *binder) attachOne(plan Node, ref *subqueryRef) (Node, expr.Expr, error) {
	free := freeColumns(ref.plan)
	if len(free) == 0 && ref.kind != anySubquery {
		return plan, b.initPlan(ref), nil
	}
	if plan == nil {
		plan = oneRow()
	}
	if ref.kind == scalarSubquery {
		inner, cols := distinctCols(b, ref.plan)
		join := &Join{Kind: SingleJoin, Left: plan, Right: inner}
		return join, nullable(cols[0]), nil
	}
	mark := b.column("exists", boolType, ref.kind == existsSubquery)
	return &Join{Kind: MarkJoin, Left: plan, Right: ref.plan, On: ref.on, Mark: mark}, mark, nil
}

// initPlan registers an uncorrelated subquery to be run once and returns its parameter.
func (b *binder) initPlan(ref *subqueryRef) expr.Expr {
	param := b.newInitParam()
	plan := ref.plan
	for ref.kind == existsSubquery { // its select list is not computed
		p, ok := plan.(*Project)
		if !ok {
			break
		}
		plan = p.Input
	}
	b.initPlans = append(b.initPlans, InitPlan{Param: param, Plan: plan, Exists: ref.kind == existsSubquery, Type: ref.typ})
	return &expr.Param{Index: param, Typ: ref.typ}
}

// isEquality reports whether e is the = operator.
func isEquality(e expr.Expr) bool {
	call, ok := e.(*expr.Call)
	return ok && call.Fn.Name == "=" && len(call.Args) == 2
}
