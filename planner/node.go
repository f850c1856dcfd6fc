package planner

import (
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/sql"
)

// Node is one operator of a plan. The executor gives each node's batches one vector per element of
// Cols, in that order.
type Node interface {
	// Cols lists the output columns. The slice may belong to the node: callers append to copies.
	Cols() []*expr.Col
	// Kids returns the inputs. The slice may belong to the node and is not to be changed.
	Kids() []Node
	// With returns a copy of the node over as many other inputs, in the order of Kids, which must
	// yield the columns that the node uses. The node itself stays as it is.
	With(kids []Node) Node
	// Estimate returns the node's estimates, which the cost pass fills in.
	Estimate() *Estimates
}

// RowsEst is a point estimate of a row count: it orders joins and chooses operators.
type RowsEst float64

// Cost is in units of reading one row of a small table by rows.
type Cost float64

// Estimates are what the planner expects of a node.
type Estimates struct {
	Rows    RowsEst
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
	// anyNulls, of an order that is looked for, tells that NULLs may stand at either end.
	anyNulls bool
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
	// Wise tells how the groups may be made some partitions at a time; nil where they cannot.
	Wise *AggregateWise
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
	// ByIndex tells that it is a join whose inner rows an index finds, not a subquery.
	ByIndex bool
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

// Cols returns the items' columns, in order.
func (n *Project) Cols() []*expr.Col { return itemCols(n.Items) }

// Kids returns the input.
func (n *Project) Kids() []Node { return []Node{n.Input} }

// With returns a copy over another input.
func (n *Project) With(kids []Node) Node {
	c := *n
	c.Input = kids[0]
	return &c
}

// Cols returns the input's columns: a filter only drops rows.
func (n *Filter) Cols() []*expr.Col { return n.Input.Cols() }

// Kids returns the input.
func (n *Filter) Kids() []Node { return []Node{n.Input} }

// With returns a copy over another input.
func (n *Filter) With(kids []Node) Node {
	c := *n
	c.Input = kids[0]
	return &c
}

// Cols returns the groups' columns, then the aggregates'.
func (n *Aggregate) Cols() []*expr.Col {
	cols := itemCols(n.Groups)
	for i := range n.Aggs {
		cols = append(cols, n.Aggs[i].Col)
	}
	return cols
}

// Kids returns the input.
func (n *Aggregate) Kids() []Node { return []Node{n.Input} }

// With returns a copy over another input.
func (n *Aggregate) With(kids []Node) Node {
	c := *n
	c.Input = kids[0]
	return &c
}

// Cols returns the input's columns.
func (n *Sort) Cols() []*expr.Col { return n.Input.Cols() }

// Kids returns the input.
func (n *Sort) Kids() []Node { return []Node{n.Input} }

// With returns a copy over another input.
func (n *Sort) With(kids []Node) Node {
	c := *n
	c.Input = kids[0]
	return &c
}

// Cols returns the input's columns.
func (n *Limit) Cols() []*expr.Col { return n.Input.Cols() }

// Kids returns the input.
func (n *Limit) Kids() []Node { return []Node{n.Input} }

// With returns a copy over another input.
func (n *Limit) With(kids []Node) Node {
	c := *n
	c.Input = kids[0]
	return &c
}

// Cols returns Out: the inputs' own columns end here.
func (n *Append) Cols() []*expr.Col { return n.Out }

// Kids returns the inputs, in the order of their rows.
func (n *Append) Kids() []Node { return n.Inputs }

// With returns a copy over as many other inputs; it keeps the slice.
func (n *Append) With(kids []Node) Node {
	c := *n
	c.Inputs = kids
	return &c
}

// Cols returns Out, the input's columns without Times.
func (n *Repeat) Cols() []*expr.Col { return n.Out }

// Kids returns the input.
func (n *Repeat) Kids() []Node { return []Node{n.Input} }

// With returns a copy over another input.
func (n *Repeat) With(kids []Node) Node {
	c := *n
	c.Input = kids[0]
	return &c
}

// Cols returns Out, one column per expression of a row.
func (n *Values) Cols() []*expr.Col { return n.Out }

// Kids returns nothing: the rows are a leaf.
func (n *Values) Kids() []Node { return nil }

// With returns the node itself, which has no inputs to replace.
func (n *Values) With([]Node) Node { return n }

// Cols returns Out, the columns of the function's result.
func (n *FuncScan) Cols() []*expr.Col { return n.Out }

// Kids returns nothing: a function is a leaf, its arguments are constant.
func (n *FuncScan) Kids() []Node { return nil }

// With returns the node itself, which has no inputs to replace.
func (n *FuncScan) With([]Node) Node { return n }

// Cols returns Out, which is this reader's alone: each reader of a CTE has columns of its own.
func (n *CTEScan) Cols() []*expr.Col { return n.Out }

// Kids returns nothing: the CTE's plan is walked once, from Plan.CTEs.
func (n *CTEScan) Kids() []Node { return nil }

// With returns the node itself, which has no inputs to replace.
func (n *CTEScan) With([]Node) Node { return n }

// Cols returns what the join of the kind yields: the outer columns, then the inner ones or the mark.
func (n *Apply) Cols() []*expr.Col {
	switch n.Kind {
	case SemiJoin, AntiJoin:
		return n.Outer.Cols()
	case MarkJoin:
		return append(append([]*expr.Col(nil), n.Outer.Cols()...), n.Mark)
	}
	outer := n.Outer.Cols()
	cols := append(append([]*expr.Col(nil), outer...), n.Inner.Cols()...)
	if n.Kind == LeftJoin || n.Kind == SingleJoin {
		admitNulls(cols[len(outer):])
	}
	return cols
}

// Kids returns the outer plan, then the inner one.
func (n *Apply) Kids() []Node { return []Node{n.Outer, n.Inner} }

// With returns a copy over an outer and an inner plan with the same parameters.
func (n *Apply) With(kids []Node) Node {
	c := *n
	c.Outer, c.Inner = kids[0], kids[1]
	return &c
}
