package planner

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/prune"
)

// Insert writes its input, whose columns are exactly the table's, in order. Under ON CONFLICT DO
// UPDATE Keys is about updates too, whose old values stand as in the table. It yields Returning,
// whose expressions are over RowCols, the stored row's columns.
type Insert struct {
	Estimates
	Table     *catalog.Table
	Into      Target
	Input     Node
	RowCols   []*expr.Col
	Returning []Item
	Generated []Generated
	Checks    []TableCheck
	Keys      *References // nil: no foreign key is concerned
	Conflict  *OnConflict // nil: a duplicate key fails the statement
}

// OnConflict says what becomes of a row whose key in one of the arbiters exists: nothing, or, with
// Update, the existing row gets the values of Set, one per column of the table, if Where is true.
// Both are over Existing, the columns of the existing row, and Excluded, those of the row that could
// not be inserted. Generated, over the RowCols of the INSERT, are the columns that Set makes change.
type OnConflict struct {
	Arbiters           []*catalog.Index
	Any                bool // the statement names no key: all are arbiters, also those that a partition alone has
	Update             bool
	Existing, Excluded []*expr.Col
	Set                []expr.Expr
	Where              expr.Expr // may be nil
	Generated          []Generated
}

// Update replaces rows: its input yields the new row's columns, exactly the table's, in order, then
// the old values that Keys asks for, then the row's reference. Returning is over RowCols, the new row's columns.
type Update struct {
	Estimates
	Table     *catalog.Table
	Into      Target
	Input     Node
	RowCols   []*expr.Col
	Returning []Item
	Generated []Generated
	Checks    []TableCheck
	Keys      *References
	Alias     string
}

// Delete removes rows: the last column of its input is the row's reference; the old values that Keys
// asks for are among the others. Returning is over the input's columns.
type Delete struct {
	Estimates
	Table     *catalog.Table
	Into      Target
	Input     Node
	Returning []Item
	Keys      *References
	Alias     string
}

// Target is what a statement has to know of the place of the rows that it changes.
type Target struct {
	Parts *prune.Desc     // of a partitioned table: the rows are in its leaves
	Bound *PartitionCheck // of a partition: rows have to belong there
}

// Generated computes the column at a position of the table by an expression over RowCols. Whoever
// writes the row does so before its constraints are checked; until then the column is NULL or has the
// value from before.
type Generated struct {
	Pos  int
	Expr expr.Expr
}

// TableCheck is a CHECK constraint bound over RowCols: a row for which it is FALSE is refused.
type TableCheck struct {
	Name string
	Expr expr.Expr
}

// Cols returns the columns of RETURNING; none without it.
func (n *Insert) Cols() []*expr.Col { return itemCols(n.Returning) }

// Kids returns the input.
func (n *Insert) Kids() []Node { return []Node{n.Input} }

// With returns a copy over another input.
func (n *Insert) With(kids []Node) Node {
	c := *n
	c.Input = kids[0]
	return &c
}

// Cols returns the columns of RETURNING; none without it.
func (n *Update) Cols() []*expr.Col { return itemCols(n.Returning) }

// Kids returns the input.
func (n *Update) Kids() []Node { return []Node{n.Input} }

// With returns a copy over another input.
func (n *Update) With(kids []Node) Node {
	c := *n
	c.Input = kids[0]
	return &c
}

// Cols returns the columns of RETURNING; none without it.
func (n *Delete) Cols() []*expr.Col { return itemCols(n.Returning) }

// Kids returns the input.
func (n *Delete) Kids() []Node { return []Node{n.Input} }

// With returns a copy over another input.
func (n *Delete) With(kids []Node) Node {
	c := *n
	c.Input = kids[0]
	return &c
}
