package weft

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/exec"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/vector"
)

// listedKeys is up to how many values are looked up in a list, by an index if there is one; joinedKeys
// is how many at a time are joined: more make statements that take long to plan.
const (
	listedKeys = 500
	joinedKeys = 20000
)

// referenceText writes the statements that look after a foreign key. The referencing table is x.
type referenceText struct {
	use            *exec.KeyChange
	env            *expr.Env
	columns, types []catalog.Column // of child and parent, in the key's order
	names          []string         // x.column
	table          string
	indexed        bool
}

func newReferenceText(use *exec.KeyChange, env *expr.Env) *referenceText {
	t := &referenceText{use: use, env: env, table: qualified(use.Child) + " AS x"}
	for i, id := range use.Key.Columns {
		c := use.Child.Columns[use.Child.ColumnByID(id)]
		t.columns, t.names = append(t.columns, c), append(t.names, "x."+sql.QuoteIdent(c.Name))
		t.types = append(t.types, use.Parent.Columns[use.Parent.ColumnByID(use.Key.RefColumns[i])])
	}
	t.indexed = slices.ContainsFunc(use.Child.Indexes, func(x catalog.Index) bool {
		return x.Where == "" && x.State == catalog.IndexReady && slices.Contains(use.Key.Columns, x.Columns[0])
	})
	return t
}

// each calls run for pieces of n values that are small enough for one statement.
func (t *referenceText) each(n int, run func(from, to int) error) error {
	size := joinedKeys
	if t.indexed {
		size = listedKeys
	}
	for from := 0; from < n; from += size {
		if err := run(from, min(from+size, n)); err != nil {
			return err
		}
	}
	return nil
}

func (t *referenceText) literal(typ catalog.Type, d vector.Datum) string {
	text := "NULL"
	if !d.Null {
		text = sql.QuoteString(expr.FormatDatum(typ, d, t.env))
	}
	return "CAST(" + text + " AS " + typ.String() + ")"
}

// literals writes a value of the referenced columns so that the referencing ones compare with it, if
// they can have it: integers as the referencing column's type, for an index serves no other.
func (t *referenceText) literals(values []vector.Datum) (list []string, possible bool) {
	for i, d := range values {
		child, parent := t.columns[i].Type, t.types[i].Type
		if child.IsInteger() && parent.IsInteger() && child.ID != parent.ID {
			if !fitsInteger(child, d.I) {
				return nil, false
			}
			d.Kind, parent = child.Kind(), child
		}
		list = append(list, t.literal(parent, d))
	}
	return list, true
}

func fitsInteger(t catalog.Type, v int64) bool {
	switch t.ID {
	case catalog.Int2:
		return v == int64(int16(v))
	case catalog.Int4:
		return v >= math.MinInt32 && v <= math.MaxInt32
	case catalog.Oid:
		return v >= 0 && v <= math.MaxUint32
	}
	return true
}

// rows writes those of the values that the referencing table can have, each with what with adds.
func (t *referenceText) rows(values [][]vector.Datum, with func(i int) []string) [][]string {
	var rows [][]string
	for i, v := range values {
		row, possible := t.literals(v)
		if !possible {
			continue
		}
		if with != nil {
			row = append(row, with(i)...)
		}
		rows = append(rows, row)
	}
	return rows
}

// condition is true for rows of x whose key is one of the rows' first columns.
func (t *referenceText) condition(rows [][]string) string {
	if len(rows) == 1 {
		return t.equal(rows[0])
	}
	list := t.listed(rows)
	if list != "" && len(t.names) == 1 {
		return list
	}
	exists := "EXISTS (SELECT 1 FROM " + t.valuesList(rows) + " WHERE " + t.joined() + ")"
	if list == "" {
		return exists
	}
	return list + " AND " + exists
}

func (t *referenceText) equal(row []string) string {
	var parts []string
	for i, name := range t.names {
		parts = append(parts, name+" = "+row[i])
	}
	return strings.Join(parts, " AND ")
}

// listed says that the key's first column is in a list, "" when that is too long.
func (t *referenceText) listed(rows [][]string) string {
	if len(rows) > listedKeys {
		return ""
	}
	var list []string
	for _, row := range rows {
		list = append(list, row[0])
	}
	return t.names[0] + " IN (" + strings.Join(list, ", ") + ")"
}

// valuesList is a table v of rows, whose columns are c0, c1, ….
func (t *referenceText) valuesList(rows [][]string) string {
	var lines, names []string
	for _, row := range rows {
		lines = append(lines, "("+strings.Join(row, ", ")+")")
	}
	for i := range rows[0] {
		names = append(names, fmt.Sprint("c", i))
	}
	return "(VALUES " + strings.Join(lines, ", ") + ") AS v(" + strings.Join(names, ", ") + ")"
}

func (t *referenceText) joined() string {
	var parts []string
	for i, name := range t.names {
		parts = append(parts, fmt.Sprintf("%s = v.c%d", name, i))
	}
	return strings.Join(parts, " AND ")
}

// referencing asks for a row that references one of the values, "" if none can. With lock the row is
// locked: whoever deletes it is waited for.
func (t *referenceText) referencing(values [][]vector.Datum, lock bool) string {
	rows := t.rows(values, nil)
	if len(rows) == 0 {
		return ""
	}
	query := "SELECT 1 FROM " + t.table + " WHERE " + t.condition(rows) + " LIMIT 1"
	if lock {
		query += " FOR KEY SHARE OF x"
	}
	return query
}

