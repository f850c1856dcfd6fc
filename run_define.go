package weft

import (
	"context"
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/storage"
)

// define runs statements that change or describe the catalog.
func (r *running) define() (*Rows, error) {
	if err := r.refuseIfReadOnly(); err != nil {
		return nil, err
	}
	switch n := r.stmt.(type) {
	case *sql.CreateIndex:
		if n.Concurrently {
			return r.createIndexOnline(n)
		}
	case *sql.Drop:
		if n.Concurrently {
			return r.dropIndexOnline(n)
		}
	}
	timed, cancel := r.timed()
	defer cancel()
	rows, err := timed.defineBy((*definition).run)
	if err != nil {
		return nil, contextError(timed.ctx, err)
	}
	return rows, nil
}

// defineBy runs a step that changes or describes the catalog, in a transaction of its own outside of
// a transaction block.
func (r *running) defineBy(step func(d *definition) (*Rows, error)) (*Rows, error) {
	env := r.sessionEnv()
	w := r.s.beginWork(&r.work)
	defer w.abandon()
	d := &definition{r: r, w: w, ddl: &planner.DDL{Input: r.s.input(w.txn.Catalog()), IDs: r.s.db.engine, Env: env, Advise: r.adviseColumns}}
	rows, err := step(d)
	if err = w.end(r.ctx, err); err != nil {
		return nil, err
	}
	r.s.notices(d.ddl.Notices)
	w.viewsChanged = d.viewsChanged
	return rows, r.refreshViews(r.ctx, w)
}

// refreshViews brings column views in line with what ended work has changed, at the latest when its transaction
// commits.
func (r *running) refreshViews(ctx context.Context, w *work) error {
	switch {
	case !w.viewsChanged:
		return nil
	case w.own:
		return r.s.db.populateChanged(ctx, r.s.on(setAsyncPopulate))
	}
	r.s.viewDDL = true
	return nil
}

// definition is a catalog statement in its transaction.
type definition struct {
	r            *running
	w            *work
	ddl          *planner.DDL
	viewsChanged bool
}

func (d *definition) run() (*Rows, error) {
	switch n := d.r.stmt.(type) {
	case *sql.CreateTable:
		return d.createTable(n)
	case *sql.CreateTableAs:
		return d.createTableAs(n)
	case *sql.AlterTable:
		return d.alter(n)
	case *sql.Drop:
		return d.drop(n)
	case *sql.Truncate:
		return d.truncate(n)
	case *sql.CreateIndex:
		return d.createIndex(n)
	case *sql.Reindex:
		return d.reindex(n)
	case *sql.CreateView:
		return d.createView(n)
	case *sql.CreateSequence:
		return d.createSequence(n)
	case *sql.AlterSequence:
		return d.alterSequence(n)
	case *sql.CreateSchema:
		return d.createSchema(n)
	case *sql.Analyze:
		return done("ANALYZE"), d.analyze(n)
	case *sql.Vacuum:
		return done("VACUUM"), d.vacuum(n)
	}
	return nil, sqlerr.New(sqlerr.FeatureNotSupported, "this statement is not supported yet").At(d.r.stmt.SourceSpan().Start)
}

// put adds or replaces a table in the transaction's catalog.
func (d *definition) put(t *catalog.Table) error {
	if err := d.w.txn.SetCatalog(d.r.ctx, d.w.txn.Catalog().WithTable(t)); err != nil {
		return err
	}
	d.ddl.Catalog = d.w.txn.Catalog()
	if t.Temp {
		d.r.s.temp.used, d.ddl.Settings.TempUsed = true, true
	}
	return nil
}

