package storage

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weftdb/weft/internal/sqlerr"
)

// apartFS is a file system without links on which nothing can be moved into a backup's target, as if
// that were on another disk, which can be told to be full or slow.
type apartFS struct {
	vfs.FS
	target string
	full   atomic.Int64 // bytes left; <0 = no limit
	slow   func()       // called before each write to the target
}

// Link fails as on file systems without links.
func (f *apartFS) Link(from, to string) error {
	return &os.LinkError{Op: "link", Old: from, New: to, Err: syscall.EPERM}
}

func (f *apartFS) inside(name string) bool { return strings.HasPrefix(name, f.target) }

func (f *apartFS) Rename(from, to string) error {
	if f.inside(to) && !f.inside(from) {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: syscall.EXDEV}
	}
	return f.FS.Rename(from, to)
}

func (f *apartFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.Create(name, c)
	if err == nil && f.inside(name) {
		file = &apartFile{file, f}
	}
	return file, err
}

type apartFile struct {
	vfs.File
	fs *apartFS
}

func (f *apartFile) Write(p []byte) (int, error) {
	if f.fs.slow != nil {
		f.fs.slow()
	}
	if f.fs.full.Load() >= 0 && f.fs.full.Add(-int64(len(p))) < 0 {
		f.fs.full.Store(0)
		return 0, syscall.ENOSPC
	}
	return f.File.Write(p)
}

// backedUp opens a copy, checks it and compares its writers' rows with what was acknowledged.
func backedUp(t *testing.T, o Options, acked []int) {
	t.Helper()
	e := openTest(t, o)
	checkCrashed(t, e, acked)
	must(t, e.Close())
}

// TestBackupUnderWriters takes backups while writers commit, tables are loaded and pages folded:
// each copy is consistent and holds every commit acknowledged before it began, also when the source
// ends by a crash right after.
func TestBackupUnderWriters(t *testing.T) {
	for _, apart := range []bool{false, true} {
		t.Run(fmt.Sprint("apart=", apart), func(t *testing.T) {
			r := newRand(t)
			mem := newCrashFS()
			var fs vfs.FS = mem
			if apart {
				other := &apartFS{FS: mem, target: "copy"}
				other.full.Store(-1)
				fs = other
			}
			e := openTest(t, Options{Dir: "db", FS: fs, MemTableBytes: 256 << 10})
			tbl := createTable(t, e, kvTable(e, "t"))
			loaded := createTable(t, e, kvTable(e, "loaded"))
			acked := make([]atomic.Int64, crashWriters)
			var stop atomic.Bool
			var wg sync.WaitGroup
			for w := range crashWriters {
				seed := r.Uint64()
				wg.Go(func() {
					r := rand.New(rand.NewPCG(seed, 1))
					for n := 1; !stop.Load(); n++ {
						if err := crashStep(e, tbl, r, w, n); err != nil {
							t.Error(err)
							return
						}
						acked[w].Store(int64(n))
					}
				})
			}
			wg.Go(func() {
				for n := 0; !stop.Load(); n++ {
					x := e.Begin(TxnOptions{})
					now := e.Catalog().Table(loaded.ID).Clone()
					now.Stores[0], now.Indexes[0].ID = e.NewStoreID(), e.NewIndexID()
					now.Epoch++
					must(t, x.SetCatalog(bg, x.Catalog().WithTable(now)))
					must(t, x.Commit(bg))
					x = e.Begin(TxnOptions{})
					l, err := x.NewLoader(bg, e.Catalog().Table(loaded.ID))
					must(t, err)
					must(t, loadRows(r, l, sequence(2000), shortText))
					_, err = l.Finish()
					must(t, err)
					must(t, x.Commit(bg))
					_, err = e.FoldGroup(bg, tbl, tbl.Stores[0], 0, e.CommitNumber())
					must(t, err)
				}
			})
			time.Sleep(20 * time.Millisecond)
			for i := range 2 + scaled(4) {
				want := make([]int, crashWriters)
				for w := range want {
					want[w] = int(acked[w].Load())
				}
				dir := fmt.Sprint("copy", i)
				must(t, e.Backup(bg, dir))
				names, err := mem.List(dir)
				must(t, err)
				if len(names) != 3 {
					t.Errorf("the copy holds %v", names)
				}
				backedUp(t, Options{Dir: dir, FS: mem.CrashClone(vfs.CrashCloneCfg{})}, want)
				time.Sleep(5 * time.Millisecond)
			}
			stop.Store(true)
			wg.Wait()
			mustCheck(t, e)
			if left, _ := mem.List("db/tmp"); len(left) > 0 {
				t.Errorf("temporary files are left: %v", left)
			}
			must(t, e.Close())
		})
	}
}

