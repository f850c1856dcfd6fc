package planner

import (
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

// addConstraint adds a constraint and notes what the rows have to be checked for.
func (a *alter) addConstraint(n *sql.Constraint) error {
	if n.UsingIndex.Name != "" {
		return a.useIndex(n)
	}
	indexes, checks, keys, notNull := len(a.t.Indexes), len(a.t.Checks), len(a.t.ForeignKeys), map[catalog.ColumnID]bool{}
	for i := range a.t.Columns {
		notNull[a.t.Columns[i].ID] = a.t.Columns[i].NotNull
	}
	if err := a.d.addConstraint(a.t, n); err != nil {
		return err
	}
	for _, index := range a.t.Indexes[indexes:] {
		a.out.Indexes = append(a.out.Indexes, index.ID)
	}
	for _, check := range a.t.Checks[checks:] {
		if !check.NotValid {
			a.out.Checks = append(a.out.Checks, check)
		}
	}
	for _, key := range a.t.ForeignKeys[keys:] {
		if !key.NotValid {
			a.out.ForeignKeys = append(a.out.ForeignKeys, key.Name)
		}
	}
	for i := range a.t.Columns {
		if c := &a.t.Columns[i]; c.NotNull && !notNull[c.ID] {
			a.out.NotNull = append(a.out.NotNull, c.ID)
		}
	}
	return nil
}

// dropConstraint drops a constraint. A primary key leaves its columns NOT NULL, as PostgreSQL does.
func (a *alter) dropConstraint(n *sql.DropConstraint) error {
	for i := range a.t.Indexes {
		if x := &a.t.Indexes[i]; x.Name == n.Name.Name && !x.Plain {
			what := "constraint " + x.Name + " on " + a.d.Describe(a.t)
			if err := a.dropDependents(a.d.IndexDependents(a.t, x), what, n.Cascade); err != nil {
				return err
			}
			break
		}
	}
	before := len(a.t.Indexes) + len(a.t.Checks) + len(a.t.ForeignKeys)
	a.t.ForeignKeys = slices.DeleteFunc(a.t.ForeignKeys, func(x catalog.ForeignKey) bool { return x.Name == n.Name.Name })
	a.t.Indexes = slices.DeleteFunc(a.t.Indexes, func(x catalog.Index) bool { return x.Name == n.Name.Name && !x.Plain })
	a.t.Checks = slices.DeleteFunc(a.t.Checks, func(x catalog.Check) bool { return x.Name == n.Name.Name })
	if len(a.t.Indexes)+len(a.t.Checks)+len(a.t.ForeignKeys) < before {
		return nil
	}
	if n.IfExists {
		a.d.Notices = append(a.d.Notices, `constraint "`+n.Name.Name+`" of relation "`+a.t.Name+`" does not exist, skipping`)
		return nil
	}
	return sqlerr.New(sqlerr.UndefinedObject, "constraint %q of relation %q does not exist", n.Name.Name, a.t.Name)
}

func (a *alter) renameConstraint(n *sql.RenameConstraint) error {
	for i := range a.t.Indexes {
		if x := &a.t.Indexes[i]; x.Name == n.Name.Name && !x.Plain {
			if a.d.relationExists(a.t.Schema, n.NewName.Name) {
				return sqlerr.New(sqlerr.DuplicateTable, "relation %q already exists", n.NewName.Name)
			}
			if hasConstraint(a.t, n.NewName.Name) {
				return duplicateConstraint(a.t, n.NewName)
			}
			x.Name = n.NewName.Name
			return nil
		}
	}
	if key := a.t.ForeignKey(n.Name.Name); key != nil {
		if hasConstraint(a.t, n.NewName.Name) {
			return duplicateConstraint(a.t, n.NewName)
		}
		key.Name = n.NewName.Name
		return nil
	}
	for i := range a.t.Checks {
		if x := &a.t.Checks[i]; x.Name == n.Name.Name {
			if hasConstraint(a.t, n.NewName.Name) {
				return duplicateConstraint(a.t, n.NewName)
			}
			x.Name = n.NewName.Name
			return nil
		}
	}
	return sqlerr.New(sqlerr.UndefinedObject, "constraint %q for table %q does not exist", n.Name.Name, a.t.Name)
}

func duplicateConstraint(t *catalog.Table, name sql.Ident) error {
	return sqlerr.New(sqlerr.DuplicateObject, "constraint %q for relation %q already exists", name.Name, t.Name)
}

// mentions reports whether the text of a CHECK constraint uses a column.
func mentions(text, column string) (bool, error) {
	e, err := sql.ParseExpr(text)
	found := false
	if err == nil {
		sql.Inspect(e, func(n sql.Node) bool {
			c, ok := n.(*sql.ColumnRef)
			found = found || ok && c.Parts[len(c.Parts)-1].Name == column
			return !found
		})
	}
	return found, err
}

// renameIn renames a column in the text of a CHECK constraint.
func renameIn(text, from, to string) (string, error) {
	e, err := sql.ParseExpr(text)
	if err != nil {
		return "", err
	}
	sql.Inspect(e, func(n sql.Node) bool {
		if c, ok := n.(*sql.ColumnRef); ok && c.Parts[len(c.Parts)-1].Name == from {
			c.Parts[len(c.Parts)-1].Name = to
		}
		return true
	})
	return sql.Format(e), nil
}