func (d *definition) createTableAs(n *sql.CreateTableAs) (*Rows, error) {
	plan, err := planner.Build(n.Query, d.ddl.Input)
	if err != nil {
		return nil, err
	}
	for _, u := range plan.Relations {
		if err := d.w.txn.LockTable(d.r.ctx, u.ID, useModes[u.Use], storage.Wait); err != nil {
			return nil, err
		}
	}
	d.ddl.Notices = append(d.ddl.Notices, plan.Notices...)
	t, err := d.ddl.CreateTableAs(n, plan)
	if err != nil || t == nil {
		return done("CREATE TABLE AS"), err
	}
	d.viewsChanged = t.HasView
	if err := d.put(t); err != nil || n.NoData {
		return done("CREATE TABLE AS"), err
	}
	insert := &sql.Insert{Span: n.Span, Table: sql.ObjectName{Schema: t.Schema, Name: t.Name}, Query: n.Query}
	in := d.ddl.Input
	in.Catalog = d.w.txn.Catalog()
	if plan, err = planner.Build(insert, in); err != nil {
		return nil, err
	}
	inner := *d.r
	inner.stmt = insert
	view := d.w.txn.View()
	defer view.Release()
	rows, err := inner.write(newCachedPlan(plan), d.w, view)
	if err != nil {
		return nil, err
	}
	return &Rows{done: true, affected: rows.affected, tag: "SELECT " + itoa(rows.affected)}, nil
}

func (d *definition) alterTable(n *sql.AlterTable) error {
	if old := d.ddl.FindTable(n.Name); old != nil {
		_, attaches := n.Actions[0].(*sql.AttachPartition)
		_, detaches := n.Actions[0].(*sql.DetachPartition)
		if old.Kind == catalog.PartitionedTable || old.IsPartition() || attaches || detaches {
			return d.alterPartitioned(old, n)
		}
		if err := d.lockAltered(old, n); err != nil {
			return err
		}
	}
	_, err := d.alterOne(n)
	return err
}

// alterOne changes one table and returns what was changed, without a table if nothing was.
func (d *definition) alterOne(n *sql.AlterTable) (*planner.Alteration, error) {
	var failed error
	change, err := d.ddl.AlterTable(n, d.hasRows(&failed))
	if err == nil {
		err = failed
	}
	if err == nil && change.Table != nil {
		err = d.carryOut(change)
	}
	return change, err
}

// hasRows returns a function that tells whether a table has rows. An error is put where it is told to.
func (d *definition) hasRows(failed *error) func(*catalog.Table) bool {
	return func(t *catalog.Table) bool {
		if t.Kind == catalog.PartitionedTable {
			return false // its partitions are looked at one by one
		}
		some, err := d.anyRow("SELECT 1 FROM " + qualified(t) + " LIMIT 1")
		if err != nil {
			*failed = err
		}
		return some
	}
}

// carryOut makes an ALTER TABLE, as it is planned, come true.
func (d *definition) carryOut(change *planner.Alteration) error {
	d.viewsChanged = d.viewsChanged || change.ViewChanged || change.Table.HasView
	if err := d.putSequences(); err != nil {
		return err
	}
	if err := d.dropDependents(change.Dependents); err != nil {
		return err
	}
	if err := d.putChecked(change); err != nil {
		return err
	}
	if err := d.putAll(change.Views); err != nil {
		return err
	}
	for _, r := range change.Sequences {
		if err := d.dropRelation(r); err != nil {
			return err
		}
	}
	return d.dropOrphanSequences(change.Table)
}

// lockAltered locks what an ALTER TABLE concerns.
func (d *definition) lockAltered(t *catalog.Table, n *sql.AlterTable) error {
	if err := d.lockIn(t, alterLock(n.Actions)); err != nil {
		return err
	}
	if err := d.r.s.refusePending("ALTER TABLE", t); err != nil {
		return err
	}
	if err := d.lockReferenced(n); err != nil {
		return err
	}
	for _, a := range n.Actions {
		if now := d.ddl.Catalog.Table(t.ID); now != nil {
			if err := d.lockParents(now, planner.ChangedForeignKeys(now, a)); err != nil {
				return err
			}
		}
	}
	return nil
}

