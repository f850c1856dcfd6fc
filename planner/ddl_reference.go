package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/internal/sqlname"
	"github.com/weftdb/weft/sql"
)

// ReferencedTables lists the names in the foreign keys of CREATE TABLE and ALTER TABLE: tables that
// have to be locked before the statement is planned.
func ReferencedTables(stmt sql.Statement) []sql.ObjectName {
	var names []sql.ObjectName
	note := func(list []sql.Constraint) {
		for i := range list {
			if list[i].Kind == sql.ForeignKey {
				names = append(names, list[i].RefTable)
			}
		}
	}
	switch n := stmt.(type) {
	case *sql.CreateTable:
		for i := range n.Columns {
			note(n.Columns[i].Constraints)
		}
		note(n.Constraints)
	case *sql.AlterTable:
		for _, a := range n.Actions {
			switch a := a.(type) {
			case *sql.AddColumn:
				note(a.Column.Constraints)
			case *sql.AddConstraint:
				note([]sql.Constraint{a.Constraint})
			}
		}
	}
	return names
}

// ChangedForeignKeys lists the foreign keys of a table that an action of ALTER TABLE drops or changes.
func ChangedForeignKeys(t *catalog.Table, action sql.AlterAction) []catalog.ForeignKey {
	name, column := "", ""
	switch n := action.(type) {
	case *sql.DropConstraint:
		name = n.Name.Name
	case *sql.RenameConstraint:
		name = n.Name.Name
	case *sql.ValidateConstraint:
		name = n.Name.Name
	case *sql.DropColumn:
		column = n.Name.Name
	case *sql.AlterColumnType:
		column = n.Column.Name
	}
	pos := t.ColumnIndex(column)
	var keys []catalog.ForeignKey
	for _, k := range t.ForeignKeys {
		if k.Name == name || pos >= 0 && slices.Contains(k.Columns, t.Columns[pos].ID) {
			keys = append(keys, k)
		}
	}
	return keys
}

// addForeignKey adds a foreign key to a description under construction.
func (d *DDL) addForeignKey(t *catalog.Table, n *sql.Constraint) error {
	parent, err := d.referencedTable(t, n.RefTable)
	if err != nil {
		return err
	}
	if err := samePersistence(t, parent); err != nil {
		return err
	}
	key := catalog.ForeignKey{Name: n.Name.Name, RefTable: parent.ID, MatchFull: n.MatchFull,
		OnDelete: catalog.ReferenceAction(n.OnDelete), OnUpdate: catalog.ReferenceAction(n.OnUpdate),
		Deferrable: n.Deferrable == sql.Yes, Deferred: n.InitiallyDeferred, NotValid: n.NotValid}
	var names []string
	if key.Columns, names, err = keyColumns(t, n.Columns); err != nil {
		return err
	}
	if err := referencedColumns(&key, parent, n.RefColumns); err != nil {
		return err
	}
	if err := generatedActions(t, &key); err != nil {
		return err
	}
	if key.Name == "" {
		key.Name = madeName(t.Name, names, "fkey", d.constraintTaken(t))
	} else if hasConstraint(t, key.Name) {
		return duplicateConstraint(t, n.Name)
	}
	for _, id := range n.SetColumns {
		pos := t.ColumnIndex(id.Name)
		if pos < 0 {
			return undefinedKeyColumn(id)
		}
		if !slices.Contains(key.Columns, t.Columns[pos].ID) {
			return sqlerr.New(sqlerr.InvalidColumnReference, "column %q referenced in ON DELETE SET action must be part of foreign key", id.Name)
		}
		key.SetColumns = append(key.SetColumns, t.Columns[pos].ID)
	}
	if err := comparableKey(t, parent, &key); err != nil {
		return err
	}
	t.ForeignKeys = append(t.ForeignKeys, key)
	return nil
}

// comparableKey refuses a key whose columns cannot be looked up among those they reference.
func comparableKey(t, parent *catalog.Table, key *catalog.ForeignKey) error {
	for i, id := range key.Columns {
		child, referenced := &t.Columns[t.ColumnByID(id)], &parent.Columns[parent.ColumnByID(key.RefColumns[i])]
		if !referable(child.Type, referenced.Type) {
			return sqlerr.New(sqlerr.DatatypeMismatch, "foreign key constraint %q cannot be implemented", key.Name).
				WithDetail("Key columns %q and %q are of incompatible types: %s and %s.", child.Name, referenced.Name, child.Type.Base(), referenced.Type.Base())
		}
	}
	return nil
}

