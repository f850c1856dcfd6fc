package planner

import "github.com/weftdb/weft/sql"

// inlineCTEs puts queries of WITH that are read once, or that are marked NOT MATERIALIZED, in
// their readers' place, and drops those that are not read.
func (b *binder) inlineCTEs(plan *Plan) {
	for {
		readers := b.countReaders(plan)
		var kept []*CTE
		inline := map[*CTE]bool{}
		for _, c := range b.ctes {
			switch {
			case readers[c] == 0:
			case c.materialized == sql.No, readers[c] == 1 && c.materialized != sql.Yes:
				inline[c] = true
			default:
				kept = append(kept, c)
			}
		}
		changed := len(kept) < len(b.ctes)
		b.ctes = kept
		if len(inline) > 0 {
			var put func(n Node) Node
			put = func(n Node) Node {
				scan, ok := n.(*CTEScan)
				if !ok || !inline[scan.CTE] {
					return n
				}
				return transformNodes(b.inlined(scan), put) // it may read others that are inlined
			}
			b.mapPlans(plan, put)
		}
		if !changed {
			return
		}
	}
}

// inlined is a CTE's plan under the columns of one of its readers.
func (b *binder) inlined(scan *CTEScan) Node {
	inner, _ := b.fresh(scan.CTE.Plan)
	p := &Project{Input: inner}
	for i, c := range inner.Cols() {
		p.Items = append(p.Items, Item{Col: scan.Out[i], Expr: c})
	}
	return p
}

func (b *binder) countReaders(plan *Plan) map[*CTE]int {
	count := map[*CTE]int{}
	b.mapPlans(plan, func(n Node) Node {
		if scan, ok := n.(*CTEScan); ok {
			count[scan.CTE]++
		}
		return n
	})
	return count
}

// mapPlans transforms every tree of the statement.
func (b *binder) mapPlans(plan *Plan, change func(Node) Node) {
	for _, c := range b.ctes {
		c.Plan = transformNodes(c.Plan, change)
	}
	for i := range plan.InitPlans {
		plan.InitPlans[i].Plan = transformNodes(plan.InitPlans[i].Plan, change)
	}
	plan.Root = transformNodes(plan.Root, change)
}

// readBeforeReaders lists the CTEs so that each comes after those it reads.
func (b *binder) readBeforeReaders() []*CTE {
	var out []*CTE
	done := map[*CTE]bool{}
	var add func(c *CTE)
	add = func(c *CTE) {
		if done[c] {
			return
		}
		done[c] = true
		walkNodes(c.Plan, func(n Node) bool {
			if scan, ok := n.(*CTEScan); ok {
				add(scan.CTE)
			}
			return true
		})
		out = append(out, c)
	}
	for _, c := range b.ctes {
		add(c)
	}
	return out
}
