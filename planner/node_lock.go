package planner

import "github.com/weftdb/weft/expr"

// LockStrength is how a query locks the rows it yields, weakest first.
type LockStrength uint8

// The strengths, with PostgreSQL's meaning.
const (
	LockKeyShare LockStrength = iota
	LockShare
	LockNoKeyUpdate
	LockUpdate
)

// LockWait says what happens when a row is locked by another transaction.
type LockWait uint8

// Wait for it, leave the row out, or fail with 55P03; later ones count more.
const (
	LockWaits LockWait = iota
	LockSkips
	LockFails
)

// LockRows locks the table rows that its input's rows were made of (FOR UPDATE and the like). A row
// that was changed after the statement's view, once it is locked, is made again from its newest
// version, and dropped if there is no such row any more. It keeps the order and takes no more rows
// than a Limit above asks for. It yields the input's columns without the references.
type LockRows struct {
	Estimates
	Input Node
	Rows  []LockedRows
}

// LockedRows is a table of a LockRows. Ref is the column of its input that holds the row's reference,
// Lock the number of the scan it comes from.
type LockedRows struct {
	Ref      *expr.Col
	Lock     int
	Table    string // alias
	Strength LockStrength
	Wait     LockWait
}

// Cols returns the input's columns but the references.
func (n *LockRows) Cols() []*expr.Col {
	var cols []*expr.Col
	for _, c := range n.Input.Cols() {
		if !n.isRef(c) {
			cols = append(cols, c)
		}
	}
	return cols
}

func (n *LockRows) isRef(c *expr.Col) bool {
	for i := range n.Rows {
		if n.Rows[i].Ref.ID == c.ID {
			return true
		}
	}
	return false
}

// Kids returns the input.
func (n *LockRows) Kids() []Node { return []Node{n.Input} }

// With returns the node over another input.
func (n *LockRows) With(kids []Node) Node {
	c := *n
	c.Input = kids[0]
	return &c
}
