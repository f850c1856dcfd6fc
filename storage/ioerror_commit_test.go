package storage

import (
	"bytes"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/weftdb/weft/internal/sqlerr"
)

// TestFailedCommitIsWhole lets the log fail while the store takes a large commit. Whether readers see it
// from then on or not, what they read of rows and of the commit number belong together.
func TestFailedCommitIsWhole(t *testing.T) {
	seen := 0
	for range 4 {
		var failing atomic.Bool
		e := openTest(t, Options{Dir: "db", FS: errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
			if failing.Load() && op.Kind == errorfs.OpFileWrite && strings.HasSuffix(op.Path, ".log") {
				return syscall.EIO
			}
			return nil
		}))})
		tbl := createTable(t, e, kvTable(e, "t"))
		insertKV(t, e, tbl, 1, "before")
		x := e.Begin(TxnOptions{})
		for i := range 30 {
			var pairs []any
			for k := range 1000 {
				pairs = append(pairs, 2+i*1000+k, "after")
			}
			_, err := x.Insert(bg, tbl, kv(pairs...))
			must(t, err)
		}
		e.commitMu.Lock()
		must(t, e.syncLog()) // what reserved the rows' numbers
		e.commitMu.Unlock()
		failing.Store(true)
		wantCode(t, x.Commit(bg), sqlerr.IOError)
		v := e.View()
		value, closer, err := v.snap.db.Get(metaKey(metaCommit))
		if err != nil {
			t.Fatal(err)
		}
		if want := appendU64(nil, v.CommitNumber()); !bytes.Equal(value, want) {
			t.Errorf("a view of commit %x reads rows of commit %x", want, value)
		}
		must(t, closer.Close())
		if lookup(t, v, tbl, 2) != 0 {
			seen++
		}
		v.Release()
		wantCode(t, e.Close(), sqlerr.IOError)
	}
	t.Logf("the failed commit was seen in %d of 4 runs", seen)
}
