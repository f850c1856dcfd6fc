package storage

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
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

// The crash workload: each writer owns rowsPerWriter keys and sets all of them to the same counter
// in each transaction, by updates, by deletes and inserts, or both. After a crash, a writer's rows
// must agree with each other and be at least as far as its last acknowledged commit.
const (
	crashWriters  = 4
	rowsPerWriter = 7
)

func crashStep(e *Engine, tbl *catalog.Table, r *rand.Rand, w, counter int) error {
	x := e.Begin(TxnOptions{})
	defer x.Rollback()
	v := x.View()
	defer v.Release()
	for i := range rowsPerWriter {
		id := w*rowsPerWriter + i
		ref, ok, err := v.LookupKey(tbl, tbl.PrimaryKey(), []vector.Datum{vector.IntDatum(vector.I64, int64(id))})
		if err != nil {
			return err
		}
		row := kv(id, strconv.Itoa(counter))
		switch {
		case !ok:
			_, err = x.Insert(bg, tbl, row)
		case r.IntN(3) == 0:
			if _, err = x.Delete(bg, tbl, []RowRef{ref}); err == nil {
				_, err = x.Insert(bg, tbl, row)
			}
		default:
			_, err = x.Update(bg, tbl, []RowRef{ref}, row)
		}
		if err != nil {
			return err
		}
	}
	return x.Commit(bg)
}

// checkCrashed checks a recovered database against what was acknowledged before the crash.
func checkCrashed(t *testing.T, e *Engine, acked []int) {
	t.Helper()
	mustCheck(t, e)
	tbl := e.Catalog().Lookup("public", "t")
	if tbl == nil {
		t.Fatal("the table is gone")
	}
	v := e.View()
	defer v.Release()
	for w, want := range acked {
		seen := map[string]int{}
		for i := range rowsPerWriter {
			ref := lookup(t, v, tbl, int64(w*rowsPerWriter+i))
			if ref == 0 {
				seen["no row"]++
				continue
			}
			var b vector.Batch
			missing, err := v.Fetch(tbl, ref.Store(), []uint64{ref.Row()}, []int{1}, &b)
			must(t, err)
			if missing != nil {
				t.Fatal("index entry without row")
			}
			seen[string(b.Vecs[0].BytesAt(0))]++
		}
		if len(seen) != 1 {
			t.Fatalf("part of a transaction was recovered: writer %d: %v", w, seen)
		}
		for s := range seen {
			if n, _ := strconv.Atoi(s); n < want {
				t.Fatalf("an acknowledged commit is lost: writer %d is at %q, %d was acknowledged", w, s, want)
			}
		}
	}
	// New rows get ids that were never used.
	used := indexRefs(t, v, tbl, &tbl.Indexes[0], IndexRange{})
	insertKV(t, e, tbl, 1<<40, "after")
	after := e.View()
	defer after.Release()
	fresh := lookup(t, after, tbl, 1<<40)
	for _, ref := range used {
		if fresh <= ref {
			t.Errorf("reference %x after %x", fresh, ref)
		}
	}
}

// crashFS is a file system in memory that can be cloned as a crash would leave it. Its own Link waits for
// a clone under way while it holds what the clone waits for.
type crashFS struct {
	vfs.FS
	mem *vfs.MemFS
	mu  sync.Mutex
}

func newCrashFS() *crashFS {
	mem := vfs.NewCrashableMem()
	return &crashFS{FS: mem, mem: mem}
}

func (f *crashFS) Link(from, to string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.FS.Link(from, to)
}

// CrashClone is that of the file system underneath.
func (f *crashFS) CrashClone(c vfs.CrashCloneCfg) *vfs.MemFS {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mem.CrashClone(c)
}

