package storage

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// numbered makes rows (id, text) for from <= id < to.
func numbered(from, to int, text string) *vector.Batch {
	var pairs []any
	for id := from; id < to; id++ {
		pairs = append(pairs, id, text)
	}
	return kv(pairs...)
}

// insertMany inserts rows from <= id < to in batches.
func insertMany(t testing.TB, x *Txn, tbl *catalog.Table, from, to int, text string) {
	t.Helper()
	for ; from < to; from += vector.BatchCap {
		_, err := x.Insert(bg, tbl, numbered(from, min(from+vector.BatchCap, to), text))
		must(t, err)
	}
}

// tempFiles lists what is below the directory for temporary files.
func tempFiles(t testing.TB, e *Engine) (names []string) {
	t.Helper()
	names, err := e.fs.List(e.dirs.temp)
	must(t, err)
	return names
}

func TestVersionNumbers(t *testing.T) {
	r := newRand(t)
	for range 200 {
		var v versionNumbers
		dead := map[int]bool{}
		for range 30 {
			v.next += r.IntN(10)
			if r.IntN(3) == 0 && v.next > 0 {
				from := r.IntN(v.next + 5)
				v.kill(from)
				for n := from; n < v.next; n++ {
					dead[n] = true
				}
			}
			for n := range v.next + 3 {
				if v.isDead(n) != dead[n] {
					t.Fatalf("number %d of %+v: dead %v", n, v, !dead[n])
				}
			}
			for i := 1; i < len(v.dead); i++ {
				if v.dead[i-1].to >= v.dead[i].from {
					t.Fatalf("ranges touch: %v", v.dead)
				}
			}
		}
	}
}

// TestSpilledRanges reads an index most of whose entries were spilled, in parts, while others are in
// memory, in both directions.
func TestSpilledRanges(t *testing.T) {
	e := openTest(t, Options{SpillBytes: 200 << 10})
	defer e.Close()
	tbl := createTable(t, e, kvTable(e, "t"))
	insertKV(t, e, tbl, 1, "committed", 4001, "committed")
	x := e.Begin(TxnOptions{})
	insertMany(t, x, tbl, 2, 4001, "own")
	insertMany(t, x, tbl, 4002, 6000, "own")
	_, err := x.Delete(bg, tbl, []RowRef{refOf(t, x, tbl, 1), refOf(t, x, tbl, 2500), refOf(t, x, tbl, 5999)})
	must(t, err)
	insertMany(t, x, tbl, 7000, 7010, "last")
	if x.overlay.spill == nil || x.overlay.keys.len() == 0 {
		t.Fatal("the test wants entries on disk and in memory")
	}
	v := x.View()
	var want []int
	for id := 2; id < 7010; id++ {
		if id != 2500 && (id < 5999 || id >= 7000) {
			want = append(want, id)
		}
	}
	index := &tbl.Indexes[0]
	for _, reverse := range []bool{false, true} {
		var got []int
		for _, ref := range indexRefs(t, v, tbl, index, IndexRange{Reverse: reverse}) {
			var b vector.Batch
			missing, err := v.Fetch(tbl, ref.Store(), []uint64{ref.Row()}, []int{0}, &b)
			must(t, err)
			if missing != nil {
				t.Fatalf("no row %x", ref)
			}
			got = append(got, int(vector.Of[int64](b.Vecs[0])[0]))
		}
		if reverse {
			slices.Reverse(got)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("reverse %v: %d entries, want %d", reverse, len(got), len(want))
		}
	}
	// A cursor that is open goes on while what it has not read yet moves to disk.
	c, err := v.ScanIndex(tbl, index, IndexRange{})
	must(t, err)
	var buf [100]RowRef
	n, err := c.Next(buf[:])
	must(t, err)
	insertMany(t, x, tbl, 8000, 12000, "later")
	total := n
	for n > 0 {
		n, err = c.Next(buf[:])
		must(t, err)
		total += n
	}
	must(t, c.Close())
	equal(t, total, len(want))
	v.Release()
	_, err = x.Insert(bg, tbl, kv(2600, "taken"))
	wantCode(t, err, sqlerr.UniqueViolation)
	x.Rollback()
	mustCheck(t, e)
}

