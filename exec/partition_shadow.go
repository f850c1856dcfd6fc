package exec

import (
	"fmt"

	"github.com/bits-and-blooms/bitset"

	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/join"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// shadow runs, under the invariants tag, what an execution leaves out: the scan of a partitioned table over the
// leaves that it does not read, by its conditions, which may leave no row of them; and each join that has
// selected leaves for it over those that it has not, which may find no match there. The runs read through the
// same view, with no selector and no runtime filter. A row is a broken invariant, whether or not the rows of the
// query would have shown it.
func (s *partitionSource) shadow() error {
	if s.run.beside || s.run.newest != nil || s.node.Parts.Only { // newest has a few rows in place of tables
		return nil
	}
	parts := s.node.Parts
	chosen := s.node.SelectLeaves(s.run.env)
	if left := parts.Desc.All().Difference(chosen); left.Any() {
		if err := s.wantNoRow(s.over(left), "by its conditions"); err != nil {
			return err
		}
	}
	if s.within != nil { // what selects leaves has seen the build rows of these groups
		chosen = chosen.Intersection(s.within)
	}
	for _, found := range s.selections {
		if err := s.joinUnread(found.above, planner.InnerJoin, chosen.Difference(found.leaves), fmt.Sprintf("by PS%d", found.spec.ID)); err != nil {
			return err
		}
	}
	if s.covering != nil {
		return s.joinUnread(s.covering.above, planner.AntiJoin, chosen.Intersection(parts.Desc.Covered(s.covering.seen)), "because they are covered")
	}
	return nil
}

// over returns the scan over some leaves, which nothing selects from.
func (s *partitionSource) over(leaves *bitset.BitSet) *planner.Scan {
	scan := *s.node
	scan.Parts, scan.Nodes = &planner.PartScan{Desc: s.node.Parts.Desc, Selected: leaves}, nil
	return &scan
}

// joinUnread checks that a join, as one of a kind, yields nothing for some leaves of the scan.
func (s *partitionSource) joinUnread(above *planner.Join, kind planner.JoinKind, leaves *bitset.BitSet, why string) error {
	if leaves.None() {
		return nil
	}
	u := &unselected{scan: s.node, over: s.over(leaves)}
	whole, found := u.copy(above)
	if !found {
		panic(fmt.Sprintf("exec: the scan of %s is not below the join that selects its leaves", s.node.Table.Name))
	}
	alone := whole.(*planner.Join)
	alone.Kind, alone.Out = kind, nil
	return s.wantNoRow(alone, why)
}

// unselected copies plans without selectors and groups of partitions. Of a scan that is replaced, what is
// appended to its rows is left away.
type unselected struct{ scan, over *planner.Scan }

func (u *unselected) copy(n planner.Node) (_ planner.Node, found bool) {
	var kids []planner.Node
	for _, kid := range n.Kids() {
		c, in := u.copy(kid)
		if _, appended := n.(*planner.Append); appended && in {
			kids, found = []planner.Node{c}, true
			break
		}
		kids, found = append(kids, c), found || in
	}
	if kids != nil {
		n = n.With(kids)
	}
	switch n := n.(type) {
	case *planner.Scan:
		if n == u.scan {
			return u.over, true
		}
		c := *n
		if c.Nodes = nil; n.Parts != nil {
			parts := *n.Parts
			parts.Selectors, parts.Covered = nil, false
			c.Parts = &parts
		}
		return &c, false
	case *planner.Join:
		c := *n
		c.Selectors, c.Covers, c.Wise = nil, false, nil
		return &c, found
	case *planner.Aggregate:
		c := *n
		c.Wise = nil
		return &c, found
	}
	return n, found
}

// repeatable reports whether running a plan again yields the same rows and changes nothing.
func repeatable(n planner.Node) bool {
	switch n := n.(type) {
	case *planner.Insert, *planner.Update, *planner.Delete, *planner.Merge, *planner.LockRows:
		return false
	case *planner.CTEScan:
		return repeatable(n.CTE.Plan)
	}
	for _, e := range nodeExprs(n) {
		if e != nil && expr.VolatilityOf(e) == expr.Volatile {
			return false
		}
	}
	for _, kid := range n.Kids() {
		if !repeatable(kid) {
			return false
		}
	}
	return true
}

// wantNoRow runs a plan beside the execution, on one worker. What its data make fail is the leaves' that are
// not read to keep to themselves.
func (s *partitionSource) wantNoRow(n planner.Node, why string) error {
	if !repeatable(n) {
		return nil
	}
	query := *s.run.query
	query.NoRuntimeFilters, query.View = true, query.View.Unnoted()
	defer query.View.Release()
	beside := *s.run
	beside.beside, beside.query, beside.env, beside.threads = true, &query, copyEnv(s.run.env, 0), 1
	beside.stats, beside.clock, beside.ctes, beside.outer = nil, nil, nil, nil
	beside.account = &account{budget: s.run.account.budget}
	defer beside.account.release()
	sink := &innerRows{store: join.NewStore(kindsOf(n.Cols()), nil), enough: 1}
	if err := beside.collect(n, sink); err != nil {
		if sqlerr.CodeOf(err).OfData() {
			return nil
		}
		return err
	}
	if sink.store.Rows() > 0 {
		row := make([]vector.Datum, len(n.Cols()))
		for i := range row {
			row[i] = vector.DatumAt(sink.store.Column(i), 0)
		}
		panic(fmt.Sprintf("exec: leaves of %s that are left out %s have a row: %v", s.node.Table.Name, why, row))
	}
	return nil
}
