package storage

import (
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/weftdb/weft/internal/sqlerr"
)

// TestOpenOnFailingDisk opens a store that has logs to read, and lets each operation fail, once and from
// then on. The opening reports it, and ends; a later one finds everything.
func TestOpenOnFailingDisk(t *testing.T) {
	disk := vfs.NewCrashableMem()
	e := openTest(t, Options{Dir: "db", FS: disk})
	tbl := createTable(t, e, kvTable(e, "t"))
	insertKV(t, e, tbl, 1, "kept")
	must(t, e.Flush(bg))
	insertKV(t, e, tbl, 2, "logged")
	failures := 0
	r := newRand(t)
	for at, reached := int64(1), true; reached; at += int64(1 + r.IntN(6)) {
		for _, lasting := range []bool{false, true} {
			crashed := disk.CrashClone(vfs.CrashCloneCfg{})
			var n atomic.Int64
			var off, failed atomic.Bool
			again, err := Open(Options{Dir: "db", FS: errorfs.Wrap(crashed, errorfs.InjectorFunc(func(op errorfs.Op) error {
				if op.Kind == errorfs.OpLock || off.Load() {
					return nil
				}
				if i := n.Add(1); i == at || i > at && lasting {
					failed.Store(true)
					return syscall.EIO
				}
				return nil
			}))})
			if err == nil {
				_ = again.Close() // it may tell of a failure after the opening
			} else {
				wantCode(t, err, sqlerr.IOError)
				failures++
			}
			reached = failed.Load()
			off.Store(true)
			again = openTest(t, Options{Dir: "db", FS: crashed})
			if rows := dumpRows(t, again); !strings.Contains(rows, `"kept"`) || !strings.Contains(rows, `"logged"`) {
				t.Errorf("after a failure of operation %d the database holds %s", at, rows)
			}
			must(t, again.Close())
		}
	}
	must(t, e.Close())
	if failures < 8 {
		t.Errorf("only %d openings failed", failures)
	}
}

// TestBackgroundGivesUp has a disk with room for the log only. Who waits for files to be written is
// told so, and nothing is lost.
func TestBackgroundGivesUp(t *testing.T) {
	if *spillFlag > 0 {
		t.Skip("transactions that spill leave nothing to be flushed")
	}
	disk := vfs.NewCrashableMem()
	var full atomic.Bool
	e := openTest(t, Options{Dir: "db", FS: errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if full.Load() && op.Kind == errorfs.OpCreate && strings.HasSuffix(op.Path, ".sst") {
			return syscall.ENOSPC
		}
		return nil
	}))})
	tbl := createTable(t, e, kvTable(e, "t"))
	insertKV(t, e, tbl, 1, "kept")
	full.Store(true)
	started := time.Now()
	wantCode(t, e.Flush(bg), sqlerr.DiskFull)
	wantCode(t, e.Backup(bg, "copy"), sqlerr.DiskFull)
	if d := time.Since(started); d > 30*time.Second {
		t.Errorf("it took %v", d)
	}
	_ = e.Close() // it tells of the failure once more
	again := openTest(t, Options{Dir: "db", FS: disk})
	if rows := dumpRows(t, again); !strings.Contains(rows, `"kept"`) {
		t.Errorf("the database holds %s", rows)
	}
	must(t, again.Close())
}
