package planner

import "github.com/weftdb/weft/expr"

// JoinKind tells which rows a join yields. The right input is the one that is hashed (build), the
// left one probes.
type JoinKind uint8

// The join kinds.
const (
	InnerJoin JoinKind = iota
	LeftJoin           // every left row, NULLs where nothing matches
	RightJoin          // every right row, NULLs where nothing matches
	FullJoin
	SemiJoin      // left rows with a match
	AntiJoin      // left rows without one
	RightSemiJoin // right rows with a match
	RightAntiJoin // right rows without one
	// NullAwareAntiJoin is NOT IN over a single key: no left row if the right side holds a NULL
	// key, every left row if it is empty, else rows with a non-NULL key that is not there.
	NullAwareAntiJoin
	// MarkJoin yields every left row once and a boolean: TRUE where some right row's condition is
	// true, else NULL where some condition is NULL, else FALSE.
	MarkJoin
	// SingleJoin is a left join that raises 21000 when a left row has two matches.
	SingleJoin
)

var joinNames = [...]string{"", "Left ", "Right ", "Full ", "Semi ", "Anti ", "Right Semi ", "Right Anti ", "Null-Aware Anti ", "Mark ", "Single "}

// String returns the word EXPLAIN puts before "Join", with a blank behind it.
func (k JoinKind) String() string { return joinNames[k] }

// Join combines two inputs. Before the physical choice only On is set; after it the conditions are
// split into Keys and Residual.
type Join struct {
	Estimates
	Kind        JoinKind
	Left, Right Node
	On          []expr.Expr

	// Keys are equality conditions; without any the join is a nested loop. Left and right
	// expressions of a pair have the same type.
	Keys []JoinKey
	// Residual conditions are evaluated over the columns of both inputs for rows whose keys match.
	// For MarkJoin their NULL result counts.
	Residual []expr.Expr
	// NullAware, for MarkJoin and NullAwareAntiJoin with exactly one key: a NULL key compares as
	// NULL to everything instead of matching nothing.
	NullAware bool
	// Mark is the column MarkJoin adds.
	Mark *expr.Col
	// Out lists the output columns, a subset of both inputs' (and Mark); nil = all of them.
	Out []*expr.Col
	// Selectors find, from the right rows, the partitions that scans on the left have to read.
	Selectors []*PartSelector
	// Covers tells that leaves of the scan of a partitioned table that the left side is need not be read
	// when the right rows have all values, of the only key, that they list.
	Covers bool
	// Wise tells how the join may be carried out partition-wise; nil where it cannot.
	Wise *PartitionWise
	// Merge, where not nil, tells that both inputs come in the order of Keys, and how each of these is
	// ordered: the join merges them, and its rows come in that order too. There are no selectors then.
	Merge []MergeKey
	plain *Join // of a merge join: what it was before
	// RightUnique tells that no two right rows have equal keys: the first match ends the probe.
	RightUnique bool
}

// JoinKey is one equality of a join. NullSafe: IS NOT DISTINCT FROM.
type JoinKey struct {
	Left, Right expr.Expr
	NullSafe    bool
}

// MergeKey is how a key of a merge join is ordered. NullsFirst matters for null-safe keys: NULLs in others
// match nothing, and may stand at either end.
type MergeKey struct{ Desc, NullsFirst bool }

// Cols returns the output columns.
func (n *Join) Cols() []*expr.Col {
	if n.Out != nil {
		return n.Out
	}
	switch n.Kind {
	case SemiJoin, AntiJoin, NullAwareAntiJoin:
		return n.Left.Cols()
	case RightSemiJoin, RightAntiJoin:
		return n.Right.Cols()
	case MarkJoin:
		return append(append([]*expr.Col(nil), n.Left.Cols()...), n.Mark)
	}
	left, right := n.Left.Cols(), n.Right.Cols()
	cols := append(append(make([]*expr.Col, 0, len(left)+len(right)), left...), right...)
	switch n.Kind {
	case LeftJoin, SingleJoin:
		admitNulls(cols[len(left):])
	case RightJoin:
		admitNulls(cols[:len(left)])
	case FullJoin:
		admitNulls(cols)
	}
	return cols
}

// admitNulls replaces the columns that an outer join may fill with NULLs.
func admitNulls(cols []*expr.Col) {
	for i, c := range cols {
		if c.NotNull {
			cols[i] = nullable(c)
		}
	}
}

// nullable returns the column as it is seen above an outer join.
func nullable(c *expr.Col) *expr.Col {
	n := *c
	n.NotNull = false
	return &n
}

// Kids returns left and right.
func (n *Join) Kids() []Node { return []Node{n.Left, n.Right} }

// With returns the join over other inputs.
func (n *Join) With(kids []Node) Node {
	c := *n
	c.Left, c.Right = kids[0], kids[1]
	return &c
}
