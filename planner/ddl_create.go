package planner

import (
	"maps"
	"slices"
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

// Allocator hands out catalog ids that no running transaction uses.
type Allocator interface {
	NewTableID() catalog.TableID
	NewStoreID() catalog.StoreID
	NewIndexID() catalog.IndexID
}

// DDL plans changes of the catalog: it turns a statement into the next snapshot. The caller applies
// the snapshot in its transaction.
type DDL struct {
	Input
	IDs Allocator
	// Env tells what session-dependent literals such as 'now' mean.
	Env *expr.Env
	// Advise proposes columns for a table's view from the queries seen, none where no view would help
	// them.
	Advise func(*catalog.Table) ([]catalog.ColumnID, error)
	// Notices collects messages for the client.
	Notices []string
	// Sequences collects those that serial and identity columns need; the caller adds them to the
	// catalog with the table.
	Sequences []*catalog.Table
}

// CreateTable describes the table of a CREATE TABLE statement. It returns nil when the table exists
// and the statement says IF NOT EXISTS.
func (d *DDL) CreateTable(n *sql.CreateTable) (*catalog.Table, error) {
	if err := unsupportedTableClauses(n); err != nil {
		return nil, err
	}
	schema, exists, err := d.newName(n.Name, n.Persistence == sql.Temporary, n.IfNotExists)
	if err != nil || exists {
		return nil, err
	}
	t := &catalog.Table{ID: d.IDs.NewTableID(), Temp: isTempSchema(schema), Schema: schema, Name: n.Name.Name, SchemaVersion: 1, NextColumn: 1}
	if err := setOnCommit(t, n.OnCommit); err != nil {
		return nil, err
	}
	var parent *catalog.Table
	var later []func() error
	if n.PartitionOf != nil {
		if parent, err = d.partitionParent(*n.PartitionOf); err == nil {
			err = d.partitionOf(t, parent, n)
		}
	} else {
		later, err = d.addColumns(t, n)
	}
	if err != nil {
		return nil, err
	}
	if len(t.Columns) == 0 {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "a table without columns is not supported").At(n.Start)
	}
	if err := d.partitionBy(t, n.PartitionBy); err != nil {
		return nil, err
	}
	for i := range n.Columns {
		if c := &n.Columns[i]; c.Generated != nil {
			if err := d.checkGenerated(t, c.Name.Name, c.Generated); err != nil {
				return nil, err
			}
		}
	}
	for _, add := range later {
		if err := add(); err != nil {
			return nil, err
		}
	}
	if err := d.addConstraints(t, n); err != nil {
		return nil, err
	}
	if err := distribute(t, n.DistributeBy); err != nil {
		return nil, err
	}
	if parent != nil {
		if _, err := d.inheritKeys(t, parent, nil); err != nil {
			return nil, err
		}
		inheritDistribution(t, parent)
	}
	d.newStores(t)
	t.HasView = len(t.CoveredColumns()) > 0
	if n.ColView == sql.Yes && !t.HasView {
		return nil, emptyView(t).At(n.Start)
	}
	return t, nil
}

// addColumns adds the columns of CREATE TABLE and those of LIKE clauses in the order they are written
// in. What the functions do that it returns comes when all columns are there.
func (d *DDL) addColumns(t *catalog.Table, n *sql.CreateTable) (later []func() error, err error) {
	likes := n.Likes
	addLikes := func(before int) error {
		for ; len(likes) > 0 && (before < 0 || likes[0].Start < before); likes = likes[1:] {
			add, err := d.addLike(t, &likes[0], n.ColView)
			if err != nil {
				return err
			}
			later = append(later, add)
		}
		return nil
	}
	for i := range n.Columns {
		if err := addLikes(n.Columns[i].Start); err != nil {
			return nil, err
		}
		if err := d.addColumn(t, &n.Columns[i], n.ColView); err != nil {
			return nil, err
		}
	}
	return later, addLikes(-1)
}

