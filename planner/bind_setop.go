package planner

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/vector"
)

var setOpNames = map[sql.SetOpKind]string{sql.Union: "UNION", sql.Intersect: "INTERSECT", sql.Except: "EXCEPT"}

// setOp binds UNION, INTERSECT or EXCEPT.
//
// UNION ALL is Append. The others are built from what exists: UNION groups an Append; INTERSECT
// and EXCEPT are semi and anti joins of distinct rows on null-safe keys; their ALL forms count
// each side's copies of a row in one Aggregate and repeat the row as often as the counts say.
func (b *binder) setOp(n *sql.SetOp, s *scope) (*bound, error) {
	left, err := b.body(n.Left, s)
	if err != nil {
		return nil, err
	}
	right, err := b.body(n.Right, s)
	if err != nil {
		return nil, err
	}
	if len(left.names) != len(right.names) {
		return nil, sqlerr.New(sqlerr.SyntaxError, "each %s query must have the same number of columns", setOpNames[n.Kind]).At(n.Right.SourceSpan().Start)
	}
	if err := b.unifyPlans(n, left, right); err != nil {
		return nil, err
	}
	var plan Node
	switch {
	case n.Kind == sql.Union:
		plan = b.append(left.plan, right.plan)
		if !n.All {
			plan, _ = b.distinct(plan)
		}
	case n.All:
		plan = b.countedSetOp(n.Kind, left.plan, right.plan)
	default:
		plan = b.distinctSetOp(n.Kind, left.plan, right.plan)
	}
	return &bound{plan: plan, names: left.names}, nil
}

func (b *binder) append(inputs ...Node) *Append {
	a := &Append{Inputs: inputs}
	for _, c := range inputs[0].Cols() {
		a.Out = append(a.Out, b.column(c.Name, c.Typ, false))
	}
	return a
}

// unifyPlans makes both sides yield the same types.
func (b *binder) unifyPlans(n *sql.SetOp, left, right *bound) error {
	lcols, rcols := left.cols(), right.cols()
	litems, ritems := make([]expr.Expr, len(lcols)), make([]expr.Expr, len(rcols))
	for i := range lcols {
		pair, err := b.unify([]expr.Expr{lcols[i], rcols[i]}, setOpNames[n.Kind], n.Right.SourceSpan().Start)
		if err != nil {
			return err
		}
		litems[i], ritems[i] = pair[0], pair[1]
	}
	left.plan = b.projectChanged(left.plan, litems)
	right.plan = b.projectChanged(right.plan, ritems)
	return nil
}

// projectChanged computes items over plan, unless they are its columns as they are.
func (b *binder) projectChanged(plan Node, items []expr.Expr) Node {
	cols := plan.Cols()
	same := len(cols) == len(items)
	for i := range items {
		same = same && items[i] == expr.Expr(cols[i])
	}
	if same {
		return plan
	}
	p := &Project{Input: plan}
	for i, e := range items {
		name := sql.UnnamedColumn
		if i < len(cols) {
			name = cols[i].Name
		}
		p.Items = append(p.Items, Item{Col: b.column(name, e.Type(), neverNull(e)), Expr: e})
	}
	return p
}

func (b *binder) distinctSetOp(kind sql.SetOpKind, left, right Node) Node {
	plan, cols := b.distinct(left)
	join := &Join{Kind: SemiJoin, Left: plan, Right: right}
	if kind == sql.Except {
		join.Kind = AntiJoin
	}
	rcols := right.Cols()
	for i := range cols {
		join.On = append(join.On, &expr.IsDistinct{Left: cols[i], Right: rcols[i], Negated: true})
	}
	return join
}