// generatedActions refuses actions that would write a generated column.
func generatedActions(t *catalog.Table, key *catalog.ForeignKey) error {
	for _, id := range key.Columns {
		if t.Columns[t.ColumnByID(id)].Generated == "" {
			continue
		}
		clause := ""
		switch {
		case key.OnUpdate >= catalog.Cascade:
			clause = "ON UPDATE"
		case key.OnDelete > catalog.Cascade:
			clause = "ON DELETE"
		default:
			continue
		}
		return sqlerr.New(sqlerr.SyntaxError, "invalid %s action for foreign key constraint containing generated column", clause)
	}
	return nil
}

// referencedTable finds the table a foreign key references; the table under construction, which the
// catalog does not show in its new form, may reference itself.
func (d *DDL) referencedTable(t *catalog.Table, name sql.ObjectName) (*catalog.Table, error) {
	r := findRelation(d.Catalog, d.Settings.LookupPath(), name.Schema, name.Name)
	switch {
	case r != nil && r.ID == t.ID || r == nil && name.Name == t.Name && (name.Schema == "" || name.Schema == t.Schema):
		return t, nil
	case r == nil:
		return nil, sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", name.Raw())
	case !r.IsTable():
		return nil, sqlerr.New(sqlerr.WrongObjectType, "referenced relation %q is not a table", r.Name)
	}
	return r, nil
}

func undefinedKeyColumn(id sql.Ident) error {
	return sqlerr.New(sqlerr.UndefinedColumn, "column %q referenced in foreign key constraint does not exist", id.Name)
}

func keyColumns(t *catalog.Table, list []sql.Ident) (ids []catalog.ColumnID, names []string, err error) {
	for _, id := range list {
		pos := t.ColumnIndex(id.Name)
		if pos < 0 {
			return nil, nil, undefinedKeyColumn(id)
		}
		ids, names = append(ids, t.Columns[pos].ID), append(names, id.Name)
	}
	return ids, names, nil
}

// referencedColumns sets the columns that a key references: the primary key unless they are named.
func referencedColumns(key *catalog.ForeignKey, parent *catalog.Table, named []sql.Ident) error {
	if named == nil {
		pk := parent.PrimaryKey()
		if pk == nil {
			return sqlerr.New(sqlerr.UndefinedObject, "there is no primary key for referenced table %q", parent.Name)
		}
		key.RefColumns = slices.Clone(pk.Columns)
	} else {
		var err error
		if key.RefColumns, _, err = keyColumns(parent, named); err != nil {
			return err
		}
		for i, id := range key.RefColumns {
			if slices.Contains(key.RefColumns[:i], id) {
				return sqlerr.New(sqlerr.InvalidForeignKey, "foreign key referenced-columns list must not contain duplicates")
			}
		}
		if parent.UniqueOn(key.RefColumns) == nil {
			return sqlerr.New(sqlerr.InvalidForeignKey, "there is no unique constraint matching given keys for referenced table %q", parent.Name)
		}
	}
	if len(key.RefColumns) != len(key.Columns) {
		return sqlerr.New(sqlerr.InvalidForeignKey, "number of referencing and referenced columns for foreign key disagree")
	}
	return nil
}

// referable reports whether values of a type can be looked up among a referenced column's: the types
// are alike, or the former converts into the latter by itself.
func referable(child, parent catalog.Type) bool {
	if family := comparisonFamily(child); family != 0 && family == comparisonFamily(parent) {
		return true
	}
	_, err := expr.Coerce(&expr.Col{ID: 1, Typ: child}, parent.Base(), expr.ImplicitCast, 0)
	return err == nil
}

