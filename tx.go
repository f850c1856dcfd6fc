package weft

import "context"

// Isolation is a transaction's isolation level.
type Isolation uint8

// The isolation levels. ReadCommitted sees what was committed when each statement began,
// RepeatableRead what was committed when the transaction's first statement began. Serializable does
// so too, and ends with 40001 where no order of the serializable transactions explains what they saw:
// the application runs the transaction again.
const (
	ReadCommitted Isolation = iota
	RepeatableRead
	Serializable
)

// TxOptions say how a transaction runs.
type TxOptions struct {
	Isolation Isolation
	ReadOnly  bool
	// Deferrable lets the first statement of a Serializable, ReadOnly transaction wait until it can
	// neither fail with 40001 nor make others fail.
	Deferrable bool
}

// Tx is a transaction. It belongs to one goroutine at a time and ends with Commit or Rollback.
type Tx struct{ s *Session }

// Exec runs statements in the transaction.
func (tx *Tx) Exec(ctx context.Context, query string, args ...any) (Result, error) {
	return tx.s.Exec(ctx, query, args...)
}

// Query runs a statement in the transaction and returns its rows.
func (tx *Tx) Query(ctx context.Context, query string, args ...any) (*Rows, error) {
	return tx.s.Query(ctx, query, args...)
}

// Commit makes the transaction's changes visible and durable. After a failed statement it rolls
// back and returns an error.
func (tx *Tx) Commit(ctx context.Context) error {
	defer tx.s.Close()
	return tx.s.locked(func() error { return tx.s.commit(ctx) })
}

// Rollback undoes the transaction. After Commit it does nothing.
func (tx *Tx) Rollback() error {
	return tx.s.Close()
}
