package planner

import (
	"github.com/bits-and-blooms/bitset"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/prune"
	"github.com/weftdb/weft/sql"
)

// PartScan is which leaves of a partitioned table a scan reads, or which data nodes of a table that is spread
// over several: these are the leaves of a description of their own.
type PartScan struct {
	Desc *prune.Desc
	// Selected are those that are left by what is known while planning.
	Selected *bitset.BitSet
	// AtStart tells that an execution may leave out more: it knows parameters and the session.
	AtStart bool
	// Selectors are the joins' that leave out more leaves at run time: what none of them has selected is
	// not read. WhyAll tells why there are none, where there is a join above.
	Selectors []*PartSelector
	WhyAll    string
	// Covered tells that an anti join above leaves out leaves whose values it finds in all its other rows.
	Covered bool
	// Only tells that the statement says ONLY: a partitioned table has no rows of its own.
	Only bool
	// rows is how many rows the selected leaves have.
	rows float64
}

type descKey struct{ table catalog.TableID }

// nodesKey has the description itself: one that is about to change differs from the catalog's.
type nodesKey struct{ table *catalog.Table }

// nodesDesc describes how the rows of a table are spread over data nodes; nil where all are on one. Each leaf of
// a partitioned table is spread by the same columns.
func nodesDesc(s *catalog.Snapshot, t *catalog.Table) (*prune.Desc, error) {
	nodes := len(t.Stores)
	if t.Kind == catalog.PartitionedTable {
		nodes = s.Nodes
	}
	if nodes <= 1 {
		return nil, nil
	}
	d, err := s.Derived(nodesKey{t}, func() (any, error) {
		b := newBinder(Input{Catalog: catalog.NewSnapshot(1), Settings: DefaultSettings()})
		return prune.DataNodes(t, nodes, b.rowColumns(t))
	})
	if err != nil {
		return nil, err
	}
	return d.(*prune.Desc), nil
}

// PartitionDesc describes how the rows of a partitioned table are divided under a catalog.
func PartitionDesc(s *catalog.Snapshot, t *catalog.Table) (*prune.Desc, error) {
	d, err := s.Derived(descKey{t.ID}, func() (any, error) {
		b := newBinder(Input{Catalog: catalog.NewSnapshot(1), Settings: DefaultSettings()})
		b.noParams = true
		cols := b.rowColumns(t)
		return prune.New(s, t, cols, func(text string) (expr.Expr, error) {
			parsed, err := sql.ParseExpr(text)
			if err != nil {
				return nil, err
			}
			e, err := b.partitionExpression(parsed, t, cols)
			if err != nil {
				return nil, err
			}
			return simplified(e), nil
		})
	})
	if err != nil {
		return nil, err
	}
	return d.(*prune.Desc), nil
}

// partitionExpression binds an expression of PARTITION BY.
func (b *binder) partitionExpression(e sql.Expr, t *catalog.Table, cols []*expr.Col) (expr.Expr, error) {
	s := &scope{rels: []*scopeRel{relation(t.Name, columnNames(t), cols)}, noAggregates: "aggregate functions are not allowed in partition key expressions",
		noSubqueries: "cannot use subquery in partition key expression"}
	return b.expr(e, s)
}

// partScan is the part of a table that a scan reads before anything is known; nil for tables that are
// not partitioned.
func (b *binder) partScan(t *catalog.Table) *PartScan {
	if t.Kind != catalog.PartitionedTable {
		return nil
	}
	d, err := PartitionDesc(b.snapshot, t)
	if err != nil {
		b.fail(err)
		return nil
	}
	p := &PartScan{Desc: d, Selected: d.All()}
	p.count(b)
	return p
}

// nodeScan is the data nodes that a scan reads before anything is known; nil where all rows are on one.
func (b *binder) nodeScan(t *catalog.Table) *PartScan {
	d, err := nodesDesc(b.snapshot, t)
	b.fail(err)
	if d == nil {
		return nil
	}
	return &PartScan{Desc: d, Selected: d.All()}
}

// only leaves out the partitions of the table that a statement names with ONLY.
func (n *Scan) only(name *sql.TableName) {
	if name.Only && n.Parts != nil {
		n.Parts = &PartScan{Desc: n.Parts.Desc, Selected: bitset.New(uint(len(n.Parts.Desc.Leaves))), Only: true}
	}
}

// count sums the rows of the selected leaves.
func (p *PartScan) count(b *binder) {
	p.rows = 0
	if b.world == nil {
		p.rows = defaultRows
		return
	}
	for i, ok := p.Selected.NextSet(0); ok; i, ok = p.Selected.NextSet(i + 1) {
		p.rows += b.world.Rows(p.Desc.Leaves[i].Table)
	}
}

// prunePartitions leaves out the partitions and data nodes in which a scan's conditions can be true for no row.
// Needs: push_filter.
func prunePartitions(b *binder, n Node) Node {
	return transformNodes(n, func(n Node) Node {
		scan, ok := n.(*Scan)
		if !ok || scan.Parts == nil && scan.Nodes == nil {
			return n
		}
		c := *scan
		b.prune(&c)
		return &c
	})
}

