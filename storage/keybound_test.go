package storage

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weftdb/weft/internal/sqlerr"
)

// TestKeyBound checks that a key is only taken for new when it is: after keys above it, in other
// transactions, after deletion, after rolling back, and after a bulk load.
func TestKeyBound(t *testing.T) {
	e := memEngine(t)
	tbl := createTable(t, e, kvTable(e, "t"))
	insert := func(id int) error {
		x := e.Begin(TxnOptions{})
		defer x.Rollback()
		if _, err := x.Insert(bg, tbl, kv(id, "x")); err != nil {
			return err
		}
		return x.Commit(bg)
	}
	for _, id := range []int{10, 20, 15, 30} {
		must(t, insert(id))
	}
	for _, id := range []int{10, 15, 20, 30} {
		wantCode(t, insert(id), sqlerr.UniqueViolation)
	}
	x := e.Begin(TxnOptions{})
	_, err := x.Delete(bg, tbl, []RowRef{refOf(t, x, tbl, 30)})
	must(t, err)
	must(t, x.Commit(bg))
	must(t, insert(30))
	wantCode(t, insert(30), sqlerr.UniqueViolation)
	equal(t, committed(t, e, tbl), "10=x 15=x 20=x 30=x")
}

// TestKeyBoundRaces lets writers insert the same rising keys: each gets in once.
func TestKeyBoundRaces(t *testing.T) {
	e := memEngine(t)
	tbl := createTable(t, e, kvTable(e, "t"))
	var won atomic.Int64
	var wg sync.WaitGroup
	const keys = 300
	for range 4 {
		wg.Go(func() {
			for id := range keys {
				x := e.Begin(TxnOptions{NoSyncWait: true})
				_, err := x.Insert(bg, tbl, kv(id, "x"))
				if err == nil {
					err = x.Commit(bg)
				}
				x.Rollback()
				if err == nil {
					won.Add(1)
				} else if sqlerr.CodeOf(err) != sqlerr.UniqueViolation {
					t.Error(errors.Unwrap(err))
				}
			}
		})
	}
	wg.Wait()
	equal(t, won.Load(), keys)
	mustCheck(t, e)
}
