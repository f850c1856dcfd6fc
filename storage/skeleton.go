package storage

import (
	"context"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

var errNotBuilt = sqlerr.New(sqlerr.FeatureNotSupported, "storage: not built yet")

// Engine is one open database. All methods may be called concurrently, except that Close must be
// the last call.
type Engine struct {
	// FormatValue prints a value for error details; set it before the first transaction begins.
	// The default prints numbers and strings plainly.
	FormatValue func(catalog.Type, vector.Datum) string
	// ParseValue reads a column's Missing text; set it before the first transaction begins. The
	// default knows plain literals.
	ParseValue func(catalog.Type, string) (vector.Datum, error)
}

// Open opens or creates a database.
func Open(o Options) (*Engine, error) { return nil, errNotBuilt }

// Close ends the engine. Every transaction, view, cursor and registered version must be gone.
func (e *Engine) Close() error { return nil }

// Catalog returns the latest committed catalog.
func (e *Engine) Catalog() *catalog.Snapshot { return nil }

// Stats returns a table's statistics, nil if there are none.
func (e *Engine) Stats(id catalog.TableID) *catalog.Stats { return nil }

// RowCount returns the number of rows in the latest committed state.
func (e *Engine) RowCount(tbl *catalog.Table) int64 { return 0 }

// View returns the latest committed state, counted once for the caller.
func (e *Engine) View() *View { return nil }

// Begin starts a transaction.
func (e *Engine) Begin(o TxnOptions) *Txn { return nil }

// NewTableID, NewStoreID and NewIndexID hand out ids that no committed or running transaction
// uses: catalogs made by concurrent transactions must not number from their own snapshots.
func (e *Engine) NewTableID() catalog.TableID { return 0 }

// NewStoreID hands out a store id.
func (e *Engine) NewStoreID() catalog.StoreID { return 0 }

// NewIndexID hands out an index id.
func (e *Engine) NewIndexID() catalog.IndexID { return 0 }

// GroupVersion is the change journal of one version of a group's column units.
//
// Every commit after BuiltAt that inserts, updates or deletes a row of the group sets the row's bit
// before the change becomes visible. So a reader whose view is at or after BuiltAt and who loads
// the bits after taking the view sees the bit of every row whose visible version differs from the
// one at BuiltAt. Set bits are never cleared; some may belong to commits later than the view, or to
// commits that failed, which costs time, not correctness.
type GroupVersion struct {
	Store   catalog.StoreID
	Group   int
	BuiltAt uint64 // commit number of the build view
}

// Touched copies the bits.
func (v *GroupVersion) Touched(dst *GroupBits) {}

// TouchedCount returns the number of set bits.
func (v *GroupVersion) TouchedCount() int { return 0 }

// VoidedAt returns the number of the first commit that changed the table's epoch (or dropped the
// store) after BuiltAt, 0 if there is none: views from that commit on must not use the version.
func (v *GroupVersion) VoidedAt() uint64 { return 0 }

// RegisterVersion starts a journal for a new version of a group's units and returns it with the
// view to build from. Both are made under the commit mutex: no change can fall between them. The
// caller releases the view and unregisters the version.
func (e *Engine) RegisterVersion(store catalog.StoreID, group int) (*GroupVersion, *View, error) {
	return nil, nil, errNotBuilt
}

// UnregisterVersion stops marking changes in v.
func (e *Engine) UnregisterVersion(v *GroupVersion) {}

// GroupLastChange returns the number of the last durable commit that changed the group.
func (e *Engine) GroupLastChange(store catalog.StoreID, group int) (uint64, error) {
	return 0, errNotBuilt
}

// View is one consistent state of the database: everything up to a commit number, plus the
// transaction's own writes of earlier statements when it came from a transaction. It is counted;
// all methods may be called concurrently.
type View struct{}

// Retain adds a user.
func (v *View) Retain() {}

// Release removes a user; the last one frees the snapshot. Cursors of the view must be closed.
func (v *View) Release() {}

// CommitNumber returns the number of the last commit the view sees.
func (v *View) CommitNumber() uint64 { return 0 }

// Catalog returns the catalog that belongs to the view's state.
func (v *View) Catalog() *catalog.Snapshot { return nil }

// WaitDurable waits until every commit the view sees is durable.
func (v *View) WaitDurable(ctx context.Context) error { return errNotBuilt }

// Groups returns the number of groups that hold rows: scan groups 0 … n−1.
func (v *View) Groups(store catalog.StoreID) (int, error) { return 0, errNotBuilt }

// ScanOptions narrow and widen a scan.
type ScanOptions struct {
	// Refs adds one I64 vector of row references behind the columns.
	Refs bool
	// Positions restricts the scan to these rows of the group. It is read at every Next and must
	// not change meanwhile. nil = all rows.
	Positions *GroupBits
}

// Cursor reads one group after another in ascending row id order. It belongs to one goroutine and
// allocates nothing per batch once its buffers have grown.
type Cursor struct{}

// ScanGroup opens a cursor over the live rows of a group. cols are positions in tbl.Columns.
func (v *View) ScanGroup(tbl *catalog.Table, store catalog.StoreID, group int, cols []int, o ScanOptions) (*Cursor, error) {
	return nil, errNotBuilt
}

// Reset moves the cursor to the start of another group, possibly of another store of the table.
func (c *Cursor) Reset(store catalog.StoreID, group int, positions *GroupBits) error {
	return errNotBuilt
}

// Next makes b.Vecs[i] the column cols[i] of up to vector.BatchCap live rows and, if asked, the
// last vector their references; b.N is their number and b.Sel nil. The memory is the cursor's own
// and valid until the next call of Next, Reset or Close. False means the group is exhausted.
func (c *Cursor) Next(b *vector.Batch) (bool, error) { return false, errNotBuilt }

// Close frees the cursor.
func (c *Cursor) Close() error { return nil }

// Fetcher reads rows by reference. It belongs to one goroutine.
type Fetcher struct{}

// NewFetcher prepares fetching the columns at positions cols of tbl.Columns.
func (v *View) NewFetcher(tbl *catalog.Table, cols []int) (*Fetcher, error) { return nil, errNotBuilt }

// Fetch makes row i of b the version of row ids[i] that the view sees. ids ascend. Rows that do
// not exist are NULL in every column and set in the returned bitmap, which is nil when all exist.
// len(ids) is at most vector.BatchCap. The memory is the fetcher's own and valid until its next
// call.
func (f *Fetcher) Fetch(store catalog.StoreID, ids []uint64, b *vector.Batch) (missing vector.Bitmap, err error) {
	return nil, errNotBuilt
}

// Close frees the fetcher.
func (f *Fetcher) Close() error { return nil }

// LookupKey finds the row with the given values of a unique index's columns.
func (v *View) LookupKey(tbl *catalog.Table, index *catalog.Index, key []vector.Datum) (RowRef, bool, error) {
	return 0, false, errNotBuilt
}

// IndexRange bounds an index scan: values of a prefix of the index's columns, each bound inclusive
// or not. No values = unbounded. Both bounds equal = a prefix scan.
type IndexRange struct {
	Low, High         []vector.Datum
	LowOpen, HighOpen bool
	Reverse           bool
}

// IndexCursor lists references in index order.
type IndexCursor struct{}

// ScanIndex opens a cursor over an index.
func (v *View) ScanIndex(tbl *catalog.Table, index *catalog.Index, r IndexRange) (*IndexCursor, error) {
	return nil, errNotBuilt
}

// Next fills dst and returns how many references it holds; 0 means the end.
func (c *IndexCursor) Next(dst []RowRef) (int, error) { return 0, errNotBuilt }

// Close frees the cursor.
func (c *IndexCursor) Close() error { return nil }

// OverlayIDs sets the bits of the group's rows that the view's own transaction wrote and reports
// whether there are any. Column scans must take those rows from a row scan restricted to them.
func (v *View) OverlayIDs(store catalog.StoreID, group int, dst *GroupBits) bool { return false }

// Txn is a transaction. Reading through its views may happen on many goroutines; Insert, Update
// and Delete may be called concurrently by the workers of one statement; everything else belongs
// to one goroutine at a time. After an error of a statement call RollbackStatement or Rollback.
type Txn struct{}

// Engine returns the engine the transaction runs on.
func (t *Txn) Engine() *Engine { return nil }

// BeginStatement starts a statement: it sees the writes of earlier statements only. Statements may
// nest (functions, triggers).
func (t *Txn) BeginStatement() {}

// EndStatement keeps the statement's writes.
func (t *Txn) EndStatement() {}

// RollbackStatement undoes the statement's writes and ends it.
func (t *Txn) RollbackStatement() {}

// Savepoint is a point to roll back to.
type Savepoint struct{ mark int }

// Savepoint marks the current state.
func (t *Txn) Savepoint() Savepoint { return Savepoint{} }

// RollbackTo undoes everything after the savepoint, which stays valid. Locks stay held.
func (t *Txn) RollbackTo(s Savepoint) {}

// View returns the statement's view, counted once for the caller.
func (t *Txn) View() *View { return nil }

// Catalog returns the catalog as the transaction sees it, with its own changes.
func (t *Txn) Catalog() *catalog.Snapshot { return nil }

// SetCatalog replaces the transaction's catalog. next must stem from Catalog(). The commit merges
// the tables that changed into the then latest catalog; a table changed by another transaction
// meanwhile gives 40001, a name taken meanwhile 42P07. Stores and indexes that no longer occur are
// removed with their data.
func (t *Txn) SetCatalog(next *catalog.Snapshot) error { return errNotBuilt }

// SetStats replaces a table's statistics at commit.
func (t *Txn) SetStats(id catalog.TableID, s *catalog.Stats) error { return errNotBuilt }

// Insert adds rows: one vector per column of tbl, in tbl.Columns order, any form, any selection.
// It returns the live rows' references in order.
func (t *Txn) Insert(ctx context.Context, tbl *catalog.Table, rows *vector.Batch) ([]RowRef, error) {
	return nil, errNotBuilt
}

// Update replaces rows: live row i of rows replaces refs[i]. A row whose distribution key moves it
// to another store gets a new reference; the returned slice is refs itself unless one did. A row
// changed since the statement's view gives a *RowConflict and ends the call.
func (t *Txn) Update(ctx context.Context, tbl *catalog.Table, refs []RowRef, rows *vector.Batch) ([]RowRef, error) {
	return nil, errNotBuilt
}

// Delete removes rows; conflicts as for Update. Rows this transaction has deleted already are
// skipped.
func (t *Txn) Delete(ctx context.Context, tbl *catalog.Table, refs []RowRef) error {
	return errNotBuilt
}

// LockRows locks rows in a row mode and returns the positions of those that changed after the
// statement's view was taken (deleted ones included). Rows that the transaction holds locked are
// not checked again by Update and Delete.
func (t *Txn) LockRows(ctx context.Context, tbl *catalog.Table, refs []RowRef, mode LockMode, policy WaitPolicy) (changed []int, err error) {
	return nil, errNotBuilt
}

// LockTable locks a table until the transaction ends. Insert, Update and Delete take RowExclusive
// by themselves.
func (t *Txn) LockTable(ctx context.Context, id catalog.TableID, mode LockMode, policy WaitPolicy) error {
	return errNotBuilt
}

// LookupLatest locks a key of a unique index (whether it exists or not) and returns the row that
// has it in the latest committed state or in the transaction's own writes: what foreign keys and
// ON CONFLICT need.
func (t *Txn) LookupLatest(ctx context.Context, tbl *catalog.Table, index *catalog.Index, key []vector.Datum, mode LockMode) (RowRef, bool, error) {
	return 0, false, errNotBuilt
}

// Commit makes the writes visible and waits until they are durable.
func (t *Txn) Commit(ctx context.Context) error { return errNotBuilt }

// Rollback ends the transaction without effect. It may be called after Commit, then it does
// nothing.
func (t *Txn) Rollback() {}

// Loader fills a table in bulk.
type Loader struct{}

// NewLoader starts a bulk load. An empty table is loaded into fresh stores and index key spaces
// that the commit switches in; other tables get batched inserts.
func (t *Txn) NewLoader(ctx context.Context, tbl *catalog.Table) (*Loader, error) {
	return nil, errNotBuilt
}

// Append adds a batch: one vector per column of tbl, in tbl.Columns order. It may be called
// concurrently; each number from 0 up is used exactly once, and rows are stored in number order.
// The batch is not kept.
func (l *Loader) Append(seq uint64, rows *vector.Batch) error { return errNotBuilt }

// Finish ends the load and returns the number of rows. They become visible with the transaction's
// commit.
func (l *Loader) Finish() (int64, error) { return 0, errNotBuilt }

// Abort gives up the load.
func (l *Loader) Abort() {}
