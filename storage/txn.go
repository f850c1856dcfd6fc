package storage

import (
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
)

// Txn is a transaction. Its writes stay in memory, or if there are very many of them in temporary
// files, until Commit applies them in one step.
//
// Reading through its views may happen on many goroutines; Insert, Update, Delete, LockRows and
// LookupLatest may be called concurrently by the workers of one statement; everything else belongs
// to one goroutine at a time. After an error of one of these, call RollbackStatement or Rollback.
type Txn struct {
	e     *Engine
	opts  TxnOptions
	owner lockOwner

	overlay *overlay
	cmd     uint32      // number of the newest command; views see commands before theirs
	stack   []statement // running statements, innermost last

	// mu guards charged and lockCounts, and snap and the statements' snaps, which the first of several
	// workers to ask for a view makes.
	mu   sync.Mutex
	snap *snapshot // Snapshot and Serializable: that of the transaction
	// serial is what conflicts with other transactions are found by; nil below Serializable.
	serial *serialTxn

	// base is the committed catalog that the transaction's changes started from, next the catalog
	// with the changes; both nil when it made none.
	base, next *catalog.Snapshot
	// pinned is the committed catalog that Catalog returned in this statement while there were no
	// changes: a catalog given to SetCatalog stems from it.
	pinned *catalog.Snapshot
	stats  []tableStats
	loads  []*freshSpaces
	moved  []RowRef // rows that have got another reference
	// charged is what opts.Memory was asked for.
	charged int64
	ended   bool

	lockCounts map[catalog.TableID]*lockCount // guarded by mu
	whole      atomic.Pointer[wholeTables]    // nil = none
}

// statement is a running statement.
type statement struct {
	mark Savepoint
	cmd  uint32
	snap *snapshot // ReadCommitted: nil until the first view
}

// tableStats are statistics to store at commit.
type tableStats struct {
	id    catalog.TableID
	stats *catalog.Stats
}

// Begin starts a transaction.
func (e *Engine) Begin(o TxnOptions) *Txn {
	t := &Txn{e: e, opts: o, overlay: &overlay{}}
	t.overlay.retain()
	t.owner.id, t.owner.session = e.nextTxn.Add(1), o.Session
	if o.Isolation == Serializable {
		t.serial = newSerialTxn(t.owner.id)
	}
	return t
}

// SetLockTimeout bounds each later wait for a lock, which then fails with 55P03; 0 = no bound.
func (t *Txn) SetLockTimeout(d time.Duration) { t.owner.timeout = d }

// Engine returns the engine the transaction runs on.
func (t *Txn) Engine() *Engine { return t.e }

// ID returns a number that names the transaction among those since the database was opened.
func (t *Txn) ID() uint64 { return t.owner.id }

// BeginStatement starts a statement: it sees the writes of earlier statements only. Statements may
// nest (functions, triggers). Writes outside any statement are statements of their own.
func (t *Txn) BeginStatement() {
	t.rebase()
	t.cmd++
	t.stack = append(t.stack, statement{mark: t.Savepoint(), cmd: t.cmd})
}

// EndStatement keeps the statement's writes.
func (t *Txn) EndStatement() {
	if n := len(t.stack) - 1; n >= 0 {
		if s := t.stack[n].snap; s != nil {
			s.release()
		}
		t.stack = t.stack[:n]
	}
}

// RollbackStatement undoes the statement's writes and ends it.
func (t *Txn) RollbackStatement() {
	if n := len(t.stack) - 1; n >= 0 {
		t.RollbackTo(t.stack[n].mark)
		t.EndStatement()
	}
}

// Savepoint is a state of a transaction to roll back to. It is a plain value.
type Savepoint struct {
	overlay    overlayMark
	base, next *catalog.Snapshot
	stats      int
}

// Savepoint returns the current state.
func (t *Txn) Savepoint() Savepoint {
	return Savepoint{overlay: t.overlay.mark(), base: t.base, next: t.next, stats: len(t.stats)}
}

// RollbackTo undoes everything after the savepoint, which stays valid; later ones do not. Locks
// stay held. Views made after the savepoint must not be used any more.
func (t *Txn) RollbackTo(s Savepoint) {
	t.overlay.undo(s.overlay)
	t.base, t.next, t.stats = s.base, s.next, t.stats[:s.stats]
}

// View returns the statement's view, counted once for the caller. All calls within a statement
// return the same state. Outside any statement it sees everything written so far.
func (t *Txn) View() *View {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.statementSnapshot()
	v := newView(s, t.next)
	v.serial, v.found = t.serial, &t.overlay.found
	if t.next == nil {
		v.catalog = s.state.catalog
	}
	v.cmd = t.cmd + 1
	if n := len(t.stack); n > 0 {
		v.cmd = t.stack[n-1].cmd
	}
	t.overlay.mu.RLock()
	if t.overlay.anything {
		v.overlay = t.overlay
		v.overlay.retain()
	}
	t.overlay.mu.RUnlock()
	return v
}