// TestSpillLeavesNothing ends transactions in every way and looks for files and goroutines.
func TestSpillLeavesNothing(t *testing.T) {
	e := openTest(t, Options{Dir: "db", FS: vfs.NewMem(), SpillBytes: 1})
	tbl := createTable(t, e, kvTable(e, "t"))
	insertKV(t, e, tbl, 1, "a")
	before := runtime.NumGoroutine()
	x := e.Begin(TxnOptions{})
	insertMany(t, x, tbl, 10, 20, "b")
	equal(t, len(tempFiles(t, e)), 1)
	v := x.View()
	must(t, x.Commit(bg))
	// The view still reads what its transaction wrote.
	equal(t, len(mustRefs(t, e.Begin(TxnOptions{}), tbl)), 11)
	equal(t, len(indexRefs(t, v, tbl, &tbl.Indexes[0], IndexRange{})), 11)
	equal(t, strings.Count(contents(t, v, tbl), "b"), 10)
	v.Release()
	x = e.Begin(TxnOptions{})
	insertMany(t, x, tbl, 20, 30, "c")
	x.Rollback()
	x = e.Begin(TxnOptions{})
	insertMany(t, x, tbl, 20, 30, "c")
	_, err := x.Insert(bg, tbl, kv(25, "twice"))
	wantCode(t, err, sqlerr.UniqueViolation)
	x.Rollback()
	if names := tempFiles(t, e); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, %d before", n, before)
	}
	if e.Metrics().SpilledBytes == 0 {
		t.Error("no spilled bytes were counted")
	}
	mustCheck(t, e)
	must(t, e.Close())
}

// TestSpillCommitsWithCatalog commits spilled rows together with dropped, emptied and bulk-loaded
// tables and with statistics.
func TestSpillCommitsWithCatalog(t *testing.T) {
	fs := vfs.NewMem()
	e := openTest(t, Options{Dir: "db", FS: fs, SpillBytes: 1, Nodes: 2})
	var tables []*catalog.Table
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		tables = append(tables, createTable(t, e, kvTable(e, name)))
	}
	for _, tbl := range tables {
		insertKV(t, e, tbl, 1, "old", 2, "old")
	}
	x := e.Begin(TxnOptions{})
	for _, tbl := range tables {
		insertMany(t, x, tbl, 10, 20, "new")
	}
	must(t, x.SetStats(tables[0].ID, &catalog.Stats{Rows: 1}))
	must(t, x.SetStats(tables[0].ID, &catalog.Stats{Rows: 12}))
	must(t, x.SetCatalog(bg, x.Catalog().WithoutTable(tables[1].ID))) // dropped
	empty := tables[3].Clone()                                        // emptied, and written again
	for i := range empty.Stores {
		empty.Stores[i] = e.NewStoreID()
	}
	empty.Indexes[0].ID = e.NewIndexID()
	empty.Epoch++
	must(t, x.SetCatalog(bg, x.Catalog().WithTable(empty)))
	insertMany(t, x, empty, 30, 35, "again")
	fresh := kvTable(e, "f")
	must(t, x.SetCatalog(bg, x.Catalog().WithTable(fresh)))
	l, err := x.NewLoader(bg, fresh)
	must(t, err)
	must(t, l.Append(0, numbered(0, 100, "loaded")))
	_, err = l.Finish()
	must(t, err)
	insertMany(t, x, x.Catalog().Table(fresh.ID), 100, 110, "on top")
	must(t, x.Commit(bg))
	for range 2 {
		mustCheck(t, e)
		got := map[string]int64{}
		for _, tbl := range e.Catalog().Relations() {
			got[tbl.Name] = e.RowCount(tbl)
			equal(t, int(got[tbl.Name]), len(mustRefs(t, e.Begin(TxnOptions{}), tbl)))
		}
		if want := map[string]int64{"a": 12, "c": 12, "d": 5, "e": 12, "f": 110}; !maps.Equal(got, want) {
			t.Fatalf("rows %v, want %v", got, want)
		}
		equal(t, int(e.Stats(tables[0].ID).Rows), 12)
		must(t, e.Close())
		e = openTest(t, Options{Dir: "db", FS: fs})
	}
	must(t, e.Close())
}

