package weft

import (
	"slices"
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/sql"
)

// createIndex builds an index from the table's rows. Writers wait until the transaction ends.
func (d *definition) createIndex(n *sql.CreateIndex) (*Rows, error) {
	if t := d.ddl.FindTable(n.Table); t != nil && (t.Kind == catalog.PartitionedTable || t.IsPartition()) {
		return d.createPartitionedIndex(t, n)
	}
	if t := d.ddl.FindTable(n.Table); t != nil {
		if err := d.w.txn.LockForIndex(d.r.ctx, t.ID); err != nil {
			return nil, err
		}
		d.ddl.Catalog = d.w.txn.Catalog()
	}
	t, index, err := d.ddl.CreateIndex(n)
	if err != nil || index == nil {
		return done("CREATE INDEX"), err
	}
	if err := d.w.txn.BuildIndex(d.r.ctx, t, index); err != nil {
		return nil, err
	}
	return done("CREATE INDEX"), d.put(d.ddl.WithIndex(t, index))
}

func (d *definition) dropIndex(n *sql.Drop) (*Rows, error) {
	for _, name := range n.Names {
		t, index, err := d.namedIndex(n, name)
		if err != nil {
			return nil, err
		}
		if index == nil {
			continue
		}
		if err := d.lockAbove(t); err != nil {
			return nil, err
		}
		if err := d.lock(t); err != nil {
			return nil, err
		}
		if err := d.dropIndexDependents(t, index, n.Cascade); err != nil {
			return nil, err
		}
		without, err := d.ddl.WithoutIndex(t, index)
		if err != nil {
			return nil, err
		}
		if err := d.put(without); err != nil {
			return nil, err
		}
		if t.Kind == catalog.PartitionedTable {
			if err := d.alterBelow(t, without, &sql.AlterTable{}); err != nil {
				return nil, err
			}
		}
		if err := d.touchAbove(without); err != nil {
			return nil, err
		}
	}
	return done("DROP INDEX"), nil
}

// namedIndex looks up an index that DROP names; nil if there is none and the statement says IF EXISTS.
func (d *definition) namedIndex(n *sql.Drop, name sql.ObjectName) (*catalog.Table, *catalog.Index, error) {
	t, index := d.ddl.LookupIndex(name)
	if index != nil && n.Concurrently && t.Kind == catalog.PartitionedTable {
		return nil, nil, sqlerr.New(sqlerr.FeatureNotSupported, "cannot drop partitioned index %q concurrently", index.Name)
	}
	if index != nil {
		return t, index, nil
	}
	if r := d.ddl.FindRelation(name); r != nil {
		kind := r.Kind.String()
		return nil, nil, sqlerr.New(sqlerr.WrongObjectType, "%q is not an index", name.Name).WithHint("Use DROP %s to remove a %s.", strings.ToUpper(kind), kind)
	}
	if !n.IfExists {
		return nil, nil, sqlerr.New(sqlerr.UndefinedObject, "index %q does not exist", name.Name)
	}
	d.ddl.Notices = append(d.ddl.Notices, `index "`+name.Name+`" does not exist, skipping`)
	return nil, nil, nil
}

// dropIndexDependents drops the foreign keys that reference an index's key, with CASCADE.
func (d *definition) dropIndexDependents(t *catalog.Table, index *catalog.Index, cascade bool) error {
	if !index.Plain {
		return nil // refused for itself
	}
	list := d.ddl.IndexDependents(t, index)
	if err := list.Settle(d.ddl, "index "+index.Name, cascade); err != nil {
		return err
	}
	others := slices.DeleteFunc(list, func(r planner.Dependent) bool { return r.Child.ID == t.ID })
	return d.dropDependents(others)
}

// reindex builds indexes anew, also those that are INVALID, in fresh key spaces.
func (d *definition) reindex(n *sql.Reindex) (*Rows, error) {
	if n.Concurrently {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "REINDEX CONCURRENTLY is not supported yet").At(n.Start)
	}
	t, index, err := d.reindexed(n)
	if err != nil {
		return nil, err
	}
	if t.Kind == catalog.PartitionedTable {
		return done("REINDEX"), d.reindexBelow(t, index)
	}
	if t, err = d.reindexTable(t, index); err != nil {
		return nil, err
	}
	return done("REINDEX"), d.touchAbove(t)
}

// reindexTable builds an index of a table anew, nil = all, and returns the table with it.
func (d *definition) reindexTable(t *catalog.Table, index *catalog.Index) (*catalog.Table, error) {
	name := t.Name
	if err := d.lockAbove(t); err != nil {
		return nil, err
	}
	if err := d.lock(t); err != nil {
		return nil, err
	}
	d.ddl.Catalog = d.w.txn.Catalog()
	if t = d.ddl.Catalog.Table(t.ID); t == nil {
		return nil, sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", name)
	}
	for i := range t.Indexes {
		old := t.Indexes[i]
		if index != nil && old.ID != index.ID {
			continue
		}
		fresh := old
		fresh.ID, fresh.State = d.ddl.IDs.NewIndexID(), catalog.IndexReady
		if err := d.w.txn.BuildIndex(d.r.ctx, t, &fresh); err != nil {
			return nil, err
		}
		next := t.Clone()
		next.Indexes[i] = fresh
		if err := d.put(next); err != nil {
			return nil, err
		}
		t = next
	}
	return t, nil
}

// reindexed looks up what REINDEX names: a table, and the index or nil for all.
func (d *definition) reindexed(n *sql.Reindex) (*catalog.Table, *catalog.Index, error) {
	t, index := d.ddl.LookupIndex(n.Name)
	r := d.ddl.FindRelation(n.Name)
	switch {
	case n.Table && r != nil && r.IsTable():
		return r, nil, nil
	case !n.Table && index != nil:
		return t, index, nil
	case n.Table && (r != nil || index != nil):
		return nil, nil, sqlerr.New(sqlerr.WrongObjectType, "%q is not a table or materialized view", n.Name.Name)
	case r != nil:
		return nil, nil, sqlerr.New(sqlerr.WrongObjectType, "%q is not an index", n.Name.Name)
	}
	return nil, nil, sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", n.Name.Raw())
}