// dropOrphanSequences drops the sequences of columns that a table no longer has.
func (d *definition) dropOrphanSequences(t *catalog.Table) error {
	for _, r := range d.ddl.OwnedSequences(t.ID, 0) {
		if t.ColumnByID(r.Sequence.OwnerColumn) < 0 {
			if err := d.dropRelation(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// putChecked replaces a table by its altered form: without the new constraints first, then, when
// the rows, rewritten where they have to be, are found to obey them and their indexes are built, with
// them.
func (d *definition) putChecked(change *planner.Alteration) error {
	t := change.Table
	if t.Kind == catalog.PartitionedTable || change.Rewrite == nil && len(change.NotNull)+len(change.Checks)+len(change.Indexes)+len(change.ForeignKeys) == 0 {
		return d.put(t)
	}
	isNew := func(x catalog.Index) bool { return slices.Contains(change.Indexes, x.ID) }
	without := t.Clone()
	without.Indexes = slices.DeleteFunc(without.Indexes, isNew)
	without.ForeignKeys = slices.DeleteFunc(without.ForeignKeys, func(k catalog.ForeignKey) bool { return slices.Contains(change.ForeignKeys, k.Name) })
	without.Checks = slices.DeleteFunc(without.Checks, func(c catalog.Check) bool { return slices.Contains(change.Checks, c) })
	for _, id := range change.NotNull {
		without.Columns[without.ColumnByID(id)].NotNull = false
	}
	before := d.w.txn.LatestView()
	defer before.Release()
	if err := d.put(without); err != nil {
		return err
	}
	if change.Rewrite != nil {
		var err error
		if without, err = d.rewrite(without, change.Rewrite, before); err != nil {
			return err
		}
		t.Stores, t.Epoch = without.Stores, without.Epoch
	}
	if err := d.checkRows(without, change); err != nil {
		return err
	}
	for i := range t.Indexes {
		if isNew(t.Indexes[i]) {
			if err := d.w.txn.BuildIndex(d.r.ctx, without, &t.Indexes[i]); err != nil {
				return err
			}
		}
	}
	if err := d.put(t); err != nil {
		return err
	}
	for _, name := range change.ForeignKeys {
		if err := d.checkForeignKey(t, t.ForeignKey(name)); err != nil {
			return err
		}
	}
	for _, ref := range change.Referencing {
		if err := d.checkForeignKey(ref.Child, ref.Key); err != nil {
			return err
		}
	}
	return nil
}

// checkRows looks for rows that new constraints forbid.
func (d *definition) checkRows(t *catalog.Table, change *planner.Alteration) error {
	for _, id := range change.NotNull {
		name := t.Columns[t.ColumnByID(id)].Name
		some, err := d.anyRow("SELECT 1 FROM " + qualified(t) + " WHERE " + sql.QuoteIdent(name) + " IS NULL LIMIT 1")
		if err != nil {
			return err
		}
		if some {
			return sqlerr.New(sqlerr.NotNullViolation, "column %q of relation %q contains null values", name, t.Name).WithTable(t.Name).WithColumn(name)
		}
	}
	for _, check := range change.Checks {
		some, err := d.anyRow("SELECT 1 FROM " + qualified(t) + " WHERE NOT (" + check.Expr + ") LIMIT 1")
		if err != nil {
			return err
		}
		if some {
			return sqlerr.New(sqlerr.CheckViolation, "check constraint %q of relation %q is violated by some row", check.Name, t.Name).WithTable(t.Name).WithConstraint(check.Name)
		}
	}
	return nil
}

// alterLock is the lock that a list of ALTER TABLE actions needs. A change of the column view does
// not concern rows: readers and writers go on. A foreign key concerns writers only.
func alterLock(actions []sql.AlterAction) storage.LockMode {
	mode := storage.ShareUpdateExclusive
	for _, a := range actions {
		switch a := a.(type) {
		case *sql.ColView:
			continue
		case *sql.AddConstraint:
			if a.Constraint.Kind == sql.ForeignKey {
				mode = storage.ShareRowExclusive
				continue
			}
		}
		return storage.AccessExclusive
	}
	return mode
}

// anyRow reports whether a query yields a row, as the statement's transaction sees it.
func (d *definition) anyRow(query string) (bool, error) {
	stmt, err := sql.ParseOne(query)
	if err != nil {
		return false, err
	}
	plan, err := planner.Build(stmt, d.ddl.Input)
	if err != nil {
		return false, err
	}
	inner := *d.r
	inner.stmt, inner.args = stmt, nil
	view := d.w.txn.LatestView() // the table is locked: what others committed since the transaction's snapshot counts
	defer view.Release()
	rows, err := inner.write(newCachedPlan(plan), d.w, view)
	if err != nil {
		return false, err
	}
	return rows.Next(), nil
}

func qualified(t *catalog.Table) string {
	return sql.QuoteIdent(t.Schema) + "." + sql.QuoteIdent(t.Name)
}

func (d *definition) drop(n *sql.Drop) (*Rows, error) {
	switch n.Kind {
	case sql.TableObject:
	case sql.IndexObject:
		return d.dropIndex(n)
	case sql.SequenceObject:
		return d.dropSequence(n)
	case sql.ViewObject:
		return d.dropView(n)
	case sql.SchemaObject:
		return d.dropSchema(n)
	default:
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "DROP of this kind of object is not supported yet").At(n.Start)
	}
	tables, err := d.namedTables(n)
	if err != nil {
		return nil, err
	}
	what := ""
	if len(tables) == 1 {
		what = d.ddl.Describe(tables[0])
	}
	if tables, err = d.withPartitions(tables); err != nil {
		return nil, err
	}
	if tables, err = d.lockDropped(tables, "DROP TABLE"); err != nil {
		return nil, err
	}
	dependents := d.ddl.TableDependents(tables)
	if err := dependents.Settle(d.ddl, what, n.Cascade); err != nil {
		return nil, err
	}
	if err := d.dropDependents(dependents); err != nil {
		return nil, err
	}
	for _, t := range tables {
		if err := d.dropDependentViews(t, n.Cascade); err != nil {
			return nil, err
		}
		if err := d.lockParents(t, t.ForeignKeys); err != nil {
			return nil, err
		}
		if err := d.touchAbove(t); err != nil {
			return nil, err
		}
		if err := d.dropRelation(t); err != nil {
			return nil, err
		}
		d.viewsChanged = d.viewsChanged || t.HasView
	}
	return done("DROP TABLE"), nil
}

// dropped looks up a relation that DROP names; nil if there is none and the statement says IF EXISTS.
func (d *definition) dropped(n *sql.Drop, name sql.ObjectName, kind catalog.RelationKind) (*catalog.Table, error) {
	r := d.ddl.FindRelation(name)
	switch {
	case r == nil && n.IfExists:
		d.ddl.Notices = append(d.ddl.Notices, sqlerr.Text("%s %q does not exist, skipping", kind, name.Name))
		return nil, nil
	case r == nil:
		return nil, sqlerr.New(sqlerr.UndefinedTable, "%s %q does not exist", kind, name.Name)
	case r.Kind != kind && !(kind == catalog.OrdinaryTable && r.IsTable()):
		return nil, planner.WrongKind(r, kind)
	}
	return r, nil
}

// namedTables looks up the tables of DROP TABLE.
func (d *definition) namedTables(n *sql.Drop) ([]*catalog.Table, error) {
	var tables []*catalog.Table
	for _, name := range n.Names {
		t, err := d.dropped(n, name, catalog.OrdinaryTable)
		if sqlerr.CodeOf(err) == sqlerr.UndefinedTable {
			err = at(err, name)
		}
		if err != nil {
			return nil, err
		}
		if t != nil && !slices.ContainsFunc(tables, func(o *catalog.Table) bool { return o.ID == t.ID }) {
			tables = append(tables, t)
		}
	}
	return tables, nil
}
