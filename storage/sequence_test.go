package storage

import (
	"context"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weftdb/weft/catalog"
)

// TestSequenceSurvivesCrash draws and sets values and loses everything that is not synced: what was
// synced must not come again.
func TestSequenceSurvivesCrash(t *testing.T) {
	ctx := context.Background()
	fs := vfs.NewCrashableMem()
	e, err := Open(Options{Dir: "db", FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	r := &catalog.Table{ID: e.NewTableID(), Kind: catalog.SequenceRelation, Schema: catalog.DefaultSchema, Name: "s", SchemaVersion: 1,
		Stores: []catalog.StoreID{e.NewStoreID()}, Sequence: &catalog.Sequence{Type: catalog.Type{ID: catalog.Int8}, Start: 1, Increment: 1, Min: 1, Max: 1000}}
	x := e.Begin(TxnOptions{})
	if err := x.SetCatalog(ctx, x.Catalog().WithTable(r)); err != nil {
		t.Fatal(err)
	}
	if err := x.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	last := int64(0)
	reopen := func() {
		t.Helper()
		clone := fs.CrashClone(vfs.CrashCloneCfg{})
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if e, err = Open(Options{Dir: "db", FS: clone}); err != nil {
			t.Fatal(err)
		}
		fs = clone
	}
	for range 4 {
		for range 41 {
			v, logged, err := e.NextValue(r)
			if err != nil || v <= last {
				t.Fatalf("value %d after %d: %v", v, last, err)
			}
			if last = v; logged {
				if err := e.SyncLog(); err != nil {
					t.Fatal(err)
				}
			}
		}
		reopen()
	}
	if err := e.SetValue(r, 900, true); err != nil {
		t.Fatal(err)
	}
	if err := e.SyncLog(); err != nil {
		t.Fatal(err)
	}
	reopen()
	if v, _, err := e.NextValue(r); err != nil || v != 901 {
		t.Errorf("after setval: %d %v", v, err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}
