package planner

import (
	"github.com/weftdb/weft/expr"
)

// Comparison says how far the results of two plans of one statement have to agree.
type Comparison uint8

// The comparisons: all rows, in any order; their number only, because LIMIT may choose among rows; or
// nothing, for a reason.
const (
	CompareRows Comparison = iota
	CompareCount
	CompareNothing
)

// Comparison tells what the results of the plan and another plan of its statement have in common, and
// why that is not everything.
func (p *Plan) Comparison() (how Comparison, why string) {
	note := func(n Node) bool {
		visitExprs(n, func(e expr.Expr) {
			if expr.VolatilityOf(e) == expr.Volatile {
				how, why = CompareNothing, "it calls volatile functions"
			}
		})
		switch n := n.(type) {
		case *FuncScan:
			if n.Name != "generate_series" {
				how, why = CompareNothing, "it calls functions of the system"
			}
		case *Limit:
			if how < CompareCount {
				how, why = CompareCount, "LIMIT may choose among rows"
			}
			if n != p.Root && how < CompareNothing && !limitOnTop(p.Root, n) {
				how, why = CompareNothing, "LIMIT in a subquery may choose among rows"
			}
		case *Sort:
			if n.Limit != nil {
				if how < CompareCount {
					how, why = CompareCount, "LIMIT may choose among equal rows"
				}
				if how < CompareNothing && !limitOnTop(p.Root, n) {
					how, why = CompareNothing, "LIMIT in a subquery may choose among rows"
				}
			}
		case *Aggregate:
			for _, a := range n.Aggs {
				if a.Call.Fn.Name == "string_agg" {
					how, why = CompareNothing, "string_agg depends on the order of rows"
				}
			}
		}
		return true
	}
	p.walk(note)
	return how, why
}

// limitOnTop reports whether only nodes that yield a row for each of their input's stand above n.
func limitOnTop(root, n Node) bool {
	for root != n {
		switch r := root.(type) {
		case *Project:
			root = r.Input
		case *LateFetch:
			root = r.Input
		case *Limit:
			root = r.Input
		default:
			return false
		}
	}
	return true
}

// ReadsColumns reports whether the plan reads any table by columns.
func (p *Plan) ReadsColumns() bool {
	_, columns := p.reads()
	return columns
}
