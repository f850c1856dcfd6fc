package weft

import (
	"context"
	"slices"
	"time"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/storage"
)

// temporaries are what a session knows of its temporary relations. used tells that it has made one.
type temporaries struct {
	schema string
	used   bool
}

// relations lists the session's temporary relations.
func (t *temporaries) relations(c *catalog.Snapshot) []*catalog.Table {
	if !t.used {
		return nil
	}
	return slices.DeleteFunc(c.Relations(), func(r *catalog.Table) bool { return r.Schema != t.schema })
}

// Sees reports whether the session can name a relation: it is not another session's temporary one.
func (s *Session) Sees(r *catalog.Table) bool { return !r.Temp || r.Schema == s.temp.schema }

// atCommit empties or drops the temporary tables that ask for it, as the last deed of a transaction.
func (s *Session) atCommit(ctx context.Context, txn *storage.Txn) error {
	concerned := func(c *catalog.Snapshot) []*catalog.Table {
		return slices.DeleteFunc(s.temp.relations(c), func(r *catalog.Table) bool { return r.OnCommit == catalog.PreserveRowsOnCommit })
	}
	if len(concerned(txn.Catalog())) == 0 {
		return nil
	}
	txn.BeginStatement()
	defer txn.EndStatement() // an error ends the transaction
	r := &running{s: s, ctx: ctx, text: "COMMIT", now: time.Now().UnixMicro()}
	d := &definition{r: r, w: &work{s: s, txn: txn}, ddl: &planner.DDL{Input: s.input(txn.Catalog()), IDs: s.db.engine}}
	for _, t := range concerned(txn.Catalog()) {
		if t = d.ddl.Catalog.Table(t.ID); t == nil {
			continue
		}
		var err error
		if t.OnCommit == catalog.DropOnCommit {
			err = d.dropWithDependents(t)
		} else {
			err = d.deleteRows(t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// dropWithDependents drops a table with the views that read it and the foreign keys that reference it.
func (d *definition) dropWithDependents(t *catalog.Table) error {
	for _, dep := range slices.Backward(d.dependents(t, map[catalog.TableID]bool{})) {
		if err := d.dropRelation(dep.view); err != nil {
			return err
		}
	}
	if err := d.dropDependents(d.ddl.TableDependents([]*catalog.Table{t})); err != nil {
		return err
	}
	for _, p := range d.ddl.Catalog.Descendants(t.ID) {
		if err := d.dropRelation(p); err != nil {
			return err
		}
	}
	return d.dropRelation(d.ddl.Catalog.Table(t.ID))
}

// deleteRows empties a table, if it has rows. Partitions have a clause of their own.
func (d *definition) deleteRows(t *catalog.Table) error {
	for _, ref := range d.ddl.Catalog.References(t.ID) {
		if ref.Child.OnCommit != t.OnCommit {
			return sqlerr.New(sqlerr.FeatureNotSupported, "unsupported ON COMMIT and foreign key combination").
				WithDetail("Table %q references %q, but they do not have the same ON COMMIT setting.", ref.Child.Name, t.Name)
		}
	}
	some, err := d.anyRow("SELECT 1 FROM " + qualified(t) + " LIMIT 1")
	if err != nil || !some {
		return err
	}
	return d.put(d.ddl.Truncated(t))
}

// dropTemporaries drops all of the session's temporary relations, in its transaction if one is open.
func (s *Session) dropTemporaries() error {
	txn := s.txn
	if txn == nil {
		txn = s.db.engine.Begin(storage.TxnOptions{NoSyncWait: true, Session: s}) // they never outlive the process
		defer txn.Rollback()
	}
	next := txn.Catalog()
	all := s.temp.relations(next)
	if len(all) == 0 {
		return nil
	}
	for _, r := range all {
		next = next.WithoutTable(r.ID)
	}
	if err := txn.SetCatalog(context.Background(), next); err != nil {
		return err
	}
	if s.txn != nil {
		s.viewDDL = true
		return nil
	}
	if err := txn.Commit(context.Background()); err != nil {
		return err
	}
	s.db.views.Refresh()
	return nil
}