func TestCrash(t *testing.T) {
	r := newRand(t)
	for round := range 2 + scaled(6) {
		fs := newCrashFS()
		o := Options{Dir: "db", FS: fs, MemTableBytes: 64 << 10}
		switch round % 3 { // all commits are ingestions, of what was spilled or of what was in memory
		case 1:
			o.SpillBytes = 1
		case 2:
			o.CommitFileBytes = 1
		}
		e := openTest(t, o)
		tbl := createTable(t, e, kvTable(e, "t"))
		var acked [crashWriters]atomic.Int64
		var stop atomic.Bool
		var wg sync.WaitGroup
		for w := range crashWriters {
			seed := r.Uint64()
			wg.Go(func() {
				wr := rand.New(rand.NewPCG(seed, 1))
				for n := 1; !stop.Load(); n++ {
					must(t, crashStep(e, tbl, wr, w, n))
					acked[w].Store(int64(n))
				}
			})
		}
		wg.Go(func() {
			for !stop.Load() {
				_, err := e.FoldGroup(bg, tbl, tbl.Stores[0], 0, e.CommitNumber())
				must(t, err)
				time.Sleep(time.Millisecond)
			}
		})
		for range 4 {
			time.Sleep(time.Duration(r.IntN(15)) * time.Millisecond)
			sure := make([]int, crashWriters)
			for w := range sure {
				sure[w] = int(acked[w].Load())
			}
			// Synced data survives; of the rest a random part does.
			crashed := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: r.IntN(101), RNG: rand.New(rand.NewPCG(r.Uint64(), 0))})
			again := openTest(t, Options{Dir: "db", FS: crashed})
			checkCrashed(t, again, sure)
			must(t, again.Close())
		}
		stop.Store(true)
		wg.Wait()
		must(t, e.Close())
	}
}

// TestNewDirectoriesLast makes a database and a backup below directories that are not there yet.
func TestNewDirectoriesLast(t *testing.T) {
	disk := vfs.NewCrashableMem()
	e := openTest(t, Options{Dir: "/new/deep/db", FS: disk})
	insertKV(t, e, createTable(t, e, kvTable(e, "t")), 1, "kept")
	must(t, e.Backup(bg, "/other/deep/copy"))
	crashed := disk.CrashClone(vfs.CrashCloneCfg{})
	must(t, e.Close())
	for _, dir := range []string{"/new/deep/db", "/other/deep/copy"} {
		again := openTest(t, Options{Dir: dir, FS: crashed})
		if rows := dumpRows(t, again); !strings.Contains(rows, `"kept"`) {
			t.Errorf("after a crash %s holds %s", dir, rows)
		}
		must(t, again.Close())
	}
}

// markerFS tells of each marker that is made.
type markerFS struct {
	vfs.FS
	made func()
}

func (f markerFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.Create(name, c)
	if strings.HasPrefix(f.PathBase(name), "marker.") {
		f.made()
	}
	return file, err
}

// TestMarkerAfterItsFile crashes when a marker has reached the disk ahead of other entries of its
// directory: what it names is there.
func TestMarkerAfterItsFile(t *testing.T) {
	disk, r := vfs.NewCrashableMem(), newRand(t)
	var crashed []*vfs.MemFS
	made := func() {
		for range 8 {
			crashed = append(crashed, disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: r}))
		}
	}
	for range 2 {
		e := openTest(t, Options{Dir: "db", FS: markerFS{disk, made}})
		must(t, e.Close())
	}
	for _, d := range crashed {
		e := openTest(t, Options{Dir: "db", FS: d})
		mustCheck(t, e)
		must(t, e.Close())
	}
	if len(crashed) < 16 {
		t.Errorf("only %d crashes", len(crashed))
	}
}

const childDir = "WEFT_STORAGE_TEST_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		killedChild(dir)
	}
	os.Exit(runTests(m))
}

// runTests runs the tests and then waits for the goroutines of the engines that they opened, which
// have all been closed.
func runTests(m *testing.M) (code int) {
	code = m.Run()
	for deadline := time.Now().Add(10 * time.Second); code == 0; time.Sleep(10 * time.Millisecond) {
		buf := make([]byte, 16<<20)
		var left []string
		for _, stack := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")[1:] {
			if strings.Contains(stack, "weftdb/weft") || strings.Contains(stack, "cockroachdb/pebble") {
				left = append(left, stack)
			}
		}
		if len(left) == 0 {
			break
		}
		if time.Now().After(deadline) {
			fmt.Printf("FAIL: %d goroutines are left after all tests, such as\n%s\n", len(left), left[0])
			return 1
		}
	}
	return code
}

