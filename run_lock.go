package weft

import (
	"context"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/storage"
)

var tableModes = map[string]storage.LockMode{
	"access share": storage.AccessShare, "row share": storage.RowShare, "row exclusive": storage.RowExclusive,
	"share update exclusive": storage.ShareUpdateExclusive, "share": storage.TableShare,
	"share row exclusive": storage.ShareRowExclusive, "exclusive": storage.Exclusive,
	"access exclusive": storage.AccessExclusive, "": storage.AccessExclusive,
}

// lockTables runs LOCK TABLE. It takes no snapshot: a transaction that begins with it sees what those
// left that it waited for, at any level.
func (r *running) lockTables(n *sql.Lock) (*Rows, error) {
	s := r.s
	if s.txn == nil {
		return nil, sqlerr.New(sqlerr.NoActiveTransaction, "LOCK TABLE can only be used in transaction blocks")
	}
	timed, cancel := r.timed()
	defer cancel()
	s.txn.SetLockTimeout(s.milliseconds(setLockTimeout))
	l := &tableLock{txn: s.txn, mode: tableModes[n.Mode], policy: storage.Wait}
	if n.NoWait {
		l.policy = storage.NoWait
	}
	for _, name := range n.Tables {
		if err := l.lockNamed(timed.ctx, s, name); err != nil {
			return nil, contextError(timed.ctx, err)
		}
	}
	return done("LOCK TABLE"), nil
}

// tableLock is a LOCK TABLE under way.
type tableLock struct {
	txn    *storage.Txn
	mode   storage.LockMode
	policy storage.WaitPolicy
}

// lockNamed locks the relation of a name, which may be another one when the wait for it is over.
func (l *tableLock) lockNamed(ctx context.Context, s *Session, name sql.ObjectName) error {
	for locked := (*catalog.Table)(nil); ; {
		ddl := &planner.DDL{Input: s.input(l.txn.Catalog())}
		found := ddl.FindRelation(name)
		switch {
		case found == nil:
			if t, _ := ddl.LookupIndex(name); t != nil {
				return unlockable(name.Name, "indexes")
			}
			return sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", name.Raw())
		case found.Kind == catalog.SequenceRelation:
			return unlockable(name.Name, "sequences")
		case locked != nil && found.ID == locked.ID:
			return l.lockRead(ctx, found, map[catalog.TableID]bool{found.ID: true})
		}
		if err := l.lock(ctx, found); err != nil {
			return err
		}
		locked = found
	}
}

func unlockable(name, kind string) error {
	return sqlerr.New(sqlerr.WrongObjectType, "cannot lock relation %q", name).WithDetail("This operation is not supported for %s.", kind)
}

func (l *tableLock) lock(ctx context.Context, t *catalog.Table) error {
	err := l.txn.LockTable(ctx, t.ID, l.mode, l.policy)
	if l.policy == storage.NoWait && sqlerr.CodeOf(err) == sqlerr.LockNotAvailable {
		return sqlerr.New(sqlerr.LockNotAvailable, "could not obtain lock on relation %q", t.Name)
	}
	return err
}

// lockRead locks the partitions of a table, or what a view reads, and what views among that read.
func (l *tableLock) lockRead(ctx context.Context, r *catalog.Table, seen map[catalog.TableID]bool) error {
	for _, p := range l.txn.Catalog().Descendants(r.ID) { // they can be written by their own names
		if err := l.lock(ctx, p); err != nil {
			return err
		}
	}
	if r.Kind != catalog.ViewRelation {
		return nil
	}
	for _, id := range r.View.Uses {
		used := l.txn.Catalog().Table(id)
		if used == nil || seen[id] || used.Kind == catalog.SequenceRelation {
			continue
		}
		seen[id] = true
		if err := l.lock(ctx, used); err != nil {
			return err
		}
		if err := l.lockRead(ctx, used, seen); err != nil {
			return err
		}
	}
	return nil
}
