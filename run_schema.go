package weft

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/storage"
)

func (d *definition) createSchema(n *sql.CreateSchema) (*Rows, error) {
	current := d.w.txn.Catalog()
	if current.HasSchema(n.Name.Name) {
		if n.IfNotExists {
			d.ddl.Notices = append(d.ddl.Notices, `schema "`+n.Name.Name+`" already exists, skipping`)
			return done("CREATE SCHEMA"), nil
		}
		return nil, sqlerr.New(sqlerr.DuplicateObject, "schema %q already exists", n.Name.Name).At(n.Name.Start)
	}
	if err := planner.ReservedSchema(n.Name); err != nil {
		return nil, err
	}
	return done("CREATE SCHEMA"), d.w.txn.SetCatalog(d.r.ctx, current.WithSchema(n.Name.Name, true))
}

func (d *definition) dropSchema(n *sql.Drop) (*Rows, error) {
	for _, name := range n.Names {
		current := d.w.txn.Catalog()
		if !current.HasSchema(name.Name) {
			if n.IfExists {
				d.ddl.Notices = append(d.ddl.Notices, `schema "`+name.Name+`" does not exist, skipping`)
				continue
			}
			return nil, sqlerr.New(sqlerr.InvalidSchemaName, "schema %q does not exist", name.Name).At(name.Start)
		}
		var inside []*catalog.Table
		var err error
		for _, t := range current.Relations() {
			if t.Schema != name.Name {
				continue
			}
			if !n.Cascade {
				return nil, sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop schema %s because other objects depend on it", name.Name).
					At(name.Start).WithDetail("%s depends on schema %s", d.ddl.Describe(t), name.Name).
					WithHint("Use DROP ... CASCADE to drop the dependent objects too.")
			}
			inside = append(inside, t)
		}
		if inside, err = d.withPartitions(inside); err != nil {
			return nil, err
		}
		if err := d.dropAll(inside); err != nil {
			return nil, err
		}
		if err := d.w.txn.SetCatalog(d.r.ctx, d.w.txn.Catalog().WithSchema(name.Name, false)); err != nil {
			return nil, err
		}
	}
	return done("DROP SCHEMA"), nil
}

// dropAll drops relations with the foreign keys of others that reference them.
func (d *definition) dropAll(list []*catalog.Table) error {
	for _, t := range list {
		if err := d.lockIn(t, storage.AccessExclusive); err != nil {
			return err
		}
	}
	if err := d.dropDependents(d.ddl.TableDependents(list)); err != nil {
		return err
	}
	for _, t := range list {
		if err := d.lockParents(t, t.ForeignKeys); err != nil {
			return err
		}
	}
	for _, t := range list {
		if err := d.touchAbove(t); err != nil {
			return err
		}
	}
	current := d.w.txn.Catalog()
	for _, t := range list {
		current = current.WithoutTable(t.ID)
	}
	return d.w.txn.SetCatalog(d.r.ctx, current)
}
