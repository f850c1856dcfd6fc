package storage

import (
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

func errNoColumn(tbl *catalog.Table, id catalog.ColumnID) error {
	return sqlerr.New(sqlerr.InternalError, "table has no such column: table=%s column=%d", tbl.Name, id)
}

func errNoIndex(tbl *catalog.Table, index *catalog.Index) error {
	return sqlerr.New(sqlerr.InternalError, "table has no such index: table=%s index=%s", tbl.Name, index.Name)
}

func errTableChanged(tbl *catalog.Table) error {
	return sqlerr.New(sqlerr.SerializationFailure,
		"could not serialize access due to concurrent change of table %q", tbl.Name).WithTable(tbl.Name)
}

// errDuplicate is the violation of a unique index by a key.
func (e *Engine) errDuplicate(tbl *catalog.Table, ix *indexCodec, key []vector.Datum) error {
	e.metrics.uniqueConflicts.Add(1)
	return sqlerr.New(sqlerr.UniqueViolation, "duplicate key value violates unique constraint %q", ix.index.Name).
		WithDetail("%s already exists.", e.keyText(tbl, ix, key)).
		WithConstraint(ix.index.Name).WithTable(tbl.Name)
}

// keyText is "Key (a, b)=(1, 2)".
func (e *Engine) keyText(tbl *catalog.Table, ix *indexCodec, key []vector.Datum) string {
	values := make([]string, len(key))
	for i := range key {
		values[i] = "null"
		if !key[i].Null {
			values[i] = e.FormatValue(ix.cols[i].typ, key[i])
		}
	}
	return "Key (" + ix.index.KeyText(tbl) + ")=(" + strings.Join(values, ", ") + ")"
}

func (e *Engine) keyIsDuplicated(tbl *catalog.Table, dup *duplicateKey) string {
	return e.keyText(tbl, dup.ix, dup.values) + " is duplicated."
}

// errNotNull is a NULL in column c of row i of vecs, one vector per column of the table.
func (e *Engine) errNotNull(tbl *catalog.Table, c int, vecs []*vector.Vector, i int) error {
	values := make([]string, len(tbl.Columns))
	for n := range tbl.Columns {
		values[n] = "null"
		if d := vector.DatumAt(vecs[n], i); !d.Null {
			values[n] = e.FormatValue(tbl.Columns[n].Type, d)
		}
	}
	return sqlerr.New(sqlerr.NotNullViolation, "null value in column %q of relation %q violates not-null constraint",
		tbl.Columns[c].Name, tbl.Name).
		WithDetail("Failing row contains (%s).", strings.Join(values, ", ")).
		WithColumn(tbl.Columns[c].Name).WithTable(tbl.Name)
}

// checkNotNull finds the first row of vecs that has a NULL where none may be.
func (e *Engine) checkNotNull(t *tableCodec, vecs []*vector.Vector, n int) error {
	row, col := n, -1
	for _, c := range t.notNull {
		v := vecs[c]
		if v.Valid == nil {
			continue
		}
		for i := range row {
			if v.IsNull(i) {
				row, col = i, c
				break
			}
		}
	}
	if col < 0 {
		return nil
	}
	return e.errNotNull(t.tbl, col, vecs, row)
}
