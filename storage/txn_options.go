package storage

// Isolation is a transaction's isolation level.
type Isolation uint8

// The levels. ReadCommitted takes a new snapshot for each statement; Snapshot keeps the first one
// (SQL's REPEATABLE READ).
const (
	ReadCommitted Isolation = iota
	Snapshot
)

// TxnOptions say how a transaction runs.
type TxnOptions struct {
	Isolation Isolation
	// ReadOnly makes every write fail with 25006.
	ReadOnly bool
	// NoSyncWait lets Commit return before the commit is durable (synchronous_commit = off). Order
	// is kept: a crash loses a suffix of the commits, never one in the middle.
	NoSyncWait bool
}
