package planner

import (
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

// generated binds a table's generated columns over its row columns.
func (b *binder) generated(t *catalog.Table, cols []*expr.Col) ([]Generated, error) {
	var out []Generated
	for pos := range t.Columns {
		if t.Columns[pos].Generated == "" {
			continue
		}
		parsed, err := sql.ParseExpr(t.Columns[pos].Generated)
		if err != nil {
			return nil, err
		}
		e, err := b.generation(parsed, t, pos, cols)
		if err != nil {
			return nil, err
		}
		out = append(out, Generated{Pos: pos, Expr: e})
	}
	return out, nil
}

// generatedFrom is generated for the columns that change with those assigned to, which are added to
// assigned.
func (b *binder) generatedFrom(t *catalog.Table, cols []*expr.Col, assigned map[int]bool) ([]Generated, error) {
	all, err := b.generated(t, cols)
	if err != nil {
		return nil, err
	}
	changes := func(g Generated) bool {
		used := expr.Columns(g.Expr)
		return slices.ContainsFunc(cols, func(c *expr.Col) bool {
			_, uses := used[c.ID]
			return uses && assigned[slices.Index(cols, c)]
		})
	}
	all = slices.DeleteFunc(all, func(g Generated) bool { return !changes(g) })
	for _, g := range all {
		assigned[g.Pos] = true
	}
	return all, nil
}

// generation binds the expression of a generated column, which may use the columns that are not
// generated themselves and nothing that could give another value for the same row.
func (b *binder) generation(e sql.Expr, t *catalog.Table, pos int, cols []*expr.Col) (expr.Expr, error) {
	s := &scope{rels: []*scopeRel{relation(t.Name, columnNames(t), cols)}, noAggregates: "aggregate functions are not allowed in column generation expressions",
		noSubqueries: "cannot use subquery in column generation expression"}
	bound, err := b.expr(e, s)
	if err != nil {
		return nil, err
	}
	if err := refuseNested(e, t); err != nil {
		return nil, err
	}
	if expr.VolatilityOf(bound) != expr.Immutable {
		return nil, sqlerr.New(sqlerr.InvalidObjectDefinition, "generation expression is not immutable")
	}
	c := &t.Columns[pos]
	return b.defaultAs(bound, c, e.SourceSpan().Start)
}

// refuseNested refuses a generation expression that uses a generated column: all are computed from
// the row as it was given.
func refuseNested(e sql.Expr, t *catalog.Table) (err error) {
	sql.Inspect(e, func(n sql.Node) bool {
		ref, ok := n.(*sql.ColumnRef)
		if !ok || err != nil {
			return err == nil
		}
		name := ref.Parts[len(ref.Parts)-1].Name
		if pos := t.ColumnIndex(name); pos >= 0 && t.Columns[pos].Generated != "" {
			err = sqlerr.New(sqlerr.InvalidObjectDefinition, "cannot use generated column %q in column generation expression", name).
				At(ref.Start).WithDetail("A generated column cannot reference another generated column.")
		}
		return err == nil
	})
	return err
}

// checkGenerated refuses generation expressions that cannot be bound; text holds what was written,
// for positions in errors.
func (d *DDL) checkGenerated(t *catalog.Table, name string, text sql.Expr) error {
	b := d.definitionBinder()
	_, err := b.generation(text, t, t.ColumnIndex(name), b.rowColumns(t))
	return err
}

// generatedUsers lists the generated columns that use a column.
func generatedUsers(t *catalog.Table, column string) ([]catalog.Column, error) {
	var users []catalog.Column
	for i := range t.Columns {
		if t.Columns[i].Generated == "" {
			continue
		}
		uses, err := mentions(t.Columns[i].Generated, column)
		if err != nil {
			return nil, err
		}
		if uses {
			users = append(users, t.Columns[i])
		}
	}
	return users, nil
}