// comparisonFamily numbers the groups of types that compare with each other as they are.
func comparisonFamily(t catalog.Type) int {
	switch {
	case t.ID == catalog.Oid:
		return 0
	case t.IsInteger():
		return 1
	case t.ID == catalog.Float4 || t.ID == catalog.Float8:
		return 2
	case t.ID == catalog.Date || t.ID == catalog.Timestamp || t.ID == catalog.TimestampTZ:
		return 3
	case t.ID == catalog.Text || t.ID == catalog.Varchar || t.ID == catalog.Name:
		return 4
	}
	return 0
}

// hasConstraint reports whether a table has a constraint of that name.
func hasConstraint(t *catalog.Table, name string) bool {
	return t.HasCheck(name) || t.ForeignKey(name) != nil ||
		slices.ContainsFunc(t.Indexes, func(x catalog.Index) bool { return !x.Plain && x.Name == name })
}

// constraintTaken tells which names constraints of a table, and of others in its schema, have: a name
// that is made up differs from all of them.
func (d *DDL) constraintTaken(t *catalog.Table) func(name string) bool {
	return func(name string) bool {
		if hasConstraint(t, name) {
			return true
		}
		for o := range d.Catalog.TablesIn(t.Schema) {
			if o.ID != t.ID && hasConstraint(o, name) {
				return true
			}
		}
		return false
	}
}

// DeferrableConstraint finds the foreign keys of a name along the search path, which must be
// deferrable.
func (d *DDL) DeferrableConstraint(name sql.ObjectName) ([]catalog.Reference, error) {
	path := newBinder(d.Input).path
	if name.Schema != "" {
		path = []string{namedSchema(path, name.Schema)}
	}
	for _, schema := range path {
		var found []catalog.Reference
		for _, t := range d.Catalog.TableDefinitions() {
			if t.Schema != schema || !hasConstraint(t, name.Name) {
				continue
			}
			key := t.ForeignKey(name.Name)
			if key == nil || !key.Deferrable {
				return nil, sqlerr.New(sqlerr.WrongObjectType, "constraint %q is not deferrable", name.Name)
			}
			found = append(found, catalog.Reference{Child: t, Key: key})
		}
		if found != nil {
			return found, nil
		}
	}
	return nil, sqlerr.New(sqlerr.UndefinedObject, "constraint %q does not exist", name.Name)
}

// Dependents are foreign keys and generated columns that cannot stay when something is dropped.
type Dependents []Dependent

// Dependent is one of them and what it depends on, as messages write it.
type Dependent struct {
	catalog.Reference
	Column string // "" or a generated column of Child; Key is nil then
	On     string
}

// Describe names a relation as messages about what depends on what do: with its schema where the
// search path does not lead to it, and in quotes where SQL needs them.
func (d *DDL) Describe(r *catalog.Table) string {
	kind := r.Kind.String()
	if seen := d.FindRelation(sql.ObjectName{Name: r.Name}); seen == nil || seen.ID != r.ID {
		return kind + " " + sqlname.Quote(r.Schema) + "." + sqlname.Quote(r.Name)
	}
	return kind + " " + sqlname.Quote(r.Name)
}

func (d *DDL) describeIndex(t *catalog.Table, index *catalog.Index) string {
	if _, seen := d.LookupIndex(sql.ObjectName{Name: index.Name}); seen == nil || seen.ID != index.ID {
		return "index " + sqlname.Quote(t.Schema) + "." + sqlname.Quote(index.Name)
	}
	return "index " + sqlname.Quote(index.Name)
}

// describe names the constraint or column as messages do.
func (r *Dependent) describe(d *DDL) string {
	if r.Column != "" {
		return "column " + r.Column + " of " + d.Describe(r.Child)
	}
	return "constraint " + r.Key.Name + " on " + d.Describe(r.Child)
}

// Settle refuses to drop what has dependents, but with CASCADE, which gives a notice.
func (list Dependents) Settle(d *DDL, what string, cascade bool) error {
	if len(list) == 0 {
		return nil
	}
	var uses, names []string
	for i := range list {
		uses = append(uses, list[i].describe(d)+" depends on "+list[i].On)
		names = append(names, "drop cascades to "+list[i].describe(d))
	}
	switch {
	case !cascade && what == "":
		return sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop desired object(s) because other objects depend on them").
			WithDetail("%s", strings.Join(uses, "\n")).WithHint("Use DROP ... CASCADE to drop the dependent objects too.")
	case !cascade:
		return sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop %s because other objects depend on it", what).
			WithDetail("%s", strings.Join(uses, "\n")).WithHint("Use DROP ... CASCADE to drop the dependent objects too.")
	case len(list) == 1:
		d.Notices = append(d.Notices, names[0])
	default:
		d.Notices = append(d.Notices, fmt.Sprintf("drop cascades to %d other objects\nDETAIL:  %s", len(list), strings.Join(names, "\n")))
	}
	return nil
}

