package storage

import (
	"github.com/weftdb/weft/internal/sqlerr"
)

// RowConflict is returned by Update and Delete when a row was changed by a transaction that
// committed after the statement's view was taken. The row is locked by then: the caller may read
// its newest version, check its predicate again and repeat the write, or give up. Unwrap gives
// the SQL error (40001) that giving up means.
type RowConflict struct {
	Index   int // position in the refs given
	Ref     RowRef
	Deleted bool // no newest version exists
}

func (c *RowConflict) sqlError() *sqlerr.Error {
	if c.Deleted {
		return sqlerr.New(sqlerr.SerializationFailure, "could not serialize access due to concurrent delete")
	}
	return sqlerr.New(sqlerr.SerializationFailure, "could not serialize access due to concurrent update")
}

// Error returns the text of the SQL error.
func (c *RowConflict) Error() string { return c.sqlError().Error() }

// Unwrap returns the SQL error.
func (c *RowConflict) Unwrap() error { return c.sqlError() }
