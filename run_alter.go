package weft

import (
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/storage"
)

// alterKinds names the kinds of objects as command tags do.
var alterKinds = map[sql.ObjectKind]string{sql.TableObject: "TABLE", sql.IndexObject: "INDEX", sql.ViewObject: "VIEW",
	sql.SequenceObject: "SEQUENCE", sql.SchemaObject: "SCHEMA"}

// alter runs ALTER of anything.
func (d *definition) alter(n *sql.AlterTable) (*Rows, error) {
	kind, known := alterKinds[n.Kind]
	if !known {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "ALTER of this kind of object is not supported yet").At(n.Start)
	}
	return done("ALTER " + kind), d.alterObject(n)
}

func (d *definition) alterObject(n *sql.AlterTable) error {
	switch action := n.Actions[0].(type) {
	case *sql.RenameTo:
		if n.Kind == sql.SchemaObject {
			return d.renameSchema(n, action)
		}
		return d.rename(n, action)
	case *sql.SetSchema:
		return d.setSchema(n, action)
	case *sql.OwnerTo:
		if n.Kind == sql.SchemaObject || n.Kind == sql.SequenceObject {
			return d.ddl.CheckOwner(action)
		}
	case *sql.RenameColumn:
		if r := d.ddl.FindRelation(n.Name); r != nil && r.Kind == catalog.ViewRelation {
			return d.renameViewColumn(r, action)
		}
	}
	if n.Kind != sql.TableObject {
		return sqlerr.New(sqlerr.FeatureNotSupported, "this form of ALTER %s is not supported yet", alterKinds[n.Kind]).At(n.Actions[0].SourceSpan().Start)
	}
	return d.alterTable(n)
}

// relation finds the relation that RENAME TO or SET SCHEMA is about, and locks it. It is nil where
// there is none and the statement says IF EXISTS.
func (d *definition) relation(n *sql.AlterTable) (*catalog.Table, error) {
	r := d.ddl.FindRelation(n.Name)
	if r == nil {
		if n.IfExists {
			d.ddl.Notices = append(d.ddl.Notices, `relation "`+n.Name.Name+`" does not exist, skipping`)
			return nil, nil
		}
		return nil, sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", n.Name.Raw())
	}
	switch {
	case n.Kind == sql.ViewObject && r.Kind != catalog.ViewRelation:
		return nil, sqlerr.New(sqlerr.WrongObjectType, "%q is not a view", r.Name)
	case n.Kind == sql.SequenceObject && r.Kind != catalog.SequenceRelation:
		return nil, sqlerr.New(sqlerr.WrongObjectType, "%q is not a sequence", r.Name)
	}
	if err := d.lockIn(r, storage.AccessExclusive); err != nil {
		return nil, err
	}
	now := d.ddl.Catalog.Table(r.ID)
	if now == nil {
		return nil, sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", n.Name.Raw())
	}
	return now, d.r.s.refusePending("ALTER TABLE", now)
}

// rename runs RENAME TO. As in PostgreSQL the word behind ALTER may be TABLE or INDEX for relations of
// other kinds.
func (d *definition) rename(n *sql.AlterTable, to *sql.RenameTo) error {
	if n.Kind == sql.IndexObject || n.Kind == sql.TableObject {
		if t, index := d.ddl.LookupIndex(n.Name); t != nil && (n.Kind == sql.IndexObject || d.ddl.FindRelation(n.Name) == nil) {
			return d.renameIndex(t, index.ID, to.NewName.Name)
		}
	}
	r, err := d.relation(n)
	if err != nil || r == nil {
		return err
	}
	if d.ddl.NameTaken(r.Schema, to.NewName.Name) {
		return sqlerr.New(sqlerr.DuplicateTable, "relation %q already exists", to.NewName.Name)
	}
	return d.move(r, r.Schema, to.NewName.Name)
}

func (d *definition) renameIndex(t *catalog.Table, id catalog.IndexID, name string) error {
	if err := d.lockIn(t, storage.AccessExclusive); err != nil {
		return err
	}
	if t = d.ddl.Catalog.Table(t.ID); t == nil {
		return sqlerr.New(sqlerr.UndefinedTable, "the index's table was dropped")
	}
	if d.ddl.NameTaken(t.Schema, name) {
		return sqlerr.New(sqlerr.DuplicateTable, "relation %q already exists", name)
	}
	next := t.Clone()
	for i := range next.Indexes {
		if next.Indexes[i].ID == id {
			next.Indexes[i].Name = name
		}
	}
	return d.put(next)
}

