package planner

import (
	"maps"
	"slices"
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

// group adds the Aggregate that GROUP BY, HAVING or aggregate calls ask for, and rewrites the
// select list, HAVING and ORDER BY over its columns.
func (sel *selection) group(plan Node) (Node, error) {
	exprs := append([]expr.Expr(nil), sel.exprs...)
	for i := range sel.keys {
		exprs = append(exprs, sel.keys[i].Expr)
	}
	if len(sel.node.GroupBy) == 0 && sel.havingCond == nil && len(sel.scope.outerAggs) == 0 && !hasAggregate(exprs) {
		return plan, nil
	}
	if len(sel.locking) > 0 {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "%s is not allowed with aggregate functions", lockClause(&sel.locking[0]))
	}
	sources, err := sel.groupItems()
	if err != nil {
		return nil, err
	}
	plan, groups, err := sel.b.attach(plan, sources)
	if err != nil {
		return nil, err
	}
	g := newGrouping(sel, plan)
	g.functional(plan, groups)
	for i, e := range groups {
		g.addGroup(e, sources[i])
	}
	if err := sel.rewriteOver(g); err != nil {
		return nil, err
	}
	if plan, err = g.attachArguments(plan); err != nil {
		return nil, err
	}
	if len(g.agg.Groups) == 0 && len(g.agg.Aggs) == 0 {
		// HAVING alone makes one group of all rows, or of none: an aggregate tells that from DISTINCT.
		count, err := expr.ResolveAgg("count", nil, false, true, 0)
		if err != nil {
			return nil, err
		}
		g.aggregate(&aggregateRef{call: count})
	}
	g.agg.Input = plan
	return g.agg, nil
}

// rewriteOver makes the select list, HAVING and ORDER BY refer to an Aggregate's columns.
func (sel *selection) rewriteOver(g *grouping) (err error) {
	for i := range sel.exprs {
		if sel.exprs[i], err = g.rewrite(sel.exprs[i], sel.spans[i]); err != nil {
			return err
		}
	}
	if sel.havingCond != nil {
		if sel.havingCond, err = g.rewrite(sel.havingCond, sel.node.Having.SourceSpan().Start); err != nil {
			return err
		}
	}
	for i := range sel.keys {
		if sel.keys[i].Expr, err = g.rewrite(sel.keys[i].Expr, sel.keySpans[i]); err != nil {
			return err
		}
	}
	return nil
}

// groupItems binds GROUP BY.
func (sel *selection) groupItems() ([]expr.Expr, error) {
	var groups []expr.Expr
	s := sel.scope
	allow := s.forbidAggregates("GROUP BY")
	defer allow()
	for i := range sel.node.GroupBy {
		item := &sel.node.GroupBy[i]
		if item.Kind != sql.GroupExprs {
			return nil, sel.b.unsupported(item, "ROLLUP, CUBE and GROUPING SETS")
		}
		for _, e := range item.Exprs {
			g, target, err := sel.outputRef(e, "GROUP BY", false)
			if err != nil {
				return nil, err
			}
			if pos, found := s.aggregatePosition(g); found {
				return nil, sqlerr.New(sqlerr.GroupingError, "aggregate functions are not allowed in GROUP BY").At(pos)
			}
			if g.Type().ID == catalog.Unknown {
				if g, err = sel.b.coerce(g, catalog.Type{ID: catalog.Text}, expr.ImplicitCast, e.SourceSpan().Start); err != nil {
					return nil, err
				}
				if target >= 0 {
					sel.exprs[target] = g
				}
			}
			groups = append(groups, g)
		}
	}
	return groups, nil
}

// grouping rewrites expressions over an Aggregate's input into expressions over its output.
type grouping struct {
	b         *binder
	input     map[expr.ColID]*expr.Col
	agg       *Aggregate
	sources   []expr.Expr              // per group: its expression as the statement has it
	replaced  map[expr.ColID]expr.Expr // grouped input columns
	dependent map[expr.ColID]bool      // columns that depend on a grouped primary key
	names     map[expr.ColID]string    // of the columns of FROM, with their relations
}

// newGrouping starts an Aggregate over plan with the aggregates that stand in subqueries.
func newGrouping(sel *selection, plan Node) *grouping {
	g := &grouping{b: sel.b, input: map[expr.ColID]*expr.Col{}, agg: &Aggregate{}, dependent: map[expr.ColID]bool{},
		replaced: map[expr.ColID]expr.Expr{}, names: map[expr.ColID]string{}}
	for _, r := range sel.scope.rels {
		for _, c := range r.cols {
			if col, ok := c.expr.(*expr.Col); ok {
				g.names[col.ID] = strings.TrimPrefix(r.name+"."+c.name, ".")
			}
		}
	}
	for _, c := range plan.Cols() {
		g.input[c.ID] = c
	}
	for _, outer := range sel.scope.outerAggs {
		g.agg.Aggs = append(g.agg.Aggs, outer.item)
	}
	return g
}

