package weft

import (
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/exec"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/storage"
)

// lockReferenced keeps the tables that a statement's new foreign keys reference from being written
// and changed until the transaction ends: whoever removes one of their keys from then on has to know
// the foreign keys.
func (d *definition) lockReferenced(stmt sql.Statement) error {
	for _, name := range planner.ReferencedTables(stmt) {
		if t := d.ddl.FindTable(name); t != nil {
			if err := d.lockIn(t, storage.ShareRowExclusive); err != nil {
				return err
			}
		}
	}
	return nil
}

// lockIn locks a table and looks at the catalog anew.
func (d *definition) lockIn(t *catalog.Table, mode storage.LockMode) error {
	err := d.w.txn.LockTable(d.r.ctx, t.ID, mode, storage.Wait)
	d.ddl.Catalog = d.w.txn.Catalog()
	if hasCode(err, sqlerr.ObjectInUse) {
		what := "change"
		switch d.r.stmt.(type) {
		case *sql.AlterTable:
			what = "ALTER TABLE"
		case *sql.Drop:
			what = "DROP TABLE"
		case *sql.Truncate:
			what = "TRUNCATE"
		}
		return sqlerr.New(sqlerr.ObjectInUse, "cannot %s %q because it is being used by active queries in this session", what, t.Name).WithTable(t.Name)
	}
	return err
}

// dropDependents drops foreign keys of other tables.
func (d *definition) dropDependents(list planner.Dependents) error {
	for _, ref := range list {
		if err := d.lockIn(ref.Child, storage.AccessExclusive); err != nil {
			return err
		}
		if child := d.ddl.Catalog.Table(ref.Child.ID); child != nil {
			without := planner.WithoutForeignKey(child, ref.Key.Name)
			if err := d.put(without); err != nil {
				return err
			}
			if err := d.alterBelow(child, without, &sql.AlterTable{}); err != nil {
				return err
			}
		}
	}
	return nil
}

// lockParents locks the tables that a table references, before its foreign keys go.
func (d *definition) lockParents(t *catalog.Table, keys []catalog.ForeignKey) error {
	for i := range keys {
		if parent := d.ddl.Catalog.Table(keys[i].RefTable); parent != nil && parent.ID != t.ID {
			if err := d.lockIn(parent, storage.AccessExclusive); err != nil {
				return err
			}
		}
	}
	return nil
}

// lockDropped locks what dropping tables concerns and returns them as they are then.
func (d *definition) lockDropped(tables []*catalog.Table, purpose string) ([]*catalog.Table, error) {
	var locked []*catalog.Table
	for _, t := range tables {
		if err := d.lockIn(t, storage.AccessExclusive); err != nil {
			return nil, err
		}
		if err := d.r.s.refusePending(purpose, t); err != nil {
			return nil, err
		}
	}
	for _, t := range tables {
		now := d.ddl.Catalog.Table(t.ID)
		if now == nil {
			return nil, sqlerr.New(sqlerr.UndefinedTable, "table %q does not exist", t.Name)
		}
		locked = append(locked, now)
	}
	return locked, nil
}

// checkForeignKey looks for rows of a table that a new foreign key forbids.
func (d *definition) checkForeignKey(t *catalog.Table, key *catalog.ForeignKey) error {
	env := d.r.sessionEnv()
	// The statements below see the table as it is with the key, which the catalog may not show yet.
	use, err := planner.NewKeyUse(d.w.txn.Catalog(), t, key, t, true)
	if err != nil {
		return err
	}
	k := &keyWork{r: d.r, w: d.w, env: env}
	return k.checkAll(exec.NewKeyChange(use))
}

// checkAll looks at all rows of a table for one whose foreign key references nothing.
func (k *keyWork) checkAll(use *exec.KeyChange) error {
	t := newReferenceText(use, k.env)
	if use.Key.MatchFull && len(t.columns) > 1 {
		if err := k.checkMixed(t); err != nil {
			return err
		}
	}
	rows, err := k.run(t.unmatched())
	if err != nil || !rows.Next() {
		return err
	}
	values := rows.data()
	return heldViolation(use.Child, use.Key).WithDetail("Key %s is not present in table %q.", t.describe(values, true), use.Parent.Name)
}