// prune selects the leaves and data nodes of a scan by its filter as it is now.
func (b *binder) prune(n *Scan) {
	if !b.settings.EnablePruning {
		return
	}
	if n.Nodes != nil {
		n.Nodes = n.Nodes.narrowed(n)
	}
	if n.Parts == nil || n.Parts.Only {
		return
	}
	p := n.Parts.narrowed(n)
	if !p.Selected.Equal(n.Parts.Selected) {
		p.count(b)
	}
	n.Parts = p
}

// RunTime reports whether an execution may leave out more than planning has.
func (p *PartScan) RunTime() bool { return p.AtStart || len(p.Selectors) > 0 || p.Covered }

// narrowed returns what is left by a scan's filter.
func (p *PartScan) narrowed(n *Scan) *PartScan {
	c, known := *p, &prune.Knowledge{}
	c.Selected = p.Desc.Select(n.Filter, n.columnAt, known)
	c.AtStart = known.Waiting
	return &c
}

// nodeShare is the share of a table's rows that are on the data nodes that a scan reads.
func (n *Scan) nodeShare() float64 {
	if n.Nodes == nil {
		return 1
	}
	return float64(n.Nodes.Selected.Count()) / float64(len(n.Nodes.Desc.Leaves))
}

// readsGroups reports whether a scan reads rows in their order in the stores: others find them by references,
// on whichever data node they are.
func (n *Scan) readsGroups() bool {
	return n.Access == AccessRows || n.Access == AccessColumns || n.Access == AccessHybrid
}

// indexParts is in how many indexes a scan looks: one per leaf. Where parameters select leaves, a few
// values select few.
func (n *Scan) indexParts() float64 {
	if n.Parts == nil || n.Parts.AtStart {
		return 1
	}
	return float64(max(n.Parts.Selected.Count(), 1))
}

// columnAt returns the scan's column for a position in its table, nil if it has none.
func (n *Scan) columnAt(pos int) expr.Expr {
	for i := range n.Columns {
		if n.Columns[i].Pos == pos {
			return n.Columns[i].Col
		}
	}
	return nil
}

// SelectLeaves returns the leaves that the scan reads in one execution.
func (n *Scan) SelectLeaves(env *expr.Env) *bitset.BitSet { return n.Parts.atStart(n, env) }

// SelectNodes returns the data nodes that the scan reads in one execution; nil: all rows are on one.
func (n *Scan) SelectNodes(env *expr.Env) *bitset.BitSet {
	if n.Nodes == nil {
		return nil
	}
	return n.Nodes.atStart(n, env)
}

func (p *PartScan) atStart(n *Scan, env *expr.Env) *bitset.BitSet {
	if !p.AtStart {
		return p.Selected
	}
	set := p.Desc.Select(n.Filter, n.columnAt, &prune.Knowledge{Env: env})
	set.InPlaceIntersection(p.Selected)
	return set
}

// OnLeaf returns the scan as one of a leaf: its columns and indexes are the leaf's. It is of all data nodes.
func (n *Scan) OnLeaf(number int) *Scan {
	leaf := &n.Parts.Desc.Leaves[number]
	c := *n
	c.Parts, c.Nodes, c.Table = nil, nil, leaf.Table
	c.Columns = make([]ScanCol, len(n.Columns))
	for i, sc := range n.Columns {
		sc.Pos = leaf.Columns[sc.Pos]
		c.Columns[i] = sc
	}
	switch n.Access {
	case AccessIndex:
		if c.Index = n.Index.onLeaf(leaf); c.Index == nil {
			c.Access = AccessRows
		}
	case AccessBitmap:
		if c.Bitmap = n.Bitmap.onLeaf(leaf); c.Bitmap == nil {
			c.Access = AccessRows
		}
	case AccessColumns, AccessHybrid:
		if c.Access = AccessRows; leaf.Table.HasView {
			c.Access, _ = c.columnAccess(n.hybridLeaves)
		}
	}
	return &c
}

// anyLeaf reports whether something holds for a selected leaf.
func (n *Scan) anyLeaf(holds func(t *catalog.Table) bool) bool {
	if n.Parts == nil {
		return false
	}
	set := n.Parts.Selected
	for i, ok := set.NextSet(0); ok; i, ok = set.NextSet(i + 1) {
		if holds(n.Parts.Desc.Leaves[i].Table) {
			return true
		}
	}
	return false
}

