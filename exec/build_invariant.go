package exec

import (
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/planner"
)

// keepInvariant returns the inner plan of an Apply with the parts that do not depend on its
// parameters replaced by scans of rows that are computed once, however often the plan runs.
func keepInvariant(n planner.Node, params []planner.ApplyParam, stats *planStats) planner.Node {
	varying := map[int]bool{}
	for _, p := range params {
		varying[p.Index] = true
	}
	k := &invariantParts{varying: varying, fixed: map[planner.Node]bool{}, stats: stats}
	k.addNested(n)
	k.classify(n)
	return k.replace(n)
}

// keptRows is the most rows, as estimated, of a part that is kept: more cost more memory than
// reading a table again costs time.
const keptRows = 1 << 20

type invariantParts struct {
	varying map[int]bool
	fixed   map[planner.Node]bool
	stats   *planStats
}

// addNested makes the parameters of Applies inside the plan vary, too: a part that depends on them
// is theirs to keep.
func (k *invariantParts) addNested(n planner.Node) {
	if a, ok := n.(*planner.Apply); ok {
		for _, p := range a.Params {
			k.varying[p.Index] = true
		}
	}
	for _, kid := range n.Kids() {
		k.addNested(kid)
	}
}

// classify notes for each node whether its rows are the same in every run.
func (k *invariantParts) classify(n planner.Node) bool {
	fixed := true
	for _, kid := range n.Kids() {
		fixed = k.classify(kid) && fixed
	}
	for _, e := range nodeExprs(n) {
		fixed = fixed && !k.varies(e)
	}
	k.fixed[n] = fixed
	return fixed
}

func (k *invariantParts) varies(e expr.Expr) bool {
	if e == nil {
		return false
	}
	if expr.VolatilityOf(e) == expr.Volatile {
		return true
	}
	return expr.Contains(e, func(e expr.Expr) bool {
		p, ok := e.(*expr.Param)
		return ok && k.varying[p.Index]
	})
}

// replace rebuilds the tree with the largest fixed parts that are worth keeping replaced.
func (k *invariantParts) replace(n planner.Node) planner.Node {
	if k.fixed[n] && worthKeeping(n) && !selectedAbove(n) {
		return &planner.CTEScan{CTE: &planner.CTE{Plan: n}, Out: n.Cols()}
	}
	kids := n.Kids()
	var changed []planner.Node
	for i, kid := range kids {
		next := k.replace(kid)
		if next != kid && changed == nil {
			changed = append([]planner.Node(nil), kids...)
		}
		if changed != nil {
			changed[i] = next
		}
	}
	if changed == nil {
		return n
	}
	rebuilt := n.With(changed)
	k.stats.rebuilt(rebuilt, n)
	return rebuilt
}

// selectedAbove reports whether a join above a node selects which partitions or data nodes are read below it: it
// does so for the rows that it has in one run.
func selectedAbove(n planner.Node) bool {
	within, covers := map[int]bool{}, false
	var scans []*planner.PartScan
	var visit func(n planner.Node)
	visit = func(n planner.Node) {
		switch n := n.(type) {
		case *planner.Join:
			for _, ps := range n.Selectors {
				within[ps.ID] = true
			}
			covers = covers || n.Covers
		case *planner.Scan:
			for _, parts := range []*planner.PartScan{n.Parts, n.Nodes} {
				if parts != nil {
					scans = append(scans, parts)
				}
			}
		}
		for _, kid := range n.Kids() {
			visit(kid)
		}
	}
	visit(n)
	for _, parts := range scans {
		for _, ps := range parts.Selectors {
			if !within[ps.ID] {
				return true
			}
		}
		if parts.Covered && !covers {
			return true
		}
	}
	return false
}

// worthKeeping reports whether reading kept rows is cheaper than computing them.
func worthKeeping(n planner.Node) bool {
	switch n := n.(type) {
	case *planner.Values, *planner.CTEScan, *planner.FuncScan:
		return false
	case *planner.Scan:
		return n.Access != planner.AccessKey && !(n.Access == planner.AccessIndex && len(n.Index.Conds) > 0) && n.Rows <= keptRows
	case *planner.Project, *planner.Filter, *planner.Limit:
		return worthKeeping(n.Kids()[0])
	}
	return n.Estimate().Rows <= keptRows
}

// nodeExprs lists the expressions that a node evaluates.
func nodeExprs(n planner.Node) []expr.Expr {
	var out []expr.Expr
	items := func(list []planner.Item) {
		for i := range list {
			out = append(out, list[i].Expr)
		}
	}
	switch n := n.(type) {
	case *planner.Scan:
		out = append(append(out, n.Filter...), n.Key...)
	case *planner.Values:
		for _, row := range n.Rows {
			out = append(out, row...)
		}
	case *planner.FuncScan:
		out = append(out, n.Args...)
	case *planner.Project:
		items(n.Items)
	case *planner.Filter:
		out = append(out, n.Conds...)
	case *planner.Limit:
		out = append(out, n.Count, n.Offset)
	case *planner.Sort:
		out = append(append(out, keyExprs(n.Keys)...), n.Limit, n.Offset)
	case *planner.Aggregate:
		items(n.Groups)
		for i := range n.Aggs {
			out = append(append(out, n.Aggs[i].Call.Args...), n.Aggs[i].Call.Filter)
		}
	case *planner.Join:
		out = append(append(out, n.On...), n.Residual...)
		for i := range n.Keys {
			out = append(out, n.Keys[i].Left, n.Keys[i].Right)
		}
	case *planner.Apply:
		out = append(out, n.On...)
	}
	return out
}
