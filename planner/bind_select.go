package planner

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

// selectCore binds SELECT … FROM … WHERE … GROUP BY … HAVING with the ORDER BY that belongs to it.
//
// Clauses are bound in the order they are computed. Aggregates and subqueries come out of the
// expression binder as placeholders; grouping replaces the former by an Aggregate's columns, attach
// the latter by joins.
func (b *binder) selectCore(n *sql.SelectCore, order []sql.OrderItem, locking []sql.Locking, outer *scope) (*bound, error) {
	if len(n.DistinctOn) > 0 {
		return nil, b.unsupported(n.DistinctOn[0], "DISTINCT ON")
	}
	s := &scope{parent: outer}
	plan, err := b.from(n.From, s)
	if err != nil {
		return nil, err
	}
	b.applyHints(n.Hints, plan)
	locked, err := b.lockTargets(n, locking, plan)
	if err != nil {
		return nil, err
	}
	if plan, err = b.where(plan, n.Where, s); err != nil {
		return nil, err
	}
	sel := &selection{b: b, scope: s, node: n, locking: locking, locked: locked}
	if err := sel.targets(n.Targets); err != nil {
		return nil, err
	}
	if err := sel.having(n.Having); err != nil {
		return nil, err
	}
	if err := sel.orderBy(order); err != nil {
		return nil, err
	}
	if plan, err = sel.group(plan); err != nil {
		return nil, err
	}
	if sel.havingCond != nil {
		if plan, err = b.filter(plan, sel.havingCond); err != nil {
			return nil, err
		}
	}
	return sel.output(plan)
}

// where adds the WHERE clause.
func (b *binder) where(plan Node, e sql.Expr, s *scope) (Node, error) {
	if e == nil {
		return plan, nil
	}
	allow := s.forbidAggregates("WHERE")
	cond, err := b.condition(e, s, "WHERE")
	allow()
	if err != nil {
		return nil, err
	}
	return b.filter(plan, cond)
}

// condition binds a boolean expression.
func (b *binder) condition(e sql.Expr, s *scope, clause string) (expr.Expr, error) {
	cond, err := b.expr(e, s)
	if err != nil {
		return nil, err
	}
	return b.boolean(cond, clause, e.SourceSpan().Start)
}

func (b *binder) boolean(e expr.Expr, clause string, pos int) (expr.Expr, error) {
	t := e.Type()
	if t.ID != catalog.Bool && t.ID != catalog.Unknown {
		return nil, sqlerr.New(sqlerr.DatatypeMismatch, "argument of %s must be type boolean, not type %s", clause, t).At(pos)
	}
	return b.coerce(e, catalog.Type{ID: catalog.Bool}, expr.ImplicitCast, pos)
}

// selection is a SELECT's output under construction.
type selection struct {
	b     *binder
	scope *scope
	node  *sql.SelectCore

	exprs      []expr.Expr // select list
	names      []string
	spans      []int
	havingCond expr.Expr
	locking    []sql.Locking
	locked     []LockedRows
	keys       []SortKey // Expr is set while binding; keyTarget tells the output column instead
	keyTarget  []int     // −1: keys[i].Expr
	keySpans   []int
}

func (sel *selection) targets(list []sql.Target) error {
	for i := range list {
		if err := sel.target(&list[i]); err != nil {
			return err
		}
	}
	return nil
}

func (sel *selection) target(t *sql.Target) error {
	if star, ok := t.Expr.(*sql.Star); ok {
		cols, err := sel.scope.expand(star)
		if err != nil {
			return err
		}
		if sel.b.view != nil {
			sel.b.view.noteStar(star, sel.scope)
		}
		for _, c := range cols {
			sel.addTarget(c.expr, c.name, t.Start)
		}
		return nil
	}
	e, err := sel.b.expr(t.Expr, sel.scope)
	if err != nil {
		return err
	}
	name := t.Alias.Name
	if name == "" {
		name = sql.ColumnLabel(t.Expr)
	}
	sel.addTarget(e, name, t.Start)
	return nil
}

func (sel *selection) addTarget(e expr.Expr, name string, pos int) {
	sel.exprs = append(sel.exprs, e)
	sel.names = append(sel.names, name)
	sel.spans = append(sel.spans, pos)
}

func (sel *selection) having(e sql.Expr) (err error) {
	if e != nil {
		sel.havingCond, err = sel.b.condition(e, sel.scope, "HAVING")
	}
	return err
}

