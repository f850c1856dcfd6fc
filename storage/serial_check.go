package storage

import (
	"github.com/weftdb/weft/internal/sqlerr"
)

var errReadAfterEnd = sqlerr.New(sqlerr.NoActiveTransaction, "the serializable transaction that the query belongs to has ended").
	WithHint("Read all rows, or close them, before COMMIT.")

// errDependencies is the error of a transaction that would be part of a dangerous structure.
func errDependencies(format string, args ...any) error {
	return sqlerr.New(sqlerr.SerializationFailure, "could not serialize access due to read/write dependencies among transactions").
		WithDetail("Reason code: "+format, args...).WithHint("The transaction might succeed if retried.")
}

// check fails if the transaction is the last one that a dangerous structure needs: see above. It returns
// the end of the earliest committed transaction that there is an edge to, or never. readOnly says that
// it will not have written; atCommit, that its notes are complete. mu is held.
func (k *serialTracker) check(t *serialTxn, readOnly, atCommit bool) (earliestOut uint64, err error) {
	if k.newest.Load() < t.begin {
		return never, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reads.tidy()
	t.writes.tidy()
	concurrent := k.done
	for i := len(k.done); i > 0; i-- {
		if k.done[i-1].last < t.begin {
			concurrent = k.done[i:]
			break
		}
	}
	earliestOut = never
	for _, d := range concurrent {
		if d.readOnly || !t.reads.readsWrite(d.writes) {
			continue
		}
		// Of several together, those that ended before this one began are not concurrent.
		earliestOut = min(earliestOut, max(d.first, t.begin+1))
		if d.earliestOut == never || readOnly && d.earliestOut > t.begin {
			continue
		}
		if atCommit {
			return 0, errDependencies("Canceled on conflict out to old pivot %d.", d.id)
		}
		return 0, errDependencies("Canceled on conflict out to pivot %d, during read.", d.id)
	}
	if earliestOut == never || readOnly {
		return earliestOut, nil
	}
	for _, d := range concurrent {
		bound := d.last
		if d.readOnly {
			bound = d.begin
		}
		if earliestOut > bound || !d.reads.readsWrite(t.writes) && !d.writes.replaces(t.writes) {
			continue
		}
		if atCommit {
			return 0, errDependencies("Canceled on identification as a pivot, during commit attempt.")
		}
		return 0, errDependencies("Canceled on identification as a pivot, during conflict in checking.")
	}
	return earliestOut, nil
}

// checkEarly is check for a transaction that goes on.
func (k *serialTracker) checkEarly(t *serialTxn) error {
	if t.begin == 0 || k.newest.Load() < t.begin {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	_, err := k.check(t, t.readOnly || !t.wrote(), false)
	return err
}
