package planner

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

// limit adds LIMIT, OFFSET and FETCH FIRST.
func (b *binder) limit(q *sql.Select, in *bound, outer *scope) (*bound, error) {
	if q.Limit == nil && q.Offset == nil {
		return in, nil
	}
	if _, null := q.Limit.(*sql.NullLit); null && q.WithTies {
		return nil, sqlerr.New(sqlerr.InvalidRowCountInLimit, "row count cannot be null in FETCH FIRST ... WITH TIES clause")
	}
	s := &scope{parent: outer}
	if in.from != nil {
		s.rels, s.merged = in.from.rels, in.from.merged // found, to be refused
	}
	if _, values := q.Body.(*sql.Values); values {
		s.rels = []*scopeRel{relation("*VALUES*", in.names, in.cols())}
	}
	n := &Limit{Input: in.plan}
	var err error
	if n.Offset, err = b.limitCount(q.Offset, "OFFSET", s); err != nil {
		return nil, err
	}
	if n.Count, err = b.limitCount(q.Limit, "LIMIT", s); err != nil {
		return nil, err
	}
	if q.WithTies {
		return &bound{plan: withTies(n), names: in.names}, nil
	}
	return &bound{plan: n, names: in.names}, nil
}

// withTies limits the Sort that ORDER BY put on top of a query, or below the projection that drops
// its keys.
func withTies(l *Limit) Node {
	switch in := l.Input.(type) {
	case *Sort:
		s := limited(in, l)
		s.Ties = true
		return s
	case *Project:
		c := *in
		c.Input = withTies(&Limit{Input: in.Input, Count: l.Count, Offset: l.Offset})
		return &c
	}
	panic("planner: WITH TIES without an order")
}

// limitCount binds the number of LIMIT or OFFSET: it is computed before the query runs, so it may
// use columns of outer queries but none of its own.
func (b *binder) limitCount(e sql.Expr, clause string, s *scope) (expr.Expr, error) {
	if e == nil {
		return nil, nil
	}
	pos := e.SourceSpan().Start
	allow := s.forbidAggregates(clause)
	v, err := b.expr(e, s)
	allow()
	if err != nil {
		return nil, err
	}
	from := v.Type()
	v, err = b.coerce(v, catalog.Type{ID: catalog.Int8}, expr.AssignmentCast, pos)
	if code := sqlerr.CodeOf(err); err != nil && (code == sqlerr.DatatypeMismatch || code == sqlerr.CannotCoerce) {
		return nil, sqlerr.New(sqlerr.DatatypeMismatch, "argument of %s must be type bigint, not type %s", clause, from).At(pos)
	}
	if err != nil {
		return nil, err
	}
	used := columnSet(v)
	for _, c := range s.columns() {
		if used[c.ID] {
			return nil, sqlerr.New(sqlerr.InvalidColumnReference, "argument of %s must not contain variables", clause).At(b.usedAt(c.ID, pos))
		}
	}
	if !hasSubquery(v) {
		return v, nil
	}
	// Subqueries that do not depend on outer queries become parameters, alone or with what is
	// computed from them.
	plan, values, err := b.attach(nil, []expr.Expr{v})
	if err != nil || plan == nil {
		return values[0], err
	}
	count := &Project{Input: plan, Items: []Item{{Col: b.column(clause, v.Type(), false), Expr: values[0]}}}
	if len(freeColumns(count)) > 0 {
		return nil, b.unsupported(e, "a correlated subquery in "+clause)
	}
	return b.initPlan(&subqueryRef{kind: scalarSubquery, plan: count, typ: v.Type()}), nil
}
