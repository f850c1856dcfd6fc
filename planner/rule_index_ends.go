package planner

import (
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/vector"
)

// endsByIndex lets min and max read the ends of indexes in place of all rows:
//
//	Aggregate[min(a), max(a)](x)  →  Aggregate[min(a), max(a)](Append(first of x by a, last of x by a))
//
// Every row kept is one of x's and the extreme ones are among them, so the aggregate over them is the
// same. It returns nil where that is not possible or not cheaper.
func (b *binder) endsByIndex(n *Aggregate) Node {
	if len(n.Groups) > 0 || len(n.Aggs) == 0 {
		return nil
	}
	var ends []Node
	var sorted []SortKey
	total := Cost(0)
	for _, a := range n.Aggs {
		end, key := b.endByIndex(n.Input, a.Call)
		if end == nil {
			return nil
		}
		known := func(k SortKey) bool { return k.Desc == key.Desc && expr.Equal(k.Expr, key.Expr) }
		if !slices.ContainsFunc(sorted, known) {
			ends, sorted = append(ends, end), append(sorted, *key)
			b.estimate(end)
			total += end.Estimate().Total
		}
	}
	if b.estimate(n.Input); total >= n.Input.Estimate().Total {
		return nil // each is cheaper than reading all, but not together
	}
	c := *n
	if c.Input = ends[0]; len(ends) > 1 {
		c.Input = &Append{Inputs: ends, Out: n.Input.Cols()}
	}
	return &c
}

// endByIndex returns the plan of the row of input that min or max is about, found by an index; nil if
// there is none.
func (b *binder) endByIndex(input Node, call *expr.AggCall) (Node, *SortKey) {
	name := call.Fn.Name
	if name != "min" && name != "max" || len(call.Args) != 1 || call.Filter != nil {
		return nil, nil
	}
	key := &SortKey{Expr: call.Args[0], Desc: name == "max"}
	one := &expr.Const{Value: vector.IntDatum(vector.I64, 1), Typ: catalog.Type{ID: catalog.Int8}}
	scan, keys := sortedScan(&Sort{Input: input, Keys: []SortKey{*key}})
	if scan == nil || len(columnSet(keys[0].Expr)) == 0 || hasVolatile(input) {
		return nil, nil
	}
	c := *scan
	if !neverNull(keys[0].Expr) {
		c.Filter = append(slices.Clone(scan.Filter), &expr.IsNull{Arg: keys[0].Expr, Negated: true})
	}
	if c.Access == AccessIndex || c.Access == AccessBitmap { // the condition may change which index is best
		c.Index, c.Bitmap = nil, nil
		b.route(&c)
	}
	sort := &Sort{Input: replaceNode(input, scan, &c), Keys: []SortKey{*key}, Limit: one}
	return b.orderByIndex(sort), key
}

// hasVolatile reports whether rows may look different each time a plan is run.
func hasVolatile(n Node) bool {
	found := false
	walkNodes(n, func(n Node) bool {
		visitExprs(n, func(e expr.Expr) { found = found || expr.VolatilityOf(e) == expr.Volatile })
		return !found
	})
	return found
}
