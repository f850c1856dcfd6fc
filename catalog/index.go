package catalog

import (
	"slices"
	"strings"

	"github.com/weftdb/weft/internal/sqlname"
)

// Index describes a unique or plain index. The primary key is one of them.
type Index struct {
	ID   IndexID
	Name string
	// Columns are the columns of the key; 0 stands for an expression, the next one of Exprs.
	Columns []ColumnID
	Desc    []bool      `json:",omitempty"`
	Exprs   []IndexExpr `json:",omitempty"`
	// NullsFirst tells where NULLs stand; nil: first where Desc, else last.
	NullsFirst []bool `json:",omitempty"`
	// Include are columns that entries carry besides the key, to be read from them.
	Include []ColumnID `json:",omitempty"`
	// Where is the condition, over the table's columns, of the rows that the index has entries of,
	// "" = all.
	Where  string `json:",omitempty"`
	Unique bool
	// NullsNotDistinct tells that a unique index takes NULL as a value like others.
	NullsNotDistinct bool `json:",omitempty"`
	Primary          bool
	// Plain tells that CREATE INDEX made it: it is no constraint.
	Plain bool `json:",omitempty"`
	// Parent is the index of the table's parent that this one is a part of, 0 = none.
	Parent IndexID    `json:",omitempty"`
	State  IndexState `json:",omitempty"`
}

// IndexExpr is an expression in an index's key.
type IndexExpr struct {
	Expr string // text over the table's columns; in parentheses unless it is a function call
	Type Type
}

// IndexState tells who uses an index.
type IndexState uint8

// The states. A Ready index has an entry of every row. A Building one is written by every writer and
// filled at the same time, and not read. An Invalid one is neither read nor written: building it
// failed, or it is about to be dropped.
const (
	IndexReady IndexState = iota
	IndexBuilding
	IndexInvalid
)

// KeyOrder tells how a column of the key is ordered.
func (x *Index) KeyOrder(i int) (desc, nullsFirst bool) {
	desc = i < len(x.Desc) && x.Desc[i]
	if x.NullsFirst == nil {
		return desc, desc
	}
	return desc, x.NullsFirst[i]
}

// ExprAt returns the expression at a position of the key, nil if a column is there.
func (x *Index) ExprAt(i int) *IndexExpr {
	if x.Columns[i] != 0 {
		return nil
	}
	n := 0
	for _, id := range x.Columns[:i] {
		if id == 0 {
			n++
		}
	}
	return &x.Exprs[n]
}

// OnColumns reports whether the key consists of columns only and every row has an entry.
func (x *Index) OnColumns() bool { return len(x.Exprs) == 0 && x.Where == "" }

// Enforced reports whether the index keeps its key unique for every combination of other values in
// the table: planning may rely on that for a Ready one, and foreign keys may reference it.
func (x *Index) Enforced() bool { return x.Unique && x.OnColumns() && x.State == IndexReady }

// Written reports whether writers keep the index up.
func (x *Index) Written() bool { return x.State != IndexInvalid }

// Uses reports whether a column is part of the index, as key or included; expressions and the
// condition do not count.
func (x *Index) Uses(id ColumnID) bool {
	return slices.Contains(x.Columns, id) || slices.Contains(x.Include, id)
}

// KeyText lists the parts of the key, in the order of the index, as messages print them.
func (x *Index) KeyText(t *Table) string {
	parts := make([]string, len(x.Columns))
	for i := range parts {
		parts[i] = x.keyPart(t, i, sqlname.Quote)
	}
	return strings.Join(parts, ", ")
}

func (x *Index) keyPart(t *Table, i int, quote func(string) string) string {
	if e := x.ExprAt(i); e != nil {
		return e.Expr
	}
	return quote(t.Columns[t.ColumnByID(x.Columns[i])].Name)
}

// Definition prints what stands behind the table's name in CREATE INDEX; quote quotes a name where
// SQL needs it.
func (x *Index) Definition(t *Table, quote func(string) string) string {
	var b strings.Builder
	b.WriteString("(")
	for i := range x.Columns {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(x.keyPart(t, i, quote))
		desc, first := x.KeyOrder(i)
		if desc {
			b.WriteString(" DESC")
		}
		switch {
		case first && !desc:
			b.WriteString(" NULLS FIRST")
		case desc && !first:
			b.WriteString(" NULLS LAST")
		}
	}
	b.WriteString(")")
	if len(x.Include) > 0 {
		names := make([]string, len(x.Include))
		for i, id := range x.Include {
			names[i] = quote(t.Columns[t.ColumnByID(id)].Name)
		}
		b.WriteString(" INCLUDE (" + strings.Join(names, ", ") + ")")
	}
	if x.NullsNotDistinct {
		b.WriteString(" NULLS NOT DISTINCT")
	}
	if x.Where != "" {
		b.WriteString(" WHERE " + x.Where)
	}
	return b.String()
}
