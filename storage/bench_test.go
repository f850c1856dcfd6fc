package storage

import (
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector"
)

// loadedEngine is a database in memory with lineitem-like rows in packed pages.
func loadedEngine(b *testing.B, batches int) (*Engine, *catalog.Table) {
	e := memEngine(b)
	tbl := createTable(b, e, lineitemTable(e))
	loadLineitem(b, e, tbl, batches)
	return e, e.Catalog().Table(tbl.ID)
}

func BenchmarkScan(b *testing.B) {
	e, tbl := loadedEngine(b, 64)
	single := createTable(b, e, func() *catalog.Table {
		t := lineitemTable(e)
		t.Name = "single"
		return t
	}())
	x := e.Begin(TxnOptions{})
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 64 {
		_, err := x.Insert(bg, single, lineitemBatch(r, i*1024, 1024))
		must(b, err)
	}
	must(b, x.Commit(bg))
	must(b, e.db.Flush())
	all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	for _, t := range []struct {
		name string
		tbl  *catalog.Table
	}{{"packed", tbl}, {"single", single}} {
		for _, c := range []struct {
			name string
			cols []int
		}{{"count", nil}, {"3cols", []int{0, 4, 10}}, {"16cols", all}} {
			b.Run(t.name+"/"+c.name, func(b *testing.B) {
				v := e.View()
				defer v.Release()
				cur, err := v.ScanGroup(t.tbl, t.tbl.Stores[0], 0, c.cols, ScanOptions{})
				must(b, err)
				var batch vector.Batch
				rows := 0
				b.ReportAllocs()
				for b.Loop() {
					must(b, cur.Reset(t.tbl.Stores[0], 0, nil))
					for {
						more, err := cur.Next(&batch)
						must(b, err)
						if !more {
							break
						}
						rows += batch.N
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rows), "ns/row")
				must(b, cur.Close())
			})
		}
	}
}

// rewriteRows updates every n-th row of the first group, to what it is.
func rewriteRows(b *testing.B, e *Engine, tbl *catalog.Table, n int) {
	x := e.Begin(TxnOptions{})
	cols := make([]int, len(tbl.Columns))
	for i := range cols {
		cols[i] = i
	}
	for from := uint64(0); from < 65_000; from += uint64(n) * 512 {
		var ids []uint64
		var refs []RowRef
		for id := from; id < min(65_000, from+uint64(n)*512); id += uint64(n) {
			ids, refs = append(ids, id), append(refs, MakeRowRef(tbl.Stores[0], id))
		}
		v := x.View()
		var rows vector.Batch
		_, err := v.Fetch(tbl, tbl.Stores[0], ids, cols, &rows)
		must(b, err)
		_, err = x.Update(bg, tbl, refs, &rows)
		must(b, err)
		v.Release()
	}
	must(b, x.Commit(bg))
}

func BenchmarkFetch(b *testing.B) {
	e, tbl := loadedEngine(b, 64)
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name    string
		gap     int // average distance of the rows
		changed int // of how many rows one has changed, 0 = none
	}{{"clustered", 1, 0}, {"1in10", 10, 0}, {"1in64", 64, 0}, {"1in10-changed", 10, 200}, {"1in64-changed", 64, 200}} {
		if c.changed > 0 && c.gap == 10 {
			rewriteRows(b, e, tbl, c.changed)
		}
		for _, cols := range [][]int{{4}, {4, 5, 10, 13, 15}} {
			b.Run(c.name+"/"+string(rune('0'+len(cols)))+"cols", func(b *testing.B) {
				v := e.View()
				defer v.Release()
				f, err := v.NewFetcher(tbl, cols)
				must(b, err)
				var sets [][]uint64
				for range 16 {
					row := uint64(r.IntN(1000))
					var ids []uint64
					for len(ids) < 900 && row < 65000 {
						row += 1 + uint64(r.IntN(2*c.gap-1))
						ids = append(ids, row)
					}
					sets = append(sets, ids)
				}
				var batch vector.Batch
				rows, i := 0, 0
				b.ReportAllocs()
				for b.Loop() {
					ids := sets[i%len(sets)]
					i++
					_, err := f.Fetch(tbl.Stores[0], ids, &batch)
					must(b, err)
					rows += len(ids)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rows), "ns/row")
				must(b, f.Close())
			})
		}
	}
}

func BenchmarkLookupKey(b *testing.B) {
	e, tbl := loadedEngine(b, 64)
	v := e.View()
	defer v.Release()
	i := int64(0)
	b.ReportAllocs()
	for b.Loop() {
		i = (i*7919 + 13) % 65536
		_, ok, err := v.LookupKey(tbl, tbl.PrimaryKey(), []vector.Datum{vector.IntDatum(vector.I64, i/4+1), vector.IntDatum(vector.I32, i%4+1)})
		if err != nil || !ok {
			b.Fatal(ok, err)
		}
	}
}

