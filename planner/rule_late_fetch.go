package planner

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
)

// lateFetch lets a table be read by the columns that its view covers, and the others be fetched where
// few of its rows are left: above an ORDER BY … LIMIT, or above joins that keep few of them.
//
//	Sort[limit](… Scan(t: k, u, v))  →  LateFetch[t: u, v](Sort[limit](… Scan(t: k, reference)))
//
// That is right because the reference, as the columns, belongs to one version of the row, and is
// looked up through the view that the scan reads through. Scans whose rows are locked or changed
// are left alone, since those may be read in newer versions.
// Needs: prune_columns, before access is chosen.
func lateFetch(b *binder, n Node) Node {
	return b.lateFetchBelow(n, false)
}

// lateFetchBelow looks for the places, the highest first. inJoins tells that n is an input of a join
// that was looked at already.
func (b *binder) lateFetchBelow(n Node, inJoins bool) Node {
	joins := false
	switch n := n.(type) {
	case *Sort:
		if n.Limit != nil {
			if out := b.fetchAbove(n); out != nil {
				return out
			}
		}
	case *Join:
		joins = true
		if !inJoins {
			if out := b.fetchAbove(n); out != nil {
				return out
			}
		}
	case *Filter:
		joins = inJoins
	}
	kids := n.Kids()
	var changed []Node
	for i, kid := range kids {
		if next := b.lateFetchBelow(kid, joins); next != kid {
			if changed == nil {
				changed = append([]Node(nil), kids...)
			}
			changed[i] = next
		}
	}
	if changed == nil {
		return n
	}
	return n.With(changed)
}

// fetchAbove returns top with columns of its tables fetched above it, nil where that is of no use.
func (b *binder) fetchAbove(top Node) Node {
	if !b.settings.EnableHybrid || locksRows(top) {
		return nil
	}
	var best *lateScan
	for _, s := range b.lateScans(top) {
		if best == nil || s.saves > best.saves {
			best = s
		}
	}
	if best == nil {
		return nil
	}
	return b.fetched(top, best)
}

func locksRows(n Node) bool {
	found := false
	walkNodes(n, func(n Node) bool {
		if s, ok := n.(*Scan); ok && (s.Lock != 0 || s.RowRef != nil) {
			found = true
		}
		return !found
	})
	return found
}

// lateScan is a scan of which some columns can wait.
type lateScan struct {
	scan  *Scan
	late  []ScanCol
	saves Cost
}

// lateScans lists the scans below top with columns that are of no use up to there.
func (b *binder) lateScans(top Node) []*lateScan {
	used := colSet{}
	var scans []*Scan
	if !collectLate(top, top, used, &scans) {
		return nil
	}
	var out []*lateScan
	for _, scan := range scans {
		if !scan.Table.HasView && !scan.anyLeaf(func(t *catalog.Table) bool { return t.HasView }) {
			continue
		}
		s := &lateScan{scan: scan}
		for _, c := range scan.Columns {
			if !used[c.Col.ID] && !scan.covers(c.Pos) {
				s.late = append(s.late, c)
			}
		}
		if len(s.late) > 0 && b.worthWaiting(s, b.estimate(top).rows) {
			out = append(out, s)
		}
	}
	return out
}

// covers reports whether the column view has a column: in all leaves that are read of a partitioned
// table.
func (n *Scan) covers(pos int) bool {
	if n.Parts == nil {
		return n.Table.HasView && n.Table.Columns[pos].Covered
	}
	leaves := n.Parts.Desc.Leaves
	for i, ok := n.Parts.Selected.NextSet(0); ok; i, ok = n.Parts.Selected.NextSet(i + 1) {
		if t := leaves[i].Table; !t.HasView || !t.Columns[leaves[i].Columns[pos]].Covered {
			return false
		}
	}
	return true
}

// collectLate goes down to the scans whose rows reach top at most once filtered, joined and reduced,
// without NULLs in their place, and notes which columns are used on the way. False: the tree has a
// shape that is left alone.
func collectLate(n, top Node, used colSet, scans *[]*Scan) bool {
	switch n := n.(type) {
	case *Scan:
		for _, cond := range n.Filter {
			used.addExpr(cond)
		}
		*scans = append(*scans, n)
		return true
	case *Sort:
		for _, k := range n.Keys {
			used.addExpr(k.Expr)
		}
		if p, ok := n.Input.(*Project); ok && n == top {
			noteProject(p, used)
			return collectLate(p.Input, top, used, scans)
		}
		return n == top && collectLate(n.Input, top, used, scans)
	case *Filter:
		for _, cond := range n.Conds {
			used.addExpr(cond)
		}
		return collectLate(n.Input, top, used, scans)
	case *Join:
		for _, cond := range n.On {
			used.addExpr(cond)
		}
		for _, side := range n.Kids() {
			below := scans
			if n.Kind != InnerJoin && (n.Kind != LeftJoin && n.Kind != SemiJoin && n.Kind != AntiJoin || side != n.Left) {
				below = &[]*Scan{} // its rows do not get through, or NULLs do in their place
			}
			if !collectLate(side, top, used, below) {
				noteAll(side, used)
			}
		}
		return true
	}
	return false
}

