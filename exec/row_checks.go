package exec

import (
	"slices"
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// rowChecks tests rows against a table's NOT NULL and CHECK constraints before they are stored. The
// first row that fails is reported, and of its failures the one PostgreSQL reports: NOT NULL in
// column order, then CHECKs by name.
type rowChecks struct {
	table *catalog.Table
	// shown are the columns in the order in which messages show a row, nil = the table's: rows of
	// partitions are shown as the partitioned table has them.
	shown []int
	// bound is of a table that is a partition and written by its own name. Of a row that is inserted it
	// comes last, of one that is updated first.
	bound      *boundCheck
	boundFirst bool
	env        *expr.Env
	checks     []planner.TableCheck
	evals      []expr.Evaluator
}

func newRowChecks(t *catalog.Table, checks []planner.TableCheck, rowCols []*expr.Col, env *expr.Env) (*rowChecks, error) {
	c := &rowChecks{table: t, env: env, checks: slices.Clone(checks)}
	slices.SortFunc(c.checks, func(a, b planner.TableCheck) int { return strings.Compare(a.Name, b.Name) })
	at := layout(rowCols)
	for _, check := range c.checks {
		e, err := expr.Compile(check.Expr, at, env)
		if err != nil {
			return nil, err
		}
		c.evals = append(c.evals, e)
	}
	return c, nil
}

// check returns the error of the first live row that fails.
func (c *rowChecks) check(b *vector.Batch) error {
	_, err := c.first(b)
	return err
}

// first returns the first live row that fails, with its error; −1 with an error that no row is to blame
// for.
func (c *rowChecks) first(b *vector.Batch) (int, error) {
	row := -1
	var failed *sqlerr.Error
	note := func(i int, make func() *sqlerr.Error) {
		if row < 0 || i < row {
			row, failed = i, make()
		}
	}
	bound := func() error {
		at, err := c.bound.first(b)
		if err == nil && at >= 0 {
			note(at, c.boundError)
		}
		return err
	}
	if c.boundFirst {
		if err := bound(); err != nil {
			return -1, err
		}
	}
	for col := range c.table.Columns {
		if v := b.Vecs[col]; c.table.Columns[col].NotNull && v.Valid != nil {
			if i := firstRow(b, v.IsNull); i >= 0 {
				note(i, func() *sqlerr.Error { return c.nullError(col) })
			}
		}
	}
	for k, e := range c.evals {
		v, err := e.Eval(b, b.Sel)
		if err != nil {
			if row >= 0 { // an earlier constraint fails for some row: that comes first
				break
			}
			return -1, err
		}
		isFalse := func(i int) bool { return !v.IsNull(i) && vector.DatumAt(v, i).I == 0 }
		if i := firstRow(b, isFalse); i >= 0 {
			note(i, func() *sqlerr.Error { return c.checkError(c.checks[k].Name) })
		}
	}
	if !c.boundFirst {
		if err := bound(); err != nil {
			return -1, err
		}
	}
	if failed == nil {
		return -1, nil
	}
	return row, failed.WithDetail("Failing row contains (%s).", c.describe(b, row))
}

func (c *rowChecks) boundError() *sqlerr.Error {
	e := sqlerr.New(sqlerr.CheckViolation, "new row for relation %q violates partition constraint", c.table.Name).WithTable(c.table.Name)
	e.SchemaName = c.table.Schema
	return e
}

// firstRow returns the first live row for which is holds, −1 if there is none.
func firstRow(b *vector.Batch, is func(i int) bool) int {
	for k := range b.Live() {
		i := k
		if b.Sel != nil {
			i = int(b.Sel[k])
		}
		if is(i) {
			return i
		}
	}
	return -1
}

func (c *rowChecks) nullError(col int) *sqlerr.Error {
	name := c.table.Columns[col].Name
	e := sqlerr.New(sqlerr.NotNullViolation, "null value in column %q of relation %q violates not-null constraint", name, c.table.Name).
		WithTable(c.table.Name).WithColumn(name)
	e.SchemaName = c.table.Schema
	return e
}

func (c *rowChecks) checkError(name string) *sqlerr.Error {
	e := sqlerr.New(sqlerr.CheckViolation, "new row for relation %q violates check constraint %q", c.table.Name, name).
		WithTable(c.table.Name).WithConstraint(name)
	e.SchemaName = c.table.Schema
	return e
}

// shownBytes is how much of a value an error shows, as in PostgreSQL.
const shownBytes = 64

// describe prints a row's values.
func (c *rowChecks) describe(b *vector.Batch, row int) string {
	parts := make([]string, len(c.table.Columns))
	for i := range parts {
		at := i
		if c.shown != nil {
			at = c.shown[i]
		}
		parts[i] = shownValue(c.table.Columns[at].Type, vector.DatumAt(b.Vecs[at], row), c.env)
	}
	return joinNames(parts)
}

func joinNames(parts []string) string { return strings.Join(parts, ", ") }

// shownValue prints a value as messages show it.
func shownValue(t catalog.Type, d vector.Datum, env *expr.Env) string {
	if d.Null {
		return "null"
	}
	text := expr.FormatDatum(t, d, env)
	if len(text) > shownBytes {
		cut := shownBytes
		for cut > 0 && text[cut]&0xC0 == 0x80 {
			cut--
		}
		text = text[:cut] + "..."
	}
	return text
}
