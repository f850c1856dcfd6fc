package planner

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/prune"
)

// LateFetch adds columns of a table to rows that know which of its rows they come from: what a scan
// below has left out because few of its rows get here. It yields the input's columns, then Columns.
type LateFetch struct {
	Estimates
	Input   Node
	Table   *catalog.Table
	Alias   string
	Parts   *prune.Desc // where the table is partitioned: rows are in its leaves
	Ref     *expr.Col   // the row's reference, a column of Input that is never NULL
	Columns []ScanCol
}

// Cols returns the input's columns, then those fetched.
func (n *LateFetch) Cols() []*expr.Col {
	below := n.Input.Cols()
	cols := append(make([]*expr.Col, 0, len(below)+len(n.Columns)), below...)
	for i := range n.Columns {
		cols = append(cols, n.Columns[i].Col)
	}
	return cols
}

// Kids returns the input.
func (n *LateFetch) Kids() []Node { return []Node{n.Input} }

// With returns a copy over another input.
func (n *LateFetch) With(kids []Node) Node {
	c := *n
	c.Input = kids[0]
	return &c
}
