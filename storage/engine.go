package storage

import (
	"encoding/hex"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// Engine is one open database. All methods may be called concurrently, except that Close must be
// the last call.
type Engine struct {
	// FormatValue prints a value for error details; set it before the first transaction begins.
	// The default prints numbers and strings plainly.
	FormatValue func(catalog.Type, vector.Datum) string
	// ParseValue reads a column's Missing text; set it before the first transaction begins. The
	// default knows plain literals.
	ParseValue func(catalog.Type, string) (vector.Datum, error)
	// CompileIndex makes the program of an index with expressions or a condition; set it before the
	// first transaction begins. Without it there can be no such indexes.
	CompileIndex func(*catalog.Table, *catalog.Index) (IndexProgram, error)

	opts   Options
	log    *slog.Logger // nil = none
	fs     *haltFS
	dirs   directories
	lock   *dirLock
	dbLock *pebble.Lock
	db     *pebble.DB
	// storeOpts are the options db was opened with; bulk loads write files in the same format.
	storeOpts *pebble.Options
	format    formatInfo
	wal       bool // false: in memory, every commit is as durable as it gets

	// commitMu orders commits. It guards the step from one committed state to the next: commit
	// numbers, the application of batches to db, published, row counts, the versions of groups.
	commitMu sync.Mutex
	// sequence is odd while a commit is between its application and its publication; see snapshot.
	sequence  atomic.Uint64
	published atomic.Pointer[committedState]
	// current is the snapshot of the latest state if somebody asked for it, shared by all readers.
	current atomic.Pointer[snapshot]
	live    liveViews

	// ingesting is held shared while files are ingested, and alone while a backup copies the log.
	ingesting sync.RWMutex
	keyBounds keyBounds
	pages     *pageCache

	redo    redoLog
	durable durability
	failure atomic.Pointer[sqlerr.Error]
	stopped chan struct{} // closed when failure is set
	// damage is what was found in the store's files while they were being opened.
	opening atomic.Bool
	damage  atomic.Pointer[pebble.DataCorruptionInfo]
	// backgroundFailures counts failures of Pebble's background work since its last success.
	backgroundFailures atomic.Int32
	failedFlush        atomic.Pointer[error] // of the last flush that failed

	stores  storeTable
	journal journal
	folds   atomic.Uint64 // counts the times that pages were folded
	locks   *lockManager
	serial  serialTracker
	rows    *rowCache
	moves   moveTable
	layouts layoutCache
	stats   sync.Map // catalog.TableID → *catalog.Stats, the latest committed

	nextTable, nextStore, nextIndex atomic.Uint32
	nextTxn, nextLoad               atomic.Uint64
	metrics                         counters
	maintenance                     maintainer
}

// committedState is what one commit left behind. It is immutable.
type committedState struct {
	commit  uint64
	catalog *catalog.Snapshot
}

// Catalog returns the latest committed catalog.
func (e *Engine) Catalog() *catalog.Snapshot { return e.published.Load().catalog }

// CommitNumber returns the number of the latest commit. Numbers start at 1 and have no gaps.
func (e *Engine) CommitNumber() uint64 { return e.published.Load().commit }

// DatabaseID returns the id the database got when it was created; copies share it.
func (e *Engine) DatabaseID() (id [16]byte) {
	_, _ = hex.Decode(id[:], []byte(e.format.ID)) // checked at open
	return id
}

// Incarnation tells copies of one database with histories of their own apart.
func (e *Engine) Incarnation() uint64 { return e.format.Incarnation }

// TempDir returns a directory for temporary files; it is swept when the database is opened. It is
// "" for databases in memory.
func (e *Engine) TempDir() string {
	if e.opts.InMemory {
		return ""
	}
	return e.dirs.temp
}

// RowCount returns the number of rows in the latest committed state. It costs no reading.
func (e *Engine) RowCount(tbl *catalog.Table) int64 {
	rows := int64(0)
	for _, id := range tbl.Stores {
		if s := e.stores.find(id); s != nil { // else it is empty, or was dropped
			rows += s.rows.Load()
		}
	}
	return rows
}

// NewTableID hands out an id that no committed or running transaction uses: catalogs made by
// concurrent transactions must not number from their own snapshots.
func (e *Engine) NewTableID() catalog.TableID { return catalog.TableID(e.nextTable.Add(1) - 1) }

// NewStoreID hands out a store id, as NewTableID does.
func (e *Engine) NewStoreID() catalog.StoreID { return catalog.StoreID(e.nextStore.Add(1) - 1) }

// NewIndexID hands out an index id, as NewTableID does.
func (e *Engine) NewIndexID() catalog.IndexID { return catalog.IndexID(e.nextIndex.Add(1) - 1) }

// fail stops all writing: the state of the log or of the files is in doubt, and only recovery at
// the next open can tell. Reading goes on.
func (e *Engine) fail(operation string, cause error) error {
	err := sqlerr.New(sqlerr.IOError, "%s: %w", operation, oneLine{cause})
	remedy := "Close the database and open it again; commits that were reported stay."
	switch {
	case pebble.IsCorruptionError(cause):
		err = errCorrupt(operation, cause)
		remedy = err.Hint
	case vfs.IsNoSpaceError(cause):
		err.Code = sqlerr.DiskFull
		remedy = "Free space on the disk, close the database and open it again; commits that were reported stay."
	}
	err = err.WithHint("Writing has stopped. %s", remedy)
	if e.failure.CompareAndSwap(nil, err) {
		e.fs.halted.Store(true)
		close(e.stopped)
		if e.log != nil {
			e.log.Error("storage stops writing", "error", err)
		}
		e.durable.wakeAll()
	}
	return e.failure.Load()
}

// failed returns the error that stopped writing, nil if there is none.
func (e *Engine) failed() error {
	if err := e.failure.Load(); err != nil {
		return err
	}
	return nil
}

// Close ends the engine. Every transaction, view, cursor and registered version must be gone. It returns
// the failure that has stopped the engine, if one has.
func (e *Engine) Close() error {
	var first error
	keep := func(err error) {
		if first == nil {
			first = err
		}
	}
	e.maintenance.halt()
	e.durable.stop()
	if e.failed() == nil {
		keep(e.saveIDs())
	}
	if s := e.current.Swap(nil); s != nil {
		s.release()
	}
	keep(ioError("close store", e.closeStore()))
	if e.redo.file != nil {
		keep(ioError("close REDO file", e.redo.file.Close()))
	}
	keep(e.failed()) // perhaps nobody has heard of it, and commits that did not wait for a sync are lost
	if first == nil && !e.opts.InMemory {
		keep(writeCloseNote(e.fs, e.dirs.root, e.dirs.rows))
	}
	if e.dbLock != nil {
		keep(ioError("release lock", e.dbLock.Close()))
	}
	if e.lock != nil {
		keep(ioError("release lock", e.lock.release()))
	}
	return first
}

// saveIDs gives the unused part of the reservations of row ids and sequence values back.
func (e *Engine) saveIDs() error {
	b := e.newBatch()
	defer e.freeBatch(b)
	for _, s := range e.stores.all() {
		s.mu.Lock()
		if s.reserved > s.next {
			_ = b.Set(counterKey(s.id, counterIDs), appendU64(nil, s.next), nil) // a batch in memory does not fail
			s.reserved = s.next
		}
		s.mu.Unlock()
		s.sequence.mu.Lock()
		if s.sequence.left > 0 {
			s.sequence.write(b, s.id)
			s.sequence.left = 0
		}
		s.sequence.mu.Unlock()
	}
	if b.Empty() {
		return nil
	}
	return e.writeSynced(b)
}

// closePatience is how long Pebble may take to close, or to end an opening, after a failure. It takes
// milliseconds, and much more on a busy machine.
const closePatience = 5 * time.Second

// closeStore closes Pebble. After a failure Pebble may hold locks it will never release; then its
// memory is left behind and the files are as after a crash.
func (e *Engine) closeStore() error {
	if e.failed() == nil {
		return e.db.Close()
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }() // Pebble panics on a state it does not expect
		_ = e.db.Close()
	}()
	select {
	case <-done:
	case <-time.After(closePatience):
	}
	return nil
}