func BenchmarkView(b *testing.B) {
	e := memEngine(b)
	b.Run("shared", func(b *testing.B) {
		for b.Loop() {
			e.View().Release()
		}
	})
	b.Run("fresh", func(b *testing.B) {
		for b.Loop() {
			e.takeSnapshot().db.Close()
		}
	})
}

// BenchmarkCommit measures transactions of one inserted or updated row.
func BenchmarkCommit(b *testing.B) {
	for _, where := range []string{"memory", "disk"} {
		open := func(b *testing.B) (*Engine, *catalog.Table) {
			o := Options{}
			if where == "disk" {
				o.Dir = b.TempDir()
			}
			e := openTest(b, o)
			b.Cleanup(func() { must(b, e.Close()) })
			return e, createTable(b, e, kvTable(e, "t"))
		}
		b.Run(where+"/insert", func(b *testing.B) {
			e, tbl := open(b)
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				i++
				insertKV(b, e, tbl, i, "some text")
			}
		})
		b.Run(where+"/update", func(b *testing.B) {
			e, tbl := open(b)
			var pairs []any
			for i := range 1000 {
				pairs = append(pairs, i, "some text")
			}
			insertKV(b, e, tbl, pairs...)
			row := kv(0, "other text")
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				i = (i + 77) % 1000
				vector.Of[int64](row.Vecs[0])[0] = int64(i)
				x := e.Begin(TxnOptions{})
				x.BeginStatement()
				v := x.View()
				ref := lookup(b, v, tbl, int64(i))
				v.Release()
				_, err := x.Update(bg, tbl, []RowRef{ref}, row)
				must(b, err)
				x.EndStatement()
				must(b, x.Commit(bg))
			}
		})
		b.Run(where+"/insert-16writers", func(b *testing.B) {
			e, tbl := open(b)
			var n atomic.Int64
			b.SetParallelism(8)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					insertKV(b, e, tbl, int(n.Add(1)), "some text")
				}
			})
		})
	}
}

func BenchmarkInsertBatch(b *testing.B) {
	e := memEngine(b)
	tbl := createTable(b, e, lineitemTable(e))
	r := rand.New(rand.NewPCG(1, 2))
	rows := 0
	for b.Loop() {
		batch := lineitemBatch(r, rows, 1024)
		x := e.Begin(TxnOptions{})
		_, err := x.Insert(bg, tbl, batch)
		must(b, err)
		must(b, x.Commit(bg))
		rows += 1024
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rows), "ns/row")
}

// Steady-state scans and fetches must not allocate.
func TestReadersDoNotAllocate(t *testing.T) {
	if *spillFlag > 0 {
		t.Skip("rows on disk are read into fresh memory")
	}
	if raceEnabled {
		t.Skip("the race detector makes pools forget")
	}
	e := memEngine(t)
	tbl := createTable(t, e, kvTable(e, "t"))
	x := e.Begin(TxnOptions{})
	l, err := x.NewLoader(bg, tbl)
	must(t, err)
	must(t, loadRows(newRand(t), l, sequence(3000), shortText))
	_, err = l.Finish()
	must(t, err)
	must(t, x.Commit(bg))
	tbl = e.Catalog().Table(tbl.ID)
	x = e.Begin(TxnOptions{})
	_, err = x.Delete(bg, tbl, []RowRef{refOf(t, x, tbl, 70), refOf(t, x, tbl, 1000)})
	must(t, err)
	_, err = x.Update(bg, tbl, []RowRef{refOf(t, x, tbl, 71)}, kv(71, "changed"))
	must(t, err)
	must(t, x.Commit(bg))
	x = e.Begin(TxnOptions{})
	defer x.Rollback()
	_, err = x.Insert(bg, tbl, kv(9000, "own"))
	must(t, err)
	v := x.View()
	defer v.Release()
	c, err := v.ScanGroup(tbl, tbl.Stores[0], 0, []int{0, 1}, ScanOptions{Refs: true})
	must(t, err)
	var b vector.Batch
	scan := func() {
		must(t, c.Reset(tbl.Stores[0], 0, nil))
		for {
			more, err := c.Next(&b)
			must(t, err)
			if !more {
				return
			}
		}
	}
	scan()
	if n := testing.AllocsPerRun(20, scan); n > 0 {
		t.Errorf("a scan allocates %v times", n)
	}
	must(t, c.Close())
	f, err := v.NewFetcher(tbl, []int{1})
	must(t, err)
	ids := slices.Collect(func(yield func(uint64) bool) {
		for i := uint64(80); i < 3000 && yield(i); i += 7 {
		}
	})
	ids = ids[:min(len(ids), vector.BatchCap)]
	fetch := func() {
		_, err := f.Fetch(tbl.Stores[0], ids, &b)
		must(t, err)
	}
	fetch()
	if n := testing.AllocsPerRun(20, fetch); n > 1 { // the bitmap of missing rows
		t.Errorf("a fetch allocates %v times", n)
	}
	must(t, f.Close())
}
