package planner

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/vector"
)

// insert binds INSERT.
func (b *binder) insert(n *sql.Insert) (Node, []string, error) {
	s, err := b.with(n.With, nil)
	if err != nil {
		return nil, nil, err
	}
	t, err := b.lookupTable(n.Table)
	if err != nil {
		return nil, nil, err
	}
	b.use(t, Writes)
	targets, err := b.insertTargets(n.Columns, t)
	if err != nil {
		return nil, nil, err
	}
	input, targets, err := b.insertSource(n, t, targets, s)
	if err != nil {
		return nil, nil, err
	}
	into, err := b.changed(t)
	if err != nil {
		return nil, nil, err
	}
	out := &Insert{Table: t, Into: into, RowCols: b.rowColumns(t)}
	if out.Keys, err = b.insertReferences(t); err != nil {
		return nil, nil, err
	}
	if out.Input, err = b.fullRow(t, input, targets); err != nil {
		return nil, nil, err
	}
	if out.Generated, err = b.generated(t, out.RowCols); err != nil {
		return nil, nil, err
	}
	if out.Checks, err = b.checks(t, out.RowCols); err != nil {
		return nil, nil, err
	}
	alias := t.Name
	if n.Alias.Name != "" {
		alias = n.Alias.Name
	}
	if n.OnConflict != nil {
		if out.Conflict, err = b.onConflict(n.OnConflict, t, alias, out); err != nil {
			return nil, nil, err
		}
	}
	var names []string
	out.Returning, names, err = b.returning(n.Returning, t, alias, out.RowCols, nil)
	return out, names, err
}

// insertTargets lists the positions of the columns to insert into.
func (b *binder) insertTargets(columns []sql.Ident, t *catalog.Table) ([]int, error) {
	var targets []int
	if columns == nil {
		for i := range t.Columns {
			targets = append(targets, i)
		}
		return targets, nil
	}
	seen := map[int]bool{}
	for _, id := range columns {
		pos, err := b.tableColumn(t, id)
		if err != nil {
			return nil, err
		}
		if seen[pos] {
			return nil, sqlerr.New(sqlerr.DuplicateColumn, "column %q specified more than once", id.Name).At(id.Start)
		}
		seen[pos] = true
		targets = append(targets, pos)
	}
	return targets, nil
}

func (b *binder) tableColumn(t *catalog.Table, id sql.Ident) (int, error) {
	pos := t.ColumnIndex(id.Name)
	if pos >= 0 {
		return pos, nil
	}
	err := sqlerr.New(sqlerr.UndefinedColumn, "column %q of relation %q does not exist", id.Name, t.Name).At(id.Start)
	if near := nearest(id.Name, columnNames(t)); near != "" {
		return 0, err.WithHint("Perhaps you meant the column %q.", near)
	}
	return 0, err
}

// insertSource binds the rows to insert, converted to the target columns' types, and returns the
// targets they fill.
func (b *binder) insertSource(n *sql.Insert, t *catalog.Table, targets []int, s *scope) (Node, []int, error) {
	if n.DefaultValues {
		return oneRow(), nil, nil
	}
	if v, ok := plainValues(n.Query); ok {
		return b.insertValues(v, n, t, targets, s)
	}
	q, err := b.query(n.Query, s)
	if err != nil {
		return nil, nil, err
	}
	if targets, err = insertWidth(n.Columns, targets, len(q.names), n.Query); err != nil {
		return nil, nil, err
	}
	items := make([]expr.Expr, len(targets))
	for i, c := range q.cols() {
		replaced, err := overridden(n.Overriding, t, targets[i])
		if err != nil {
			return nil, nil, err
		}
		if replaced {
			if items[i], err = b.defaultOf(t, targets[i]); err != nil {
				return nil, nil, err
			}
			continue
		}
		if items[i], err = b.assign(c, t, targets[i], n.Query.Start); err != nil {
			return nil, nil, err
		}
	}
	return b.projectChanged(q.plan, items), targets, nil
}

// overridden reports whether a value given for an identity column is replaced by its default, and
// refuses one for a column GENERATED ALWAYS, as identity unless the statement overrides that.
func overridden(by sql.Overriding, t *catalog.Table, pos int) (bool, error) {
	c := &t.Columns[pos]
	switch {
	case c.Generated != "":
		return false, sqlerr.New(sqlerr.GeneratedAlways, "cannot insert a non-DEFAULT value into column %q", c.Name).
			WithDetail("Column %q is a generated column.", c.Name)
	case c.Identity == catalog.NoIdentity || by == sql.OverridingSystem:
		return false, nil
	case by == sql.OverridingUser:
		return true, nil
	case c.Identity == catalog.IdentityAlways:
		return false, sqlerr.New(sqlerr.GeneratedAlways, "cannot insert a non-DEFAULT value into column %q", c.Name).
			WithDetail("Column %q is an identity column defined as GENERATED ALWAYS.", c.Name).
			WithHint("Use OVERRIDING SYSTEM VALUE to override.")
	}
	return false, nil
}

