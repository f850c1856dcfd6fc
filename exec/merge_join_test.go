package exec

import (
	"context"
	"fmt"
	"testing"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/planner"
)

// merged is the join of a case as a merge join over sorted inputs.
func (c *joinCase) merged(p *plans) planner.Node {
	n := c.node(p).(*planner.Join)
	for range n.Keys {
		desc := p.r.IntN(2) == 0
		n.Merge = append(n.Merge, planner.MergeKey{Desc: desc, NullsFirst: p.r.IntN(2) == 0})
	}
	sorted := func(in planner.Node, side func(planner.JoinKey) planner.SortKey) planner.Node {
		s := &planner.Sort{Input: in}
		for i, k := range n.Keys {
			key := side(k)
			key.Desc, key.NullsFirst = n.Merge[i].Desc, n.Merge[i].NullsFirst
			if !k.NullSafe { // either end is right, and the sides need not agree
				key.NullsFirst = p.r.IntN(2) == 0
			}
			s.Keys = append(s.Keys, key)
		}
		return s
	}
	n.Left = sorted(n.Left, func(k planner.JoinKey) planner.SortKey { return planner.SortKey{Expr: k.Left} })
	n.Right = sorted(n.Right, func(k planner.JoinKey) planner.SortKey { return planner.SortKey{Expr: k.Right} })
	return n
}

// TestMergeJoins joins random rows of all kinds and key types, with groups in memory and on disk.
func TestMergeJoins(t *testing.T) {
	small(t)
	p := newPlans(t)
	keys := [][]catalog.Type{{bigint}, {smaller, bigint}, {text}, {numeric}, {bpchar}, {text, double}, {double}, {wide}, {span}, {boolean}, {date}}
	kinds := []planner.JoinKind{planner.InnerJoin, planner.LeftJoin, planner.RightJoin, planner.FullJoin, planner.SemiJoin, planner.AntiJoin}
	for _, kind := range kinds {
		for k, types := range keys {
			for range 3 {
				variant := p.r.IntN(8)
				c := &joinCase{kind: kind, types: types, nullSafe: variant&1 != 0, residual: variant&2 != 0}
				all := append(append([]catalog.Type(nil), types...), bigint)
				sizes := [][2]int{{150, 60}, {20, 120}, {60, 0}, {0, 60}, {200, 200}}[p.r.IntN(5)]
				distinct := []int{1, 5, 40}[p.r.IntN(3)]
				c.left, c.right = p.random(sizes[0], all, distinct, variant&4 != 0), p.random(sizes[1], all, distinct, variant&4 != 0)
				name := fmt.Sprintf("%vjoin, keys %d, %+v", kind, k, [3]bool{c.nullSafe, c.residual, variant&4 != 0})
				want, _ := c.want()
				for _, work := range []int64{0, 1} {
					p.ctes = nil
					files, out := newTestFiles(t), &rows{}
					q := Query{Plan: p.plan(c.merged(p)), Threads: 1 + p.r.IntN(3), Files: files, WorkBytes: work, Memory: NewBudget(1 << 30)}
					if _, err := Run(context.Background(), q, out); err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					p.same(fmt.Sprint(name, ", work ", work), out.list, want)
					if q.Memory.Used() != 0 || files.made.Load() != files.removed.Load() {
						t.Fatalf("%s: %d bytes and %d files are left", name, q.Memory.Used(), files.made.Load()-files.removed.Load())
					}
				}
			}
		}
	}
}
