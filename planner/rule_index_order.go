package planner

import (
	"math"
	"slices"

	"github.com/weftdb/weft/expr"
)

// orderByIndex replaces a sort by reading the table in the order of an index where that is cheaper:
// mostly below a LIMIT, which then ends the reading early. It returns nil when it is not.
func (b *binder) orderByIndex(n *Sort) Node {
	if n.Ties {
		return nil
	}
	scan, keys := sortedScan(n)
	if scan == nil {
		return nil
	}
	_, scanned := b.scanCost(scan, scan.Access)
	rows := math.Max(b.estimate(scan).rows, 1)
	sorted := float64(scanned) + rows*math.Log2(math.Max(math.Min(rows, limitOf(n, rows)), 2))*costCompare
	c, cost := b.scanInOrder(scan, keys, math.Min(1, limitOf(n, rows)/rows))
	if c == nil || cost >= sorted {
		return nil
	}
	out := replaceNode(n.Input, scan, c)
	if n.Limit != nil || n.Offset != nil {
		out = &Limit{Input: out, Count: n.Limit, Offset: n.Offset}
	}
	return out
}

// scanInOrder returns a scan in the order of an index that has the order of the keys, the one that costs
// least when a share of its entries is read; nil if there is none.
func (b *binder) scanInOrder(scan *Scan, keys []SortKey, share float64) (inOrder *Scan, cost float64) {
	if scan.Parts != nil || scan.Access == AccessKey || b.settings.Router == RouterColumn && scan.Access != AccessRows && scan.Access != AccessIndex && scan.Access != AccessBitmap {
		return nil, 0
	}
	var chosen *IndexScan
	for i := range scan.Table.Indexes {
		u := b.usable(scan, &scan.Table.Indexes[i])
		if u == nil {
			continue
		}
		s := u.scanOf(b.settings.EnableIndexOnlyScan)
		if !s.Only && !b.settings.EnableIndexScan {
			continue
		}
		reverse, ok := u.ordered(s, keys)
		if !ok {
			continue
		}
		if c := float64(b.indexCost(scan, s, share, costOrderedFetch)); chosen == nil || c < cost {
			cost, chosen = c, s
			chosen.Ordered, chosen.Reverse = true, reverse
		}
	}
	if chosen == nil {
		return nil, 0
	}
	c := *scan
	c.Access, c.Index, c.Bitmap = AccessIndex, chosen, nil
	c.WhyRows = "order of an index"
	return &c, cost
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

// sortedScan returns the scan below a sort, with only projections and filters between, and the sort
// keys over its columns; nil when there is something else below.
func sortedScan(n *Sort) (*Scan, []SortKey) {
	keys := slices.Clone(n.Keys)
	input := n.Input
	for {
		switch in := input.(type) {
		case *Project:
			with := map[expr.ColID]expr.Expr{}
			for _, it := range in.Items {
				with[it.Col.ID] = it.Expr
			}
			for i := range keys {
				keys[i].Expr = replaceCols(keys[i].Expr, with)
			}
			input = in.Input
		case *Filter:
			input = in.Input
		case *Scan:
			return in, keys
		default:
			return nil, nil
		}
	}
}

// ordered reports whether an index range is in the order of the keys, read forwards or in reverse.
// Parts that equal one value do not matter to the order, and neither does where NULLs stand when
// there are none.
func (u *usableIndex) ordered(s *IndexScan, keys []SortKey) (reverse, ok bool) {
	at, decided := len(s.Equal), false
	for _, k := range keys {
		if slices.ContainsFunc(u.keys[:len(s.Equal)], func(key expr.Expr) bool { return sameKey(k.Expr, key) }) {
			continue
		}
		if at == len(u.keys) || u.keys[at] == nil || !sameKey(k.Expr, u.keys[at]) {
			return false, false
		}
		desc, nullsFirst := u.index.KeyOrder(at)
		turned := k.Desc != desc
		noNulls := k.anyNulls || neverNull(k.Expr) || at == len(s.Equal) && (s.NotNull || s.Low != nil || s.High != nil || len(s.In) > 0)
		if !noNulls && (k.NullsFirst != nullsFirst) != turned || decided && turned != reverse {
			return false, false
		}
		reverse, decided = turned, true
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
