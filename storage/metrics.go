package storage

import "sync/atomic"

// counters are an engine's running totals.
type counters struct {
	commits, commitRows, emptyCommits, rollbacks atomic.Uint64
	syncWaits                                    atomic.Uint64
	uniqueConflicts, rowConflicts                atomic.Uint64
	snapshots                                    atomic.Int64
	loadedRows                                   atomic.Uint64
	spilledBytes                                 atomic.Uint64
}

// Metrics are an engine's running totals and states.
type Metrics struct {
	CommitNumber    uint64 // of the latest commit
	DurableNumber   uint64 // of the latest durable commit
	Commits         uint64 // that wrote something
	CommitRows      uint64 // rows they wrote
	EmptyCommits    uint64 // that wrote nothing
	Rollbacks       uint64
	SyncWaits       uint64 // commits that waited for the log
	LogSyncs        uint64 // syncs of the log: SyncWaits/LogSyncs commits share one
	UniqueConflicts uint64 // 23505
	RowConflicts    uint64 // rows changed under a statement
	LockWaits       uint64
	Deadlocks       uint64
	LoadedRows      uint64 // by bulk loads into fresh stores
	SpilledBytes    uint64 // of temporary files for the writes of large transactions
	Snapshots       int64  // open now
	SerialActive    int    // serializable transactions that are watched now
	SerialDone      int    // records of committed ones that these may be in conflict with

	CacheHits, CacheMisses int64
	CacheBytes             int64
	MemTableBytes          uint64
	DiskBytes              uint64
	WriteStalls            uint64 // since the database was opened
	Compactions, Flushes   int64
}

// Metrics returns the current numbers.
func (e *Engine) Metrics() Metrics {
	c, m := &e.metrics, e.db.Metrics()
	active, done := e.serial.count()
	return Metrics{
		CommitNumber: e.CommitNumber(), DurableNumber: e.durable.done.Load(),
		Commits: c.commits.Load(), CommitRows: c.commitRows.Load(), EmptyCommits: c.emptyCommits.Load(),
		Rollbacks: c.rollbacks.Load(), SyncWaits: c.syncWaits.Load(), LogSyncs: e.fs.logSyncs.Load(),
		UniqueConflicts: c.uniqueConflicts.Load(), RowConflicts: c.rowConflicts.Load(),
		LockWaits: e.locks.waits.Load(), Deadlocks: e.locks.deadlocks.Load(),
		LoadedRows: c.loadedRows.Load(), SpilledBytes: c.spilledBytes.Load(), Snapshots: c.snapshots.Load(),
		SerialActive: active, SerialDone: done,
		CacheHits: m.BlockCache.Hits, CacheMisses: m.BlockCache.Misses, CacheBytes: m.BlockCache.Size,
		MemTableBytes: m.MemTable.Size, DiskBytes: m.DiskSpaceUsage(), WriteStalls: e.fs.stalls.Load(),
		Compactions: m.Compact.Count, Flushes: m.Flush.Count,
	}
}
