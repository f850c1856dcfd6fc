package planner

import (
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/sql"
)

// Node is one operator of a plan. The executor gives each node's batches one vector per element of
// Cols, in that order.
type Node interface {
	// Cols lists the output columns.
	Cols() []*expr.Col
	// Kids returns the inputs; With returns the node over other inputs.
	Kids() []Node
	With(kids []Node) Node
	// Estimate returns the node's estimates, which the cost pass fills in.
	Estimate() *Estimates
}

// RowsEst is a point estimate of a row count: it orders joins and chooses operators.
type RowsEst float64

// RowsBound is a provable upper limit of a row count: it sizes memory, and never orders joins.
type RowsBound float64

// Cost is in units of reading one row of a small table by rows.
type Cost float64

// Estimates are what the planner expects of a node.
type Estimates struct {
	Rows    RowsEst
	Bound   RowsBound
	Startup Cost
	Total   Cost
	Width   int // bytes a row
}

// Estimate makes *Estimates's holder a Node's part.
func (e *Estimates) Estimate() *Estimates { return e }

// Item computes an output column from an expression over the input's columns.
type Item struct {
	Col  *expr.Col
	Expr expr.Expr
}

// AggItem computes an output column of an Aggregate.
type AggItem struct {
	Col  *expr.Col
	Call *expr.AggCall
}

// SortKey is one key of an ordering.
type SortKey struct {
	Expr       expr.Expr
	Desc       bool
	NullsFirst bool
}

// Project computes expressions.
type Project struct {
	Estimates
	Input Node
	Items []Item
}

// Filter keeps the rows for which every condition is true.
type Filter struct {
	Estimates
	Input Node
	Conds []expr.Expr
}

// Aggregate groups its input; without Aggs it is DISTINCT. Without Groups it yields exactly one
// row, unless Aggs is empty too.
type Aggregate struct {
	Estimates
	Input  Node
	Groups []Item
	Aggs   []AggItem
}

// Sort orders its input; Limit, where not nil, keeps Limit rows after skipping Offset (top-N), and
// with Ties the rows behind that are equal to the last one in all keys.
type Sort struct {
	Estimates
	Input         Node
	Keys          []SortKey
	Limit, Offset expr.Expr
	Ties          bool
}

// Limit skips Offset rows and passes on Count; either may be nil. They use no columns but those of
// outer queries, which unnesting turns into parameters.
type Limit struct {
	Estimates
	Input         Node
	Count, Offset expr.Expr
}

// Append yields the rows of all inputs; column i of Out takes column i of each input, whose types
// are equal.
type Append struct {
	Estimates
	Inputs []Node
	Out    []*expr.Col
}

// Repeat yields each row as often as its Times column (bigint) says: INTERSECT ALL and EXCEPT ALL.
type Repeat struct {
	Estimates
	Input Node
	Times *expr.Col
	Out   []*expr.Col
}

// Values yields rows of expressions without columns in them. Zero columns with one row is the
// input of a SELECT without FROM.
type Values struct {
	Estimates
	Rows [][]expr.Expr
	Out  []*expr.Col
}

// FuncScan yields the rows of a set-returning function: generate_series, or one of the system
// functions that the session provides.
type FuncScan struct {
	Estimates
	Name string
	Args []expr.Expr // no columns in them
	Out  []*expr.Col
	// Alias is the name the relation has in the statement.
	Alias string
	Pos   int // of the call in the statement
}

// CTE is a query computed once and read by one or more CTEScans.
type CTE struct {
	ID           int
	Name         string
	Plan         Node
	materialized sql.Tristate
}

// CTEScan reads a CTE: column i of Out is column i of its plan.
type CTEScan struct {
	Estimates
	CTE   *CTE
	Alias string
	Out   []*expr.Col
}

// Apply runs Inner once for each row of Outer, with Params bound to the row's values: what is
// left where a correlated subquery cannot be unnested. Kind is InnerJoin, LeftJoin, SemiJoin,
// AntiJoin, MarkJoin or SingleJoin; On is evaluated over both sides.
type Apply struct {
	Estimates
	Kind         JoinKind
	Outer, Inner Node
	Params       []ApplyParam
	On           []expr.Expr
	Mark         *expr.Col
}

// ApplyParam binds parameter Index of the inner plan to a column of the outer one.
type ApplyParam struct {
	Index int
	Col   *expr.Col
}

func itemCols(items []Item) []*expr.Col {
	cols := make([]*expr.Col, len(items))
	for i := range items {
		cols[i] = items[i].Col
	}
	return cols
}

func (n *Project) Cols() []*expr.Col { return itemCols(n.Items) }
func (n *Project) Kids() []Node      { return []Node{n.Input} }
func (n *Project) With(kids []Node) Node {
	c := *n
	c.Input = kids[0]
	return &c
}

func (n *Filter) Cols() []*expr.Col { return n.Input.Cols() }
func (n *Filter) Kids() []Node      { return []Node{n.Input} }
func (n *Filter) With(kids []Node) Node {
	c := *n
	c.Input = kids[0]
	return &c
}

func (n *Aggregate) Cols() []*expr.Col {
	cols := itemCols(n.Groups)
	for i := range n.Aggs {
		cols = append(cols, n.Aggs[i].Col)
	}
	return cols
}
func (n *Aggregate) Kids() []Node { return []Node{n.Input} }
func (n *Aggregate) With(kids []Node) Node {
	c := *n
	c.Input = kids[0]
	return &c
}

func (n *Sort) Cols() []*expr.Col { return n.Input.Cols() }
func (n *Sort) Kids() []Node      { return []Node{n.Input} }
func (n *Sort) With(kids []Node) Node {
	c := *n
	c.Input = kids[0]
	return &c
}

func (n *Limit) Cols() []*expr.Col { return n.Input.Cols() }
func (n *Limit) Kids() []Node      { return []Node{n.Input} }
func (n *Limit) With(kids []Node) Node {
	c := *n
	c.Input = kids[0]
	return &c
}

func (n *Append) Cols() []*expr.Col { return n.Out }
func (n *Append) Kids() []Node      { return n.Inputs }
func (n *Append) With(kids []Node) Node {
	c := *n
	c.Inputs = kids
	return &c
}

func (n *Repeat) Cols() []*expr.Col { return n.Out }
func (n *Repeat) Kids() []Node      { return []Node{n.Input} }
func (n *Repeat) With(kids []Node) Node {
	c := *n
	c.Input = kids[0]
	return &c
}

func (n *Values) Cols() []*expr.Col { return n.Out }
func (n *Values) Kids() []Node      { return nil }
func (n *Values) With([]Node) Node  { return n }

func (n *FuncScan) Cols() []*expr.Col { return n.Out }
func (n *FuncScan) Kids() []Node      { return nil }
func (n *FuncScan) With([]Node) Node  { return n }

func (n *CTEScan) Cols() []*expr.Col { return n.Out }
func (n *CTEScan) Kids() []Node      { return nil }
func (n *CTEScan) With([]Node) Node  { return n }

func (n *Apply) Cols() []*expr.Col {
	switch n.Kind {
	case SemiJoin, AntiJoin:
		return n.Outer.Cols()
	case MarkJoin:
		return append(append([]*expr.Col(nil), n.Outer.Cols()...), n.Mark)
	}
	return append(append([]*expr.Col(nil), n.Outer.Cols()...), n.Inner.Cols()...)
}
func (n *Apply) Kids() []Node { return []Node{n.Outer, n.Inner} }
func (n *Apply) With(kids []Node) Node {
	c := *n
	c.Outer, c.Inner = kids[0], kids[1]
	return &c
}
