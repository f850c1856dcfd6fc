package planner

import (
	"slices"
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

// LookupTable finds a table by name along the search path.
func (d *DDL) LookupTable(name sql.ObjectName) (*catalog.Table, error) {
	return newBinder(d.Input).lookupTable(name)
}

// FindTable is LookupTable without an error for a missing table.
func (d *DDL) FindTable(name sql.ObjectName) *catalog.Table {
	return findTable(d.Catalog, d.Settings.LookupPath(), name.Schema, name.Name)
}

// Alteration is what ALTER TABLE does to a table. Before it may be applied, the rows must be checked
// for NULLs in the columns of NotNull and against Checks and ForeignKeys, those of other tables against
// Referencing, Indexes must be built, and Dependents must be dropped.
type Alteration struct {
	Table       *catalog.Table // nil: nothing to do
	NotNull     []catalog.ColumnID
	Checks      []catalog.Check
	Indexes     []catalog.IndexID   // of Table.Indexes
	ForeignKeys []string            // of Table.ForeignKeys
	Referencing []catalog.Reference // to Table
	Dependents  Dependents          // of other tables
	Views       []*catalog.Table    // those that read the table, with what changes in them
	Sequences   []*catalog.Table    // to be dropped
	// Rewrite yields the rows of Table, in order, which has fresh stores for them; nil: the rows stay
	// where they are.
	Rewrite *Plan
	// ViewChanged tells that the column view covers other columns than before.
	ViewChanged bool
}

// AlterTable describes the table after an ALTER TABLE statement. hasRows tells whether the table
// holds rows.
func (d *DDL) AlterTable(n *sql.AlterTable, hasRows func(*catalog.Table) bool) (*Alteration, error) {
	old := d.FindTable(n.Name)
	if old == nil {
		if n.IfExists {
			d.Notices = append(d.Notices, `relation "`+n.Name.Name+`" does not exist, skipping`)
			return &Alteration{}, nil
		}
		if r := d.FindRelation(n.Name); r != nil {
			return nil, sqlerr.New(sqlerr.WrongObjectType, "%q is not a table", r.Name)
		}
		return nil, sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", n.Name.Raw())
	}
	if err := d.CheckAlterable(old, n); err != nil {
		return nil, err
	}
	return d.alterTable(old, n.Actions, hasRows, nil)
}

// alterTable describes a table after actions, and after what then does.
func (d *DDL) alterTable(old *catalog.Table, actions []sql.AlterAction, hasRows func(*catalog.Table) bool, then func(*alter) error) (*Alteration, error) {
	a := &alter{d: d, t: old.Clone(), old: old, hasRows: hasRows, out: &Alteration{}}
	actions = slices.Clone(actions)
	slices.SortStableFunc(actions, func(x, y sql.AlterAction) int { return alterPass(x) - alterPass(y) })
	var err error
	for _, action := range actions {
		if err = a.apply(action); err != nil {
			return nil, err
		}
	}
	if then != nil {
		if err := then(a); err != nil {
			return nil, err
		}
	}
	for _, id := range a.converts {
		if err = a.recheck(id); err != nil {
			return nil, err
		}
	}
	if a.out.Rewrite, err = a.planRewrite(); err != nil {
		return nil, err
	}
	a.forgetGone()
	a.t.HasView = len(a.t.CoveredColumns()) > 0
	if a.old.HasView && !a.t.HasView && !a.viewSet {
		d.Notices = append(d.Notices, `column view of "`+a.t.Name+`" was dropped: it covered no other column`)
	}
	if a.newSchema {
		a.t.SchemaVersion++
		for i := range a.t.Columns {
			if a.t.Columns[i].AddedIn > a.t.SchemaVersion {
				a.t.Columns[i].AddedIn = a.t.SchemaVersion
			}
		}
	}
	if a.newSchema || a.retyped || a.out.ViewChanged || a.t.Kind == catalog.PartitionedTable || a.t.IsPartition() {
		a.t.Epoch++
	}
	a.out.Table = a.t
	return a.out, nil
}

// alterPass is when an action takes place among those of one statement, as in PostgreSQL: what is
// dropped goes first, and constraints come when all columns are there.
func alterPass(action sql.AlterAction) int {
	switch n := action.(type) {
	case *sql.DropColumn, *sql.DropConstraint, *sql.DropIdentity:
		return 0
	case *sql.AlterColumnNotNull:
		if !n.NotNull {
			return 0
		}
	case *sql.AlterColumnDefault:
		if n.Default == nil {
			return 0
		}
	case *sql.AlterColumnType:
		return 1
	case *sql.AddColumn, *sql.ColView:
		return 2
	case *sql.AddConstraint:
		return 4
	}
	return 3
}

// forgetGone forgets checks of rows for what the statement itself has taken away again.
func (a *alter) forgetGone() {
	a.out.NotNull = slices.DeleteFunc(a.out.NotNull, func(id catalog.ColumnID) bool {
		pos := a.t.ColumnByID(id)
		return pos < 0 || !a.t.Columns[pos].NotNull
	})
	a.out.Checks = slices.DeleteFunc(a.out.Checks, func(c catalog.Check) bool { return !slices.Contains(a.t.Checks, c) })
	a.out.Indexes = slices.DeleteFunc(a.out.Indexes, func(id catalog.IndexID) bool {
		return !slices.ContainsFunc(a.t.Indexes, func(x catalog.Index) bool { return x.ID == id })
	})
}

type alter struct {
	d         *DDL
	old, t    *catalog.Table
	hasRows   func(*catalog.Table) bool
	out       *Alteration
	newSchema bool
	retyped   bool               // a column got another type, for which rows stay as they are
	rewriting *rewriting         // nil: the rows stay as they are
	converts  []catalog.ColumnID // those whose values become others
	viewSet   bool               // a COLVIEW action has been applied
}

func (a *alter) apply(action sql.AlterAction) error {
	switch n := action.(type) {
	case *sql.AddColumn:
		return a.addColumn(n)
	case *sql.DropColumn:
		return a.dropColumn(n)
	case *sql.RenameColumn:
		return a.renameColumn(n)
	case *sql.AlterColumnType:
		return a.alterType(n)
	case *sql.AlterColumnDefault:
		return a.setDefault(n)
	case *sql.AlterColumnNotNull:
		return a.setNotNull(n)
	case *sql.ColView:
		return a.colView(n)
	case *sql.AddConstraint:
		return a.addConstraint(&n.Constraint)
	case *sql.DropConstraint:
		return a.dropConstraint(n)
	case *sql.RenameConstraint:
		return a.renameConstraint(n)
	case *sql.ValidateConstraint:
		return a.validate(n)
	}
	return a.applyOther(action)
}

// applyOther applies the actions that change no constraint and no set of columns.
func (a *alter) applyOther(action sql.AlterAction) error {
	switch n := action.(type) {
	case *sql.DropIdentity:
		if n.Expression {
			return a.dropExpression(n)
		}
		return a.dropIdentity(n)
	case *sql.AddIdentity:
		return a.addIdentity(n)
	case *sql.SetIdentity:
		return a.setIdentity(n)
	case *sql.SetOptions:
		if n.Reset {
			return nil
		}
		return checkStorageOptions(n.Options)
	case *sql.AlterColumnStatistics:
		return a.setStatistics(n)
	case *sql.OwnerTo:
		return a.d.CheckOwner(n)
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "this form of ALTER TABLE is not supported yet").At(action.SourceSpan().Start)
}

func (a *alter) column(id sql.Ident) (*catalog.Column, error) {
	pos, err := newBinder(a.d.Input).tableColumn(a.t, id)
	if err != nil {
		return nil, err
	}
	return &a.t.Columns[pos], nil
}

// addColumn adds a column without touching rows: those of older schema versions read its Missing
// value.
func (a *alter) addColumn(n *sql.AddColumn) error {
	if a.t.ColumnIndex(n.Column.Name.Name) >= 0 {
		if n.IfNotExists {
			a.d.Notices = append(a.d.Notices, `column "`+n.Column.Name.Name+`" of relation "`+a.t.Name+`" already exists, skipping`)
			return nil
		}
		return sqlerr.New(sqlerr.DuplicateColumn, "column %q of relation %q already exists", n.Column.Name.Name, a.t.Name).At(n.Column.Name.Start)
	}
	if err := a.d.addColumn(a.t, &n.Column, sql.Unset); err != nil {
		return sequenceUnplaced(err)
	}
	c := &a.t.Columns[len(a.t.Columns)-1]
	c.AddedIn = a.t.SchemaVersion + 1
	a.newSchema = true
	a.out.ViewChanged = a.out.ViewChanged || c.Covered
	if err := a.fillColumn(c, n); err != nil {
		return err
	}
	if c.NotNull && c.Missing == "" && !a.rewrites(c.ID) && a.hasRows(a.old) {
		return sqlerr.New(sqlerr.NotNullViolation, "column %q of relation %q contains null values", c.Name, a.t.Name).At(n.Start).WithTable(a.t.Name).WithColumn(c.Name)
	}
	for i := range n.Column.Constraints {
		constraint := n.Column.Constraints[i]
		constraint.Columns = []sql.Ident{n.Column.Name}
		if err := a.addConstraint(&constraint); err != nil {
			return err
		}
	}
	return nil
}

// fillColumn says what existing rows have in a column that is added: one value that all read without
// having it, or, where it is another for each, one that they are rewritten with.
func (a *alter) fillColumn(c *catalog.Column, n *sql.AddColumn) error {
	if c.Generated != "" {
		if err := a.d.checkGenerated(a.t, c.Name, n.Column.Generated); err != nil {
			return err
		}
		return a.rewriteColumn(c, nil)
	}
	e := n.Column.Default
	if e == nil && c.Default != "" { // of a serial or identity column
		var err error
		if e, err = sql.ParseExpr(c.Default); err != nil {
			return err
		}
	}
	if e == nil {
		return nil
	}
	_, bound, err := a.d.bindDefault(c, e)
	if err != nil {
		return err
	}
	folded, err := expr.FoldConstants(bound, a.d.Env)
	if err != nil {
		return err
	}
	k, ok := folded.(*expr.Const)
	switch {
	case !ok:
		return a.rewriteColumn(c, func(r *rewriting) (expr.Expr, error) { return r.b.defaultOf(a.t, a.t.ColumnByID(c.ID)) })
	case !k.Value.Null:
		c.Missing = sql.QuoteString(expr.FormatDatum(c.Type, k.Value, a.d.Env))
	}
	return nil
}

func (a *alter) dropColumn(n *sql.DropColumn) error {
	if n.IfExists && a.t.ColumnIndex(n.Name.Name) < 0 {
		a.d.Notices = append(a.d.Notices, `column "`+n.Name.Name+`" of relation "`+a.t.Name+`" does not exist, skipping`)
		return nil
	}
	c, err := a.column(n.Name)
	if err != nil {
		return err
	}
	dropped := *c
	users, err := generatedUsers(a.t, dropped.Name)
	if err != nil {
		return err
	}
	what := "column " + dropped.Name + " of " + a.d.Describe(a.t)
	var list Dependents
	for i := range users {
		list = append(list, Dependent{Reference: catalog.Reference{Child: a.t}, Column: users[i].Name, On: what})
	}
	gone := append(users, dropped)
	for i := range gone {
		if v := a.d.DependentViews(a.t.ID, gone[i].Name); len(v) > 0 {
			return sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop %s because other objects depend on it", what).
				WithDetail("%s depends on column %s of %s", a.d.Describe(v[0]), gone[i].Name, a.d.Describe(a.t)).WithHint("Drop the view first.")
		}
		list = append(list, a.d.columnDependents(a.t, &gone[i])...)
	}
	if err := a.dropDependents(list, what, n.Cascade); err != nil {
		return err
	}
	for i := range gone {
		if err := a.removeColumn(n, &gone[i]); err != nil {
			return err
		}
	}
	return nil
}

// removeColumn drops a column with the constraints and indexes on it.
func (a *alter) removeColumn(n *sql.DropColumn, dropped *catalog.Column) error {
	if len(a.t.Columns) == 1 {
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot drop the only column of a table").At(n.Start)
	}
	for _, id := range a.t.DistributeBy {
		if id == dropped.ID && len(a.t.Stores) > 1 {
			return sqlerr.New(sqlerr.FeatureNotSupported, "cannot drop column %q: the table is distributed by it", dropped.Name).At(n.Start)
		}
	}
	a.t.ForeignKeys = slices.DeleteFunc(a.t.ForeignKeys, func(k catalog.ForeignKey) bool { return slices.Contains(k.Columns, dropped.ID) })
	var failed error
	if a.t.Indexes, failed = withoutColumn(a.t.Indexes, dropped); failed != nil {
		return failed
	}
	a.t.Checks = slices.DeleteFunc(a.t.Checks, func(check catalog.Check) bool {
		uses, err := mentions(check.Expr, dropped.Name)
		if err != nil {
			failed = err
		}
		return uses
	})
	if failed != nil {
		return failed
	}
	if dropped.Covered {
		a.out.ViewChanged = true
		a.d.Notices = append(a.d.Notices, `column "`+dropped.Name+`" was dropped from the column view of "`+a.t.Name+`"`)
	}
	pos := a.t.ColumnByID(dropped.ID)
	changed := map[catalog.TableID]*catalog.Table{}
	for _, v := range a.out.Views {
		changed[v.ID] = v
	}
	var err error
	a.out.Views, err = a.d.inViews(changed, a.t, func(n *sql.TableName, _ bool) {
		if pos < len(n.Alias.Columns) {
			n.Alias.Columns = slices.Delete(n.Alias.Columns, pos, pos+1)
		}
	})
	if err != nil {
		return err
	}
	a.t.Columns = append(a.t.Columns[:pos], a.t.Columns[pos+1:]...)
	a.t.Dropped = append(a.t.Dropped, *dropped)
	if slices.Contains(a.t.DistributeBy, dropped.ID) {
		a.t.DistributeBy = []catalog.ColumnID{a.t.Columns[0].ID} // on one data node any column will do
	}
	a.newSchema = true
	return nil
}

func (a *alter) renameColumn(n *sql.RenameColumn) error {
	c, err := a.column(n.Name)
	if err != nil {
		return err
	}
	if a.t.ColumnIndex(n.NewName.Name) >= 0 {
		return sqlerr.New(sqlerr.DuplicateColumn, "column %q of relation %q already exists", n.NewName.Name, a.t.Name).At(n.NewName.Start)
	}
	if a.out.Views, err = a.d.inViews(nil, a.t, keepNamesOf(a.t)); err != nil {
		return err
	}
	for i := range a.t.Columns {
		if g := &a.t.Columns[i].Generated; *g != "" {
			if *g, err = renameIn(*g, c.Name, n.NewName.Name); err != nil {
				return err
			}
		}
	}
	for i := range a.t.Checks {
		if a.t.Checks[i].Expr, err = renameIn(a.t.Checks[i].Expr, c.Name, n.NewName.Name); err != nil {
			return err
		}
	}
	if err := renameInIndexes(a.t.Indexes, c.Name, n.NewName.Name); err != nil {
		return err
	}
	if err := renameInPartitioning(a.t, c.Name, n.NewName.Name); err != nil {
		return err
	}
	c.Name = n.NewName.Name
	return nil
}

func (a *alter) setDefault(n *sql.AlterColumnDefault) error {
	c, err := a.column(n.Column)
	if err != nil {
		return err
	}
	if c.Generated != "" {
		if n.Default == nil {
			return generatedColumn(a.t, c).WithHint("Use ALTER TABLE ... ALTER COLUMN ... DROP EXPRESSION instead.")
		}
		return generatedColumn(a.t, c)
	}
	if c.Identity != catalog.NoIdentity {
		if n.Default == nil {
			return identityColumn(a.t, c).WithHint("Use ALTER TABLE ... ALTER COLUMN ... DROP IDENTITY instead.")
		}
		return identityColumn(a.t, c)
	}
	c.Default = ""
	if n.Default == nil {
		return nil
	}
	return sequenceUnplaced(a.d.setDefault(c, n.Default))
}

// sequenceUnplaced takes the position from the error of a sequence that does not exist: as in PostgreSQL,
// only CREATE TABLE tells where it stands.
func sequenceUnplaced(err error) error {
	if code := sqlerr.CodeOf(err); code == sqlerr.UndefinedTable || code == sqlerr.InvalidSchemaName {
		return unplaced(err)
	}
	return err
}

func (a *alter) setNotNull(n *sql.AlterColumnNotNull) error {
	c, err := a.column(n.Column)
	if err != nil {
		return err
	}
	if pk := a.t.PrimaryKey(); pk != nil && !n.NotNull {
		for _, id := range pk.Columns {
			if id == c.ID {
				return sqlerr.New(sqlerr.InvalidTableDefinition, "column %q is in a primary key", c.Name).At(n.Start)
			}
		}
	}
	if !n.NotNull && c.Identity != catalog.NoIdentity {
		return identityColumn(a.t, c)
	}
	if n.NotNull && !c.NotNull {
		a.out.NotNull = append(a.out.NotNull, c.ID)
	}
	c.NotNull = n.NotNull
	return nil
}

// colView applies the COLVIEW forms. Naming columns again replaces the set.
func (a *alter) colView(n *sql.ColView) error {
	if n.Partition.Name != "" {
		return sqlerr.New(sqlerr.WrongObjectType, "table %q is not partitioned", a.t.Name).At(n.Partition.Start)
	}
	if a.viewSet {
		return sqlerr.New(sqlerr.SyntaxError, "conflicting COLVIEW/NOCOLVIEW declarations for table %q", a.t.Name).At(n.Start)
	}
	a.viewSet = true
	named, err := a.advised(n)
	if err != nil {
		return err
	}
	for _, id := range n.Columns {
		c, err := a.column(id)
		if err != nil {
			return err
		}
		if named[c.ID] {
			return sqlerr.New(sqlerr.DuplicateColumn, "column %q specified more than once", id.Name).At(id.Start)
		}
		named[c.ID] = true
	}
	for i := range a.t.Columns {
		c := &a.t.Columns[i]
		covered := c.Covered
		switch n.Mode {
		case sql.ColViewAll:
			covered = true
		case sql.ColViewOnly, sql.ColViewAuto:
			covered = named[c.ID]
		case sql.ColViewExcept:
			covered = !named[c.ID]
		case sql.ColViewNone:
			covered = false
		}
		a.out.ViewChanged = a.out.ViewChanged || covered != c.Covered
		c.Covered = covered
	}
	if n.Mode != sql.ColViewNone && len(a.t.CoveredColumns()) == 0 {
		return emptyView(a.t).At(n.Start)
	}
	return nil
}

// advised returns the columns that COLVIEW AUTO covers, and says which they are; for other forms none.
func (a *alter) advised(n *sql.ColView) (map[catalog.ColumnID]bool, error) {
	named := map[catalog.ColumnID]bool{}
	if n.Mode != sql.ColViewAuto {
		return named, nil
	}
	ids, err := a.d.Advise(a.t)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return nil, sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "no column view of %q would help the queries seen so far", a.t.Name).At(n.Start).
			WithHint("Queries are remembered from when the database is opened; gs_imcv_advice_statistics shows them. Views must fit in htap_max_mem_size.")
	}
	var names []string
	for i := range a.t.Columns {
		if c := &a.t.Columns[i]; slices.Contains(ids, c.ID) {
			named[c.ID] = true
			names = append(names, sql.QuoteIdent(c.Name))
		}
	}
	a.d.Notices = append(a.d.Notices, `column view of "`+a.t.Name+`" covers `+strings.Join(names, ", "))
	return named, nil
}

// Truncated describes a table emptied by TRUNCATE: it continues in fresh stores and key spaces,
// and keeps its column view's definition.
func (d *DDL) Truncated(t *catalog.Table) *catalog.Table {
	c := t.Clone()
	d.startAnew(c)
	return c
}

// startAnew gives a table that has no rows yet, or is given new ones, fresh stores and key spaces.
func (d *DDL) startAnew(c *catalog.Table) {
	if c.Kind == catalog.PartitionedTable {
		c.Epoch++
		return
	}
	d.newStores(c)
	for i := range c.Indexes {
		c.Indexes[i].ID = d.IDs.NewIndexID()
	}
	c.Dropped = nil
	c.SchemaVersion++
	for i := range c.Columns {
		c.Columns[i].AddedIn = c.SchemaVersion
		c.Columns[i].Missing = ""
	}
	c.Epoch++
}