// addGroup groups by e, which was source before its subqueries became columns.
func (g *grouping) addGroup(e, source expr.Expr) {
	for _, have := range g.sources {
		if expr.Equal(have, source) {
			return
		}
	}
	name := sql.UnnamedColumn
	c, isCol := e.(*expr.Col)
	if isCol {
		name = c.Name
	}
	col := g.b.column(name, e.Type(), neverNull(e))
	g.agg.Groups = append(g.agg.Groups, Item{Col: col, Expr: e})
	g.sources = append(g.sources, source)
	if isCol {
		g.replaced[c.ID] = col
	}
}

// functional lets the columns of a table stand ungrouped when its primary key is grouped: they
// become groups when they are used.
func (g *grouping) functional(plan Node, groups []expr.Expr) {
	grouped := map[expr.ColID]bool{}
	for _, e := range groups {
		if c, ok := e.(*expr.Col); ok {
			grouped[c.ID] = true
		}
	}
	walkNodes(plan, func(n Node) bool {
		scan, ok := n.(*Scan)
		if !ok || scan.Table.PrimaryKey() == nil {
			return true
		}
		for _, id := range scan.Table.PrimaryKey().Columns {
			found := false
			for _, c := range scan.Columns {
				found = found || scan.Table.Columns[c.Pos].ID == id && grouped[c.Col.ID]
			}
			if !found {
				return true
			}
		}
		for _, c := range scan.Columns {
			if g.input[c.Col.ID] != nil {
				g.dependent[c.Col.ID] = true
			}
		}
		return true
	})
}

// rewrite replaces grouped expressions and aggregates in e, top-down; an input column that is
// left is an error.
func (g *grouping) rewrite(e expr.Expr, pos int) (expr.Expr, error) {
	for i, source := range g.sources {
		if expr.Equal(source, e) {
			return g.agg.Groups[i].Col, nil
		}
	}
	switch n := e.(type) {
	case *aggregateRef:
		return g.aggregate(n), nil
	case *subqueryRef:
		return g.rewriteSubquery(n, pos)
	case *expr.Col:
		if g.input[n.ID] == nil {
			return n, nil
		}
		if g.dependent[n.ID] {
			g.addGroup(n, n)
			return g.replaced[n.ID], nil
		}
		return nil, sqlerr.New(sqlerr.GroupingError, "column %q must appear in the GROUP BY clause or be used in an aggregate function", g.names[n.ID]).At(g.b.usedAt(n.ID, pos))
	}
	kids := expr.Children(e)
	if len(kids) == 0 {
		return e, nil
	}
	changed := make([]expr.Expr, len(kids))
	for i, kid := range kids {
		var err error
		if changed[i], err = g.rewrite(kid, pos); err != nil {
			return nil, err
		}
	}
	return expr.WithChildren(e, changed), nil
}

// usedAt returns the first place at or behind pos where a column is named, pos if there is none.
func (b *binder) usedAt(id expr.ColID, pos int) int {
	first := -1
	for _, r := range b.refs {
		if r.id == id && r.pos >= pos && (first < 0 || r.pos < first) {
			first = r.pos
		}
	}
	return max(first, pos)
}

// aggregate returns the column of an aggregate call, shared by equal calls.
func (g *grouping) aggregate(n *aggregateRef) expr.Expr {
	for i := range g.agg.Aggs {
		if equalCalls(g.agg.Aggs[i].Call, n.call) {
			return g.agg.Aggs[i].Col
		}
	}
	col := g.b.column(n.call.Fn.Name, n.call.Typ, false)
	g.agg.Aggs = append(g.agg.Aggs, AggItem{Col: col, Call: n.call})
	return col
}

// rewriteSubquery makes a subquery that refers to grouped columns refer to the Aggregate's.
func (g *grouping) rewriteSubquery(n *subqueryRef, pos int) (expr.Expr, error) {
	c := *n
	for _, id := range slices.Sorted(maps.Keys(freeColumns(n.plan))) { // sorted: plans are reproducible
		col := g.input[id]
		if col == nil || g.replaced[id] != nil {
			continue
		}
		if _, err := g.rewrite(col, pos); err != nil {
			return nil, sqlerr.New(sqlerr.GroupingError, "subquery uses ungrouped column %q from outer query", g.names[id]).At(g.b.usedAt(id, pos))
		}
	}
	c.plan = substitute(n.plan, g.replaced)
	c.on = nil
	for _, cond := range n.on {
		e, err := g.rewrite(cond, pos)
		if err != nil {
			return nil, err
		}
		c.on = append(c.on, e)
	}
	return &c, nil
}

// attachArguments turns subqueries inside aggregate arguments into joins below the Aggregate.
func (g *grouping) attachArguments(plan Node) (Node, error) {
	for i := range g.agg.Aggs {
		call := *g.agg.Aggs[i].Call
		args := append([]expr.Expr(nil), call.Args...)
		if call.Filter != nil {
			args = append(args, call.Filter)
		}
		var err error
		if plan, args, err = g.b.attach(plan, args); err != nil {
			return nil, err
		}
		if call.Filter != nil {
			call.Filter = args[len(args)-1]
		}
		call.Args = args[:len(call.Args)]
		g.agg.Aggs[i].Call = &call
	}
	return plan, nil
}
