package storage

import "context"

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

// minSpillBytes is the smallest overlay that is spilled because the budget has no room for it: less
// gives back too little for the work.
const minSpillBytes = 1 << 20

// charge follows what the transaction's writes and locks have grown by: it reserves their memory, and
// spills the writes
// when they are larger than the engine's limit or than what is left of the budget.
func (t *Txn) charge(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.spillAbove(ctx, t.e.opts.SpillBytes); err != nil {
		return err
	}
	err := t.reserve()
	if err == nil {
		return nil
	}
	if spillErr := t.spillAbove(ctx, minSpillBytes); spillErr != nil {
		return spillErr
	}
	if t.reserve() != nil {
		return err
	}
	return nil
}

// spillAbove spills the transaction's writes if those in memory take more than limit.
func (t *Txn) spillAbove(ctx context.Context, limit int64) error {
	o := t.overlay
	o.mu.RLock()
	large := o.bytes() > limit
	o.mu.RUnlock()
	if !large {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.moveToDisk(ctx, t.e)
}

// reserve brings what is reserved up to what the transaction takes. mu is held.
func (t *Txn) reserve() error {
	if t.opts.Memory == nil {
		return nil
	}
	grown := t.OverlayBytes() + lockBytes*int64(t.owner.locks()) - t.charged
	switch {
	case grown <= -chargeBytes:
		t.opts.Memory.Release(-grown)
	case grown < chargeBytes:
		return nil
	default:
		if err := t.opts.Memory.Reserve(grown); err != nil {
			return err
		}
	}
	t.charged += grown
	return nil
}
