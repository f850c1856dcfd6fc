package weft

import (
	"context"
	"time"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/storage"
)

// onlineIndex is an index that is built or dropped while writers go on, in transactions one after the
// other. Between them the table is not locked, so the index is looked up again in each.
type onlineIndex struct {
	r     *running
	table catalog.TableID
	id    catalog.IndexID
	name  string
}

// find locks the index's table against other definitions and looks the index up.
func (o *onlineIndex) find(d *definition) (*catalog.Table, *catalog.Index, error) {
	if err := d.w.txn.LockTable(d.r.ctx, o.table, storage.ShareUpdateExclusive, storage.Wait); err != nil {
		return nil, nil, err
	}
	d.ddl.Catalog = d.w.txn.Catalog()
	if t := d.ddl.Catalog.Table(o.table); t != nil {
		for i := range t.Indexes {
			if t.Indexes[i].ID == o.id {
				return t, &t.Indexes[i], nil
			}
		}
	}
	return nil, nil, sqlerr.New(sqlerr.UndefinedObject, "index %q was dropped meanwhile", o.name)
}

// refuseInBlock refuses a statement that needs several transactions inside of one.
func (r *running) refuseInBlock(what string) error {
	if r.s.txn == nil {
		return nil
	}
	return sqlerr.New(sqlerr.ActiveTransaction, "%s cannot run inside a transaction block", what)
}

// createIndexOnline is CREATE INDEX CONCURRENTLY: the index is added for writers, filled, and then
// added for readers. If that fails it stays, INVALID: nobody reads or writes it.
func (r *running) createIndexOnline(n *sql.CreateIndex) (*Rows, error) {
	if err := r.refuseInBlock("CREATE INDEX CONCURRENTLY"); err != nil {
		return nil, err
	}
	timed, cancel := r.timed()
	defer cancel()
	o := &onlineIndex{r: r}
	rows, err := timed.defineBy(func(d *definition) (*Rows, error) { return done("CREATE INDEX"), o.announce(d, n) })
	if err != nil || o.id == 0 {
		return rows, contextError(timed.ctx, err)
	}
	if rows, err = timed.defineBy(o.fill); err != nil {
		o.giveUp()
	}
	return rows, contextError(timed.ctx, err)
}

// announce adds the index for writers. IF NOT EXISTS may find that there is nothing to do.
func (o *onlineIndex) announce(d *definition, n *sql.CreateIndex) error {
	if t := d.ddl.FindTable(n.Table); t != nil {
		if err := d.lockIn(t, storage.ShareUpdateExclusive); err != nil {
			return err
		}
	}
	t, index, err := d.ddl.CreateIndex(n)
	if err != nil || index == nil {
		return err
	}
	index.State = catalog.IndexBuilding
	o.table, o.id, o.name = t.ID, index.ID, index.Name
	return d.put(d.ddl.WithIndex(t, index))
}

// fill adds the entries of the rows that writers have not added, and the index for readers.
func (o *onlineIndex) fill(d *definition) (*Rows, error) {
	t, index, err := o.find(d)
	if err != nil {
		return nil, err
	}
	if err := d.w.txn.AwaitWriters(d.r.ctx, t.ID); err != nil {
		return nil, err
	}
	if err := d.w.txn.FillIndex(d.r.ctx, t, index); err != nil {
		return nil, err
	}
	return done("CREATE INDEX"), d.put(d.ddl.WithIndexState(t, index.ID, catalog.IndexReady))
}

// giveUpWait bounds how long a failed statement tries to mark its index INVALID. An index that stays
// marked as being built is not read either, but writers go on writing it.
const giveUpWait = 10 * time.Second

func (o *onlineIndex) giveUp() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(o.r.ctx), giveUpWait)
	defer cancel()
	again := *o.r
	again.ctx = ctx
	// The error that counts is the one that made the build fail.
	_, _ = again.defineBy(func(d *definition) (*Rows, error) { return nil, o.retire(d) })
}

// retire takes the index from readers and writers.
func (o *onlineIndex) retire(d *definition) error {
	t, _, err := o.find(d)
	if err != nil {
		return err
	}
	return d.put(d.ddl.WithIndexState(t, o.id, catalog.IndexInvalid))
}

// dropIndexOnline is DROP INDEX CONCURRENTLY: the index is taken from readers and writers, and dropped
// when those who still write it have ended.
func (r *running) dropIndexOnline(n *sql.Drop) (*Rows, error) {
	if len(n.Names) > 1 {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "DROP INDEX CONCURRENTLY does not support dropping multiple objects")
	}
	if n.Cascade {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "DROP INDEX CONCURRENTLY does not support CASCADE")
	}
	if err := r.refuseInBlock("DROP INDEX CONCURRENTLY"); err != nil {
		return nil, err
	}
	timed, cancel := r.timed()
	defer cancel()
	o := &onlineIndex{r: r}
	rows, err := timed.defineBy(func(d *definition) (*Rows, error) {
		t, index, err := d.namedIndex(n, n.Names[0])
		if err != nil || index == nil {
			return done("DROP INDEX"), err
		}
		if err := d.dropIndexDependents(t, index, false); err != nil {
			return nil, err
		}
		if _, err := d.ddl.WithoutIndex(t, index); err != nil {
			return nil, err
		}
		o.table, o.id, o.name = t.ID, index.ID, index.Name
		return done("DROP INDEX"), o.retire(d)
	})
	if err != nil || o.id == 0 {
		return rows, contextError(timed.ctx, err)
	}
	rows, err = timed.defineBy(func(d *definition) (*Rows, error) {
		t, index, err := o.find(d)
		if err != nil {
			return nil, err
		}
		if err := d.w.txn.AwaitWriters(d.r.ctx, t.ID); err != nil {
			return nil, err
		}
		var without *catalog.Table
		if without, err = d.ddl.WithoutIndex(t, index); err != nil {
			return nil, err
		}
		return done("DROP INDEX"), d.put(without)
	})
	return rows, contextError(timed.ctx, err)
}