// noteAll marks all that a subtree yields as used: it is not looked into.
func noteAll(n Node, used colSet) {
	for _, c := range n.Cols() {
		used[c.ID] = true
	}
}

// noteProject marks the columns that sort keys need of a projection below them. Its other items can
// be computed above.
func noteProject(p *Project, used colSet) {
	for _, it := range p.Items {
		if used[it.Col.ID] || expr.VolatilityOf(it.Expr) == expr.Volatile {
			used.addExpr(it.Expr)
		}
	}
}

// worthWaiting compares the ways to read a scan with and without the columns that can wait.
func (b *binder) worthWaiting(s *lateScan, rows float64) bool {
	whole := *s.scan
	b.route(&whole)
	_, cost := b.scanCost(&whole, whole.Access)
	early := s.withoutLate(nil)
	if b.columnsForbidden(early) != "" {
		return false
	}
	if access, _ := b.viewAccess(early); access != AccessColumns {
		return false
	}
	_, columns := b.scanCost(early, AccessColumns)
	// The scans' costs are in rows of their own width.
	columns = columns*Cost(nanosByRows(early)/nanosByRows(&whole)) + Cost(rows*lateFetchCost(&whole, len(s.late)))
	s.saves = cost - columns
	forced := b.settings.Router == RouterColumn || s.scan.hint == hintColumns
	return columns < cost || forced && whole.Access != AccessHybrid
}

// withoutLate is the scan without the columns that wait, and with the reference ref.
func (s *lateScan) withoutLate(ref *expr.Col) *Scan {
	c := *s.scan
	c.Columns, c.RowRef = nil, ref
	for _, column := range s.scan.Columns {
		if !s.waits(column.Col.ID) {
			c.Columns = append(c.Columns, column)
		}
	}
	return &c
}

func (s *lateScan) waits(id expr.ColID) bool {
	for _, c := range s.late {
		if c.Col.ID == id {
			return true
		}
	}
	return false
}

// fetched rebuilds top without the scan's late columns and fetches them above it.
func (b *binder) fetched(top Node, s *lateScan) Node {
	ref := b.column("ctid", rowRefType, true)
	early, computed := s.rebuild(top, ref)
	late := &LateFetch{Input: early, Table: s.scan.Table, Alias: s.scan.Alias, Ref: ref, Columns: s.late}
	if s.scan.Parts != nil {
		late.Parts = s.scan.Parts.Desc
	}
	var out Node = late
	if computed == nil {
		return keepOrder(out, top.Cols())
	}
	p := &Project{Input: out}
	for _, it := range computed.Items {
		if !s.readsLate(it.Expr) {
			it.Expr = it.Col
		}
		p.Items = append(p.Items, it)
	}
	return p
}

func (s *lateScan) readsLate(e expr.Expr) bool {
	return expr.Contains(e, func(e expr.Expr) bool {
		c, ok := e.(*expr.Col)
		return ok && s.waits(c.ID)
	})
}

// rebuild replaces the late columns by the reference on the way from the scan up. A projection below
// a Sort keeps what does not read late columns, with the columns that the rest needs besides; it is
// returned for the rest to be computed above.
func (s *lateScan) rebuild(n Node, ref *expr.Col) (Node, *Project) {
	switch n := n.(type) {
	case *Scan:
		if n == s.scan {
			return s.withoutLate(ref), nil
		}
	case *Sort:
		c := *n
		if p, ok := n.Input.(*Project); ok {
			below, _ := s.rebuild(p.Input, ref)
			c.Input = s.split(p, below, ref)
			return &c, p
		}
		c.Input, _ = s.rebuild(n.Input, ref)
		return &c, nil
	case *Filter:
		c := *n
		c.Input, _ = s.rebuild(n.Input, ref)
		return &c, nil
	case *Join:
		c := *n
		c.Left, _ = s.rebuild(n.Left, ref)
		c.Right, _ = s.rebuild(n.Right, ref)
		if c.Left == n.Left && c.Right == n.Right {
			return n, nil
		}
		c.Out = []*expr.Col{ref}
		for _, col := range n.Cols() {
			if !s.waits(col.ID) {
				c.Out = append(c.Out, col)
			}
		}
		return &c, nil
	}
	return n, nil
}

// split is the part of a projection that stays below.
func (s *lateScan) split(p *Project, input Node, ref *expr.Col) *Project {
	c := &Project{Input: input, Items: []Item{{Col: ref, Expr: ref}}}
	have, needed := colSet{}, colSet{}
	for _, it := range p.Items {
		if s.readsLate(it.Expr) {
			needed.addExpr(it.Expr)
			continue
		}
		c.Items = append(c.Items, it)
		have[it.Col.ID] = true
	}
	for _, col := range input.Cols() {
		if needed[col.ID] && !have[col.ID] && col.ID != ref.ID {
			c.Items = append(c.Items, Item{Col: col, Expr: col})
		}
	}
	return c
}
