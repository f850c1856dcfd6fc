package imcv

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weftdb/weft/storage"
)

// TestCrash takes the power away at random moments between changes, builds and evictions. Whatever was
// left of unit files, the next start gives the same answers by units as by rows.
func TestCrash(t *testing.T) {
	r := newRand(t)
	rounds := 6
	if testing.Short() {
		rounds = 1
	}
	fs := vfs.NewCrashableMem()
	v := newViewsOn(t, fs, 2, testOptions)
	adopted := int64(0)
	for range rounds {
		o := testOptions
		o.BudgetBytes = v.m.MemoryBytes() / 2
		for range 1 + r.IntN(4) {
			switch r.IntN(4) {
			case 0:
				v.change(r.IntN(2), r.IntN(storage.GroupRows))
			case 1: // a commit that may be lost, and units with it
				x := v.e.Begin(storage.TxnOptions{NoSyncWait: true})
				ref := storage.MakeRowRef(v.tbl.Stores[0], uint64(r.IntN(2*storage.GroupRows)))
				if _, err := x.Update(context.Background(), v.tbl, []storage.RowRef{ref}, testRows(r.IntN(100), 1)); err != nil {
					t.Fatal(err)
				}
				if err := x.Commit(context.Background()); err != nil {
					t.Fatal(err)
				}
				if _, err := v.m.Flush(context.Background(), v.tbl, FlushOptions{}); err != nil {
					t.Fatal(err)
				}
			case 2:
				if _, err := v.m.Flush(context.Background(), v.tbl, FlushOptions{}); err != nil {
					t.Fatal(err)
				}
			case 3:
				v.m.SetOptions(o)
			}
		}
		if r.IntN(3) > 0 {
			syncUnits(t, fs)
		}
		next := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: r.IntN(101), RNG: rand.New(rand.NewPCG(r.Uint64(), 1))})
		v.close()
		fs, v.fs = next, next
		v.open(testOptions)
		v.tbl = v.e.Catalog().Table(v.tbl.ID)
		v.populate()
		view := v.e.View()
		v.sum(view) // meets damaged units
		view.Release()
		v.populate()
		v.check(2)
		adopted += v.m.Counters.Adopted.Load()
		if _, err := v.m.Check(context.Background(), func(f storage.Finding) { t.Error(f) }); err != nil {
			t.Error(err)
		}
	}
	v.close()
	t.Logf("%d groups were taken over from files", adopted)
}

// syncUnits makes the unit files that there are last, as an operating system may at any time.
func syncUnits(t *testing.T, fs vfs.FS) {
	t.Helper()
	names, err := fs.List("db/units")
	if err != nil {
		return // there are none yet
	}
	sync := func(f vfs.File, err error) {
		t.Helper()
		if err == nil {
			err = f.Sync()
		}
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	for _, name := range names {
		sync(fs.OpenReadWrite("db/units/"+name, vfs.WriteCategoryUnspecified))
	}
	sync(fs.OpenDir("db/units"))
	sync(fs.OpenDir("db"))
}