// TestBackupFiles takes a backup on the operating system's file system: files are linked, FORMAT
// tells the copy from its source, and the source's locks are not copied.
func TestBackupFiles(t *testing.T) {
	dir := t.TempDir()
	source, target := filepath.Join(dir, "db"), filepath.Join(dir, "new", "copy")
	e := openTest(t, Options{Dir: source})
	tbl := createTable(t, e, kvTable(e, "t"))
	insertKV(t, e, tbl, 1, "a")
	must(t, e.Backup(bg, target))
	insertKV(t, e, tbl, 2, "b")
	wantCode(t, e.Backup(bg, target), sqlerr.DuplicateFile)
	wantCode(t, e.Backup(bg, filepath.Join(source, "rows", "copy")), sqlerr.InvalidParameterValue)
	wantCode(t, e.Backup(bg, source), sqlerr.InvalidParameterValue)
	must(t, os.Mkdir(filepath.Join(dir, "empty"), 0o755))
	must(t, e.Backup(bg, filepath.Join(dir, "empty")))
	must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o644))
	if err := e.Backup(bg, filepath.Join(dir, "file")); err == nil {
		t.Error("a file was taken for an empty directory")
	}
	if _, err := os.Stat(filepath.Join(dir, "file")); err != nil {
		t.Error(err)
	}
	names, err := filepath.Glob(filepath.Join(target, "*"))
	must(t, err)
	if got := strings.Join(names, " "); got != filepath.Join(target, "FORMAT")+" "+filepath.Join(target, "REDO")+" "+filepath.Join(target, "rows") {
		t.Errorf("the copy holds %s", got)
	}
	copied := openTest(t, Options{Dir: target})
	defer copied.Close()
	if copied.DatabaseID() != e.DatabaseID() || copied.Incarnation() != e.Incarnation()+1 {
		t.Error("ids of the copy")
	}
	v := copied.View()
	if got := contents(t, v, copied.Catalog().Table(tbl.ID)); got != "1=a" {
		t.Errorf("the copy holds %s", got)
	}
	v.Release()
	mustCheck(t, copied)
	must(t, e.Close())
}