// addConstraints adds the constraints of CREATE TABLE, foreign keys last: they may reference the
// table's own keys.
func (d *DDL) addConstraints(t *catalog.Table, n *sql.CreateTable) error {
	var all []sql.Constraint
	for i := range n.Columns {
		for _, c := range n.Columns[i].Constraints {
			c.Columns = []sql.Ident{n.Columns[i].Name}
			all = append(all, c)
		}
	}
	all = append(all, n.Constraints...)
	for _, foreign := range []bool{false, true} {
		for i := range all {
			if (all[i].Kind == sql.ForeignKey) != foreign {
				continue
			}
			all[i].NotValid = false // there are no rows yet
			if err := d.addConstraint(t, &all[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func unsupportedTableClauses(n *sql.CreateTable) error {
	what := ""
	switch {
	case n.PartitionOf != nil && n.DistributeBy != nil:
		what = "DISTRIBUTE BY of a partition"
	case len(n.Inherits) > 0:
		what = "INHERITS"
	}
	if what == "" {
		return checkStorageOptions(n.Options)
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "%s is not supported yet", what).At(n.Start)
}

// emptyView is the error of COLVIEW for a table all of whose columns are left out.
func emptyView(t *catalog.Table) *sqlerr.Error {
	return sqlerr.New(sqlerr.InvalidTableDefinition, "the column view of table %q would cover no column", t.Name).
		WithHint("Use NOCOLVIEW for a table without column view.")
}

// newName checks that a relation can be created under a name and returns its schema.
func (d *DDL) newName(name sql.ObjectName, temporary, ifNotExists bool) (schema string, exists bool, err error) {
	if schema, err = d.creationSchema(name, temporary); err != nil {
		return "", false, err
	}
	if !d.relationExists(schema, name.Name) {
		return schema, false, nil
	}
	if ifNotExists {
		d.Notices = append(d.Notices, `relation "`+name.Name+`" already exists, skipping`)
		return schema, true, nil
	}
	return "", false, sqlerr.New(sqlerr.DuplicateTable, "relation %q already exists", name.Name).At(name.Start).WithTable(name.Name)
}

// addColumn appends a column to a description under construction.
func (d *DDL) addColumn(t *catalog.Table, n *sql.ColumnDef, table sql.Tristate) error {
	if t.ColumnIndex(n.Name.Name) >= 0 {
		return sqlerr.New(sqlerr.DuplicateColumn, "column %q specified more than once", n.Name.Name).At(n.Name.Start)
	}
	written := n.Type
	serial := serialTypes[written.Name]
	if serial != "" {
		written.Name = serial
	}
	typ, err := BindType(written)
	if err != nil {
		return err
	}
	if err := checkCollation(n.Collation, typ); err != nil {
		return err
	}
	c := catalog.Column{ID: t.NextColumn, Name: n.Name.Name, Type: typ, NotNull: n.NotNull == sql.Yes, AddedIn: t.SchemaVersion}
	if n.Default != nil {
		if err := d.setDefault(&c, n.Default); err != nil {
			return err
		}
	}
	if serial != "" || n.Identity != nil {
		if err := d.counted(t, &c, n); err != nil {
			return err
		}
	}
	if n.Generated != nil { // bound when all columns are there
		switch {
		case n.Default != nil || serial != "":
			return sqlerr.New(sqlerr.SyntaxError, "both default and generation expression specified for column %q of table %q", c.Name, t.Name).At(n.GeneratedAs.Start)
		case n.Identity != nil:
			return sqlerr.New(sqlerr.SyntaxError, "both identity and generation expression specified for column %q of table %q", c.Name, t.Name).At(n.GeneratedAs.Start)
		}
		c.Generated = sql.Format(n.Generated)
	}
	// Precedence of the reference: a table-level COLVIEW covers every column not marked NOCOLVIEW;
	// without it only columns marked COLVIEW are covered.
	c.Covered = n.ColView == sql.Yes || table == sql.Yes && n.ColView != sql.No
	t.NextColumn++
	t.Columns = append(t.Columns, c)
	return nil
}

// definitionBinder binds the expressions of a definition, which outlive the statement's parameters.
func (d *DDL) definitionBinder() *binder {
	b := newBinder(d.Input)
	b.noParams = true
	return b
}

// bindDefault binds a default as the column's type, so that a wrong one is refused now.
func (d *DDL) bindDefault(c *catalog.Column, e sql.Expr) (bound, coerced expr.Expr, err error) {
	b, pos := d.definitionBinder(), e.SourceSpan().Start
	if bound, err = b.expr(e, defaultScope()); err != nil {
		return nil, nil, err
	}
	coerced, err = b.defaultAs(bound, c, pos)
	return bound, coerced, err
}

// defaultAs converts a default or generation expression to its column's type.
func (b *binder) defaultAs(e expr.Expr, c *catalog.Column, pos int) (expr.Expr, error) {
	coerced, err := b.coerce(e, c.Type, expr.AssignmentCast, pos)
	if code := sqlerr.CodeOf(err); err != nil && (code == sqlerr.DatatypeMismatch || code == sqlerr.CannotCoerce) {
		err = sqlerr.New(sqlerr.DatatypeMismatch, "column %q is of type %s but default expression is of type %s", c.Name, c.Type.Base(), e.Type().Base()).
			At(pos).WithHint("You will need to rewrite or cast the expression.")
	}
	return coerced, err
}

// setDefault gives a column a default. Literals such as 'now' are read here, once for all rows.
func (d *DDL) setDefault(c *catalog.Column, e sql.Expr) error {
	bound, _, err := d.bindDefault(c, e)
	if err != nil {
		return err
	}
	if err := d.sequencesExist(e); err != nil {
		return err
	}
	c.Default = sql.Format(e)
	pos := e.SourceSpan().Start
	cast, isCast := e.(*sql.Cast)
	if isCast {
		e = cast.Expr
	}
	switch e.(type) {
	case *sql.StringLit, *sql.TypedLit:
	default:
		return nil
	}
	if bound.Type().ID == catalog.Unknown { // modifiers apply when the default is stored
		if bound, err = expr.Coerce(bound, c.Type.Base(), expr.AssignmentCast, pos); err != nil {
			return err
		}
	}
	if _, known := bound.(*expr.Const); known {
		return nil
	}
	if bound, err = expr.FoldConstants(bound, d.Env); err != nil {
		return at(err, pos)
	}
	if k, ok := bound.(*expr.Const); ok {
		c.Default = sql.QuoteString(expr.FormatDatum(k.Typ, k.Value, d.Env)) + "::" + k.Typ.String()
	}
	return nil
}

// addConstraint adds a table or column constraint.
func (d *DDL) addConstraint(t *catalog.Table, n *sql.Constraint) error {
	switch n.Kind {
	case sql.PrimaryKey, sql.Unique:
		return d.addUnique(t, n)
	case sql.CheckConstraint:
		return d.addCheck(t, n)
	}
	return d.addForeignKey(t, n)
}

func (d *DDL) addUnique(t *catalog.Table, n *sql.Constraint) error {
	if n.Deferrable == sql.Yes {
		return sqlerr.New(sqlerr.FeatureNotSupported, "DEFERRABLE is not supported yet for this kind of constraint").At(n.Start)
	}
	primary := n.Kind == sql.PrimaryKey
	if primary && t.PrimaryKey() != nil {
		return sqlerr.New(sqlerr.InvalidTableDefinition, "multiple primary keys for table %q are not allowed", t.Name).At(n.Start)
	}
	index := catalog.Index{ID: d.IDs.NewIndexID(), Name: n.Name.Name, Unique: true, Primary: primary, NullsNotDistinct: n.NullsNotDistinct}
	var names []string
	for _, id := range n.Columns {
		pos := t.ColumnIndex(id.Name)
		if pos < 0 {
			return sqlerr.New(sqlerr.UndefinedColumn, "column %q named in key does not exist", id.Name).At(id.Start)
		}
		c := &t.Columns[pos]
		for _, have := range index.Columns {
			if have == c.ID {
				return sqlerr.New(sqlerr.DuplicateColumn, "column %q appears twice in key constraint", id.Name).At(id.Start)
			}
		}
		if primary {
			c.NotNull = true
		}
		index.Columns = append(index.Columns, c.ID)
		names = append(names, c.Name)
	}
	for _, id := range n.Include {
		pos := t.ColumnIndex(id.Name)
		if pos < 0 {
			return sqlerr.New(sqlerr.UndefinedColumn, "column %q named in key does not exist", id.Name).At(id.Start)
		}
		index.Include = append(index.Include, t.Columns[pos].ID)
		names = append(names, id.Name)
	}
	taken := d.relationTaken(t)
	if index.Name != "" && hasConstraint(t, index.Name) && !taken(index.Name) {
		return duplicateConstraint(t, n.Name)
	}
	if index.Name != "" && taken(index.Name) {
		return sqlerr.New(sqlerr.DuplicateTable, "relation %q already exists", index.Name)
	}
	if index.Name == "" {
		label := "key"
		if primary {
			names, label = nil, "pkey"
		}
		index.Name = madeName(t.Name, names, label, either(taken, d.constraintTaken(t)))
	}
	if err := uniqueOnPartitioned(t, &index); err != nil {
		return err
	}
	t.Indexes = append(t.Indexes, index)
	return nil
}

func (d *DDL) addCheck(t *catalog.Table, n *sql.Constraint) error {
	b := d.definitionBinder()
	check := catalog.Check{Name: n.Name.Name, Expr: sql.Format(n.Expr), NotValid: n.NotValid}
	if check.Name == "" {
		check.Name = d.checkName(t, n.Expr)
	} else if hasConstraint(t, check.Name) {
		return duplicateConstraint(t, n.Name)
	}
	if _, err := b.check(n.Expr, t, b.rowColumns(t)); err != nil {
		return err
	}
	t.Checks = append(t.Checks, check)
	return nil
}

// checkName is the name PostgreSQL gives a CHECK constraint: with the column's name in it when it
// is about one column, and numbered when it is taken.
func (d *DDL) checkName(t *catalog.Table, e sql.Expr) string {
	columns := map[string]bool{}
	sql.Inspect(e, func(n sql.Node) bool {
		if c, ok := n.(*sql.ColumnRef); ok {
			columns[c.Parts[len(c.Parts)-1].Name] = true
		}
		return true
	})
	var names []string
	if len(columns) == 1 {
		names = slices.Collect(maps.Keys(columns))
	}
	return madeName(t.Name, names, "check", d.constraintTaken(t))
}

// distribute sets the columns whose hash says on which data node a row lives: those of DISTRIBUTE
// BY HASH, else the primary key, else the first column that can be hashed.
func distribute(t *catalog.Table, n *sql.DistributeBy) error {
	if n != nil {
		if n.Method != "hash" {
			return sqlerr.New(sqlerr.FeatureNotSupported, "DISTRIBUTE BY %s is not supported", strings.ToUpper(n.Method)).At(n.Start).WithHint("Use DISTRIBUTE BY HASH (columns).")
		}
		for _, id := range n.Columns {
			pos := t.ColumnIndex(id.Name)
			if pos < 0 {
				return sqlerr.New(sqlerr.UndefinedColumn, "column %q does not exist", id.Name).At(id.Start)
			}
			t.DistributeBy = append(t.DistributeBy, t.Columns[pos].ID)
		}
		return nil
	}
	if pk := t.PrimaryKey(); pk != nil {
		t.DistributeBy = append([]catalog.ColumnID(nil), pk.Columns...)
		return nil
	}
	t.DistributeBy = []catalog.ColumnID{t.Columns[0].ID}
	return nil
}

// newStores gives a table fresh, empty stores; a partitioned one has none.
func (d *DDL) newStores(t *catalog.Table) {
	if t.Kind == catalog.PartitionedTable {
		return
	}
	t.Stores = make([]catalog.StoreID, d.Catalog.Nodes)
	for i := range t.Stores {
		t.Stores[i] = d.IDs.NewStoreID()
	}
}

// CreateTableAs describes the table that CREATE TABLE AS fills with the rows of plan.
func (d *DDL) CreateTableAs(n *sql.CreateTableAs, plan *Plan) (*catalog.Table, error) {
	if n.Materialized {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "materialized views are not supported yet").At(n.Start)
	}
	if err := checkStorageOptions(n.Options); err != nil {
		return nil, err
	}
	schema, exists, err := d.newName(n.Name, n.Persistence == sql.Temporary, n.IfNotExists)
	if err != nil || exists {
		return nil, err
	}
	var names []string
	for _, c := range plan.Columns {
		names = append(names, c.Name)
	}
	if names, err = renamed(names, n.Columns, n.Name.Name); err != nil {
		return nil, err
	}
	t := &catalog.Table{ID: d.IDs.NewTableID(), Temp: isTempSchema(schema), Schema: schema, Name: n.Name.Name, SchemaVersion: 1, NextColumn: 1}
	if err := setOnCommit(t, n.OnCommit); err != nil {
		return nil, err
	}
	for i, c := range plan.Columns {
		if t.ColumnIndex(names[i]) >= 0 {
			return nil, sqlerr.New(sqlerr.DuplicateColumn, "column %q specified more than once", names[i]).At(n.Start)
		}
		t.Columns = append(t.Columns, catalog.Column{ID: t.NextColumn, Name: names[i], Type: c.Declared, AddedIn: 1, Covered: n.ColView == sql.Yes})
		t.NextColumn++
	}
	if len(t.Columns) == 0 {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "a table without columns is not supported").At(n.Start)
	}
	if err := distribute(t, n.DistributeBy); err != nil {
		return nil, err
	}
	d.newStores(t)
	t.HasView = n.ColView == sql.Yes
	return t, nil
}
