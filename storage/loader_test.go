package storage

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// loadRows loads rows in batches of random sizes from several goroutines.
func loadRows(r *rand.Rand, l *Loader, ids []int, text func(id int) string) error {
	var batches []*vector.Batch
	for len(ids) > 0 {
		n := min(1+r.IntN(min(150, vector.BatchCap)), len(ids))
		var pairs []any
		for _, id := range ids[:n] {
			pairs = append(pairs, id, text(id))
		}
		batches, ids = append(batches, kv(pairs...)), ids[n:]
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, 3)
	for w := range errs {
		wg.Go(func() {
			for {
				n := next.Add(1) - 1
				if n >= int64(len(batches)) {
					return
				}
				if err := l.Append(uint64(n), batches[n]); err != nil {
					errs[w] = err
					return
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func shortText(id int) string {
	if id%7 == 0 {
		return ""
	}
	return fmt.Sprint("t", id)
}

func wantContents(ids []int, text func(int) string) string {
	s := make([]string, len(ids))
	for i, id := range ids {
		s[i] = fmt.Sprintf("%d=%s", id, text(id))
		if text(id) == "" {
			s[i] = fmt.Sprintf("%d=null", id)
		}
	}
	return strings.Join(s, " ")
}

// scaled returns a test's size, less under the race detector.
func scaled(n int) int {
	if raceEnabled {
		return n / 5
	}
	return n
}

func sequence(n int) []int {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = i + 1
	}
	return ids
}

func TestLoader(t *testing.T) {
	r := newRand(t)
	for _, nodes := range []int{1, 3} {
		for _, order := range []string{"sorted", "shuffled"} {
			for _, text := range []func(int) string{shortText, func(int) string { return strings.Repeat("w", 700) }} {
				fs := vfs.NewMem()
				e := openTest(t, Options{Dir: "db", FS: fs, Nodes: nodes})
				tbl := kvTable(e, "t")
				tbl.Indexes = append(tbl.Indexes,
					catalog.Index{ID: e.NewIndexID(), Name: "t_v", Columns: []catalog.ColumnID{2}},
					catalog.Index{ID: e.NewIndexID(), Name: "t_u", Columns: []catalog.ColumnID{2, 1}, Unique: true})
				tbl = createTable(t, e, tbl)
				rows := scaled(2000)
				ids := sequence(rows)
				want := wantContents(ids, text)
				if order == "shuffled" {
					r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
				}
				x := e.Begin(TxnOptions{})
				l, err := x.NewLoader(bg, tbl)
				must(t, err)
				equal(t, l.fresh, true)
				must(t, loadRows(r, l, ids, text))
				n, err := l.Finish()
				must(t, err)
				equal(t, int(n), rows)
				equal(t, committed(t, e, tbl), "")
				tbl = x.Catalog().Table(tbl.ID)
				equal(t, seen(t, x, tbl), want)
				must(t, x.Commit(bg))
				equal(t, int(e.RowCount(tbl)), rows)
				mustCheck(t, e)
				must(t, e.Close())

				e = openTest(t, Options{Dir: "db", FS: fs})
				tbl = e.Catalog().Table(tbl.ID)
				equal(t, committed(t, e, tbl), want)
				mustCheck(t, e)
				insertKV(t, e, tbl, 5001, "more")
				v := e.View()
				for _, id := range []int64{1, 64, 65, int64(rows) - 1, int64(rows), 5001} {
					if lookup(t, v, tbl, id) == 0 {
						t.Errorf("no key %d", id)
					}
				}
				v.Release()
				mustCheck(t, e)
				must(t, e.Close())
			}
		}
	}
}

func TestLoaderOrder(t *testing.T) {
	r := newRand(t)
	e := memEngine(t)
	tbl := createTable(t, e, kvTable(e, "t"))
	ids := sequence(1000)
	r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	x := e.Begin(TxnOptions{})
	l, err := x.NewLoader(bg, tbl)
	must(t, err)
	must(t, loadRows(r, l, ids, shortText))
	_, err = l.Finish()
	must(t, err)
	must(t, x.Commit(bg))
	tbl = e.Catalog().Table(tbl.ID)
	v := e.View()
	defer v.Release()
	for i, id := range ids { // rows lie in the order of the batches, without holes
		equal(t, lookup(t, v, tbl, int64(id)), MakeRowRef(tbl.Stores[0], uint64(i)))
	}
}

func TestLoaderErrors(t *testing.T) {
	r := newRand(t)
	fs := vfs.NewMem()
	e := openTest(t, Options{Dir: "db", FS: fs})
	defer func() { must(t, e.Close()) }()
	tbl := createTable(t, e, kvTable(e, "t"))
	for _, c := range []struct {
		what string
		ids  []int
	}{
		{"neighbours", append(sequence(500), 500)},
		{"in order and out of order", append(sequence(500), 250)},
		{"both out of order", append(append(sequence(500), 100000, 99999), 100000)},
	} {
		x := e.Begin(TxnOptions{})
		l, err := x.NewLoader(bg, tbl)
		must(t, err)
		if err = loadRows(r, l, c.ids, shortText); err == nil {
			_, err = l.Finish()
		}
		wantCode(t, err, sqlerr.UniqueViolation)
		dup := c.ids[len(c.ids)-1]
		equal(t, err.(*sqlerr.Error).Detail, fmt.Sprintf("Key (id)=(%d) already exists.", dup))
		l.Abort()
		x.Rollback()
	}

	x := e.Begin(TxnOptions{})
	l, err := x.NewLoader(bg, tbl)
	must(t, err)
	err = l.Append(0, &vector.Batch{N: 2, Vecs: []*vector.Vector{
		vector.ConstOf(vector.NullDatum(vector.I64)), vector.ConstOf(vector.StringDatum("z"))}})
	wantCode(t, err, sqlerr.NotNullViolation)
	equal(t, err.(*sqlerr.Error).ColumnName, "id")
	l.Abort()
	x.Rollback()

	// Rolled back after Finish: nothing stays.
	x = e.Begin(TxnOptions{})
	l, err = x.NewLoader(bg, tbl)
	must(t, err)
	must(t, loadRows(r, l, sequence(300), shortText))
	_, err = l.Finish()
	must(t, err)
	x.Rollback()
	equal(t, committed(t, e, tbl), "")
	equal(t, countKeys(t, e, kindRow)+countKeys(t, e, kindIndex)+countKeys(t, e, kindLoad), 0)

	// Rolled back to a savepoint before, then committed.
	x = e.Begin(TxnOptions{})
	sp := x.Savepoint()
	l, err = x.NewLoader(bg, tbl)
	must(t, err)
	must(t, loadRows(r, l, sequence(300), shortText))
	_, err = l.Finish()
	must(t, err)
	x.RollbackTo(sp)
	_, err = x.Insert(bg, tbl, kv(1, "kept"))
	must(t, err)
	must(t, x.Commit(bg))
	equal(t, committed(t, e, tbl), "1=kept")
	equal(t, countKeys(t, e, kindRow), 1)
	equal(t, countKeys(t, e, kindLoad), 0)

	// A table with rows takes inserts.
	x = e.Begin(TxnOptions{})
	l, err = x.NewLoader(bg, tbl)
	must(t, err)
	equal(t, l.fresh, false)
	err = loadRows(r, l, sequence(300), shortText)
	wantCode(t, err, sqlerr.UniqueViolation)
	l.Abort()
	x.Rollback()
	x = e.Begin(TxnOptions{})
	l, err = x.NewLoader(bg, tbl)
	must(t, err)
	must(t, loadRows(r, l, sequence(300)[1:], shortText))
	n, err := l.Finish()
	must(t, err)
	equal(t, n, 299)
	must(t, x.Commit(bg))
	equal(t, e.RowCount(tbl), 300)
	mustCheck(t, e)

	names, err := fs.List(e.TempDir())
	must(t, err)
	if len(names) > 0 {
		t.Errorf("files left behind: %v", names)
	}
}

// A canceled load lets go of those who wait for a batch that will not come.
func TestLoaderCancel(t *testing.T) {
	e := memEngine(t)
	tbl := createTable(t, e, kvTable(e, "t"))
	ctx, cancel := context.WithCancel(bg)
	x := e.Begin(TxnOptions{})
	defer x.Rollback()
	l, err := x.NewLoader(ctx, tbl)
	must(t, err)
	got := make(chan error)
	go func() { got <- l.Append(1, kv(1, "a")) }()
	time.Sleep(time.Millisecond)
	cancel()
	err = <-got
	wantCode(t, err, sqlerr.QueryCanceled)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cause lost: %v", err)
	}
	_, err = l.Finish()
	wantCode(t, err, sqlerr.QueryCanceled)
	l.Abort()
}

// countKeys counts the stored keys of a kind.
func countKeys(t testing.TB, e *Engine, kind byte) int {
	t.Helper()
	n := 0
	must(t, scanKind(e.db, kind, func(_, _ []byte) error { n++; return nil }))
	return n
}

// A crash between ingestion and commit leaves nothing.
func TestLoaderCrash(t *testing.T) {
	r := newRand(t)
	fs := vfs.NewCrashableMem()
	e := openTest(t, Options{Dir: "db", FS: fs})
	tbl := createTable(t, e, kvTable(e, "t"))
	x := e.Begin(TxnOptions{})
	l, err := x.NewLoader(bg, tbl)
	must(t, err)
	must(t, loadRows(r, l, sequence(3000), shortText))
	_, err = l.Finish()
	must(t, err)
	crashed := fs.CrashClone(vfs.CrashCloneCfg{})
	must(t, x.Commit(bg))
	after := fs.CrashClone(vfs.CrashCloneCfg{})
	must(t, e.Close())

	e = openTest(t, Options{Dir: "db", FS: crashed})
	equal(t, committed(t, e, e.Catalog().Table(tbl.ID)), "")
	equal(t, countKeys(t, e, kindRow)+countKeys(t, e, kindIndex)+countKeys(t, e, kindLoad), 0)
	must(t, e.Close())
	e = openTest(t, Options{Dir: "db", FS: after})
	equal(t, e.RowCount(e.Catalog().Table(tbl.ID)), 3000)
	mustCheck(t, e)
	must(t, e.Close())
}

// Many keys out of order make runs, some of them spilled.
func TestIndexLoadSpill(t *testing.T) {
	r := newRand(t)
	e := openTest(t, Options{Dir: "db", FS: vfs.NewMem()})
	defer func() { must(t, e.Close()) }()
	tbl := createTable(t, e, kvTable(e, "t"))
	codec, err := e.codec(tbl)
	must(t, err)
	ix := &codec.indexes[0]
	l := &indexLoad{e: e, ix: ix, name: e.TempDir() + "/x", files: &sstFiles{e: e, name: e.TempDir() + "/x"}}
	const n = 30000
	for i, p := range r.Perm(n) {
		key, _ := ix.appendDatums(appendIndexPrefix(nil, ix.index.ID), []vector.Datum{vector.IntDatum(vector.I64, int64(p))})
		_, err := l.add(rowEntry{key: key, present: true}, RowRef(p))
		must(t, err)
		if i%2000 == 1999 && l.chunk != nil {
			full := l.chunk
			l.chunk = &sortChunk{}
			l.full.Add(1)
			l.sortChunk(full)
		}
	}
	spilled := 0
	for _, run := range l.runs {
		if run.path != "" {
			spilled++
		}
	}
	if spilled == 0 {
		t.Error("nothing was spilled")
	}
	_, err = l.finish(bg)
	must(t, err)
	it, err := l.files.iterator()
	must(t, err)
	i := 0
	for it.First(); it.Valid(); it.Next() {
		equal(t, readRef(it.Value()), RowRef(i))
		i++
	}
	must(t, it.Close())
	equal(t, i, n)
	l.remove()
}

func lineitemTable(e *Engine) *catalog.Table {
	tbl := benchTable()
	tbl.ID, tbl.Schema, tbl.Name = e.NewTableID(), "public", "lineitem"
	tbl.Columns[0].NotNull, tbl.Columns[3].NotNull = true, true
	tbl.Indexes = []catalog.Index{{ID: e.NewIndexID(), Name: "lineitem_pkey", Columns: []catalog.ColumnID{1, 4}, Unique: true, Primary: true}}
	tbl.DistributeBy = []catalog.ColumnID{1}
	tbl.Stores = []catalog.StoreID{e.NewStoreID()}
	return tbl
}

// loadLineitem loads rows·1024 rows with two goroutines and returns the time from the first append
// to the durable commit.
func loadLineitem(t testing.TB, e *Engine, tbl *catalog.Table, batches int) time.Duration {
	r := rand.New(rand.NewPCG(1, 2))
	data := make([]*vector.Batch, batches)
	for i := range data {
		data[i] = lineitemBatch(r, i*1024, 1024)
	}
	start := time.Now()
	x := e.Begin(TxnOptions{})
	l, err := x.NewLoader(bg, tbl)
	must(t, err)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for n := next.Add(1) - 1; n < int64(batches); n = next.Add(1) - 1 {
				if err := l.Append(uint64(n), data[n]); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	_, err = l.Finish()
	must(t, err)
	must(t, x.Commit(bg))
	return time.Since(start)
}

func BenchmarkLoader(b *testing.B) {
	const batches = 600
	total := time.Duration(0)
	for range b.N {
		e := openTest(b, Options{Dir: b.TempDir()})
		total += loadLineitem(b, e, createTable(b, e, lineitemTable(e)), batches)
		must(b, e.Close())
	}
	b.ReportMetric(float64(batches*1024*b.N)/total.Seconds(), "rows/s")
}
