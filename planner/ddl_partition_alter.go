package planner

import (
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

// What ALTER TABLE does to a partitioned table it does to each partition, too: actions on columns are
// repeated there, and constraints are those that the parent has after the statement and had not before.

// AlterPartition describes a partition after an ALTER TABLE statement of its parent, given as it was and
// is.
func (d *DDL) AlterPartition(t, before, after *catalog.Table, n *sql.AlterTable, hasRows func(*catalog.Table) bool) (*Alteration, error) {
	actions, err := inheritedActions(t, after, n.Actions)
	if err != nil {
		return nil, err
	}
	return d.alterTable(t, actions, hasRows, func(a *alter) error { return a.inheritChanges(before, after) })
}

// inheritedActions are the actions that are repeated in a partition.
func inheritedActions(t, parent *catalog.Table, list []sql.AlterAction) ([]sql.AlterAction, error) {
	var out []sql.AlterAction
	for _, action := range list {
		switch n := action.(type) {
		case *sql.AddColumn:
			pos := parent.ColumnIndex(n.Column.Name.Name)
			if pos < 0 || t.ColumnIndex(n.Column.Name.Name) >= 0 {
				continue
			}
			add := *n
			c := &add.Column
			c.Constraints, c.Identity, c.Default = nil, nil, nil
			if serial := serialTypes[c.Type.Name]; serial != "" {
				c.Type.Name = serial
			}
			if p := &parent.Columns[pos]; p.Default != "" && p.Identity == catalog.NoIdentity {
				var err error
				if c.Default, err = sql.ParseExpr(p.Default); err != nil {
					return nil, err
				}
			}
			out = append(out, &add)
		case *sql.DropColumn:
			if t.ColumnIndex(n.Name.Name) >= 0 {
				out = append(out, action)
			}
		case *sql.RenameConstraint:
			if t.HasCheck(n.Name.Name) || t.ForeignKey(n.Name.Name) != nil {
				out = append(out, action)
			}
		case *sql.ValidateConstraint:
			if t.HasCheck(n.Name.Name) || t.ForeignKey(n.Name.Name) != nil {
				out = append(out, action)
			}
		case *sql.RenameColumn, *sql.AlterColumnType, *sql.AlterColumnNotNull, *sql.AlterColumnStatistics:
			out = append(out, action)
		case *sql.AlterColumnDefault:
			if pos := t.ColumnIndex(n.Column.Name); pos >= 0 && t.Columns[pos].Generated == "" {
				out = append(out, action)
			}
		case *sql.ColView:
			if n.Partition.Name == "" {
				out = append(out, action)
			}
		case *sql.DropIdentity:
			if n.Expression {
				out = append(out, action)
			}
		}
	}
	return out, nil
}

// inheritChanges applies to a partition what has changed in the constraints of its parent.
func (a *alter) inheritChanges(before, after *catalog.Table) error {
	for i := range before.Indexes {
		x := &before.Indexes[i]
		if !slices.ContainsFunc(after.Indexes, func(o catalog.Index) bool { return o.ID == x.ID }) {
			a.t.Indexes = slices.DeleteFunc(a.t.Indexes, func(o catalog.Index) bool { return o.Parent == x.ID })
		}
	}
	gone := func(name string) bool { return hasConstraint(before, name) && !hasConstraint(after, name) }
	a.t.Checks = slices.DeleteFunc(a.t.Checks, func(c catalog.Check) bool { return c.Inherited && gone(c.Name) })
	a.t.ForeignKeys = slices.DeleteFunc(a.t.ForeignKeys, func(k catalog.ForeignKey) bool { return k.Inherited && !isPartOf(a.t, &k, after) })
	for _, check := range after.Checks {
		if before.HasCheck(check.Name) || slices.ContainsFunc(a.t.Checks, func(c catalog.Check) bool { return c.Inherited && c.Name == check.Name }) {
			continue
		}
		check.Inherited = true
		if at := slices.IndexFunc(a.t.Checks, func(c catalog.Check) bool { return c.Name == check.Name }); at >= 0 {
			if a.t.Checks[at].Expr != check.Expr {
				return sqlerr.New(sqlerr.DuplicateObject, "constraint %q for relation %q already exists", check.Name, a.t.Name)
			}
			a.d.Notices = append(a.d.Notices, `merging constraint "`+check.Name+`" with inherited definition`)
			a.t.Checks[at].Inherited = true
			continue
		}
		a.t.Checks = append(a.t.Checks, check)
		if !check.NotValid {
			a.out.Checks = append(a.out.Checks, check)
		}
	}
	notNull := map[string]bool{}
	for i := range before.Columns {
		notNull[before.Columns[i].Name] = before.Columns[i].NotNull
	}
	for i := range after.Columns {
		c := &after.Columns[i]
		if pos := a.t.ColumnIndex(c.Name); pos >= 0 && c.NotNull && !notNull[c.Name] && !a.t.Columns[pos].NotNull {
			a.t.Columns[pos].NotNull = true
			a.out.NotNull = append(a.out.NotNull, a.t.Columns[pos].ID)
		}
	}
	keys := len(a.t.ForeignKeys)
	fresh, err := a.d.inheritKeys(a.t, after, func(k *catalog.ForeignKey) bool { return before.ForeignKey(k.Name) == nil })
	if err != nil {
		return err
	}
	a.out.Indexes = append(a.out.Indexes, fresh...)
	for _, k := range a.t.ForeignKeys[keys:] {
		if !k.NotValid {
			a.out.ForeignKeys = append(a.out.ForeignKeys, k.Name)
		}
	}
	return nil
}

// isPartOf reports whether a foreign key of a partition is that of its parent.
func isPartOf(t *catalog.Table, key *catalog.ForeignKey, parent *catalog.Table) bool {
	return slices.ContainsFunc(parent.ForeignKeys, func(k catalog.ForeignKey) bool {
		return k.RefTable == key.RefTable && slices.Equal(k.RefColumns, key.RefColumns) && slices.EqualFunc(k.Columns, key.Columns, func(above, own catalog.ColumnID) bool {
			at := t.ColumnByID(own)
			return at >= 0 && t.Columns[at].Name == parent.Columns[parent.ColumnByID(above)].Name
		})
	})
}

// CheckAlterable refuses actions on a partitioned table or a partition that would part the two.
func (d *DDL) CheckAlterable(t *catalog.Table, n *sql.AlterTable) error {
	only := n.Only && t.Kind == catalog.PartitionedTable && len(d.Catalog.Partitions(t.ID)) > 0
	for _, action := range n.Actions {
		if err := d.checkPartitionAction(t, action, only); err != nil {
			return err
		}
		if err := checkKeyAction(t, action, d); err != nil {
			return err
		}
	}
	return nil
}

func (d *DDL) checkPartitionAction(t *catalog.Table, action sql.AlterAction, only bool) error {
	refuse := func(format string, args ...any) *sqlerr.Error {
		return sqlerr.New(sqlerr.InvalidTableDefinition, format, args...)
	}
	part := t.IsPartition()
	switch n := action.(type) {
	case *sql.AddColumn:
		switch {
		case part:
			return sqlerr.New(sqlerr.WrongObjectType, "cannot add column to a partition")
		case only:
			return refuse("column must be added to child tables too")
		}
	case *sql.DropColumn:
		switch {
		case part && t.ColumnIndex(n.Name.Name) >= 0:
			return refuse("cannot drop inherited column %q", n.Name.Name)
		case only:
			return refuse("cannot drop column from only the partitioned table when partitions exist").WithHint("Do not specify the ONLY keyword.")
		}
	case *sql.RenameColumn:
		switch {
		case part && t.ColumnIndex(n.Name.Name) >= 0:
			return refuse("cannot rename inherited column %q", n.Name.Name)
		case only:
			return refuse("inherited column %q must be renamed in child tables too", n.Name.Name)
		}
	case *sql.AlterColumnType:
		switch {
		case part && t.ColumnIndex(n.Column.Name) >= 0:
			return refuse("cannot alter inherited column %q", n.Column.Name)
		case only:
			return refuse("type of inherited column %q must be changed in child tables too", n.Column.Name)
		}
	case *sql.AlterColumnNotNull:
		if only && n.NotNull {
			return refuse("constraint must be added to child tables too").WithHint("Do not specify the ONLY keyword.")
		}
		if parent := d.Catalog.Table(t.Parent); parent != nil && !n.NotNull {
			if pos := parent.ColumnIndex(n.Column.Name); pos >= 0 && parent.Columns[pos].NotNull {
				return refuse("column %q is marked NOT NULL in parent table", n.Column.Name)
			}
		}
	case *sql.AddConstraint:
		if t.Kind == catalog.PartitionedTable && n.Constraint.UsingIndex.Name != "" {
			return sqlerr.New(sqlerr.FeatureNotSupported, "ALTER TABLE / ADD CONSTRAINT USING INDEX is not supported on partitioned tables")
		}
		if t.Kind == catalog.PartitionedTable && n.Constraint.Kind == sql.ForeignKey && n.Constraint.NotValid {
			return sqlerr.New(sqlerr.WrongObjectType, "cannot add NOT VALID foreign key on partitioned table %q referencing relation %q", t.Name, n.Constraint.RefTable.Name).
				WithDetail("This feature is not yet supported on partitioned tables.")
		}
		if only && n.Constraint.Kind == sql.CheckConstraint {
			return refuse("constraint must be added to child tables too")
		}
		if only {
			return sqlerr.New(sqlerr.FeatureNotSupported, "ALTER TABLE ONLY ... ADD CONSTRAINT on a partitioned table is not supported").At(n.Start)
		}
	case *sql.DropConstraint:
		if inheritedConstraint(t, n.Name.Name) {
			return refuse("cannot drop inherited constraint %q of relation %q", n.Name.Name, t.Name)
		}
		if only && hasConstraint(t, n.Name.Name) {
			return refuse("cannot remove constraint from only the partitioned table when partitions exist").WithHint("Do not specify the ONLY keyword.")
		}
	case *sql.RenameConstraint:
		if inheritedConstraint(t, n.Name.Name) {
			return refuse("cannot rename inherited constraint %q", n.Name.Name)
		}
	case *sql.AddIdentity:
		if part {
			return refuse("cannot add identity to a column of a partition")
		}
	case *sql.SetOptions:
		if t.Kind == catalog.PartitionedTable && !n.Reset {
			return sqlerr.New(sqlerr.WrongObjectType, "cannot specify storage parameters for a partitioned table").
				WithHint("Specify storage parameters for its leaf partitions instead.")
		}
	}
	return nil
}

// inheritedConstraint reports whether a constraint is the parent's.
func inheritedConstraint(t *catalog.Table, name string) bool {
	if k := t.ForeignKey(name); k != nil {
		return k.Inherited
	}
	return slices.ContainsFunc(t.Checks, func(c catalog.Check) bool { return c.Inherited && c.Name == name }) ||
		slices.ContainsFunc(t.Indexes, func(x catalog.Index) bool { return x.Parent != 0 && !x.Plain && x.Name == name })
}

// checkKeyAction refuses to take away or convert a column by which a table, or one of its partitions, is
// divided.
func checkKeyAction(t *catalog.Table, action sql.AlterAction, d *DDL) error {
	name, verb := "", "drop"
	switch n := action.(type) {
	case *sql.DropColumn:
		name = n.Name.Name
	case *sql.AlterColumnType:
		name, verb = n.Column.Name, "alter"
	default:
		return nil
	}
	for _, p := range append([]*catalog.Table{t}, d.Catalog.Descendants(t.ID)...) {
		if p.Partitioning == nil {
			continue
		}
		for _, k := range p.Partitioning.Keys {
			uses := k.Column != 0 && p.Columns[p.ColumnByID(k.Column)].Name == name
			if k.Column == 0 {
				var err error
				if uses, err = mentions(k.Expr, name); err != nil {
					return err
				}
			}
			if uses {
				return sqlerr.New(sqlerr.InvalidTableDefinition, "cannot %s column %q because it is part of the partition key of relation %q", verb, name, p.Name)
			}
		}
	}
	return nil
}

// renameInPartitioning renames a column in the expressions of a partition key.
func renameInPartitioning(t *catalog.Table, from, to string) error {
	if t.Partitioning == nil {
		return nil
	}
	p := *t.Partitioning
	p.Keys = slices.Clone(p.Keys)
	for i := range p.Keys {
		k := &p.Keys[i]
		if k.Column != 0 {
			continue
		}
		e, err := sql.ParseExpr(k.Expr)
		if err != nil {
			return err
		}
		sql.Inspect(e, func(n sql.Node) bool {
			if c, ok := n.(*sql.ColumnRef); ok && c.Parts[len(c.Parts)-1].Name == from {
				c.Parts[len(c.Parts)-1].Name = to
			}
			return true
		})
		k.Expr = keyExpressionText(e)
	}
	t.Partitioning = &p
	return nil
}