// statementSnapshot returns the snapshot the running statement reads from, retained once for the
// caller. mu is held.
func (t *Txn) statementSnapshot() *snapshot {
	keep := &t.snap
	if t.opts.Isolation == ReadCommitted {
		n := len(t.stack)
		if n == 0 {
			return t.e.snapshot()
		}
		keep = &t.stack[n-1].snap
	}
	switch {
	case *keep != nil:
	case t.serial != nil:
		*keep = t.e.serial.begin(t.e, t.serial, t.opts.ReadOnly)
	default:
		*keep = t.e.snapshot()
	}
	(*keep).refs.Add(1)
	return *keep
}

// latest returns a view of the latest committed state and all of the transaction's writes.
func (t *Txn) latest() *View {
	v := newView(t.e.snapshot(), t.next)
	if v.catalog == nil {
		v.catalog = v.snap.state.catalog
	}
	v.cmd, v.overlay, v.found = math.MaxUint32, t.overlay, &t.overlay.found
	v.overlay.retain()
	return v
}

// Catalog returns the catalog as the transaction sees it: the latest committed one with its own
// changes. It stays the same within a statement, up to a LockTable.
func (t *Txn) Catalog() *catalog.Snapshot {
	if t.next != nil {
		return t.next
	}
	if t.pinned == nil {
		t.pinned = t.e.Catalog()
	}
	return t.pinned
}

// currentTable returns a table's description now: the transaction's own or the latest committed.
func (t *Txn) currentTable(id catalog.TableID) *catalog.Table {
	if t.next != nil {
		// A table that the transaction has left alone may have got an index meanwhile: CREATE INDEX
		// CONCURRENTLY relies on writers to see it. Its own changes keep that out by their lock.
		if own := t.next.Table(id); t.base == nil || own != t.base.Table(id) {
			return own
		}
	}
	return t.e.Catalog().Table(id)
}

// rebase brings the transaction's catalog up to what others have committed. A conflict is left for
// the commit to report.
func (t *Txn) rebase() {
	t.pinned = nil
	if t.next == nil || t.base == t.e.Catalog() {
		return
	}
	latest := t.e.Catalog()
	if merged, err := catalog.Merge(latest, t.base, t.next); err == nil {
		t.base, t.next = latest, merged
	}
}

// SetCatalog replaces the transaction's catalog. next must stem from what Catalog returned last.
// Tables that differ are locked, by how much they do: see changeLock. The commit merges the changed tables
// into the then latest catalog; a
// table changed by another transaction meanwhile gives 40001, a name taken meanwhile 42P07. Stores
// and indexes that no longer occur are removed with their data; new ones must have ids from
// NewStoreID and NewIndexID.
func (t *Txn) SetCatalog(ctx context.Context, next *catalog.Snapshot) error {
	return t.setCatalog(ctx, next, changeLock)
}

func (t *Txn) setCatalog(ctx context.Context, next *catalog.Snapshot, lock func(before, after *catalog.Table) LockMode) error {
	if err := t.checkWritable(); err != nil {
		return err
	}
	base, current := t.base, t.Catalog()
	if base == nil {
		base = current
	}
	for _, c := range catalog.Diff(current, next) {
		if err := checkStorable(c.New); err != nil {
			return err
		}
		if c.Old == nil {
			continue
		}
		mode := lock(c.Old, c.New)
		if err := t.lockToChange(ctx, c.Old.ID, mode); err != nil {
			return err
		}
		if committed := base.Table(c.Old.ID); committed != t.e.Catalog().Table(c.Old.ID) {
			return errTableChanged(c.Old)
		}
		if mode == AccessExclusive && t.serial != nil {
			if err := t.serial.writeTable(c.Old.ID); err != nil {
				return err
			}
		}
	}
	t.base, t.next = base, next
	return nil
}

// checkStorable refuses tables that cannot be stored; nil is fine.
func checkStorable(t *catalog.Table) error {
	switch {
	case t == nil:
		return nil
	case t.Kind == catalog.ViewRelation, t.Kind == catalog.PartitionedTable:
		return nil
	case len(t.Stores) == 0:
		return sqlerr.New(sqlerr.InternalError, "table has no store: table=%s", t.Name)
	case slices.Max(t.Stores) > MaxStore:
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "too many tables and partitions were ever created")
	}
	return nil
}

// sameShape reports whether rows written for one description are right for the other.
func sameShape(a, b *catalog.Table) bool {
	if a == b {
		return true
	}
	if len(a.Indexes) != len(b.Indexes) || !sameRows(a, b) {
		return false
	}
	for i := range a.Indexes {
		x, y := &a.Indexes[i], &b.Indexes[i]
		if x.ID != y.ID || x.Unique != y.Unique || x.Written() != y.Written() {
			return false
		}
	}
	return true
}

