package weft_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/weftdb/weft"
)

// TestRowsAwaitDurability: no statement shows rows before the commits that they come from are durable, be it
// one that reads, locks or writes.
func TestRowsAwaitDurability(t *testing.T) {
	ctx, syncs := context.Background(), make(chan struct{})
	var held atomic.Bool
	db, err := weft.OpenOn(errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpFileSyncData && strings.HasSuffix(op.Path, "REDO") && held.Load() {
			<-syncs
		}
		return nil
	})), "d")
	if err != nil {
		t.Fatal(err)
	}
	s := db.Session()
	mustExec(t, s, "create table t (id int primary key, v int); insert into t values (1, 1), (2, 2)")
	held.Store(true)
	mustExec(t, s, "set synchronous_commit = off; update t set v = 100")
	other := db.Session()
	for _, query := range []string{"select v from t", "select v from t where id = 1 for update", "update t set v = v + 1 returning v", "delete from t where v = 100 returning v",
		"insert into t values (1, 5) on conflict (id) do update set v = t.v + 5 returning v", "insert into t select id + 10, v from t returning v"} {
		mustExec(t, other, "begin")
		short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
		if rows, err := queryRows(short, other, query); codeOf(err) != "57014" {
			t.Errorf("%s: %d rows before the commit is durable, %v", query, rows, err)
		}
		cancel()
		mustExec(t, other, "rollback")
	}
	close(syncs)
	wantRow(t, other, "select v from t where id = 1 for update", int64(100))
	other.Close()
	s.Close()
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// queryRows returns how many rows a query gives.
func queryRows(ctx context.Context, s *weft.Session, query string) (n int, err error) {
	rows, err := s.Query(ctx, query)
	if err != nil {
		return 0, err
	}
	for rows.Next() {
		n++
	}
	return n, rows.Close()
}
