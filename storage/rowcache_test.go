package storage

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector"
)

// TestRowCacheKeeps fills a cache far beyond its size and checks that what it returns is what was
// put, and that the newest entries are there.
func TestRowCacheKeeps(t *testing.T) {
	r := newRand(t)
	for _, size := range []int64{0, 1, 1000, 64 << 10, 1 << 20} {
		c := newRowCache(size)
		rows := make([][]byte, 20_000) // by commit
		keys := make([]string, len(rows))
		hits := 0
		for i := range rows {
			key := fmt.Sprint("key", r.IntN(5000))
			row := bytes.Repeat([]byte{byte(i), byte(i >> 8)}, r.IntN(60))
			c.put([]byte(key), row, RowRef(i), uint64(i))
			rows[i], keys[i] = row, key
			for _, k := range []string{key, fmt.Sprint("key", r.IntN(5000))} {
				got, ref, at, ok := c.get([]byte(k))
				if !ok {
					continue
				}
				hits++
				if want := rows[at]; !bytes.Equal(got, want) || keys[at] != k || ref != RowRef(at) {
					t.Fatalf("size %d: %s: %q, want %q", size, k, got, want)
				}
			}
		}
		if size >= 64<<10 && hits < 19_000 {
			t.Errorf("size %d: %d hits", size, hits)
		}
		if size <= 1 && hits > 0 {
			t.Errorf("size %d: %d hits", size, hits)
		}
	}
}

// TestLookupRow lets writers change, delete and insert rows by key while readers compare what
// LookupRow finds with what a scan of the same view shows.
func TestLookupRow(t *testing.T) {
	e, tbl := openKeyed(t, 2)
	ctx := context.Background()
	seed := newRand(t).Uint64()
	const keys = 200
	stop := make(chan struct{})
	var writers, readers sync.WaitGroup
	for w := range 2 {
		writers.Add(1)
		go func() {
			defer writers.Done()
			r := rand.New(rand.NewPCG(seed, uint64(w)))
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := writeKeyed(ctx, e, tbl, r, keys); err != nil {
					t.Error(err)
					return
				}
			}
		}()
	}
	for k := range 2 {
		readers.Add(1)
		go func() {
			defer readers.Done()
			r := rand.New(rand.NewPCG(seed, uint64(100+k)))
			for range 150 {
				v := e.View()
				want := scanKeyed(t, v, tbl)
				for range 60 {
					id := int64(r.IntN(keys))
					b := &vector.Batch{}
					_, ok, err := v.LookupRow(tbl, tbl.PrimaryKey(), []vector.Datum{vector.IntDatum(vector.I64, id)}, []int{0, 1}, b)
					n, exists := want[id]
					if err != nil || ok != exists || ok && (vector.DatumAt(b.Vecs[0], 0).I != id || vector.DatumAt(b.Vecs[1], 0).I != n) {
						t.Errorf("key %d: found %v, want %v: %v", id, ok, exists, err)
					}
				}
				v.Release()
			}
		}()
	}
	readers.Wait()
	close(stop)
	writers.Wait()
}

// writeKeyed runs a transaction of two changes, each checked against what the transaction itself
// looks up; it may lose against another one, or roll back.
func writeKeyed(ctx context.Context, e *Engine, tbl *catalog.Table, r *rand.Rand, keys int) error {
	x := e.Begin(TxnOptions{})
	defer x.Rollback()
	for range 2 {
		id, n := int64(r.IntN(keys)), r.Int64N(1000)
		key := []vector.Datum{vector.IntDatum(vector.I64, id)}
		view := x.View()
		ref, ok, err := view.LookupRow(tbl, tbl.PrimaryKey(), key, []int{0}, &vector.Batch{})
		view.Release()
		if err != nil {
			return err
		}
		want := true
		switch {
		case !ok:
			_, err = x.Insert(ctx, tbl, keyedRow(id, n))
		case r.IntN(3) == 0:
			_, err = x.Delete(ctx, tbl, []RowRef{ref})
			want = false
		default:
			_, err = x.Update(ctx, tbl, []RowRef{ref}, keyedRow(id, n))
		}
		if err != nil {
			return nil // the other writer was faster
		}
		view = x.View()
		b := &vector.Batch{}
		_, ok, err = view.LookupRow(tbl, tbl.PrimaryKey(), key, []int{1}, b)
		view.Release()
		if err != nil || ok != want || ok && vector.DatumAt(b.Vecs[0], 0).I != n {
			return fmt.Errorf("key %d in its own transaction: found %v, want %v: %w", id, ok, want, err)
		}
	}
	if r.IntN(4) > 0 {
		_ = x.Commit(ctx) // may lose against the other writer
	}
	return nil
}

// openKeyed opens an engine with a table t(id bigint primary key, n bigint).
func openKeyed(t *testing.T, nodes int) (*Engine, *catalog.Table) {
	e, err := Open(Options{InMemory: true, Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	tbl := &catalog.Table{ID: e.NewTableID(), Schema: catalog.DefaultSchema, Name: "t", SchemaVersion: 1, NextColumn: 3,
		Columns: []catalog.Column{{ID: 1, Name: "id", Type: catalog.Type{ID: catalog.Int8}, NotNull: true, AddedIn: 1},
			{ID: 2, Name: "n", Type: catalog.Type{ID: catalog.Int8}, AddedIn: 1}},
		Indexes:      []catalog.Index{{ID: e.NewIndexID(), Name: "t_pkey", Columns: []catalog.ColumnID{1}, Unique: true, Primary: true}},
		DistributeBy: []catalog.ColumnID{1}}
	for range nodes {
		tbl.Stores = append(tbl.Stores, e.NewStoreID())
	}
	x := e.Begin(TxnOptions{})
	if err := x.SetCatalog(context.Background(), x.Catalog().WithTable(tbl)); err != nil {
		t.Fatal(err)
	}
	if err := x.Commit(context.Background()); err != nil {
		t.Fatal(err)
	}
	return e, e.Catalog().Table(tbl.ID)
}

func keyedRow(id, n int64) *vector.Batch {
	return &vector.Batch{N: 1, Vecs: []*vector.Vector{vector.FromSlice(vector.I64, []int64{id}), vector.FromSlice(vector.I64, []int64{n})}}
}

// scanKeyed reads the whole table.
func scanKeyed(t *testing.T, v *View, tbl *catalog.Table) map[int64]int64 {
	out := map[int64]int64{}
	for _, store := range tbl.Stores {
		groups, err := v.Groups(store)
		if err != nil {
			t.Error(err)
		}
		for g := range groups {
			c, err := v.ScanGroup(tbl, store, g, []int{0, 1}, ScanOptions{})
			if err != nil {
				t.Error(err)
				return out
			}
			for {
				var b vector.Batch
				b.Vecs = []*vector.Vector{{}, {}}
				more, err := c.Next(&b)
				if err != nil {
					t.Error(err)
				}
				if !more || err != nil {
					break
				}
				for k := range b.Live() {
					i := k
					if b.Sel != nil {
						i = int(b.Sel[k])
					}
					out[vector.DatumAt(b.Vecs[0], i).I] = vector.DatumAt(b.Vecs[1], i).I
				}
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	return out
}
