package planner

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/sql"
)

// Merge changes a table by rows of a source. Its input joins each source row with the table's rows
// that On is true for; its last column is the reference of the table's row, NULL where there is none.
// Of Whens the first one that fits a joined row and whose condition is true says what is done.
type Merge struct {
	Estimates
	Table *catalog.Table
	Into  Target
	Alias string
	Input Node
	On    []expr.Expr // over the input
	// Target are the input's columns with the table's row, by position in the table; nil for those
	// that nothing needs.
	Target  []*expr.Col
	Whens   []MergeWhen
	RowCols []*expr.Col // of rows to be stored
	// Generated are those of inserted rows.
	Generated []Generated
	Checks    []TableCheck
	Keys      *References // nil: no foreign key is concerned
}

// MergeWhen is a WHEN clause. Values are over the input: for an INSERT the new row; for an UPDATE the
// new row and the old one; for a DELETE, if a foreign key is concerned, the old one twice, so that it
// stands in the same place.
type MergeWhen struct {
	Matched   bool
	Cond      expr.Expr // may be nil
	Action    sql.MergeAction
	Values    []expr.Expr
	Generated []Generated // those that an UPDATE makes change
}

// Inserts reports whether source rows without a row of the table matter.
func (n *Merge) Inserts() bool {
	for i := range n.Whens {
		if !n.Whens[i].Matched {
			return true
		}
	}
	return false
}

// Cols returns nothing: MERGE has no RETURNING.
func (n *Merge) Cols() []*expr.Col { return nil }

// Kids returns the input.
func (n *Merge) Kids() []Node { return []Node{n.Input} }

// With returns a copy over another input.
func (n *Merge) With(kids []Node) Node {
	c := *n
	c.Input = kids[0]
	return &c
}
