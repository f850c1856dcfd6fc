package weft_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/weftdb/weft"
)

// TestCloseWhileBusy closes a database under open rows, a running query and an open transaction:
// Close ends them all, and what they are used for afterwards fails with an error.
func TestCloseWhileBusy(t *testing.T) {
	ctx := context.Background()
	for _, dir := range []string{"", t.TempDir()} {
		db, err := weft.Open(ctx, dir, weft.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(ctx, "create table t (a int primary key, b text); insert into t select g, 'x' || g from generate_series(1, 100000) g; alter table t colview(a)"); err != nil {
			t.Fatal(err)
		}
		rows, err := db.Query(ctx, "select * from t")
		if err != nil || !rows.Next() {
			t.Fatal(err)
		}
		tx, err := db.Begin(ctx, weft.TxOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(ctx, "delete from t where a < 10"); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := db.Exec(ctx, "select count(*) from generate_series(1, 1000000) a, generate_series(1, 1000000) b where a + b = 7")
			ended <- err
		}()
		time.Sleep(50 * time.Millisecond)
		closed := make(chan error, 1)
		go func() { closed <- db.Close() }()
		select {
		case err := <-closed:
			if err != nil {
				t.Errorf("close: %v", err)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("Close does not return")
		}
		var e *weft.Error
		if err := <-ended; !errors.As(err, &e) || e.Code != "57P01" {
			t.Errorf("a running query ended with %v", err)
		}
		for rows.Next() { // batches that have arrived may still be read
		}
		if err := rows.Close(); !errors.As(err, &e) || e.Code != "57P01" {
			t.Errorf("open rows ended with %v", err)
		}
		if _, err := tx.Exec(ctx, "select 1"); !errors.As(err, &e) || e.Code != "57P01" {
			t.Errorf("a statement of an open transaction: %v", err)
		}
		if err := tx.Commit(ctx); err == nil {
			t.Error("a transaction of a closed database was committed")
		}
		if _, err := db.Exec(ctx, "select 1"); !errors.As(err, &e) || e.Code != "57P01" {
			t.Errorf("a statement on a closed database: %v", err)
		}
		if dir == "" {
			continue
		}
		again, err := weft.Open(ctx, dir, weft.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if n := count(t, again, "select count(*) from t"); n != 100000 {
			t.Error(fmt.Sprint(n, " rows after re-opening"))
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	}
}
