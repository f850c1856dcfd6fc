package planner

import (
	"math"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
)

// orderByIndex replaces a sort by reading the table in the order of an index where that is cheaper:
// mostly below a LIMIT, which then ends the reading early. It returns nil when it is not.
func (b *binder) orderByIndex(n *Sort) Node {
	if n.Ties || !b.settings.EnableIndexScan {
		return nil
	}
	scan, keys := sortedScan(n)
	if scan == nil || scan.Access == AccessKey || b.settings.Router == RouterColumn && scan.Access != AccessRows && scan.Access != AccessIndex {
		return nil
	}
	_, scanned := b.scanCost(scan, scan.Access)
	rows := math.Max(b.estimate(scan).rows, 1)
	best := float64(scanned) + rows*math.Log2(math.Max(math.Min(rows, limitOf(n, rows)), 2))*costCompare
	var chosen *IndexScan
	for i := range scan.Table.Indexes {
		s := scan.indexScan(&scan.Table.Indexes[i])
		if s == nil {
			s = &IndexScan{Index: &scan.Table.Indexes[i]}
		}
		reverse, ok := scan.ordered(s, keys)
		if !ok {
			continue
		}
		share := math.Min(1, limitOf(n, rows)/rows) // of the entries that a LIMIT lets through
		cost := float64(b.indexCost(scan, s, share, costOrderedFetch))
		if cost < best {
			best, chosen = cost, s
			chosen.Ordered, chosen.Reverse = true, reverse
		}
	}
	if chosen == nil {
		return nil
	}
	c := *scan
	c.Access, c.Index = AccessIndex, chosen
	c.WhyRows = "order of an index"
	out := replaceNode(n.Input, scan, &c)
	if n.Limit != nil || n.Offset != nil {
		out = &Limit{Input: out, Count: n.Limit, Offset: n.Offset}
	}
	return out
}

// limitOf is how many rows a sort passes on, all of them when that is not known.
func limitOf(n *Sort, rows float64) float64 {
	k, ok := n.Limit.(*expr.Const)
	if !ok || k.Value.Null {
		if n.Limit != nil { // a parameter: few, as the limits of pages are
			return math.Min(rows, 100)
		}
		return rows
	}
	limit := float64(k.Value.I)
	if offset, ok := n.Offset.(*expr.Const); ok && !offset.Value.Null {
		limit += float64(offset.Value.I)
	}
	return math.Min(rows, limit)
}

// orderKey is a sort key on a column of a scan.
type orderKey struct {
	column catalog.ColumnID
	desc   bool
}

// sortedScan returns the scan below a sort, with only projections and filters between, and the sort
// keys as columns of it; nil when a key is something else.
func sortedScan(n *Sort) (*Scan, []orderKey) {
	exprs := make([]expr.Expr, len(n.Keys))
	for i, k := range n.Keys {
		if k.NullsFirst != k.Desc { // no index has this order
			return nil, nil
		}
		exprs[i] = k.Expr
	}
	input := n.Input
	for {
		switch in := input.(type) {
		case *Project:
			with := map[expr.ColID]expr.Expr{}
			for _, it := range in.Items {
				with[it.Col.ID] = it.Expr
			}
			for i := range exprs {
				exprs[i] = replaceCols(exprs[i], with)
			}
			input = in.Input
		case *Filter:
			input = in.Input
		case *Scan:
			keys := make([]orderKey, len(exprs))
			for i, e := range exprs {
				c, ok := e.(*expr.Col)
				if !ok {
					return nil, nil
				}
				id, ok := in.tableColumn(c)
				if !ok {
					return nil, nil
				}
				keys[i] = orderKey{id, n.Keys[i].Desc}
			}
			return in, keys
		default:
			return nil, nil
		}
	}
}

// ordered reports whether an index range is in the order of the keys, read forwards or in reverse.
// Columns that equal one value do not matter to the order.
func (n *Scan) ordered(s *IndexScan, keys []orderKey) (reverse, ok bool) {
	equal := map[catalog.ColumnID]bool{}
	for _, id := range s.Index.Columns[:len(s.Equal)] {
		equal[id] = true
	}
	at, decided := len(s.Equal), false
	for _, k := range keys {
		if equal[k.column] {
			continue
		}
		if at == len(s.Index.Columns) || s.Index.Columns[at] != k.column {
			return false, false
		}
		descending := at < len(s.Index.Desc) && s.Index.Desc[at]
		if turned := k.desc != descending; !decided {
			reverse, decided = turned, true
		} else if turned != reverse {
			return false, false
		}
		at++
	}
	return reverse, true
}

// replaceNode returns the tree under n with one node replaced.
func replaceNode(n, old, by Node) Node {
	return transformNodes(n, func(n Node) Node {
		if n == old {
			return by
		}
		return n
	})
}