// killedChild runs the crash workload until it is killed, and prints acknowledged commits.
func killedChild(dir string) {
	e, err := Open(Options{Dir: dir, MemTableBytes: 256 << 10})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	tbl := e.Catalog().Lookup("public", "t")
	start, _ := strconv.Atoi(os.Getenv(childDir + "_START"))
	var mu sync.Mutex
	for w := range crashWriters {
		go func() {
			r := rand.New(rand.NewPCG(uint64(start), uint64(w)))
			for n := start; ; n++ {
				if err := crashStep(e, tbl, r, w, n); err != nil {
					fmt.Println("error", err)
					os.Exit(1)
				}
				mu.Lock()
				fmt.Println(w, n)
				mu.Unlock()
			}
		}()
	}
	select {}
}

func TestKill(t *testing.T) {
	kills := 5
	if testing.Short() {
		kills = 1
	}
	r := newRand(t)
	dir := t.TempDir()
	e := openTest(t, Options{Dir: dir})
	createTable(t, e, kvTable(e, "t"))
	must(t, e.Close())
	acked := make([]int, crashWriters)
	next := 1
	for range kills {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childDir+"="+dir, childDir+"_START="+strconv.Itoa(next))
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		timer := time.AfterFunc(time.Duration(50+r.IntN(150))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var w, n int
			if _, err := fmt.Sscan(lines.Text(), &w, &n); err != nil {
				t.Errorf("child: %s", lines.Text())
				continue
			}
			acked[w], next = n, max(next, n+1)
		}
		_ = cmd.Wait() // killed
		timer.Stop()
		next += 2 // a commit that was not acknowledged may have used the next number
		e, err := Open(Options{Dir: dir})
		must(t, err)
		checkCrashed(t, e, acked)
		x := e.Begin(TxnOptions{})
		tbl := e.Catalog().Lookup("public", "t")
		_, err = x.Delete(bg, tbl, []RowRef{refOf(t, x, tbl, 1<<40)})
		must(t, err)
		must(t, x.Commit(bg))
		must(t, e.Close())
	}
	if next < 20 {
		t.Logf("only %d commits a writer", next)
	}
}

// failingFS fails syncs of the log once told to.
type failingFS struct {
	vfs.FS
	fail atomic.Bool
}

type failingFile struct {
	vfs.File
	fs *failingFS
}

var errDisk = errors.New("disk on fire")

func (f failingFile) Sync() error {
	if f.fs.fail.Load() {
		return errDisk
	}
	return f.File.Sync()
}

func (f failingFile) SyncData() error { return f.Sync() }

func (s *failingFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := s.FS.Create(name, c)
	return failingFile{f, s}, err
}

func (s *failingFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	f, err := s.FS.OpenReadWrite(name, c, o...)
	return failingFile{f, s}, err
}

func (s *failingFS) ReuseForWrite(a, b string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := s.FS.ReuseForWrite(a, b, c)
	return failingFile{f, s}, err
}

