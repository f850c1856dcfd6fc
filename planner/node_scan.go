package planner

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
)

// Access tells how a table is read.
type Access uint8

// The accesses. Columns reads covered columns only; Hybrid filters on covered columns and fetches
// the survivors' other columns from the row store; Key looks one row up by its primary key; Index
// fetches the rows that a range of an index names; Bitmap fetches, in the order they are stored in,
// the rows that several ranges name together.
const (
	AccessRows Access = iota
	AccessColumns
	AccessHybrid
	AccessKey
	AccessIndex
	AccessBitmap
)

// ScanCol is a column that a scan yields.
type ScanCol struct {
	Pos int // position in Table.Columns
	Col *expr.Col
	// FilterOnly tells that nothing above the scan reads the column: where the filter did not need its
	// values either, the scan may yield any.
	FilterOnly bool
}

// Scan reads a table. It yields Columns in order, then RowRef where that is not nil.
type Scan struct {
	Estimates
	Table   *catalog.Table
	Alias   string
	Columns []ScanCol
	// RowRef yields the row's reference (bigint), for UPDATE and DELETE.
	RowRef *expr.Col
	// Filter holds conjuncts over Columns.
	Filter []expr.Expr
	Access Access
	// Key holds, for AccessKey, one expression without columns per primary-key column, of that
	// column's type; the conditions are in Filter too.
	Key    []expr.Expr
	Index  *IndexScan  // for AccessIndex
	Bitmap *BitmapScan // for AccessBitmap
	// WhyRows says why the table is not read by columns; empty when it is.
	WhyRows string
	// Lock numbers the scans whose rows the statement locks or changes, from 1; 0 = it only reads.
	// Copies of a scan in one plan have the same number.
	Lock int
	// Parts are the leaves that are read of a partitioned table; nil for others.
	Parts *PartScan
	// Nodes are the data nodes that are read where rows are read in their order in the store; nil: all rows
	// are on one.
	Nodes *PartScan
	// Number is the scan's in the plan, 0 where no join above could select partitions for it.
	Number int
	hint   scanHint
	// hybridLeaves allows hybrid scans of leaves.
	hybridLeaves bool
}

// Cols returns the scan's columns, the row reference last.
func (n *Scan) Cols() []*expr.Col {
	cols := make([]*expr.Col, 0, len(n.Columns)+1)
	for i := range n.Columns {
		cols = append(cols, n.Columns[i].Col)
	}
	if n.RowRef != nil {
		cols = append(cols, n.RowRef)
	}
	return cols
}

// Kids returns nothing: a scan is a leaf.
func (n *Scan) Kids() []Node { return nil }

// With returns the scan itself.
func (n *Scan) With([]Node) Node { return n }
