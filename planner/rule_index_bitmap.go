package planner

import (
	"slices"

	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/vector"
)

// BitmapScan is the set of rows that a range of an index names, or a union or intersection of such
// sets.
type BitmapScan struct {
	Index *IndexScan // nil where there are Kids
	Kids  []*BitmapScan
	Or    bool // the union of Kids, else what they have in common
	// Conds are those of the scan's filter that the set stands for. They hold for every row in it.
	Conds []expr.Expr
}

// cheapestBitmap returns the cheapest way of finding rows by index ranges, put together, before they
// are read in the order they are stored in; nil when no index helps.
func (b *binder) cheapestBitmap(n *Scan) (best *BitmapScan, cost Cost) {
	if !b.settings.EnableBitmapScan || len(n.Filter) == 0 {
		return nil, 0
	}
	parts := b.bitmapParts(n)
	for i, first := range parts {
		set, c := first, b.bitmapCost(n, first)
		for _, next := range parts[i+1:] {
			both := &BitmapScan{Kids: []*BitmapScan{set, next}, Conds: joined(set.Conds, next.Conds)}
			if set.Kids != nil && !set.Or {
				both.Kids = append(slices.Clone(set.Kids), next)
			}
			if len(both.Conds) == len(set.Conds) {
				continue
			}
			if with := b.bitmapCost(n, both); with < c {
				set, c = both, with
			}
		}
		if best == nil || c < cost {
			best, cost = set, c
		}
	}
	return best, cost
}

// joined is a list of conditions with those of another that are not in it.
func joined(conds, more []expr.Expr) []expr.Expr {
	out := slices.Clone(conds)
	for _, cond := range more {
		if !slices.ContainsFunc(out, func(e expr.Expr) bool { return expr.Equal(e, cond) }) {
			out = append(out, cond)
		}
	}
	return out
}

// bitmapParts lists the index ranges that conditions of the filter ask for, and for each OR the union
// of its arms' ranges where every arm has one; the cheapest come first.
func (b *binder) bitmapParts(n *Scan) []*BitmapScan {
	parts := b.bitmapRanges(n)
	for i, cond := range n.Filter {
		if or, ok := cond.(*expr.BoolOp); ok && or.Or {
			rest := slices.Delete(slices.Clone(n.Filter), i, i+1)
			if union := b.bitmapUnion(n, or, rest); union != nil {
				parts = append(parts, union)
			}
		}
	}
	cost := make(map[*BitmapScan]Cost, len(parts))
	for _, p := range parts {
		cost[p] = b.bitmapCost(n, p)
	}
	slices.SortStableFunc(parts, func(x, y *BitmapScan) int {
		switch {
		case cost[x] < cost[y]:
			return -1
		case cost[x] > cost[y]:
			return 1
		}
		return 0
	})
	return parts
}

// bitmapRanges lists the index ranges that a scan's filter asks for.
func (b *binder) bitmapRanges(n *Scan) []*BitmapScan {
	var parts []*BitmapScan
	for i := range n.Table.Indexes {
		u := b.usable(n, &n.Table.Indexes[i])
		if u == nil {
			continue
		}
		if s := u.scanOf(false); len(s.Conds)+len(s.Where) > 0 {
			parts = append(parts, &BitmapScan{Index: s, Conds: joined(s.Conds, s.Where)})
		}
	}
	return parts
}

// bitmapUnion returns the union of a range for each arm of an OR; nil if an arm has none. The rest of
// the filter holds in every arm too.
func (b *binder) bitmapUnion(n *Scan, or *expr.BoolOp, rest []expr.Expr) *BitmapScan {
	union := &BitmapScan{Or: true}
	var arms []expr.Expr
	for _, arm := range or.Args {
		c := *n
		c.Filter = append(expr.Conjuncts(arm), rest...)
		var best *BitmapScan
		var cost Cost
		for _, part := range b.bitmapRanges(&c) {
			if !slices.ContainsFunc(part.Conds, func(e expr.Expr) bool { return slices.Contains(expr.Conjuncts(arm), e) }) {
				continue // says nothing of the arm
			}
			if x := b.bitmapCost(&c, part); best == nil || x < cost {
				best, cost = part, x
			}
		}
		if best == nil {
			return nil
		}
		union.Kids = append(union.Kids, best)
		arms = append(arms, conjoined(best.Conds))
	}
	union.Conds = []expr.Expr{&expr.BoolOp{Or: true, Args: arms}}
	return union
}

func conjoined(conds []expr.Expr) expr.Expr {
	if len(conds) == 1 {
		return conds[0]
	}
	return &expr.BoolOp{Args: conds}
}

// bitmapCost estimates finding a set of rows and reading them.
func (b *binder) bitmapCost(n *Scan, s *BitmapScan) Cost {
	part := *n
	part.Filter = s.Conds
	rows, fetch := b.scanFacts(&part).rows, costBitmapFetch
	if rows <= float64(vector.BatchCap) { // an index scan fetches that many in the same order
		fetch = costFetch
	}
	return b.setCost(n, s) + Cost(rows*(fetch+costFilter*float64(len(n.Filter))))
}

// setCost estimates finding a set of rows.
func (b *binder) setCost(n *Scan, s *BitmapScan) Cost {
	if s.Index != nil {
		ranges := float64(max(len(s.Index.In), 1))
		return Cost(ranges*costIndexSeek + b.entries(n, s.Index)*costBitmapEntry)
	}
	total := Cost(0)
	for _, kid := range s.Kids {
		total += b.setCost(n, kid)
	}
	return total
}
