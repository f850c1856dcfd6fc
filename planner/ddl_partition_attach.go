package planner

import (
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

// Attach describes a table after it has become a partition of another one. Its rows have to be looked
// at by the caller.
func (d *DDL) Attach(parent *catalog.Table, n *sql.AttachPartition) (*Alteration, error) {
	t, err := d.LookupTable(n.Table)
	if err != nil {
		return nil, err
	}
	switch {
	case parent.Kind != catalog.PartitionedTable:
		return nil, sqlerr.New(sqlerr.WrongObjectType, "table %q is not partitioned", parent.Name)
	case t.IsPartition():
		return nil, sqlerr.New(sqlerr.WrongObjectType, "%q is already a partition", t.Name)
	case t.ID == parent.ID, slices.ContainsFunc(d.Catalog.Ancestors(parent), func(o *catalog.Table) bool { return o.ID == t.ID }):
		return nil, sqlerr.New(sqlerr.DuplicateTable, "circular inheritance not allowed").
			WithDetail("%q is already a child of %q.", parent.Name, t.Name)
	case t.Temp != parent.Temp && t.Temp:
		return nil, sqlerr.New(sqlerr.WrongObjectType, "cannot attach a temporary relation as partition of permanent relation %q", parent.Name)
	case t.Temp != parent.Temp:
		return nil, sqlerr.New(sqlerr.WrongObjectType, "cannot attach a permanent relation as partition of temporary relation %q", parent.Name)
	}
	bound, err := d.bound(t.Name, parent, n.Bound)
	if err != nil {
		return nil, err
	}
	return d.alterTable(t, nil, func(*catalog.Table) bool { return false }, func(a *alter) error {
		if err := a.matchColumns(parent); err != nil {
			return err
		}
		if err := a.matchChecks(parent); err != nil {
			return err
		}
		if err := a.matchDistribution(parent); err != nil {
			return err
		}
		a.t.Parent, a.t.Bound = parent.ID, bound
		keys := len(a.t.ForeignKeys)
		fresh, err := d.inheritKeys(a.t, parent, nil)
		a.out.Indexes = append(a.out.Indexes, fresh...)
		for _, k := range a.t.ForeignKeys[keys:] {
			a.out.ForeignKeys = append(a.out.ForeignKeys, k.Name)
		}
		for i := range a.t.Columns {
			if c := &a.t.Columns[i]; c.NotNull && !a.old.Columns[i].NotNull {
				a.out.NotNull = append(a.out.NotNull, c.ID)
			}
		}
		return err
	})
}

// matchColumns makes sure that the table has the columns of its parent and no others.
func (a *alter) matchColumns(parent *catalog.Table) error {
	for i := range a.t.Columns {
		if parent.ColumnIndex(a.t.Columns[i].Name) < 0 {
			return sqlerr.New(sqlerr.DatatypeMismatch, "table %q contains column %q not found in parent %q", a.t.Name, a.t.Columns[i].Name, parent.Name).
				WithDetail("The new partition may contain only the columns present in parent.")
		}
	}
	for i := range parent.Columns {
		c := &parent.Columns[i]
		pos := a.t.ColumnIndex(c.Name)
		if pos < 0 {
			return sqlerr.New(sqlerr.DatatypeMismatch, "child table is missing column %q", c.Name)
		}
		own := &a.t.Columns[pos]
		switch {
		case own.Type != c.Type:
			return sqlerr.New(sqlerr.DatatypeMismatch, "child table %q has different type for column %q", a.t.Name, c.Name)
		case c.NotNull && !own.NotNull:
			return sqlerr.New(sqlerr.DatatypeMismatch, "column %q in child table must be marked NOT NULL", c.Name)
		case own.Identity != catalog.NoIdentity:
			return sqlerr.New(sqlerr.FeatureNotSupported, "attaching table %q with identity column %q is not supported", a.t.Name, c.Name).
				WithDetail("The new partition may not contain an identity column.")
		case c.Generated != "" && own.Generated == "":
			return sqlerr.New(sqlerr.DatatypeMismatch, "column %q in child table must be a generated column", c.Name)
		case c.Generated != own.Generated:
			return sqlerr.New(sqlerr.DatatypeMismatch, "column %q in child table has a conflicting generation expression", c.Name)
		}
	}
	return nil
}

// matchChecks makes sure that the table has the CHECK constraints of its parent.
func (a *alter) matchChecks(parent *catalog.Table) error {
	for _, check := range parent.Checks {
		at := slices.IndexFunc(a.t.Checks, func(c catalog.Check) bool { return c.Name == check.Name })
		switch {
		case at < 0:
			return sqlerr.New(sqlerr.DatatypeMismatch, "child table is missing constraint %q", check.Name)
		case a.t.Checks[at].Expr != check.Expr:
			return sqlerr.New(sqlerr.DatatypeMismatch, "child table %q has different definition for check constraint %q", a.t.Name, check.Name)
		case a.t.Checks[at].NotValid:
			return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "constraint %q conflicts with NOT VALID constraint on child table %q", check.Name, a.t.Name)
		}
		a.t.Checks[at].Inherited = true
	}
	return nil
}

// matchDistribution makes sure that rows are on the data nodes where the parent's would be.
func (a *alter) matchDistribution(parent *catalog.Table) error {
	own := a.t.Clone()
	inheritDistribution(own, parent)
	if slices.Equal(own.DistributeBy, a.t.DistributeBy) {
		return nil
	}
	if a.d.Catalog.Nodes > 1 {
		return sqlerr.New(sqlerr.FeatureNotSupported, "table %q is not distributed as its parent %q", a.t.Name, parent.Name)
	}
	a.t.DistributeBy = own.DistributeBy
	return nil
}

// Detach describes a partition after it has become a table of its own.
func (d *DDL) Detach(parent *catalog.Table, n *sql.DetachPartition) (*catalog.Table, error) {
	if n.Concurrently || n.Finalize {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "DETACH PARTITION CONCURRENTLY is not supported").At(n.Start)
	}
	t, err := d.LookupTable(n.Table)
	switch {
	case err != nil:
		return nil, err
	case parent.Kind != catalog.PartitionedTable:
		return nil, sqlerr.New(sqlerr.WrongObjectType, "ALTER action DETACH PARTITION cannot be performed on relation %q", parent.Name).
			WithDetail("This operation is not supported for tables.")
	case t.Parent != parent.ID:
		return nil, sqlerr.New(sqlerr.UndefinedTable, "relation %q is not a partition of relation %q", t.Name, parent.Name)
	}
	c := t.Clone()
	c.Parent, c.Bound = 0, nil
	for i := range c.Checks {
		c.Checks[i].Inherited = false
	}
	for i := range c.Indexes {
		c.Indexes[i].Parent = 0
	}
	for i := range c.ForeignKeys {
		c.ForeignKeys[i].Inherited = false
	}
	return c, nil
}