// opFS calls a function before every operation that changes files.
type opFS struct {
	vfs.FS
	before func()
}

type opFile struct {
	vfs.File
	before func()
}

func (f opFile) Write(p []byte) (int, error) { f.before(); return f.File.Write(p) }
func (f opFile) Sync() error                 { f.before(); return f.File.Sync() }
func (f opFile) SyncData() error             { f.before(); return f.File.SyncData() }
func (f opFS) Link(a, b string) error        { f.before(); return f.FS.Link(a, b) }
func (f opFS) Rename(a, b string) error      { f.before(); return f.FS.Rename(a, b) }
func (f opFS) Remove(a string) error         { f.before(); return f.FS.Remove(a) }

func (f opFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f.before()
	file, err := f.FS.Create(name, c)
	return opFile{file, f.before}, err
}

func (f opFS) ReuseForWrite(a, b string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f.before()
	file, err := f.FS.ReuseForWrite(a, b, c)
	return opFile{file, f.before}, err
}

// TestSpillCrash crashes before every change of a file that a spilled commit makes. All of the
// transaction is found afterwards, or nothing.
func TestSpillCrash(t *testing.T) {
	for _, synced := range []int{0, 50, 100} {
		disk := newCrashFS()
		var watch atomic.Bool
		var mu sync.Mutex
		var crashed []*vfs.MemFS
		r := newRand(t)
		fs := opFS{disk, func() {
			mu.Lock()
			defer mu.Unlock()
			if watch.Load() {
				crashed = append(crashed, disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: synced, RNG: r}))
			}
		}}
		e := openTest(t, Options{Dir: "db", FS: fs, SpillBytes: 20 << 10, NoMaintenance: true, Nodes: 2})
		tbl := createTable(t, e, kvTable(e, "t"))
		x := e.Begin(TxnOptions{})
		insertMany(t, x, tbl, 0, 1000, "old")
		must(t, x.Commit(bg))
		before := committed(t, e, tbl)
		x = e.Begin(TxnOptions{})
		refs := mustRefs(t, x, tbl)
		_, err := x.Delete(bg, tbl, refs[:200])
		must(t, err)
		_, err = x.Update(bg, tbl, refs[200:400], numbered(5000, 5200, "moved"))
		must(t, err)
		insertMany(t, x, tbl, 6000, 7000, "new")
		watch.Store(true)
		must(t, x.Commit(bg))
		mu.Lock()
		watch.Store(false)
		mu.Unlock()
		after := committed(t, e, tbl)
		if len(crashed) < 10 {
			t.Fatalf("only %d operations", len(crashed))
		}
		old := 0
		for i, fs := range crashed {
			again := openTest(t, Options{Dir: "db", FS: fs, NoMaintenance: true})
			switch committed(t, again, again.Catalog().Table(tbl.ID)) {
			case before:
				old++
			case after:
			default:
				t.Errorf("after a crash at operation %d of %d part of the transaction is there", i, len(crashed))
			}
			mustCheck(t, again)
			equal(t, len(tempFiles(t, again)), 0)
			insertKV(t, again, again.Catalog().Table(tbl.ID), 9000, "next")
			must(t, again.Close())
		}
		if old == 0 {
			t.Error("no crash came before the commit")
		}
		must(t, e.Close())
		again := openTest(t, Options{Dir: "db", FS: disk.CrashClone(vfs.CrashCloneCfg{})})
		equal(t, committed(t, again, tbl), after)
		must(t, again.Close())
	}
}

// spaceFS has no room for files of some name while it is full.
type spaceFS struct {
	vfs.FS
	name string
	full *atomic.Bool
}

type spaceFile struct {
	vfs.File
	full *atomic.Bool
}

