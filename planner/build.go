package planner

import (
	"time"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

// Build plans a SELECT, INSERT, UPDATE, DELETE or MERGE.
func Build(stmt sql.Statement, in Input) (*Plan, error) {
	b := newBinder(in)
	var began, bound time.Time
	if b.phases != nil {
		began = time.Now()
	}
	root, names, err := b.statementPlan(stmt)
	if err != nil {
		return nil, err
	}
	if b.phases != nil {
		bound = time.Now()
	}
	plan, err := b.finish(root, in.Catalog, names)
	b.phases.end(began, bound)
	if err == nil {
		plan.Point, plan.Functions = pointRead(plan), plan.functions()
	}
	return plan, err
}

// finish makes a plan of a bound tree, whose columns get names.
func (b *binder) finish(root Node, c *catalog.Snapshot, names []string) (*Plan, error) {
	plan := &Plan{Root: root, InitPlans: b.initPlans, CTEs: b.ctes, CatalogVersion: c.Version, Nodes: c.Nodes, Notices: b.notices, Relations: b.uses}
	declared := declaredTypes(root)
	for i, col := range root.Cols() {
		plan.Columns = append(plan.Columns, ResultColumn{Name: names[i], Type: col.Typ, Declared: declared[i]})
	}
	if err := b.numberParams(plan); err != nil {
		return nil, err
	}
	return b.optimize(plan)
}

// declaredTypes follows a plan's columns to the expressions that compute them.
func declaredTypes(root Node) []catalog.Type {
	values := map[expr.ColID]expr.Expr{}
	walkNodes(root, func(n Node) bool {
		switch n := n.(type) {
		case *Project:
			for _, it := range n.Items {
				values[it.Col.ID] = it.Expr
			}
		case *Aggregate:
			for _, it := range n.Groups {
				values[it.Col.ID] = it.Expr
			}
			for _, a := range n.Aggs {
				if t := a.Col.Typ; t.ID == catalog.Numeric {
					values[a.Col.ID] = &aggregateRef{call: a.Call}
				}
			}
		}
		return true
	})
	var types []catalog.Type
	for _, c := range root.Cols() {
		var e expr.Expr = c
		for range len(values) + 1 { // chains are finite: an id is computed once
			col, ok := e.(*expr.Col)
			if !ok || values[col.ID] == nil || values[col.ID] == e {
				break
			}
			e = values[col.ID]
		}
		if _, ok := e.(*aggregateRef); ok {
			types = append(types, c.Typ.Base())
			continue
		}
		t := expr.DeclaredType(e)
		if t.ID == catalog.Unknown {
			t.ID = catalog.Text
		}
		types = append(types, t)
	}
	return types
}

func (b *binder) statementPlan(stmt sql.Statement) (Node, []string, error) {
	switch n := stmt.(type) {
	case *sql.Select:
		q, err := b.query(n, nil)
		if err != nil {
			return nil, nil, err
		}
		plan, _ := distinctCols(b, b.settle(q).plan)
		return plan, q.names, nil
	case *sql.Insert:
		return b.insert(n)
	case *sql.Update:
		return b.update(n)
	case *sql.Delete:
		return b.delete(n)
	case *sql.Merge:
		plan, err := b.merge(n)
		return plan, nil, err
	}
	return nil, nil, b.unsupported(stmt, "this statement")
}

// numberParams settles the types of the statement's parameters and gives init plans the slots
// behind them.
func (b *binder) numberParams(plan *Plan) error {
	for i, t := range b.paramTypes {
		if i >= b.statement {
			break
		}
		if t.ID == catalog.Unknown {
			b.paramTypes[i] = catalog.Type{ID: catalog.Text}
		}
	}
	plan.Params = b.paramTypes
	count := len(b.paramTypes)
	var failed error
	renumber := func(e expr.Expr) expr.Expr {
		return expr.Transform(e, func(e expr.Expr) expr.Expr {
			p, ok := e.(*expr.Param)
			if !ok {
				return e
			}
			if p.Index < 0 {
				return &expr.Param{Index: count - p.Index, Typ: p.Typ}
			}
			t := b.paramTypes[p.Index-1]
			if p.Typ == t || p.Typ.Base() == t {
				return e
			}
			// The parameter has another type elsewhere: convert from that one here.
			own := &expr.Param{Index: p.Index, Typ: t}
			if p.Typ.ID == catalog.Unknown {
				return own
			}
			out, err := expr.Coerce(own, p.Typ, expr.AssignmentCast, 0)
			if err != nil && failed == nil {
				failed = sqlerr.New(sqlerr.AmbiguousParameter, "inconsistent types deduced for parameter $%d", p.Index).
					WithDetail("%s versus %s", t, p.Typ)
			}
			return out
		})
	}
	apply := func(n Node) Node {
		return transformNodes(n, func(n Node) Node { return mapExprs(n, renumber) })
	}
	plan.Root = apply(plan.Root)
	for i := range plan.InitPlans {
		plan.InitPlans[i].Param = count - plan.InitPlans[i].Param
		plan.InitPlans[i].Plan = apply(plan.InitPlans[i].Plan)
	}
	for _, c := range plan.CTEs {
		c.Plan = apply(c.Plan)
	}
	plan.ParamSlots = count + b.paramSlots
	b.paramSlots = plan.ParamSlots
	return failed
}