func TestFailStop(t *testing.T) {
	if *spillFlag > 0 {
		t.Skip("the commit fails before it comes to the log")
	}
	mem := vfs.NewCrashableMem()
	fs := &failingFS{FS: mem}
	e := openTest(t, Options{Dir: "db", FS: fs})
	tbl := createTable(t, e, kvTable(e, "t"))
	insertKV(t, e, tbl, 1, "a")
	fs.fail.Store(true)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			x := e.Begin(TxnOptions{})
			_, err := x.Insert(bg, tbl, kv(10+i, "x"))
			if err == nil {
				err = x.Commit(bg)
			}
			x.Rollback()
			if sqlerr.CodeOf(err) != sqlerr.IOError {
				t.Errorf("commit on a failed disk: %v", err)
			}
		})
	}
	wg.Wait()
	fs.fail.Store(false) // it does not come back by itself
	x := e.Begin(TxnOptions{})
	_, err := x.Insert(bg, tbl, kv(2, "b"))
	wantCode(t, err, sqlerr.IOError)
	if !errors.Is(err, errDisk) {
		t.Errorf("cause lost: %v", err)
	}
	x.Rollback()
	v := e.View()
	if lookup(t, v, tbl, 1) == 0 {
		t.Error("reading stopped too")
	}
	if v.CommitNumber() > e.durable.done.Load() {
		wantCode(t, v.WaitDurable(bg), sqlerr.IOError)
	}
	v.Release()
	crashed := mem.CrashClone(vfs.CrashCloneCfg{})
	wantCode(t, e.Close(), sqlerr.IOError) // there may be nobody else who hears of it
	e = openTest(t, Options{Dir: "db", FS: crashed})
	v = e.View()
	if lookup(t, v, tbl, 1) == 0 {
		t.Error("an acknowledged row is lost")
	}
	v.Release()
	mustCheck(t, e)
	must(t, e.Close())
}

func TestDirectoryLock(t *testing.T) {
	dir := t.TempDir()
	e := openTest(t, Options{Dir: dir})
	_, err := Open(Options{Dir: dir})
	wantCode(t, err, sqlerr.ObjectInUse)
	if !strings.Contains(err.Error(), "pid="+strconv.Itoa(os.Getpid())) {
		t.Errorf("the error does not name the holder: %v", err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+dir)
	out, _ := cmd.Output()
	if !bytes.Contains(out, []byte("open in another process: pid="+strconv.Itoa(os.Getpid()))) {
		t.Errorf("second process: %s", out)
	}
	must(t, e.Close())
	e = openTest(t, Options{Dir: dir})
	must(t, e.Close())
}

func TestFormatFile(t *testing.T) {
	dir := t.TempDir()
	e := openTest(t, Options{Dir: dir})
	if e.Incarnation() != 1 || e.DatabaseID() == [16]byte{} {
		t.Error("no identity")
	}
	must(t, e.Close())
	path := filepath.Join(dir, formatFile)
	good, err := os.ReadFile(path)
	must(t, err)
	for _, field := range []string{"format", "rows", "keys", "units", "pebble"} {
		var f map[string]any
		must(t, json.Unmarshal(good, &f))
		f[field] = f[field].(float64) + 1
		b, _ := json.Marshal(f)
		must(t, os.WriteFile(path, b, 0o644))
		_, err = Open(Options{Dir: dir})
		wantCode(t, err, sqlerr.ObjectNotInPrerequisiteState)
		if !strings.Contains(err.Error(), "newer version of weft") {
			t.Error(err)
		}
	}
	must(t, os.WriteFile(path, []byte("{"), 0o644))
	_, err = Open(Options{Dir: dir})
	wantCode(t, err, sqlerr.DataCorrupted)
	must(t, os.Remove(path))
	_, err = Open(Options{Dir: dir})
	wantCode(t, err, sqlerr.DataCorrupted)
	must(t, os.WriteFile(path, good, 0o644))
	e = openTest(t, Options{Dir: dir})
	must(t, e.Close())
}

// TestMissingStore takes away files without which the store would look new.
func TestMissingStore(t *testing.T) {
	for _, prefix := range []string{"MANIFEST-", "marker.manifest.", ""} {
		dir := t.TempDir()
		e := openTest(t, Options{Dir: dir})
		createTable(t, e, kvTable(e, "t"))
		must(t, e.Close())
		files, err := filepath.Glob(filepath.Join(dir, "rows", prefix+"*"))
		must(t, err)
		for _, f := range files {
			must(t, os.Remove(f))
		}
		before, err := os.ReadDir(filepath.Join(dir, "rows"))
		must(t, err)
		_, err = Open(Options{Dir: dir})
		wantCode(t, err, sqlerr.DataCorrupted)
		after, err := os.ReadDir(filepath.Join(dir, "rows"))
		must(t, err)
		if len(before) != len(after) || len(files) == 0 {
			t.Errorf("without %q*: %d files were removed; there were %d others, and %d are left", prefix, len(files), len(before), len(after))
		}
	}
}