func (b *binder) countedSetOp(kind sql.SetOpKind, left, right Node) Node {
	tagged := func(plan Node, l, r int64) Node {
		p := &Project{Input: plan}
		for _, c := range plan.Cols() {
			p.Items = append(p.Items, Item{Col: b.columnLike(c), Expr: c})
		}
		for _, v := range []int64{l, r} {
			t := catalog.Type{ID: catalog.Int4}
			p.Items = append(p.Items, Item{Col: b.column("count", t, true), Expr: &expr.Const{Value: vector.IntDatum(vector.I32, v), Typ: t}})
		}
		return p
	}
	both := b.append(tagged(left, 1, 0), tagged(right, 0, 1))
	width := len(both.Out) - 2
	agg := &Aggregate{Input: both}
	for _, c := range both.Out[:width] {
		agg.Groups = append(agg.Groups, Item{Col: b.columnLike(c), Expr: c})
	}
	counts := make([]expr.Expr, 2)
	for i := range counts {
		call := mustAggregate("sum", both.Out[width+i])
		col := b.column("count", call.Typ, true)
		agg.Aggs = append(agg.Aggs, AggItem{Col: col, Call: call})
		counts[i] = col
	}
	// INTERSECT ALL: least(l, r). EXCEPT ALL: l − r, where a negative count repeats nothing.
	times := mustResolve(expr.ResolveCall("least", counts, 0))
	if kind == sql.Except {
		times = mustResolve(expr.ResolveBinary("-", counts[0], counts[1], 0))
	}
	p := &Project{Input: agg}
	for _, g := range agg.Groups {
		p.Items = append(p.Items, Item{Col: g.Col, Expr: g.Col})
	}
	timesCol := b.column("times", times.Type(), true)
	p.Items = append(p.Items, Item{Col: timesCol, Expr: times})
	return &Repeat{Input: p, Times: timesCol, Out: itemCols(agg.Groups)}
}

// mustAggregate resolves a call that the planner itself writes; failing is a broken invariant.
func mustAggregate(name string, args ...expr.Expr) *expr.AggCall {
	call, err := expr.ResolveAgg(name, args, false, len(args) == 0, 0)
	if err != nil {
		panic(err)
	}
	return call
}

func mustResolve(e expr.Expr, err error) expr.Expr {
	if err != nil {
		panic(err)
	}
	return e
}

// values binds VALUES lists; columns take the common type of their rows.
func (b *binder) values(n *sql.Values, s *scope) (*bound, error) {
	inner := &scope{parent: s, noAggregates: "aggregate functions are not allowed in VALUES"}
	rows := make([][]expr.Expr, len(n.Rows))
	for i, row := range n.Rows {
		var err error
		if rows[i], err = b.exprs(row, inner); err != nil {
			return nil, err
		}
	}
	width := len(n.Rows[0])
	column := make([]expr.Expr, len(rows))
	out := &Values{Rows: rows}
	var names []string
	for c := 0; c < width; c++ {
		for i := range rows {
			column[i] = rows[i][c]
		}
		t, err := expr.CommonType(column, "VALUES")
		if err != nil {
			return nil, at(err, n.Start)
		}
		if t.ID == catalog.Unknown {
			t.ID = catalog.Text
		}
		for i := range rows {
			if rows[i][c], err = b.coerce(rows[i][c], t, expr.ImplicitCast, n.Rows[i][c].SourceSpan().Start); err != nil {
				return nil, err
			}
		}
		name := "column" + itoa(c+1)
		names = append(names, name)
		out.Out = append(out.Out, b.column(name, t, false))
	}
	return b.valuesPlan(out, names)
}

// valuesPlan moves what a Values node cannot evaluate (subqueries, outer columns) into a
// projection per row.
func (b *binder) valuesPlan(v *Values, names []string) (*bound, error) {
	plain := true
	for _, row := range v.Rows {
		for _, e := range row {
			plain = plain && !hasSubquery(e) && len(columnSet(e)) == 0
		}
	}
	if plain {
		return &bound{plan: v, names: names}, nil
	}
	var inputs []Node
	for _, row := range v.Rows {
		plan, exprs, err := b.attach(oneRow(), row)
		if err != nil {
			return nil, err
		}
		p := &Project{Input: plan}
		for i, e := range exprs {
			p.Items = append(p.Items, Item{Col: b.columnLike(v.Out[i]), Expr: e})
		}
		inputs = append(inputs, p)
	}
	if len(inputs) == 1 {
		return &bound{plan: inputs[0], names: names}, nil
	}
	return &bound{plan: b.append(inputs...), names: names}, nil
}