func (f spaceFile) Write(p []byte) (int, error) {
	if f.full.Load() {
		return 0, syscall.ENOSPC
	}
	return f.File.Write(p)
}

func (f spaceFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.Create(name, c)
	if err == nil && strings.Contains(name, f.name) {
		file = spaceFile{file, f.full}
	}
	return file, err
}

// TestSpillOnFullDisk fills the disk while a statement spills and while a commit writes its files.
func TestSpillOnFullDisk(t *testing.T) {
	for _, name := range []string{"spill-", "commit-"} {
		var full atomic.Bool
		e := openTest(t, Options{Dir: "db", FS: spaceFS{vfs.NewMem(), name, &full}, SpillBytes: 10 << 10})
		tbl := createTable(t, e, kvTable(e, "t"))
		x := e.Begin(TxnOptions{})
		insertMany(t, x, tbl, 0, 2000, "first")
		full.Store(true)
		if name == "commit-" {
			wantCode(t, x.Commit(bg), sqlerr.DiskFull)
			equal(t, len(mustRefs(t, e.Begin(TxnOptions{}), tbl)), 0)
		} else {
			_, err := x.Insert(bg, tbl, numbered(3000, 3500, "fails"))
			wantCode(t, err, sqlerr.DiskFull)
			equal(t, len(mustRefs(t, x, tbl)), 2000)
			full.Store(false)
			insertMany(t, x, tbl, 3000, 3500, "again")
			must(t, x.Commit(bg))
			equal(t, len(mustRefs(t, e.Begin(TxnOptions{}), tbl)), 2500)
		}
		full.Store(false)
		insertKV(t, e, tbl, 9000, "works")
		equal(t, len(tempFiles(t, e)), 0)
		mustCheck(t, e)
		must(t, e.Close())
	}
}

// TestSpillCanceled cancels spilling and the preparation of a commit.
func TestSpillCanceled(t *testing.T) {
	e := openTest(t, Options{SpillBytes: 1 << 20})
	defer e.Close()
	tbl := createTable(t, e, kvTable(e, "t"))
	x := e.Begin(TxnOptions{})
	insertMany(t, x, tbl, 0, 3*cancelCheck, "a")
	canceled, cancel := context.WithCancel(bg)
	cancel()
	o := x.overlay
	o.mu.Lock()
	err := o.moveToDisk(canceled, e)
	o.mu.Unlock()
	wantCode(t, err, sqlerr.QueryCanceled)
	equal(t, len(mustRefs(t, x, tbl)), 3*cancelCheck)
	must(t, x.charge(bg))
	o.mu.Lock()
	must(t, o.moveToDisk(bg, e))
	o.mu.Unlock()
	p := x.newCommit()
	wantCode(t, p.prepare(canceled), sqlerr.QueryCanceled)
	p.files.remove()
	e.freeBatch(p.batch)
	must(t, x.Commit(bg))
	equal(t, int(e.RowCount(tbl)), 3*cancelCheck)
	mustCheck(t, e)
}

// tightMemory is a budget with room for a number of bytes.
type tightMemory struct{ left atomic.Int64 }

func (m *tightMemory) Reserve(n int64) error {
	if m.left.Add(-n) < 0 {
		m.left.Add(n)
		return errors.New("no memory")
	}
	return nil
}

func (m *tightMemory) Release(n int64) { m.left.Add(n) }

// TestSpillForBudget lets the budget refuse more memory before the limit of the overlay is reached.
func TestSpillForBudget(t *testing.T) {
	e := openTest(t, Options{})
	defer e.Close()
	tbl := createTable(t, e, kvTable(e, "t"))
	m := &tightMemory{}
	m.left.Store(14 << 20)
	x := e.Begin(TxnOptions{Memory: m})
	insertMany(t, x, tbl, 0, 40_000, strings.Repeat("x", 300))
	if e.Metrics().SpilledBytes == 0 {
		t.Error("nothing was spilled")
	}
	must(t, x.Commit(bg))
	equal(t, m.left.Load(), 14<<20)
	equal(t, int(e.RowCount(tbl)), 40_000)
	mustCheck(t, e)
}
