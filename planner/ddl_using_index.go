package planner

import (
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

// useIndex makes a primary key or a unique constraint of an index that is there: ADD … USING INDEX. The
// index gets the constraint's name.
func (a *alter) useIndex(n *sql.Constraint) error {
	at := slices.IndexFunc(a.t.Indexes, func(x catalog.Index) bool { return x.Name == n.UsingIndex.Name })
	if at < 0 {
		if t, _ := a.d.LookupIndex(sql.ObjectName{Schema: a.t.Schema, Name: n.UsingIndex.Name}); t != nil {
			return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "index %q does not belong to table %q", n.UsingIndex.Name, a.t.Name).At(n.Start)
		}
		return sqlerr.New(sqlerr.UndefinedObject, "index %q does not exist", n.UsingIndex.Name).At(n.Start)
	}
	x := &a.t.Indexes[at]
	const unfit = "Cannot create a primary key or unique constraint using such an index."
	switch {
	case !x.Plain:
		return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "index %q is already associated with a constraint", x.Name).At(n.Start)
	case !x.Unique:
		return sqlerr.New(sqlerr.WrongObjectType, "%q is not a unique index", x.Name).At(n.Start).WithDetail(unfit)
	case x.State != catalog.IndexReady:
		return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "index %q is not valid", x.Name).At(n.Start)
	case len(x.Exprs) > 0:
		return sqlerr.New(sqlerr.WrongObjectType, "index %q contains expressions", x.Name).At(n.Start).WithDetail(unfit)
	case x.Where != "":
		return sqlerr.New(sqlerr.WrongObjectType, "%q is a partial index", x.Name).At(n.Start).WithDetail(unfit)
	case unusualOrder(x) > 0:
		return sqlerr.New(sqlerr.WrongObjectType, "index %q column number %d does not have default sorting behavior", x.Name, unusualOrder(x)).At(n.Start).WithDetail(unfit)
	case n.Deferrable == sql.Yes:
		return sqlerr.New(sqlerr.FeatureNotSupported, "DEFERRABLE is not supported yet").At(n.Start)
	case n.Kind == sql.PrimaryKey && a.t.PrimaryKey() != nil:
		return sqlerr.New(sqlerr.InvalidTableDefinition, "multiple primary keys for table %q are not allowed", a.t.Name).At(n.Start)
	}
	if name := n.Name.Name; name != "" && name != x.Name {
		if a.d.relationExists(a.t.Schema, name) {
			return sqlerr.New(sqlerr.DuplicateTable, "relation %q already exists", name)
		}
		if hasConstraint(a.t, name) {
			return duplicateConstraint(a.t, n.Name)
		}
		a.d.Notices = append(a.d.Notices, `ALTER TABLE / ADD CONSTRAINT USING INDEX will rename index "`+x.Name+`" to "`+name+`"`)
		x.Name = name
	}
	x.Plain, x.Primary = false, n.Kind == sql.PrimaryKey
	for i := range a.t.Columns {
		if c := &a.t.Columns[i]; x.Primary && slices.Contains(x.Columns, c.ID) && !c.NotNull {
			c.NotNull = true
			a.out.NotNull = append(a.out.NotNull, c.ID)
		}
	}
	return nil
}

// unusualOrder returns the number of the first column of an index that is not in ascending order with
// NULLs last, 0 if there is none.
func unusualOrder(x *catalog.Index) int {
	for i := range x.Columns {
		if desc, nullsFirst := x.KeyOrder(i); desc || nullsFirst {
			return i + 1
		}
	}
	return 0
}
