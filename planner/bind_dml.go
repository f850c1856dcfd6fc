package planner

import (
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

var rowRefType = catalog.Type{ID: catalog.Int8}

// rowColumns makes fresh columns for a table's stored row.
func (b *binder) rowColumns(t *catalog.Table) []*expr.Col {
	cols := make([]*expr.Col, len(t.Columns))
	for i := range t.Columns {
		cols[i] = b.column(t.Columns[i].Name, t.Columns[i].Type, t.Columns[i].NotNull)
	}
	return cols
}

// checks binds a table's CHECK constraints over its row columns.
func (b *binder) checks(t *catalog.Table, cols []*expr.Col) ([]TableCheck, error) {
	var out []TableCheck
	for _, c := range t.Checks {
		parsed, err := sql.ParseExpr(c.Expr)
		if err != nil {
			return nil, err
		}
		e, err := b.check(parsed, t, cols)
		if err != nil {
			return nil, err
		}
		out = append(out, TableCheck{Name: c.Name, Expr: e})
	}
	return out, nil
}

// check binds the condition of a CHECK constraint.
func (b *binder) check(e sql.Expr, t *catalog.Table, cols []*expr.Col) (expr.Expr, error) {
	s := &scope{rels: []*scopeRel{relation(t.Name, columnNames(t), cols)}, noAggregates: "aggregate functions are not allowed in check constraints",
		noSubqueries: "cannot use subquery in check constraint"}
	return b.condition(e, s, "CHECK")
}

// returning binds RETURNING over the stored row and, with from, the other relations of the statement.
func (b *binder) returning(list []sql.Target, t *catalog.Table, alias string, cols []*expr.Col, from *scope) ([]Item, []string, error) {
	if len(list) == 0 {
		return nil, nil, nil
	}
	s := &scope{rels: []*scopeRel{aliased(t, alias, cols)}, noAggregates: "aggregate functions are not allowed in RETURNING"}
	if from != nil {
		s.rels, s.merged = append(s.rels, from.rels[1:]...), from.merged
	}
	sel := &selection{b: b, scope: s}
	if err := sel.targets(list); err != nil {
		return nil, nil, err
	}
	var items []Item
	for i, e := range sel.exprs {
		e, err := b.computedOnce(e, list[0], "RETURNING")
		if err != nil {
			return nil, nil, err
		}
		if e.Type().ID == catalog.Unknown {
			if e, err = b.coerce(e, catalog.Type{ID: catalog.Text}, expr.ImplicitCast, sel.spans[i]); err != nil {
				return nil, nil, err
			}
		}
		items = append(items, Item{Col: b.column(sel.names[i], e.Type(), false), Expr: e})
	}
	return items, sel.names, nil
}

// returned lists the columns of plan that RETURNING uses besides those of the row itself.
func returned(items []Item, row []*expr.Col, plan Node) []*expr.Col {
	used := colSet{}
	for i := range items {
		used.addExpr(items[i].Expr)
	}
	for _, c := range row {
		delete(used, c.ID)
	}
	return neededOf(plan.Cols(), used)
}

// target is the table that UPDATE or DELETE changes, joined with FROM or USING and filtered.
func (b *binder) target(name *sql.TableName, others []sql.TableRef, hints []sql.Hint, where sql.Expr, s *scope) (*Scan, Node, *scope, error) {
	t, err := b.lookupTable(name.Name)
	if err != nil {
		return nil, nil, nil, err
	}
	b.use(t, Writes)
	alias := t.Name
	if name.Alias.Name.Name != "" {
		alias = name.Alias.Name.Name
	}
	scan := b.scan(t, alias)
	scan.only(name)
	b.markLocked(scan)
	inner := &scope{parent: s, rels: []*scopeRel{aliased(t, alias, scan.Cols()[:len(scan.Columns)])}}
	var plan Node = scan
	allow := inner.forbidAggregates("FROM clause of their own query level")
	defer allow()
	for _, ref := range others {
		item, err := b.fromRef(ref, inner)
		if err != nil {
			return nil, nil, nil, err
		}
		if err := inner.add(item, ref); err != nil {
			return nil, nil, nil, err
		}
		plan = &Join{Kind: InnerJoin, Left: plan, Right: item.plan}
	}
	b.applyHints(hints, plan)
	if _, ok := where.(*sql.CurrentOf); ok {
		return nil, nil, nil, b.unsupported(where, "WHERE CURRENT OF")
	}
	plan, err = b.where(plan, where, inner)
	return scan, plan, inner, err
}

// update binds UPDATE.
func (b *binder) update(n *sql.Update) (Node, []string, error) {
	s, err := b.with(n.With, nil)
	if err != nil {
		return nil, nil, err
	}
	scan, plan, inner, err := b.target(n.Table, n.From, n.Hints, n.Where, s)
	if err != nil {
		return nil, nil, err
	}
	t := scan.Table
	inner.noAggregates = "aggregate functions are not allowed in UPDATE"
	items := make([]expr.Expr, len(t.Columns)+1)
	for i := range scan.Columns {
		items[i] = scan.Columns[i].Col
	}
	items[len(t.Columns)] = scan.RowRef
	seen := map[int]bool{}
	for i := range n.Set {
		if q, ok := n.Set[i].Value.(*sql.ScalarSubquery); ok && n.Set[i].Multi {
			plan, err = b.assignRow(&n.Set[i], q.Query, plan, t, items, seen, inner)
		} else {
			err = b.assignment(&n.Set[i], t, items, seen, inner)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	into, err := b.changed(t)
	if err != nil {
		return nil, nil, err
	}
	out := &Update{Table: t, Into: into, RowCols: b.rowColumns(t), Alias: scan.Alias}
	if out.Generated, err = b.generatedFrom(t, out.RowCols, seen); err != nil {
		return nil, nil, err
	}
	keys, err := b.updateReferences(t, seen)
	if err != nil {
		return nil, nil, err
	}
	items = slices.Insert(items, len(t.Columns), keys.carry(scan, len(t.Columns))...)
	plan, items, err = b.attach(plan, items)
	if err != nil {
		return nil, nil, err
	}
	p := &Project{Input: plan}
	for _, e := range items {
		p.Items = append(p.Items, Item{Col: b.column("new", e.Type(), false), Expr: e})
	}
	out.Input, out.Keys = p, keys
	if out.Checks, err = b.checks(t, out.RowCols); err != nil {
		return nil, nil, err
	}
	var names []string
	if out.Returning, names, err = b.returning(n.Returning, t, scan.Alias, out.RowCols, inner); err != nil {
		return nil, nil, err
	}
	// Behind the row's columns the input has what RETURNING uses of the other relations.
	ref := p.Items[len(p.Items)-1]
	p.Items = p.Items[:len(p.Items)-1]
	for _, c := range returned(out.Returning, out.RowCols, plan) {
		p.Items = append(p.Items, Item{Col: c, Expr: c})
	}
	out.RowCols = append(out.RowCols, itemCols(p.Items[len(t.Columns):])...)
	p.Items = append(p.Items, ref)
	return out, names, nil
}

// assignRow binds an item of SET that takes several columns from one row of a subquery, all NULL where
// it has none. The subquery is joined to the plan.
func (b *binder) assignRow(a *sql.Assignment, query *sql.Select, plan Node, t *catalog.Table, items []expr.Expr, seen map[int]bool, s *scope) (Node, error) {
	q, err := b.query(query, s)
	if err != nil {
		return nil, err
	}
	row, cols := distinctCols(b, b.settle(q).plan)
	if len(cols) != len(a.Columns) {
		return nil, sqlerr.New(sqlerr.SyntaxError, "number of columns does not match number of values").At(a.Value.SourceSpan().Start)
	}
	for i, id := range a.Columns {
		pos, err := b.assignable(t, id, seen)
		if err != nil {
			return nil, err
		}
		if items[pos], err = b.assign(nullable(cols[i]), t, pos, valueStart(query, i)); err != nil {
			return nil, err
		}
	}
	return &Join{Kind: SingleJoin, Left: plan, Right: row}, nil
}

// valueStart is where a column of a query's row is written, as far as that is one place.
func valueStart(q *sql.Select, i int) int {
	if core, ok := q.Body.(*sql.SelectCore); ok && i < len(core.Targets) {
		return core.Targets[i].Expr.SourceSpan().Start
	}
	return q.Start
}

// assignable finds a column that SET gives a value of its own.
func (b *binder) assignable(t *catalog.Table, id sql.Ident, seen map[int]bool) (int, error) {
	pos, err := b.assigned(t, id, seen)
	if err != nil {
		return 0, err
	}
	c, kind := &t.Columns[pos], ""
	switch {
	case c.Generated != "":
		kind = "a generated column"
	case c.Identity == catalog.IdentityAlways:
		kind = "an identity column defined as GENERATED ALWAYS"
	default:
		return pos, nil
	}
	return 0, sqlerr.New(sqlerr.GeneratedAlways, "column %q can only be updated to DEFAULT", c.Name).WithDetail("Column %q is %s.", c.Name, kind)
}

// assigned finds a column that SET names, for the first time.
func (b *binder) assigned(t *catalog.Table, id sql.Ident, seen map[int]bool) (int, error) {
	pos, err := b.tableColumn(t, id)
	if err != nil {
		return 0, err
	}
	if seen[pos] {
		return 0, sqlerr.New(sqlerr.SyntaxError, "multiple assignments to same column %q", id.Name).At(id.Start)
	}
	seen[pos] = true
	return pos, nil
}

// assignment binds one item of SET.
func (b *binder) assignment(a *sql.Assignment, t *catalog.Table, items []expr.Expr, seen map[int]bool, s *scope) error {
	values := []sql.Expr{a.Value}
	if a.Multi {
		row, ok := a.Value.(*sql.Row)
		if !ok {
			return b.unsupported(a.Value, "assigning a subquery to several columns")
		}
		values = row.Args
	}
	if len(values) != len(a.Columns) {
		return sqlerr.New(sqlerr.SyntaxError, "number of columns does not match number of values").At(a.Start)
	}
	for i, id := range a.Columns {
		if _, ok := values[i].(*sql.Default); ok {
			pos, err := b.assigned(t, id, seen)
			if err != nil {
				return err
			}
			if t.Columns[pos].Generated != "" {
				continue // computed anyway
			}
			if items[pos], err = b.defaultOf(t, pos); err != nil {
				return err
			}
			continue
		}
		pos, err := b.assignable(t, id, seen)
		if err != nil {
			return err
		}
		e, err := b.expr(values[i], s)
		if err != nil {
			return err
		}
		if items[pos], err = b.assign(e, t, pos, values[i].SourceSpan().Start); err != nil {
			return err
		}
	}
	return nil
}

// delete binds DELETE.
func (b *binder) delete(n *sql.Delete) (Node, []string, error) {
	s, err := b.with(n.With, nil)
	if err != nil {
		return nil, nil, err
	}
	scan, plan, inner, err := b.target(n.Table, n.Using, n.Hints, n.Where, s)
	if err != nil {
		return nil, nil, err
	}
	into, err := b.changed(scan.Table)
	if err != nil {
		return nil, nil, err
	}
	out := &Delete{Table: scan.Table, Into: into, Alias: scan.Alias}
	p := &Project{Input: plan}
	var names []string
	if len(n.Returning) > 0 {
		cols := scan.Cols()[:len(scan.Columns)]
		if out.Returning, names, err = b.returning(n.Returning, scan.Table, scan.Alias, cols, inner); err != nil {
			return nil, nil, err
		}
		for _, c := range append(cols, returned(out.Returning, cols, plan)...) {
			p.Items = append(p.Items, Item{Col: c, Expr: c})
		}
	}
	if out.Keys, err = b.deleteReferences(scan.Table); err != nil {
		return nil, nil, err
	}
	if len(n.Returning) > 0 {
		out.Keys.oldRow(scan.Table)
	} else {
		for _, e := range out.Keys.carry(scan, 0) {
			p.Items = append(p.Items, Item{Col: e.(*expr.Col), Expr: e})
		}
	}
	p.Items = append(p.Items, Item{Col: scan.RowRef, Expr: scan.RowRef})
	out.Input = p
	return out, names, nil
}

// Constraints are a table's defaults, generated columns and checks, bound for loading rows in bulk.
type Constraints struct {
	RowCols   []*expr.Col
	Defaults  []expr.Expr // by table position
	Generated []Generated // computed from the other columns
}

// InsertReferences lists the foreign keys that rows loaded into a table must obey; nil if there are
// none.
func InsertReferences(t *catalog.Table, in Input) (*References, error) {
	return newBinder(in).insertReferences(t)
}

// BindConstraints binds a table's defaults and generated columns.
func BindConstraints(t *catalog.Table, in Input) (*Constraints, error) {
	b := newBinder(in)
	c := &Constraints{RowCols: b.rowColumns(t), Defaults: make([]expr.Expr, len(t.Columns))}
	var err error
	for i := range t.Columns {
		if c.Defaults[i], err = b.defaultOf(t, i); err != nil {
			return nil, err
		}
	}
	c.Generated, err = b.generated(t, c.RowCols)
	return c, err
}