// plainValues returns the VALUES list that is all of a query.
func plainValues(q *sql.Select) (*sql.Values, bool) {
	v, ok := q.Body.(*sql.Values)
	return v, ok && q.With == nil && len(q.OrderBy) == 0 && q.Limit == nil && q.Offset == nil
}

func insertWidth(columns []sql.Ident, targets []int, width int, at sql.Node) ([]int, error) {
	if width > len(targets) {
		pos := at.SourceSpan().Start
		if v, ok := at.(*sql.Values); ok {
			pos = v.Rows[0][len(targets)].SourceSpan().Start
		}
		return nil, sqlerr.New(sqlerr.SyntaxError, "INSERT has more expressions than target columns").At(pos)
	}
	if width < len(targets) && columns != nil {
		return nil, sqlerr.New(sqlerr.SyntaxError, "INSERT has more target columns than expressions").At(columns[width].Start)
	}
	return targets[:width], nil
}

func (b *binder) insertValues(v *sql.Values, n *sql.Insert, t *catalog.Table, targets []int, s *scope) (Node, []int, error) {
	targets, err := insertWidth(n.Columns, targets, len(v.Rows[0]), v)
	if err != nil {
		return nil, nil, err
	}
	inner := &scope{parent: s, noAggregates: "aggregate functions are not allowed in VALUES"}
	out := &Values{}
	for _, pos := range targets {
		out.Out = append(out.Out, b.column(t.Columns[pos].Name, t.Columns[pos].Type, false))
	}
	for _, row := range v.Rows {
		exprs := make([]expr.Expr, len(row))
		for i, e := range row {
			if exprs[i], err = b.insertValue(e, n.Overriding, t, targets[i], inner); err != nil {
				return nil, nil, err
			}
		}
		out.Rows = append(out.Rows, exprs)
	}
	q, err := b.valuesPlan(out, nil)
	if err != nil {
		return nil, nil, err
	}
	return q.plan, targets, nil
}

// insertValue binds one value of VALUES, which may be DEFAULT.
func (b *binder) insertValue(e sql.Expr, by sql.Overriding, t *catalog.Table, pos int, s *scope) (expr.Expr, error) {
	_, isDefault := e.(*sql.Default)
	if !isDefault {
		var err error
		if isDefault, err = overridden(by, t, pos); err != nil {
			return nil, err
		}
	}
	if isDefault {
		return b.defaultOf(t, pos)
	}
	value, err := b.expr(e, s)
	if err != nil {
		return nil, err
	}
	return b.assign(value, t, pos, e.SourceSpan().Start)
}

// assign converts a value to a column's type as assignment does.
func (b *binder) assign(e expr.Expr, t *catalog.Table, pos, at int) (expr.Expr, error) {
	c := &t.Columns[pos]
	out, err := b.coerce(e, c.Type, expr.AssignmentCast, at)
	if err == nil {
		return out, nil
	}
	if sqlerr.CodeOf(err) == sqlerr.CannotCoerce || sqlerr.CodeOf(err) == sqlerr.DatatypeMismatch {
		return nil, sqlerr.New(sqlerr.DatatypeMismatch, "column %q is of type %s but expression is of type %s", c.Name, c.Type.Base(), e.Type().Base()).
			At(at).WithHint("You will need to rewrite or cast the expression.")
	}
	return nil, err
}

func nullOf(t catalog.Type) expr.Expr { return &expr.Const{Value: vector.NullDatum(t.Kind()), Typ: t} }

// defaultOf binds a column's default, NULL without one.
func (b *binder) defaultOf(t *catalog.Table, pos int) (expr.Expr, error) {
	c := &t.Columns[pos]
	if c.Default == "" {
		return nullOf(c.Type), nil
	}
	parsed, err := sql.ParseExpr(c.Default)
	if err != nil {
		return nil, err
	}
	e, err := b.expr(parsed, defaultScope())
	if err != nil {
		return nil, err
	}
	return b.assign(e, t, pos, 0)
}

// fullRow extends the inserted columns to the table's, in order, with defaults.
func (b *binder) fullRow(t *catalog.Table, input Node, targets []int) (Node, error) {
	cols := input.Cols()
	items := make([]expr.Expr, len(t.Columns))
	for i, pos := range targets {
		items[pos] = cols[i]
	}
	for pos := range items {
		if items[pos] == nil {
			var err error
			if items[pos], err = b.defaultOf(t, pos); err != nil {
				return nil, err
			}
		}
	}
	return b.projectChanged(input, items), nil
}
