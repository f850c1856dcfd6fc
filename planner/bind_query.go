package planner

import (
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

// bound is a query's plan with the names of its columns, which are plan.Cols() in order.
type bound struct {
	plan  Node
	names []string
	from  *scope // what its FROM clause names, nil for set operations
}

func (q *bound) cols() []*expr.Col { return q.plan.Cols() }

// query binds a complete query: WITH, body, ORDER BY, LIMIT.
func (b *binder) query(q *sql.Select, outer *scope) (*bound, error) {
	if b.depth++; b.depth > maxQueryDepth {
		return nil, sqlerr.New(sqlerr.StatementTooComplex, "queries are nested too deeply").At(q.Start)
	}
	defer func() { b.depth-- }()
	s, err := b.with(q.With, outer)
	if err != nil {
		return nil, err
	}
	if len(q.Locking) > 0 && q.WithTies {
		return nil, b.unsupported(&q.Locking[0], lockClause(&q.Locking[0])+" with WITH TIES")
	}
	out, err := b.orderedBody(q, s)
	if err != nil {
		return nil, err
	}
	return b.limit(q, out, s)
}

// orderedBody binds body and ORDER BY together, because the keys of a plain SELECT may use columns
// that it does not output.
func (b *binder) orderedBody(q *sql.Select, s *scope) (*bound, error) {
	if core, ok := q.Body.(*sql.SelectCore); ok {
		return b.selectCore(core, q.OrderBy, q.Locking, s)
	}
	if len(q.Locking) > 0 {
		l := &q.Locking[0]
		switch q.Body.(type) {
		case *sql.SetOp:
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "%s is not allowed with UNION/INTERSECT/EXCEPT", lockClause(l))
		case *sql.Values:
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "%s cannot be applied to VALUES", lockClause(l))
		}
		return nil, b.unsupported(l, lockClause(l)+" of a query in parentheses")
	}
	out, err := b.body(q.Body, s)
	if err != nil || len(q.OrderBy) == 0 {
		return out, err
	}
	var keys []SortKey
	for i := range q.OrderBy {
		key, err := b.outputSortKey(&q.OrderBy[i], out)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return &bound{plan: &Sort{Input: out.plan, Keys: keys}, names: out.names}, nil
}

// outputSortKey binds a sort key of a set operation or VALUES: a number or an output name.
func (b *binder) outputSortKey(item *sql.OrderItem, out *bound) (SortKey, error) {
	cols := out.cols()
	pos := -1
	switch e := item.Expr.(type) {
	case *sql.IntLit:
		if e.Value < 1 || e.Value > int64(len(cols)) {
			return SortKey{}, sqlerr.New(sqlerr.InvalidColumnReference, "ORDER BY position %d is not in select list", e.Value).At(e.Start)
		}
		pos = int(e.Value) - 1
	case *sql.ColumnRef:
		if len(e.Parts) == 1 {
			for i, name := range out.names {
				if name == e.Parts[0].Name {
					pos = i
					break
				}
			}
		}
		if pos < 0 {
			return SortKey{}, undefinedColumn("", e.Parts[len(e.Parts)-1].Name).At(e.Start)
		}
	default:
		return SortKey{}, sqlerr.New(sqlerr.FeatureNotSupported, "invalid UNION/INTERSECT/EXCEPT ORDER BY clause").At(item.Start).
			WithDetail("Only result column names can be used, not expressions or functions.").
			WithHint("Add the expression/function to every SELECT, or move the UNION into a FROM clause.")
	}
	return sortKey(cols[pos], item), nil
}

func sortKey(e expr.Expr, item *sql.OrderItem) SortKey {
	k := SortKey{Expr: e, Desc: item.Desc, NullsFirst: item.Desc}
	if item.Nulls != sql.NullsDefault {
		k.NullsFirst = item.Nulls == sql.NullsFirst
	}
	return k
}

func (b *binder) body(body sql.SelectBody, s *scope) (*bound, error) {
	switch body := body.(type) {
	case *sql.SelectCore:
		return b.selectCore(body, nil, nil, s)
	case *sql.SetOp:
		return b.setOp(body, s)
	case *sql.Values:
		return b.values(body, s)
	case *sql.Select:
		return b.query(body, s)
	}
	panic("planner: unknown query body")
}

// with binds a WITH clause and returns the scope in which its names are known.
func (b *binder) with(w *sql.With, outer *scope) (*scope, error) {
	if w == nil {
		return outer, nil
	}
	if w.Recursive {
		for i := range w.CTEs {
			if refersTo(w.CTEs[i].Query, w.CTEs[i].Name.Name) {
				return nil, b.unsupported(w, "WITH RECURSIVE")
			}
		}
	}
	s := &scope{parent: outer, ctes: map[string]*boundCTE{}}
	for i := range w.CTEs {
		c := &w.CTEs[i]
		name := c.Name.Name
		if s.ctes[name] != nil {
			return nil, sqlerr.New(sqlerr.DuplicateAlias, "WITH query name %q specified more than once", name).At(c.Name.Start)
		}
		sel, ok := c.Query.(*sql.Select)
		if !ok {
			return nil, b.unsupported(c, "a data-modifying statement in WITH")
		}
		q, err := b.query(sel, s)
		if err != nil {
			return nil, err
		}
		q = b.settle(q)
		names, err := renamed(q.names, c.Columns, name)
		if err != nil {
			return nil, err
		}
		cte := &CTE{ID: len(b.ctes), Name: name, Plan: q.plan, materialized: c.Materialized}
		b.ctes = append(b.ctes, cte)
		s.ctes[name] = &boundCTE{names: names, cte: cte}
	}
	return s, nil
}

// renamed replaces the first names by those of an alias list.
func renamed(names []string, alias []sql.Ident, of string) ([]string, error) {
	if len(alias) == 0 {
		return names, nil
	}
	if len(alias) > len(names) {
		return nil, sqlerr.New(sqlerr.InvalidColumnReference, "table %q has %d columns available but %d columns specified", of, len(names), len(alias)).At(alias[0].Start)
	}
	out := append([]string(nil), names...)
	for i := range alias {
		out[i] = alias[i].Name
	}
	return out, nil
}

// refersTo reports whether a statement reads a table of that name in some FROM clause.
func refersTo(stmt sql.Statement, name string) bool {
	found := false
	sql.Inspect(stmt, func(n sql.Node) bool {
		if t, ok := n.(*sql.TableName); ok && t.Name.Schema == "" && t.Name.Name == name {
			found = true
		}
		return !found
	})
	return found
}
