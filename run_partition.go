package weft

import (
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/exec"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/prune"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// createTable runs CREATE TABLE.
func (d *definition) createTable(n *sql.CreateTable) (*Rows, error) {
	if err := d.lockReferenced(n); err != nil {
		return nil, err
	}
	if n.PartitionOf != nil {
		if err := d.lockTree(*n.PartitionOf); err != nil {
			return nil, err
		}
	}
	t, err := d.ddl.CreateTable(n)
	if err != nil || t == nil {
		return done("CREATE TABLE"), err
	}
	d.viewsChanged = t.HasView
	if err := d.putSequences(); err != nil {
		return nil, err
	}
	if err := d.put(t); err != nil {
		return nil, err
	}
	return done("CREATE TABLE"), d.addedPartition(t)
}

// lockTree locks a named table and those it is a partition of, before its partitions change. Whoever
// reads a partitioned table locks that one only, so what changes below has to exclude them there.
func (d *definition) lockTree(name sql.ObjectName) error {
	t := d.ddl.FindTable(name)
	if t == nil {
		return nil // the statement fails
	}
	if err := d.lockAbove(t); err != nil {
		return err
	}
	return d.lockIn(t, storage.AccessExclusive)
}

// lockAbove locks the tables that a table is a partition of.
func (d *definition) lockAbove(t *catalog.Table) error {
	above := d.ddl.Catalog.Ancestors(t)
	for i := len(above) - 1; i >= 0; i-- {
		if err := d.lockIn(above[i], storage.AccessExclusive); err != nil {
			return err
		}
	}
	return nil
}

// touchAbove notes in the tables above a partition that something below them has changed, so that
// statements that were planned before are planned anew.
func (d *definition) touchAbove(t *catalog.Table) error {
	for _, above := range d.ddl.Catalog.Ancestors(t) {
		next := above.Clone()
		next.Epoch++
		if err := d.put(next); err != nil {
			return err
		}
	}
	return nil
}

// withPartitions adds to tables that are to go, or to be emptied, everything below them, and locks what
// they are parts of.
func (d *definition) withPartitions(tables []*catalog.Table) ([]*catalog.Table, error) {
	var all []*catalog.Table
	for _, t := range tables {
		if err := d.lockAbove(t); err != nil {
			return nil, err
		}
		if t.Kind == catalog.PartitionedTable {
			if err := d.lockIn(t, storage.AccessExclusive); err != nil {
				return nil, err
			}
		}
		for _, t := range append([]*catalog.Table{t}, d.ddl.Catalog.Descendants(t.ID)...) {
			if !slices.ContainsFunc(all, func(o *catalog.Table) bool { return o.ID == t.ID }) {
				all = append(all, t)
			}
		}
	}
	return all, nil
}

// alterPartitioned runs ALTER TABLE of a partitioned table, with everything below it, or of a partition.
func (d *definition) alterPartitioned(t *catalog.Table, n *sql.AlterTable) error {
	if err := d.lockAbove(t); err != nil {
		return err
	}
	if err := d.lockIn(t, storage.AccessExclusive); err != nil {
		return err
	}
	for _, p := range d.ddl.Catalog.Descendants(t.ID) {
		if err := d.lockIn(p, storage.AccessExclusive); err != nil {
			return err
		}
	}
	if err := d.lockAltered(t, n); err != nil {
		return err
	}
	if t = d.ddl.FindTable(n.Name); t == nil {
		return sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", n.Name.Raw())
	}
	for _, action := range n.Actions {
		if len(n.Actions) > 1 && standsAlone(action) {
			return sqlerr.New(sqlerr.FeatureNotSupported, "this form of ALTER TABLE cannot be combined with others").At(action.SourceSpan().Start)
		}
	}
	switch action := n.Actions[0].(type) {
	case *sql.AttachPartition:
		return d.attach(t, action)
	case *sql.DetachPartition:
		return d.detach(t, action)
	case *sql.ColView:
		if action.Partition.Name != "" {
			return d.partitionView(t, n, action)
		}
	}
	change, err := d.alterOne(n)
	if err != nil || change.Table == nil {
		return err
	}
	if !n.Only {
		if err := d.alterBelow(t, d.ddl.Catalog.Table(t.ID), n); err != nil {
			return err
		}
	}
	if t.Kind == catalog.PartitionedTable {
		for _, ref := range change.Referencing {
			if err := d.checkForeignKey(ref.Child, ref.Key); err != nil {
				return err
			}
		}
	}
	return d.touchAbove(t)
}

// standsAlone reports whether an action is about one partition.
func standsAlone(action sql.AlterAction) bool {
	switch n := action.(type) {
	case *sql.AttachPartition, *sql.DetachPartition:
		return true
	case *sql.ColView:
		return n.Partition.Name != ""
	}
	return false
}

// alterBelow repeats an ALTER TABLE in the partitions of a table, given as it was and is.
func (d *definition) alterBelow(before, after *catalog.Table, n *sql.AlterTable) error {
	for _, p := range d.ddl.Catalog.Partitions(after.ID) {
		var failed error
		change, err := d.ddl.AlterPartition(p, before, after, n, d.hasRows(&failed))
		if err == nil {
			err = failed
		}
		if err != nil {
			return err
		}
		if err := d.carryOut(change); err != nil {
			return err
		}
		if err := d.alterBelow(p, d.ddl.Catalog.Table(p.ID), n); err != nil {
			return err
		}
	}
	return nil
}

// createPartitionedIndex creates an index of a partitioned table, with its parts in all partitions, or of
// a partition.
func (d *definition) createPartitionedIndex(t *catalog.Table, n *sql.CreateIndex) (*Rows, error) {
	if err := d.lockTree(n.Table); err != nil {
		return nil, err
	}
	for _, p := range d.ddl.Catalog.Descendants(t.ID) {
		if err := d.lockIn(p, storage.AccessExclusive); err != nil {
			return nil, err
		}
	}
	t, index, err := d.ddl.CreateIndex(n)
	if err != nil || index == nil {
		return done("CREATE INDEX"), err
	}
	if t.Kind != catalog.PartitionedTable {
		if err := d.w.txn.BuildIndex(d.r.ctx, t, index); err != nil {
			return nil, err
		}
	}
	with := d.ddl.WithIndex(t, index)
	if err := d.put(with); err != nil {
		return nil, err
	}
	if err := d.alterBelow(t, with, &sql.AlterTable{}); err != nil {
		return nil, err
	}
	return done("CREATE INDEX"), d.touchAbove(with)
}

// reindexBelow builds the parts of an index of a partitioned table anew, nil = all of its indexes.
func (d *definition) reindexBelow(t *catalog.Table, index *catalog.Index) error {
	for _, p := range d.ddl.Catalog.Partitions(t.ID) {
		part := index
		if index != nil {
			if part = p.IndexOf(index.ID); part == nil {
				continue
			}
		}
		if p.Kind == catalog.PartitionedTable {
			if err := d.reindexBelow(p, part); err != nil {
				return err
			}
			continue
		}
		next, err := d.reindexTable(p, part)
		if err == nil {
			err = d.touchAbove(next)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// partitionView runs MODIFY PARTITION … COLVIEW: the column view of one partition and what is below it.
func (d *definition) partitionView(t *catalog.Table, n *sql.AlterTable, view *sql.ColView) error {
	for _, p := range d.ddl.Catalog.Descendants(t.ID) {
		if p.Name != view.Partition.Name {
			continue
		}
		own, action := *n, *view
		action.Partition = sql.Ident{}
		if cover := t.CoveredColumns(); action.Mode == sql.ColViewAll && len(cover) > 0 { // the partition follows the table
			action.Mode = sql.ColViewOnly
			for _, id := range cover {
				action.Columns = append(action.Columns, sql.Ident{Span: view.Span, Name: t.Columns[t.ColumnByID(id)].Name})
			}
		}
		own.Name = sql.ObjectName{Span: n.Name.Span, Schema: p.Schema, Name: p.Name}
		own.Actions = []sql.AlterAction{&action}
		return d.alterPartitioned(p, &own)
	}
	return sqlerr.New(sqlerr.UndefinedObject, "partition %q of relation %q does not exist", view.Partition.Name, t.Name).At(view.Partition.Start)
}

// attach makes a table a partition.
func (d *definition) attach(parent *catalog.Table, n *sql.AttachPartition) error {
	if err := d.lockTree(n.Table); err != nil {
		return err
	}
	change, err := d.ddl.Attach(parent, n)
	if err != nil {
		return err
	}
	if err := d.r.s.refusePending("ALTER TABLE", change.Table); err != nil {
		return err
	}
	if err := d.carryOut(change); err != nil {
		return err
	}
	t := d.ddl.Catalog.Table(change.Table.ID)
	if t.Kind == catalog.PartitionedTable {
		if err := d.alterBelow(t.WithoutConstraints(), t, &sql.AlterTable{}); err != nil {
			return err
		}
	}
	if ok, err := d.belongs(t); err != nil {
		return err
	} else if !ok {
		return sqlerr.New(sqlerr.CheckViolation, "partition constraint of relation %q is violated by some row", t.Name).WithTable(t.Name)
	}
	return d.addedPartition(t)
}

// detach makes a partition a table of its own.
func (d *definition) detach(parent *catalog.Table, n *sql.DetachPartition) error {
	if err := d.lockTree(n.Table); err != nil {
		return err
	}
	t, err := d.ddl.Detach(parent, n)
	if err != nil {
		return err
	}
	if err := d.lockParents(t, t.ForeignKeys); err != nil {
		return err
	}
	was := d.ddl.Catalog.Table(t.ID)
	references := d.ddl.Catalog.ReferencesTo(was)
	for _, ref := range references {
		if err := d.lockIn(ref.Child, storage.ShareRowExclusive); err != nil {
			return err
		}
	}
	if err := d.touchAbove(was); err != nil {
		return err
	}
	if err := d.put(t); err != nil {
		return err
	}
	for _, ref := range references {
		if ref.Key.RefTable != t.ID {
			if err := d.checkStillReferenced(t, ref); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkStillReferenced refuses to take a partition away whose rows are referenced.
func (d *definition) checkStillReferenced(t *catalog.Table, ref catalog.Reference) error {
	use, err := planner.NewKeyUse(d.w.txn.Catalog(), ref.Child, ref.Key, ref.Child, true)
	if err != nil {
		return err
	}
	k := &keyWork{r: d.r, w: d.w, env: d.r.sessionEnv()}
	text := newReferenceText(exec.NewKeyChange(use), k.env)
	rows, err := k.run(text.unmatched())
	if err != nil || !rows.Next() {
		return err
	}
	return sqlerr.New(sqlerr.ForeignKeyViolation, "removing partition %q violates foreign key constraint %q", t.Name, ref.Key.Name).
		WithTable(ref.Child.Name).WithConstraint(ref.Key.Name).
		WithDetail("Key %s is still referenced from table %q.", text.describe(rows.data(), false), ref.Child.Name)
}

// addedPartition ends adding a table as partition: no row of the default partition may belong to it.
func (d *definition) addedPartition(t *catalog.Table) error {
	if t.Parent == 0 {
		return nil
	}
	if !t.Bound.Default {
		for _, other := range d.ddl.Catalog.Partitions(t.Parent) {
			if !other.Bound.Default {
				continue
			}
			if ok, err := d.belongs(other); err != nil {
				return err
			} else if !ok {
				return sqlerr.New(sqlerr.CheckViolation, "updated partition constraint for default partition %q would be violated by some row", other.Name).WithTable(other.Name)
			}
		}
	}
	return d.touchAbove(t)
}

// belongs reports whether all rows of a partition are where the bounds want them.
func (d *definition) belongs(t *catalog.Table) (bool, error) {
	view := d.w.txn.LatestView() // the tables are locked
	defer view.Release()
	timed, cancel := d.r.timed()
	defer cancel()
	ok, err := timed.belongs(t, d.ddl.Input, view, d.w.txn)
	return ok, contextError(timed.ctx, err)
}

// belongs reports whether all rows of a partition, read through a view, are where the bounds want them.
func (r *running) belongs(t *catalog.Table, in planner.Input, view *storage.View, txn *storage.Txn) (bool, error) {
	above := in.Catalog.Ancestors(t)
	if len(above) == 0 {
		return true, nil // the table above is missing: the check of the catalog says so
	}
	root := above[len(above)-1]
	desc, err := planner.PartitionDesc(in.Catalog, root)
	if err != nil {
		return false, err
	}
	stmt, err := sql.ParseOne("SELECT * FROM " + qualified(t))
	if err != nil {
		return false, err
	}
	plan, err := planner.Build(stmt, in)
	if err != nil {
		return false, err
	}
	inner := *r
	inner.args = nil
	env, err := inner.planEnv(plan)
	if err != nil {
		return false, err
	}
	rows := &placedRows{router: desc.NewRouter(env), at: prune.ColumnMap(root, t), leaves: make([]int32, vector.BatchCap)}
	rows.from, rows.to = desc.Interval(t.ID)
	_, err = exec.Run(r.ctx, r.execQuery(r.ctx, plan, view, txn, env), rows)
	return !rows.misplaced, err
}

// placedRows looks at rows of a partition for those that belong elsewhere.
type placedRows struct {
	router    *prune.Router
	at        []int // where the topmost table's columns are
	from, to  int   // the leaves that are right
	leaves    []int32
	misplaced bool
}

// Push looks at a batch.
func (p *placedRows) Push(b *vector.Batch) error {
	rows := vector.Batch{N: b.N, Sel: b.Sel}
	for _, at := range p.at {
		rows.Vecs = append(rows.Vecs, b.Vecs[at])
	}
	if err := p.router.Route(&rows, p.leaves); err != nil {
		return err
	}
	for k := range rows.Live() {
		row := k
		if rows.Sel != nil {
			row = int(rows.Sel[k])
		}
		if leaf := int(p.leaves[row]); leaf < p.from || leaf >= p.to {
			p.misplaced = true
			return exec.ErrStop
		}
	}
	return nil
}