// TableDependents lists the foreign keys of other tables than those dropped that reference one of
// them; those of the last table come first, as in PostgreSQL.
func (d *DDL) TableDependents(dropped []*catalog.Table) Dependents {
	var list Dependents
	for _, t := range slices.Backward(dropped) {
		for _, ref := range d.Catalog.ReferencesTo(t) {
			parentToo := ref.Key.RefTable != t.ID && slices.ContainsFunc(dropped, func(o *catalog.Table) bool { return o.ID == ref.Key.RefTable })
			if !parentToo && !slices.ContainsFunc(dropped, func(o *catalog.Table) bool { return o.ID == ref.Child.ID }) {
				list = append(list, Dependent{Reference: ref, On: d.Describe(t)})
			}
		}
	}
	return list
}

// IndexDependents lists the foreign keys that reference the key of an index.
func (d *DDL) IndexDependents(t *catalog.Table, index *catalog.Index) Dependents {
	var list Dependents
	for _, ref := range d.Catalog.References(t.ID) {
		if x := t.UniqueOn(ref.Key.RefColumns); x != nil && x.ID == index.ID {
			list = append(list, Dependent{Reference: ref, On: d.describeIndex(t, index)})
		}
	}
	return list
}

// columnDependents lists the foreign keys of other tables that reference a column.
func (d *DDL) columnDependents(t *catalog.Table, c *catalog.Column) Dependents {
	var list Dependents
	for _, ref := range d.Catalog.References(t.ID) {
		if slices.Contains(ref.Key.RefColumns, c.ID) && !(ref.Child.ID == t.ID && slices.Contains(ref.Key.Columns, c.ID)) {
			list = append(list, Dependent{Reference: ref, On: "column " + c.Name + " of " + d.Describe(t)})
		}
	}
	return list
}

// WithoutForeignKey describes a table without one of its foreign keys.
func WithoutForeignKey(t *catalog.Table, name string) *catalog.Table {
	c := t.Clone()
	c.ForeignKeys = slices.DeleteFunc(c.ForeignKeys, func(k catalog.ForeignKey) bool { return k.Name == name })
	return c
}

// dropDependents drops foreign keys with what they depend on: the table's own here, those of others
// are for the caller.
func (a *alter) dropDependents(list Dependents, what string, cascade bool) error {
	if err := list.Settle(a.d, what, cascade); err != nil {
		return err
	}
	for _, ref := range list {
		if ref.Column != "" {
			continue
		}
		if ref.Child.ID == a.t.ID {
			a.t = WithoutForeignKey(a.t, ref.Key.Name)
		} else {
			a.out.Dependents = append(a.out.Dependents, ref)
		}
	}
	return nil
}

// validate marks a foreign key or CHECK constraint as checked, which the caller has to do.
func (a *alter) validate(n *sql.ValidateConstraint) error {
	if key := a.t.ForeignKey(n.Name.Name); key != nil {
		if key.NotValid {
			key.NotValid = false
			a.out.ForeignKeys = append(a.out.ForeignKeys, key.Name)
		}
		return nil
	}
	for i := range a.t.Checks {
		if check := &a.t.Checks[i]; check.Name == n.Name.Name {
			if check.NotValid {
				check.NotValid = false
				a.out.Checks = append(a.out.Checks, *check)
			}
			return nil
		}
	}
	if hasConstraint(a.t, n.Name.Name) {
		return sqlerr.New(sqlerr.WrongObjectType, "constraint %q of relation %q is not a foreign key or check constraint", n.Name.Name, a.t.Name)
	}
	return sqlerr.New(sqlerr.UndefinedObject, "constraint %q of relation %q does not exist", n.Name.Name, a.t.Name)
}
