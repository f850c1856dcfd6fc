package planner

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
)

// rewriting collects what is computed for the rows of a table whose columns change in a way that
// rows have to follow. Values are over the rows as they are; generated columns are computed from
// the new ones.
type rewriting struct {
	b      *binder
	scan   *Scan
	values map[catalog.ColumnID]func(*rewriting) (expr.Expr, error) // nil: a generated column
}

// newRewriting prepares for values over the rows as they are.
func (a *alter) newRewriting() *rewriting {
	b := a.d.definitionBinder()
	return &rewriting{b: b, scan: b.scan(a.old, a.old.Name), values: map[catalog.ColumnID]func(*rewriting) (expr.Expr, error){}}
}

// rewriteColumn has rows rewritten, if there are any, with the value of a column that is added.
func (a *alter) rewriteColumn(c *catalog.Column, value func(*rewriting) (expr.Expr, error)) error {
	if !a.hasRows(a.old) {
		return nil
	}
	if a.rewriting == nil {
		a.rewriting = a.newRewriting()
	}
	a.rewriting.values[c.ID] = value
	if c.NotNull {
		a.out.NotNull = append(a.out.NotNull, c.ID)
	}
	return nil
}

// rewrites reports whether rows are rewritten with a value of a column.
func (a *alter) rewrites(id catalog.ColumnID) bool {
	if a.rewriting == nil {
		return false
	}
	_, ok := a.rewriting.values[id]
	return ok
}

// planRewrite plans what yields the new rows, and lets the table start anew with them: its indexes
// are built when they are there.
func (a *alter) planRewrite() (*Plan, error) {
	r := a.rewriting
	if r == nil {
		return nil, nil
	}
	if a.t.Kind == catalog.PartitionedTable { // the rows are the partitions'
		a.newSchema = true
		return nil, nil
	}
	given := &Project{Input: r.scan}
	rowCols := r.b.rowColumns(a.t)
	for pos := range a.t.Columns {
		value, err := r.value(a.t, pos)
		if err != nil {
			return nil, err
		}
		given.Items = append(given.Items, Item{Col: rowCols[pos], Expr: value})
	}
	generated, err := r.b.generated(a.t, rowCols)
	if err != nil {
		return nil, err
	}
	out := &Project{Input: given}
	for _, c := range rowCols {
		out.Items = append(out.Items, Item{Col: r.b.columnLike(c), Expr: c})
	}
	for _, g := range generated {
		if a.rewrites(a.t.Columns[g.Pos].ID) {
			out.Items[g.Pos].Expr = g.Expr
		}
	}
	plan, err := r.b.finish(out, a.d.Catalog, columnNames(a.t))
	if err != nil {
		return nil, err
	}
	a.d.startAnew(a.t)
	a.out.Indexes = nil
	for i := range a.t.Indexes {
		a.t.Indexes[i].State = catalog.IndexReady // also that of an index which could not be filled before
		a.out.Indexes = append(a.out.Indexes, a.t.Indexes[i].ID)
	}
	a.newSchema = false // it is counted
	return plan, nil
}

// value is what a row gets in a column: a new value, or the one it has.
func (r *rewriting) value(t *catalog.Table, pos int) (expr.Expr, error) {
	c := &t.Columns[pos]
	if value, ok := r.values[c.ID]; ok {
		if value == nil { // computed from the others
			return nullOf(c.Type), nil
		}
		return value(r)
	}
	for i := range r.scan.Columns {
		if r.scan.Table.Columns[r.scan.Columns[i].Pos].ID == c.ID {
			return r.scan.Columns[i].Col, nil
		}
	}
	return r.b.defaultOf(t, pos)
}
