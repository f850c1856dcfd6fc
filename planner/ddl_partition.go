package planner

import (
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

// partitionBy makes a table under construction a partitioned one.
func (d *DDL) partitionBy(t *catalog.Table, n *sql.PartitionBy) error {
	if n == nil {
		return nil
	}
	if len(n.Partitions) > 0 {
		return sqlerr.New(sqlerr.FeatureNotSupported, "a list of partitions in PARTITION BY is not supported").At(n.Partitions[0].Start).
			WithHint("Use CREATE TABLE ... PARTITION OF.")
	}
	p := &catalog.Partitioning{Strategy: map[sql.PartitionMethod]catalog.PartitionStrategy{sql.PartitionRange: catalog.PartitionByRange,
		sql.PartitionList: catalog.PartitionByList, sql.PartitionHash: catalog.PartitionByHash}[n.Method]}
	if p.Strategy == catalog.PartitionByList && len(n.Keys) > 1 {
		return sqlerr.New(sqlerr.InvalidObjectDefinition, "cannot use \"list\" partition strategy with more than one column")
	}
	for i := range n.Keys {
		k, err := d.partitionKey(t, &n.Keys[i])
		if err != nil {
			return err
		}
		p.Keys = append(p.Keys, k)
	}
	t.Kind, t.Partitioning = catalog.PartitionedTable, p
	return nil
}

func (d *DDL) partitionKey(t *catalog.Table, n *sql.PartitionKey) (k catalog.PartitionKey, err error) {
	if n.OpClass != nil {
		return k, sqlerr.New(sqlerr.FeatureNotSupported, "an operator class is not supported yet").At(n.OpClass.Start)
	}
	b := d.definitionBinder()
	if ref, ok := n.Expr.(*sql.ColumnRef); ok && len(ref.Parts) == 1 {
		pos := t.ColumnIndex(ref.Parts[0].Name)
		if pos < 0 {
			return k, sqlerr.New(sqlerr.UndefinedColumn, "column %q named in partition key does not exist", ref.Parts[0].Name).At(n.Start)
		}
		c := &t.Columns[pos]
		if c.Generated != "" {
			return k, sqlerr.New(sqlerr.InvalidObjectDefinition, "cannot use generated column in partition key").At(n.Start).
				WithDetail("Column %q is a generated column.", c.Name)
		}
		k = catalog.PartitionKey{Column: c.ID, Type: c.Type}
	} else {
		cols := b.rowColumns(t)
		e, err := b.partitionExpression(n.Expr, t, cols)
		if err != nil {
			return k, err
		}
		if expr.VolatilityOf(e) != expr.Immutable {
			return k, sqlerr.New(sqlerr.InvalidObjectDefinition, "functions in partition key expression must be marked IMMUTABLE")
		}
		used := expr.Columns(e)
		if len(used) == 0 {
			return k, sqlerr.New(sqlerr.InvalidObjectDefinition, "cannot use constant expression as partition key")
		}
		for i, c := range cols {
			if used.Has(c.ID) && t.Columns[i].Generated != "" {
				return k, sqlerr.New(sqlerr.InvalidObjectDefinition, "cannot use generated column in partition key").At(n.Start).
					WithDetail("Column %q is a generated column.", c.Name)
			}
		}
		if e.Type().ID == catalog.Unknown {
			return k, sqlerr.New(sqlerr.InvalidObjectDefinition, "partition key column %d has pseudo-type unknown", 1)
		}
		k = catalog.PartitionKey{Expr: keyExpressionText(n.Expr), Type: e.Type()}
	}
	return k, checkCollation(n.Collation, k.Type)
}

// uniqueOnPartitioned refuses unique keys that do not say which partition a row is in: no index could
// keep them.
func uniqueOnPartitioned(t *catalog.Table, x *catalog.Index) error {
	if t.Partitioning == nil || !x.Unique {
		return nil
	}
	kind := "UNIQUE"
	if x.Primary {
		kind = "PRIMARY KEY"
	}
	for _, k := range t.Partitioning.Keys {
		switch {
		case k.Column == 0:
			return sqlerr.New(sqlerr.FeatureNotSupported, "unsupported %s constraint with partition key definition", kind).
				WithDetail("%s constraints cannot be used when partition keys include expressions.", kind)
		case !slices.Contains(x.Columns, k.Column):
			return sqlerr.New(sqlerr.FeatureNotSupported, "unique constraint on partitioned table must include all partitioning columns").
				WithDetail("%s constraint on table %q lacks column %q which is part of the partition key.", kind, t.Name, t.Columns[t.ColumnByID(k.Column)].Name)
		}
	}
	return nil
}

// partitionParent finds the table that a new partition is of.
func (d *DDL) partitionParent(name sql.ObjectName) (*catalog.Table, error) {
	parent := d.FindTable(name)
	if parent == nil {
		return nil, sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", name.Raw())
	}
	if parent.Kind != catalog.PartitionedTable {
		return nil, notPartitioned(parent)
	}
	return parent, nil
}

// partitionOf makes a table under construction a partition.
func (d *DDL) partitionOf(t, parent *catalog.Table, n *sql.CreateTable) error {
	if parent.Temp != t.Temp {
		if t.Temp {
			return sqlerr.New(sqlerr.WrongObjectType, "cannot create a temporary relation as partition of permanent relation %q", parent.Name)
		}
		return sqlerr.New(sqlerr.WrongObjectType, "cannot create a permanent relation as partition of temporary relation %q", parent.Name)
	}
	if err := d.inherit(t, parent, n); err != nil {
		return err
	}
	var err error
	t.Bound, err = d.bound(t.Name, parent, n.Bound)
	return err
}

// inherit gives a new partition the columns and checks of its parent, and what the statement says of
// its own.
func (d *DDL) inherit(t, parent *catalog.Table, n *sql.CreateTable) error {
	for i := range parent.Columns {
		c := parent.Columns[i]
		c.ID, c.AddedIn, c.Missing = t.NextColumn, t.SchemaVersion, ""
		if c.Identity != catalog.NoIdentity { // the parent draws the values
			c.Identity, c.Default = catalog.NoIdentity, ""
		}
		if n.ColView != sql.Unset {
			c.Covered = n.ColView == sql.Yes
		}
		t.NextColumn++
		t.Columns = append(t.Columns, c)
	}
	for _, check := range parent.Checks {
		check.Inherited = true
		t.Checks = append(t.Checks, check)
	}
	for i := range n.Columns {
		if err := d.overrideColumn(t, &n.Columns[i]); err != nil {
			return err
		}
	}
	t.Parent = parent.ID
	return nil
}

// overrideColumn applies what CREATE TABLE … PARTITION OF says of a column of the parent.
func (d *DDL) overrideColumn(t *catalog.Table, n *sql.ColumnDef) error {
	pos := t.ColumnIndex(n.Name.Name)
	switch {
	case pos < 0:
		return sqlerr.New(sqlerr.UndefinedColumn, "column %q does not exist", n.Name.Name)
	case n.Identity != nil:
		return sqlerr.New(sqlerr.FeatureNotSupported, "identity columns are not supported on partitions")
	case n.Generated != nil:
		return sqlerr.New(sqlerr.FeatureNotSupported, "generated columns are not supported on partitions")
	}
	c := &t.Columns[pos]
	c.NotNull = c.NotNull || n.NotNull == sql.Yes
	if n.ColView != sql.Unset {
		c.Covered = n.ColView == sql.Yes
	}
	if n.Default == nil {
		return nil
	}
	if c.Generated != "" {
		return sqlerr.New(sqlerr.InvalidTableDefinition, "column %q inherits from generated column but specifies default", c.Name)
	}
	return d.setDefault(c, n.Default)
}

// inheritKeys gives a partition, whose columns are there, the indexes and foreign keys of its parent that
// it lacks; of foreign keys those that wanted picks, nil = all. It returns the new indexes.
func (d *DDL) inheritKeys(t, parent *catalog.Table, wanted func(*catalog.ForeignKey) bool) ([]catalog.IndexID, error) {
	ids := map[catalog.ColumnID]catalog.ColumnID{}
	for i := range parent.Columns {
		ids[parent.Columns[i].ID] = t.Columns[t.ColumnIndex(parent.Columns[i].Name)].ID
	}
	var fresh []catalog.IndexID
	for i := range parent.Indexes {
		x := &parent.Indexes[i]
		if x.State == catalog.IndexInvalid || t.IndexOf(x.ID) != nil || d.adoptIndex(t, x, ids) {
			continue
		}
		if err := d.likeIndex(t, parent, x, ids); err != nil {
			return nil, err
		}
		own := &t.Indexes[len(t.Indexes)-1]
		own.Parent = x.ID
		if err := uniqueOnPartitioned(t, own); err != nil {
			return nil, err
		}
		if own.Primary {
			setNotNull(t, own)
		}
		fresh = append(fresh, own.ID)
	}
	for i := range parent.ForeignKeys {
		if k := &parent.ForeignKeys[i]; wanted == nil || wanted(k) {
			d.inheritForeignKey(t, k, ids)
		}
	}
	return fresh, nil
}

func setNotNull(t *catalog.Table, x *catalog.Index) {
	for _, id := range x.Columns {
		t.Columns[t.ColumnByID(id)].NotNull = true
	}
}

// adoptIndex makes an index of an attached table the part of one of its parent, if one is the same.
func (d *DDL) adoptIndex(t *catalog.Table, parent *catalog.Index, ids map[catalog.ColumnID]catalog.ColumnID) bool {
	mapped := func(list []catalog.ColumnID) []catalog.ColumnID {
		out := slices.Clone(list)
		for i, id := range out {
			if id != 0 {
				out[i] = ids[id]
			}
		}
		return out
	}
	columns, include := mapped(parent.Columns), mapped(parent.Include)
	for i := range t.Indexes {
		x := &t.Indexes[i]
		if x.Parent == 0 && x.State == catalog.IndexReady && slices.Equal(x.Columns, columns) && slices.Equal(x.Include, include) &&
			x.Unique == parent.Unique && x.Primary == parent.Primary && (parent.Plain || !x.Plain) && x.Where == parent.Where &&
			x.NullsNotDistinct == parent.NullsNotDistinct && sameKeyOrder(x, parent) && slices.Equal(x.Exprs, parent.Exprs) {
			x.Parent = parent.ID
			return true
		}
	}
	return false
}

func sameKeyOrder(a, b *catalog.Index) bool {
	for i := range a.Columns {
		desc, first := a.KeyOrder(i)
		otherDesc, otherFirst := b.KeyOrder(i)
		if desc != otherDesc || first != otherFirst {
			return false
		}
	}
	return true
}

// inheritForeignKey gives a partition a foreign key of its parent.
func (d *DDL) inheritForeignKey(t *catalog.Table, key *catalog.ForeignKey, ids map[catalog.ColumnID]catalog.ColumnID) {
	k := *key
	k.Inherited = true
	k.Columns, k.SetColumns = slices.Clone(key.Columns), slices.Clone(key.SetColumns)
	for _, list := range [][]catalog.ColumnID{k.Columns, k.SetColumns} {
		for i, id := range list {
			list[i] = ids[id]
		}
	}
	if hasConstraint(t, k.Name) {
		names := make([]string, len(k.Columns))
		for i, id := range k.Columns {
			names[i] = t.Columns[t.ColumnByID(id)].Name
		}
		k.Name = madeName(t.Name, names, "fkey", d.constraintTaken(t))
	}
	t.ForeignKeys = append(t.ForeignKeys, k)
}

// inheritDistribution spreads a partition over data nodes as its parent.
func inheritDistribution(t, parent *catalog.Table) {
	t.DistributeBy = nil
	for _, id := range parent.DistributeBy {
		t.DistributeBy = append(t.DistributeBy, t.Columns[t.ColumnIndex(parent.Columns[parent.ColumnByID(id)].Name)].ID)
	}
}

// indexOfPartitioned is the error of ways to create an index that partitioned tables have not.
func indexOfPartitioned(t *catalog.Table, n *sql.CreateIndex) error {
	if n.Concurrently {
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot create index on partitioned table %q concurrently", t.Name)
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "CREATE INDEX ON ONLY is not supported").At(n.Table.Start)
}