// indexesOnline reports whether a change of a table is only that indexes are built or dropped while
// writers go on: new ones are Building, and those that go have not been written for long.
func indexesOnline(old, next *catalog.Table) bool {
	for i := range next.Indexes {
		x := &next.Indexes[i]
		if before := indexByID(old, x.ID); before == nil && x.State != catalog.IndexBuilding || before != nil && !before.Written() && x.Written() {
			return false
		}
	}
	for i := range old.Indexes {
		if x := &old.Indexes[i]; x.State != catalog.IndexInvalid && indexByID(next, x.ID) == nil {
			return false
		}
	}
	return sameRows(old, next)
}

// sameRows is sameShape but for the indexes.
func sameRows(a, b *catalog.Table) bool {
	if a == b {
		return true
	}
	if a.SchemaVersion != b.SchemaVersion || len(a.Columns) != len(b.Columns) ||
		!catalog.SameForeignKeys(a, b) || len(a.Stores) != len(b.Stores) || len(a.DistributeBy) != len(b.DistributeBy) || len(a.Dropped) != len(b.Dropped) {
		return false
	}
	for i := range a.Columns {
		x, y := &a.Columns[i], &b.Columns[i]
		if x.ID != y.ID || x.Type != y.Type || x.NotNull != y.NotNull || x.AddedIn != y.AddedIn {
			return false
		}
	}
	for i := range a.Stores {
		if a.Stores[i] != b.Stores[i] {
			return false
		}
	}
	for i := range a.DistributeBy {
		if a.DistributeBy[i] != b.DistributeBy[i] {
			return false
		}
	}
	return true
}

// SetStats replaces a table's statistics at commit.
func (t *Txn) SetStats(id catalog.TableID, s *catalog.Stats) error {
	if err := t.checkWritable(); err != nil {
		return err
	}
	t.stats = append(t.stats, tableStats{id, s})
	return nil
}

// LockTable locks a table until the transaction ends. Insert, Update and Delete take RowExclusive
// by themselves; a view keeps tables that are dropped under it. After a wait
// the caller looks the table up again in Catalog().
func (t *Txn) LockTable(ctx context.Context, id catalog.TableID, mode LockMode, policy WaitPolicy) error {
	if err := t.checkActive(); err != nil {
		return err
	}
	err := t.lockTable(ctx, id, mode, policy)
	t.rebase()
	return err
}

// lockTable is LockTable for use inside statements: it leaves the catalog alone.
func (t *Txn) lockTable(ctx context.Context, id catalog.TableID, mode LockMode, policy WaitPolicy) error {
	_, _, err := t.e.locks.lock(ctx, &t.owner, resource{kind: lockRelation, object: uint32(id)}, mode, policy)
	return err
}

// OverlayBytes returns about how much memory the transaction's writes take until its commit.
func (t *Txn) OverlayBytes() int64 {
	o := t.overlay
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.bytes() + o.spilledBytes()
}

func (t *Txn) checkActive() error {
	if t.ended {
		return sqlerr.New(sqlerr.NoActiveTransaction, "the transaction has ended")
	}
	return nil
}

// SetModes changes options of a running transaction. The isolation level and deferrable must stay as
// they are once a view was made or something written.
func (t *Txn) SetModes(level Isolation, readOnly, deferrable bool) {
	t.opts.ReadOnly, t.opts.Deferrable = readOnly, deferrable
	if level == t.opts.Isolation {
		return
	}
	if t.opts.Isolation, t.serial = level, nil; level == Serializable {
		t.serial = newSerialTxn(t.owner.id)
	}
}

// SetNoSyncWait changes whether Commit returns before the commit is durable.
func (t *Txn) SetNoSyncWait(on bool) { t.opts.NoSyncWait = on }

func (t *Txn) checkWritable() error {
	if err := t.checkActive(); err != nil {
		return err
	}
	if t.opts.ReadOnly {
		return sqlerr.New(sqlerr.ReadOnlyTransaction, "cannot write in a read-only transaction")
	}
	return t.e.failed()
}

// Rollback ends the transaction without effect. After Commit it does nothing.
func (t *Txn) Rollback() {
	if t.ended {
		return
	}
	t.e.metrics.rollbacks.Add(1)
	t.end()
	t.discardLoads()
}

// end frees what the transaction holds.
func (t *Txn) end() {
	t.ended = true
	if t.charged > 0 {
		t.opts.Memory.Release(t.charged)
		t.charged = 0
	}
	for len(t.stack) > 0 {
		t.EndStatement()
	}
	if t.snap != nil {
		t.snap.release()
		t.snap = nil
	}
	if t.serial != nil {
		t.e.serial.abandon(t.serial)
	}
	t.e.locks.releaseAll(&t.owner)
	t.overlay.release()
}
