package storage

// Isolation is a transaction's isolation level.
type Isolation uint8

// The levels. ReadCommitted takes a new snapshot for each statement; Snapshot keeps the first one
// (SQL's REPEATABLE READ); Serializable does so too, and fails where no order of the serializable
// transactions explains what they saw.
const (
	ReadCommitted Isolation = iota
	Snapshot
	Serializable
)

// TxnOptions say how a transaction runs.
type TxnOptions struct {
	Isolation Isolation
	// ReadOnly makes every write fail with 25006.
	ReadOnly bool
	// Deferrable makes AwaitSnapshot wait for a snapshot that no running transaction can make
	// unserializable; it means something for transactions that are Serializable and ReadOnly.
	Deferrable bool
	// NoSyncWait lets Commit return before the commit is durable (synchronous_commit = off). Order
	// is kept: a crash loses a suffix of the commits, never one in the middle.
	NoSyncWait bool
	// Session is who runs the transaction, nil = nobody in particular: a pointer that Reader is given, too.
	// A lock that the session itself holds elsewhere is not waited for: 55006.
	Session any
	// Memory is charged for the transaction's writes until it ends; nil = not counted.
	Memory Memory
}

// Memory is a budget of bytes. Its methods may be called concurrently.
type Memory interface {
	Reserve(n int64) error
	Release(n int64)
}

// chargeBytes is how much a transaction's writes may grow before they are charged.
const chargeBytes = 256 << 10

// charge reserves what the transaction's writes have grown by.
func (t *Txn) charge() error {
	if t.opts.Memory == nil {
		return nil
	}
	now := t.OverlayBytes()
	t.mu.Lock()
	defer t.mu.Unlock()
	grown := now - t.charged
	if grown < chargeBytes {
		return nil
	}
	if err := t.opts.Memory.Reserve(grown); err != nil {
		return err
	}
	t.charged += grown
	return nil
}