// unmatched asks for the key of a row that references nothing.
func (t *referenceText) unmatched() string {
	var same, whole []string
	for i, name := range t.names {
		same = append(same, "y."+sql.QuoteIdent(t.types[i].Name)+" = "+name)
		whole = append(whole, name+" IS NOT NULL")
	}
	return "SELECT " + strings.Join(t.names, ", ") + " FROM " + t.table + " WHERE " + strings.Join(whole, " AND ") +
		" AND NOT EXISTS (SELECT 1 FROM " + qualified(t.use.Parent) + " AS y WHERE " + strings.Join(same, " AND ") + ") LIMIT 1"
}

// truncate empties tables, with CASCADE also those that reference them.
func (d *definition) truncate(n *sql.Truncate) (*Rows, error) {
	var tables []*catalog.Table
	named := map[catalog.TableID]bool{}
	add := func(t *catalog.Table) error {
		if named[t.ID] {
			return nil
		}
		named[t.ID] = true
		locked, err := d.lockDropped([]*catalog.Table{t}, "TRUNCATE")
		tables = append(tables, locked...)
		return err
	}
	for i, name := range n.Tables {
		t, err := d.ddl.LookupTable(name)
		if err != nil {
			return nil, err
		}
		if n.Only[i] && t.Partitioning != nil {
			return nil, sqlerr.New(sqlerr.WrongObjectType, "cannot truncate only a partitioned table").
				WithHint("Do not specify the ONLY keyword, or use TRUNCATE ONLY on the partitions directly.")
		}
		all, err := d.withPartitions([]*catalog.Table{t})
		if err != nil {
			return nil, err
		}
		for _, t := range all {
			if err := add(t); err != nil {
				return nil, err
			}
		}
	}
	for i := 0; n.Cascade && i < len(tables); i++ {
		for _, ref := range d.ddl.Catalog.ReferencesTo(tables[i]) {
			if !named[ref.Child.ID] {
				d.ddl.Notices = append(d.ddl.Notices, `truncate cascades to table "`+ref.Child.Name+`"`)
				all, err := d.withPartitions([]*catalog.Table{ref.Child})
				if err != nil {
					return nil, err
				}
				for _, t := range all {
					if t.ID != ref.Child.ID && !named[t.ID] {
						d.ddl.Notices = append(d.ddl.Notices, `truncate cascades to table "`+t.Name+`"`)
					}
					if err := add(t); err != nil {
						return nil, err
					}
				}
			}
		}
	}
	for _, t := range tables {
		for _, ref := range d.ddl.Catalog.ReferencesTo(t) {
			if !named[ref.Child.ID] {
				return nil, sqlerr.New(sqlerr.FeatureNotSupported, "cannot truncate a table referenced in a foreign key constraint").
					WithDetail("Table %q references %q.", ref.Child.Name, t.Name).
					WithHint("Truncate table %q at the same time, or use TRUNCATE ... CASCADE.", ref.Child.Name)
			}
		}
	}
	for _, t := range tables {
		if err := d.truncateTable(t, n.RestartIdentity); err != nil {
			return nil, err
		}
	}
	return done("TRUNCATE TABLE"), nil
}

func (d *definition) truncateTable(t *catalog.Table, restart bool) error {
	if err := d.put(d.ddl.Truncated(t)); err != nil {
		return err
	}
	d.viewsChanged = d.viewsChanged || t.HasView
	if err := d.touchAbove(t); err != nil || !restart {
		return err
	}
	for _, r := range d.ddl.OwnedSequences(t.ID, 0) {
		if err := d.put(d.ddl.Restarted(r)); err != nil {
			return err
		}
	}
	return nil
}
