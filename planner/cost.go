package planner

import "math"

// The unit of cost is reading one row of a table by rows. Constants are ratios measured between
// the operators on one core; they order plans and mean nothing in seconds.
const (
	costRowScan      = 1.0   // decode a row's columns from the row store
	costColumnScan   = 0.03  // a row of a column unit, per column
	costColumnStart  = 30.0  // opening a column scan, as in the reference system's plans
	costFetch        = 3.0   // a row by reference
	costFetchMany    = 6.0   // … of more than are put in order together: each batch goes over the table
	costOrderedFetch = 8.0   // a row by reference, in an order that is not that of the table
	costIndexSeek    = 4.0   // finding the start of an index range
	costIndexEntry   = 1.0   // an index entry
	costBitmapEntry  = 1.2   // … put into a set of rows
	costBitmapFetch  = 4.0   // a row by reference, in the order of the table
	costApplyRun     = 150.0 // a run of the inner plan of an Apply
	costFilter       = 0.02  // a condition on a row
	costProject      = 0.01  // an expression on a row
	costBuild        = 0.25  // a row into a hash table
	costProbe        = 0.08  // a row against a hash table in cache
	costProbeMiss    = 0.25  // … against one much larger than the cache
	costMerge        = 0.15  // a row of either side of a merge join
	costOutput       = 0.04  // a joined row
	costGroup        = 0.12  // a row into a group
	costCompare      = 0.03  // a comparison while sorting
	costLoop         = 0.02  // a pair of a nested loop
	cachedBuildRows  = 20000 // rows of a hash table that stay in the second-level cache
	costWrite        = 5.0   // a row written
	costDisabled     = 1e10  // what a setting has switched off and nothing can replace
	costFunctionRow  = 0.05
	costMaterialized = 0.02
)

// joinCost is the cost of a join itself, without its inputs.
func joinCost(left, right, out float64, hash bool) float64 {
	if !hash {
		return left*right*costLoop + right*costMaterialized + out*costOutput
	}
	probe := costProbe
	if right > cachedBuildRows {
		probe += (costProbeMiss - costProbe) * math.Min(1, math.Log2(right/cachedBuildRows)/6)
	}
	return right*costBuild + left*probe + out*costOutput
}

// mergeCost is joinCost for inputs in order.
func mergeCost(left, right, out float64) float64 { return (left+right)*costMerge + out*costOutput }

// cost sets a node's costs from its estimates and its inputs' costs.
func (b *binder) cost(n Node) {
	e := n.Estimate()
	var startup, total Cost
	for _, kid := range n.Kids() {
		k := kid.Estimate()
		startup += k.Startup
		total += k.Total
	}
	rows := float64(e.Rows)
	input := 0.0
	if kids := n.Kids(); len(kids) > 0 {
		input = float64(kids[0].Estimate().Rows)
	}
	blocking := false
	switch n := n.(type) {
	case *Scan:
		startup, total = b.scanCost(n, n.Access)
	case *Filter:
		total += Cost(input * costFilter * float64(len(n.Conds)))
	case *Project:
		total += Cost(input * costProject * float64(len(n.Items)))
	case *Join:
		if n.Merge != nil {
			total += Cost(mergeCost(float64(n.Left.Estimate().Rows), float64(n.Right.Estimate().Rows), rows))
			break
		}
		left, right := n.Left.Estimate(), n.Right.Estimate()
		eqs, _ := splitEqualities(n.On, setOf(n.Left.Cols()), setOf(n.Right.Cols()))
		total += Cost(joinCost(float64(left.Rows), float64(right.Rows), rows, len(eqs)+len(n.Keys) > 0))
		startup = left.Startup + right.Total
	case *Apply:
		outer, inner := n.Outer.Estimate(), n.Inner.Estimate()
		total = outer.Total + Cost(outer.Rows)*(costApplyRun+inner.Total)
	case *Aggregate:
		total += Cost(input * costGroup)
		blocking = true
	case *Sort:
		total += Cost(input * math.Log2(math.Max(rows, 2)) * costCompare)
		blocking = true
	case *Limit:
		if input > 0 {
			total = startup + (total-startup)*Cost(math.Min(1, rows/input))
		}
	case *LateFetch:
		total += Cost(input * costFetchMany)
	case *LockRows:
		total += Cost(input * costWrite)
	case *FuncScan, *Values:
		total = Cost(rows * costFunctionRow)
	case *CTEScan:
		total = Cost(rows * costMaterialized)
	case *Insert, *Update, *Delete, *Merge:
		total += Cost(input * costWrite)
	}
	if blocking {
		startup = total
	}
	e.Startup, e.Total = startup, total
}