// move gives a relation another schema or name, and puts all that changes with it.
func (d *definition) move(r *catalog.Table, schema, name string) error {
	changed, err := d.ddl.Moved(r, schema, name)
	if err != nil {
		return err
	}
	d.viewsChanged = d.viewsChanged || r.HasView
	return d.putAll(changed)
}

func (d *definition) putAll(list []*catalog.Table) error {
	for _, t := range list {
		if err := d.put(t); err != nil {
			return err
		}
	}
	return nil
}

// setSchema runs SET SCHEMA. A table takes its indexes and the sequences of its columns along.
func (d *definition) setSchema(n *sql.AlterTable, to *sql.SetSchema) error {
	if t, _ := d.ddl.LookupIndex(n.Name); t != nil && d.ddl.FindRelation(n.Name) == nil {
		return sqlerr.New(sqlerr.WrongObjectType, "cannot change schema of index %q", n.Name.Name).
			WithHint("Change the schema of the table instead.")
	}
	r, err := d.relation(n)
	if err != nil || r == nil {
		return err
	}
	schema := to.Schema.Name
	if r.Temp || strings.HasPrefix(schema, "pg_temp") {
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot move objects into or out of temporary schemas")
	}
	if !d.ddl.Catalog.HasSchema(schema) {
		return sqlerr.New(sqlerr.InvalidSchemaName, "schema %q does not exist", schema)
	}
	if q := r.Sequence; q != nil && q.OwnerTable != 0 {
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot move an owned sequence into another schema").
			WithDetail("Sequence %q is linked to table %q.", r.Name, d.ddl.Catalog.Table(q.OwnerTable).Name)
	}
	if schema == r.Schema {
		return nil
	}
	moved := append(d.ddl.OwnedSequences(r.ID, 0), r)
	names := []string{}
	for _, m := range moved {
		names = append(names, m.Name)
	}
	for i := range r.Indexes {
		names = append(names, r.Indexes[i].Name)
	}
	for _, name := range names {
		if d.ddl.NameTaken(schema, name) {
			return sqlerr.New(sqlerr.DuplicateTable, "relation %q already exists in schema %q", name, schema)
		}
	}
	for _, m := range moved {
		if err := d.move(d.ddl.Catalog.Table(m.ID), schema, m.Name); err != nil {
			return err
		}
	}
	return nil
}

// renameSchema renames a schema: each of its relations moves to one of the new name.
func (d *definition) renameSchema(n *sql.AlterTable, to *sql.RenameTo) error {
	old, name := n.Name.Name, to.NewName.Name
	switch {
	case !d.ddl.Catalog.HasSchema(old):
		return sqlerr.New(sqlerr.InvalidSchemaName, "schema %q does not exist", old)
	case d.ddl.Catalog.HasSchema(name):
		return sqlerr.New(sqlerr.DuplicateObject, "schema %q already exists", name)
	}
	if err := planner.ReservedSchema(to.NewName); err != nil {
		return err
	}
	var inside []*catalog.Table
	for _, r := range d.ddl.Catalog.Relations() {
		if r.Schema == old {
			inside = append(inside, r)
			if err := d.lockIn(r, storage.AccessExclusive); err != nil {
				return err
			}
		}
	}
	if err := d.setSchemas(name, true); err != nil {
		return err
	}
	for _, r := range inside {
		now := d.ddl.Catalog.Table(r.ID)
		if now == nil || now.Schema != old {
			continue // dropped or moved while it was waited for
		}
		if err := d.move(now, name, now.Name); err != nil {
			return err
		}
	}
	return d.setSchemas(old, false)
}

func (d *definition) setSchemas(name string, exists bool) error {
	err := d.w.txn.SetCatalog(d.r.ctx, d.w.txn.Catalog().WithSchema(name, exists))
	d.ddl.Catalog = d.w.txn.Catalog()
	return err
}

// renameViewColumn renames a column of a view.
func (d *definition) renameViewColumn(v *catalog.Table, n *sql.RenameColumn) error {
	if err := d.lockIn(v, storage.AccessExclusive); err != nil {
		return err
	}
	if v = d.ddl.Catalog.Table(v.ID); v == nil {
		return sqlerr.New(sqlerr.UndefinedTable, "the view was dropped")
	}
	changed, err := d.ddl.RenamedViewColumn(v, n)
	if err != nil {
		return err
	}
	return d.putAll(changed)
}