// TestBackupFails meets a full disk and a cancelled context on the way: the target is as it was.
func TestBackupFails(t *testing.T) {
	mem := vfs.NewMem()
	fs := &apartFS{FS: mem, target: "copy"}
	fs.full.Store(1000)
	e := openTest(t, Options{Dir: "db", FS: fs})
	defer func() { wantCode(t, e.Close(), sqlerr.IOError) }() // it was told to fail
	tbl := createTable(t, e, kvTable(e, "t"))
	insertKV(t, e, tbl, 1, strings.Repeat("x", 100000))
	gone := func(what string) {
		t.Helper()
		if names, err := mem.List("copy"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s leaves %v, %v", what, names, err)
		}
		if names, _ := mem.List("db/tmp"); len(names) > 0 {
			t.Errorf("%s leaves %v", what, names)
		}
	}
	wantCode(t, e.Backup(bg, "copy"), sqlerr.DiskFull)
	gone("a full disk")
	fs.full.Store(-1)
	ctx, cancel := context.WithCancel(bg)
	fs.slow = cancel
	wantCode(t, e.Backup(ctx, "copy"), sqlerr.QueryCanceled)
	gone("a cancelled backup")
	wantCode(t, e.Backup(ctx, "copy"), sqlerr.QueryCanceled)
	gone("a backup cancelled before it began")
	fs.slow = nil
	must(t, mem.MkdirAll("copy", 0o755))
	fs.full.Store(10)
	wantCode(t, e.Backup(bg, "copy"), sqlerr.DiskFull)
	if names, err := mem.List("copy"); err != nil || len(names) > 0 {
		t.Errorf("a target that was there is now %v, %v", names, err)
	}
	fs.full.Store(-1)
	must(t, e.Backup(bg, "copy"))
	insertKV(t, e, tbl, 2, "the source goes on")
	_ = e.fail("test", errors.New("broken"))
	wantCode(t, e.Backup(bg, "copy2"), sqlerr.IOError)
}

// TestUnfinishedBackup stops in the middle of a backup: what is there is no database, and no new one
// is made of it.
func TestUnfinishedBackup(t *testing.T) {
	mem := newCrashFS()
	fs := &apartFS{FS: mem, target: "copy"}
	fs.full.Store(-1)
	e := openTest(t, Options{Dir: "db", FS: fs})
	defer func() { must(t, e.Close()) }()
	tbl := createTable(t, e, kvTable(e, "t"))
	insertKV(t, e, tbl, 1, "a")
	var crashes []*vfs.MemFS
	r := newRand(t)
	fs.slow = func() {
		for _, kept := range []int{0, 50, 100} {
			crashes = append(crashes, mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: kept, RNG: r}))
		}
	}
	must(t, e.Backup(bg, "copy"))
	refused := 0
	for _, crashed := range crashes {
		if _, err := crashed.Stat("copy/COPYING"); err != nil {
			continue // nothing of the target has become durable yet
		}
		_, err := Open(Options{Dir: "copy", FS: crashed})
		wantCode(t, err, sqlerr.ObjectNotInPrerequisiteState)
		refused++
	}
	if refused == 0 {
		t.Error("no crash left anything")
	}
}

// TestBackupOfMemory writes a database in memory into a directory.
func TestBackupOfMemory(t *testing.T) {
	e := memEngine(t)
	tbl := createTable(t, e, kvTable(e, "t"))
	for i := range 100 {
		insertKV(t, e, tbl, i, fmt.Sprint(i))
	}
	dir := filepath.Join(t.TempDir(), "copy")
	must(t, e.Backup(bg, dir))
	insertKV(t, e, tbl, 100, "after")
	copied := openTest(t, Options{Dir: dir})
	if n := copied.RowCount(copied.Catalog().Table(tbl.ID)); n != 100 {
		t.Errorf("%d rows", n)
	}
	mustCheck(t, copied)
	insertKV(t, copied, copied.Catalog().Table(tbl.ID), 100, "durable now")
	must(t, copied.Close())
}

// TestNoMaintenanceGoesOn opens a store with more unmerged files than writes are let past, and backs
// it up.
func TestNoMaintenanceGoesOn(t *testing.T) {
	dir := t.TempDir()
	e := openTest(t, Options{Dir: dir})
	tbl := createTable(t, e, kvTable(e, "t"))
	must(t, e.Close())
	for i := range 30 {
		e = openTest(t, Options{Dir: dir, NoMaintenance: true})
		insertKV(t, e, e.Catalog().Table(tbl.ID), i, "x")
		must(t, e.Close())
	}
	e = openTest(t, Options{Dir: dir, NoMaintenance: true})
	ctx, cancel := context.WithTimeout(bg, 20*time.Second)
	defer cancel()
	must(t, e.Backup(ctx, filepath.Join(t.TempDir(), "copy")))
	must(t, e.Close())
}