// withValues asks for a row that has values of the key itself.
func (t *referenceText) withValues(values []vector.Datum) string {
	var row []string
	for i, d := range values {
		row = append(row, t.literal(t.columns[i].Type, d))
	}
	return "SELECT 1 FROM " + t.table + " WHERE " + t.equal(row) + " LIMIT 1"
}

// mixed asks for a row whose key is NULL in some columns only.
func (t *referenceText) mixed() string {
	var null, none []string
	for _, name := range t.names {
		null, none = append(null, name+" IS NULL"), append(none, name+" IS NOT NULL")
	}
	return "SELECT 1 FROM " + t.table + " WHERE (" + strings.Join(null, " OR ") + ") AND (" + strings.Join(none, " OR ") + ") LIMIT 1"
}

// change is the statement that carries values from, …, to−1 of c over to the rows that reference them.
func (t *referenceText) change(action catalog.ReferenceAction, c *exec.KeyChange, from, to int) string {
	values := c.Values[from:to]
	if action == catalog.Cascade && c.New != nil {
		return t.replace(values, c.New[from:to])
	}
	rows := t.rows(values, nil)
	if len(rows) == 0 {
		return ""
	}
	where := " WHERE " + t.condition(rows)
	if action == catalog.Cascade {
		return "DELETE FROM " + t.table + where
	}
	value := " = NULL"
	if action == catalog.SetDefault {
		value = " = DEFAULT"
	}
	var set []string
	for _, column := range t.columns {
		if c.New != nil || len(t.use.Key.SetColumns) == 0 || slices.Contains(t.use.Key.SetColumns, column.ID) {
			set = append(set, sql.QuoteIdent(column.Name)+value)
		}
	}
	return "UPDATE " + t.table + " SET " + strings.Join(set, ", ") + where
}

// replace is the statement that gives rows new values for old ones.
func (t *referenceText) replace(old, fresh [][]vector.Datum) string {
	width := len(t.columns)
	rows := t.rows(old, func(i int) []string {
		var list []string
		for k, d := range fresh[i] {
			list = append(list, t.literal(t.types[k].Type, d))
		}
		return list
	})
	if len(rows) == 0 {
		return ""
	}
	var set []string
	for i, column := range t.columns {
		value := fmt.Sprint("v.c", width+i)
		if len(rows) == 1 {
			value = rows[0][width+i]
		}
		set = append(set, sql.QuoteIdent(column.Name)+" = "+value)
	}
	query := "UPDATE " + t.table + " SET " + strings.Join(set, ", ")
	if len(rows) == 1 {
		return query + " WHERE " + t.equal(rows[0])
	}
	query += " FROM " + t.valuesList(rows) + " WHERE " + t.joined()
	if list := t.listed(rows); list != "" {
		query += " AND " + list
	}
	return query
}

// describe writes a value of the key as messages do, held with the names of the referencing columns.
func (t *referenceText) describe(values []vector.Datum, held bool) string {
	columns := t.types
	if held {
		columns = t.columns
	}
	var names, texts []string
	for i := range columns {
		names, texts = append(names, columns[i].Name), append(texts, expr.FormatDatum(columns[i].Type, values[i], t.env))
	}
	return "(" + strings.Join(names, ", ") + ")=(" + strings.Join(texts, ", ") + ")"
}

// toParent converts values of the referencing columns to the referenced columns' types; ok is false if
// those cannot have them.
func (t *referenceText) toParent(values []vector.Datum) (out []vector.Datum, ok bool) {
	out = slices.Clone(values)
	for i := range out {
		child, parent := t.columns[i].Type, t.types[i].Type
		switch {
		case child == parent:
		case child.IsInteger() && parent.IsInteger():
			if !fitsInteger(parent, out[i].I) {
				return nil, false
			}
			out[i].Kind = parent.Kind()
		default:
			if out[i], ok = t.convert(out[i], child, parent); !ok || !t.equalValues(values[i], out[i], child, parent) {
				return nil, false
			}
		}
	}
	return out, true
}

func (t *referenceText) convert(d vector.Datum, from, to catalog.Type) (vector.Datum, bool) {
	e, err := expr.Coerce(&expr.Const{Value: d, Typ: from}, to, expr.AssignmentCast, 0)
	if err != nil {
		return d, false
	}
	return t.value(e)
}

// equalValues reports whether a converted value equals what it was made of: a modifier may have
// rounded it. Blanks, which char does not see, make no difference.
func (t *referenceText) equalValues(before, after vector.Datum, child, parent catalog.Type) bool {
	if parent.ID == catalog.Char {
		return true
	}
	e, err := expr.ResolveBinary("=", &expr.Const{Value: before, Typ: child}, &expr.Const{Value: after, Typ: parent}, 0)
	if err != nil {
		return false
	}
	same, ok := t.value(e)
	return ok && same.I != 0
}

// value computes an expression of constants.
func (t *referenceText) value(e expr.Expr) (vector.Datum, bool) {
	e, err := expr.FoldConstants(e, t.env)
	k, ok := e.(*expr.Const)
	if err != nil || !ok {
		return vector.Datum{}, false
	}
	return k.Value, true
}