// viewAccess returns how column views can serve a scan, or why they cannot. Each leaf of a partitioned
// table is read as its own view allows; where one is not read by columns alone, the scan is a hybrid.
func (b *binder) viewAccess(n *Scan) (Access, string) {
	if n.Parts == nil {
		return n.columnAccess(b.settings.EnableHybrid)
	}
	n.hybridLeaves = b.settings.EnableHybrid
	byCover := map[string]Access{}
	var all [AccessHybrid + 1]bool
	why := "no column view"
	set := n.Parts.Selected
	cover := make([]byte, len(n.Columns)+1)
	for i, ok := set.NextSet(0); ok; i, ok = set.NextSet(i + 1) {
		leaf := &n.Parts.Desc.Leaves[i]
		for k := range n.Columns {
			cover[k] = 0
			if leaf.Table.HasView && leaf.Table.Columns[leaf.Columns[n.Columns[k].Pos]].Covered {
				cover[k] = 1
			}
		}
		access, known := byCover[string(cover)]
		if !known {
			if access = AccessRows; leaf.Table.HasView {
				own := *n
				own.Access = AccessRows
				access, why = own.OnLeaf(int(i)).columnAccess(n.hybridLeaves)
			}
			byCover[string(cover)] = access
		}
		all[access] = true
	}
	switch {
	case !all[AccessColumns] && !all[AccessHybrid]:
		return AccessRows, why
	case all[AccessRows] || all[AccessHybrid]:
		return AccessHybrid, ""
	}
	return AccessColumns, ""
}

// viewedLeaves is how many leaves are asked for the state of their column views: a plan takes the others
// to be like them.
const viewedLeaves = 32

// viewState is how much of what a scan reads its column views can answer now.
func (b *binder) viewState(n *Scan) (v ViewState) {
	if n.Parts == nil {
		return b.tableViewState(n.Table)
	}
	asked, set := 0, n.Parts.Selected
	for i, ok := set.NextSet(0); ok && asked < viewedLeaves; i, ok = set.NextSet(i + 1) {
		t := n.Parts.Desc.Leaves[i].Table
		asked++
		if t.HasView {
			own := b.tableViewState(t)
			v.DiskShare = (v.DiskShare*float64(v.LoadedGroups) + own.DiskShare*float64(own.LoadedGroups)) / float64(max(v.LoadedGroups+own.LoadedGroups, 1))
			v.Groups, v.LoadedGroups, v.StaleRows = v.Groups+own.Groups, v.LoadedGroups+own.LoadedGroups, v.StaleRows+own.StaleRows
		}
	}
	v.StaleRows *= float64(set.Count()) / float64(max(asked, 1))
	return v
}

// tableViewState is the state of a table's view, which is counted once for all the scans that are weighed.
func (b *binder) tableViewState(t *catalog.Table) ViewState {
	v, ok := b.viewStates[t.ID]
	if !ok {
		v = b.world.ViewState(t)
		b.viewStates[t.ID] = v
	}
	return v
}

func (s *IndexScan) onLeaf(leaf *prune.Leaf) *IndexScan {
	x := leaf.Index(s.Index)
	if x == nil || x.State != catalog.IndexReady {
		return nil
	}
	c := *s
	c.Index = x
	return &c
}

func (s *BitmapScan) onLeaf(leaf *prune.Leaf) *BitmapScan {
	c := *s
	if s.Index != nil {
		if c.Index = s.Index.onLeaf(leaf); c.Index == nil {
			return nil
		}
	}
	c.Kids = make([]*BitmapScan, len(s.Kids))
	for i, kid := range s.Kids {
		if c.Kids[i] = kid.onLeaf(leaf); c.Kids[i] == nil {
			return nil
		}
	}
	return &c
}

// PartitionCheck is what a row has to obey that is stored in a partition by its own name.
type PartitionCheck struct {
	Desc *prune.Desc // of the topmost partitioned table
	// Columns are the partition's positions of that table's columns.
	Columns []int
}

// partitionCheck returns what rows of a table have to obey as those of a partition; nil if it is none.
func (b *binder) partitionCheck(t *catalog.Table) (*PartitionCheck, error) {
	above := b.snapshot.Ancestors(t)
	if len(above) == 0 {
		return nil, nil
	}
	root := above[len(above)-1]
	d, err := PartitionDesc(b.snapshot, root)
	if err != nil {
		return nil, err
	}
	return &PartitionCheck{Desc: d, Columns: prune.ColumnMap(root, t)}, nil
}

// changed returns what a statement has to know of a table whose rows it changes.
func (b *binder) changed(t *catalog.Table) (into Target, err error) {
	if t.Kind == catalog.PartitionedTable {
		if into.Parts, err = PartitionDesc(b.snapshot, t); err != nil {
			return into, err
		}
	}
	into.Bound, err = b.partitionCheck(t)
	return into, err
}

// TargetOf returns what has to be known of a table to load rows into it.
func TargetOf(t *catalog.Table, in Input) (Target, error) { return newBinder(in).changed(t) }

// LeafChecks binds what is asked of the rows of a table besides what a partitioned table above it asks:
// its CHECK constraints over columns that stand for its row.
func LeafChecks(t *catalog.Table) ([]*expr.Col, []TableCheck, error) {
	b := newBinder(Input{Catalog: catalog.NewSnapshot(1), Settings: DefaultSettings()})
	b.noParams = true
	cols := b.rowColumns(t)
	checks, err := b.checks(t, cols)
	return cols, checks, err
}

// notPartitioned is the error of what needs a partitioned table.
func notPartitioned(t *catalog.Table) *sqlerr.Error {
	return sqlerr.New(sqlerr.WrongObjectType, "%q is not partitioned", t.Name)
}