// orderBy binds the sort keys: output position, output name, or an expression over the input.
func (sel *selection) orderBy(items []sql.OrderItem) error {
	for i := range items {
		e, target, err := sel.outputRef(items[i].Expr, "ORDER BY", true)
		if err != nil {
			return err
		}
		if target < 0 {
			target = sel.findTarget(e)
		}
		if sel.node.Distinct && target < 0 {
			return sqlerr.New(sqlerr.InvalidColumnReference, "for SELECT DISTINCT, ORDER BY expressions must appear in select list").At(items[i].Start)
		}
		sel.keys = append(sel.keys, sortKey(e, &items[i]))
		sel.keyTarget = append(sel.keyTarget, target)
		sel.keySpans = append(sel.keySpans, items[i].Start)
	}
	return nil
}

// outputRef binds an item of ORDER BY or GROUP BY. It returns the output column that the item
// names by position or (preferOutput: before, else after input columns) by name; −1 with the bound
// expression otherwise.
func (sel *selection) outputRef(e sql.Expr, clause string, preferOutput bool) (expr.Expr, int, error) {
	switch n := e.(type) {
	case *sql.IntLit:
		if n.Value < 1 || n.Value > int64(len(sel.exprs)) {
			return nil, -1, sqlerr.New(sqlerr.InvalidColumnReference, "%s position %d is not in select list", clause, n.Value).At(n.Start)
		}
		return sel.exprs[n.Value-1], int(n.Value) - 1, nil
	case *sql.ColumnRef:
		if len(n.Parts) != 1 {
			break
		}
		name := n.Parts[0].Name
		if !preferOutput {
			if _, count := sel.scope.lookup("", "", name); count > 0 {
				break
			}
		}
		found := -1
		for i := range sel.names {
			if sel.names[i] != name {
				continue
			}
			if found >= 0 && !expr.Equal(sel.exprs[found], sel.exprs[i]) {
				return nil, -1, sqlerr.New(sqlerr.AmbiguousColumn, "%s %q is ambiguous", clause, name).At(n.Start)
			}
			found = i
		}
		if found >= 0 {
			return sel.exprs[found], found, nil
		}
	}
	bound, err := sel.b.expr(e, sel.scope)
	return bound, -1, err
}

func (sel *selection) findTarget(e expr.Expr) int {
	for i := range sel.exprs {
		if expr.Equal(sel.exprs[i], e) {
			return i
		}
	}
	return -1
}

// output computes the select list, DISTINCT and the order.
func (sel *selection) output(plan Node) (*bound, error) {
	b := sel.b
	all := append([]expr.Expr(nil), sel.exprs...)
	hidden := make([]int, len(sel.keys))
	for i := range sel.keys {
		hidden[i] = sel.keyTarget[i]
		if hidden[i] < 0 {
			hidden[i] = len(all)
			all = append(all, sel.keys[i].Expr)
		}
	}
	all = append(all, lockExprs(sel.locked)...)
	plan, all, err := b.attach(plan, all)
	if err != nil {
		return nil, err
	}
	p := &Project{Input: plan}
	for i, e := range all {
		name := sql.UnnamedColumn
		if i < len(sel.names) {
			name = sel.names[i]
		}
		p.Items = append(p.Items, Item{Col: b.column(name, e.Type(), neverNull(e)), Expr: e})
	}
	plan = p
	cols := p.Cols()
	if sel.node.Distinct {
		plan, cols = b.distinct(plan)
	}
	if len(sel.keys) > 0 {
		keys := append([]SortKey(nil), sel.keys...)
		for i := range keys {
			keys[i].Expr = cols[hidden[i]]
		}
		plan = &Sort{Input: plan, Keys: keys}
	}
	plan = lockRows(plan, sel.locked)
	if len(all)-len(sel.locked) > len(sel.exprs) {
		trim := &Project{Input: plan}
		for _, c := range cols[:len(sel.exprs)] {
			trim.Items = append(trim.Items, Item{Col: b.columnLike(c), Expr: c})
		}
		plan = trim
	}
	return &bound{plan: plan, names: sel.names, from: sel.scope}, nil
}

// distinct removes duplicate rows.
func (b *binder) distinct(plan Node) (Node, []*expr.Col) {
	agg := &Aggregate{Input: plan}
	for _, c := range plan.Cols() {
		agg.Groups = append(agg.Groups, Item{Col: b.columnLike(c), Expr: c})
	}
	return agg, agg.Cols()
}

// neverNull reports whether e is provably not NULL.
func neverNull(e expr.Expr) bool {
	switch e := e.(type) {
	case *expr.Col:
		return e.NotNull
	case *expr.Const:
		return !e.Value.Null
	case *expr.IsNull, *expr.IsDistinct:
		return true
	}
	return false
}
