package storage

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weftdb/weft/internal/sqlerr"
)

// redoTest is an engine on a file system that can crash, and what was put into it.
type redoTest struct {
	t    testing.TB
	fs   *vfs.MemFS
	e    *Engine
	want map[string]string
}

func newRedoTest(t testing.TB) *redoTest {
	r := &redoTest{t: t, fs: vfs.NewCrashableMem(), want: map[string]string{}}
	r.e = r.open(r.fs)
	return r
}

func (r *redoTest) open(fs vfs.FS) *Engine {
	r.t.Helper()
	e, err := Open(Options{Dir: "d", FS: fs, NoMaintenance: true})
	if err != nil {
		r.t.Fatal(err)
	}
	return e
}

// put writes a key, durably or not yet.
func (r *redoTest) put(key, value string, synced bool) {
	r.t.Helper()
	b := r.e.newBatch()
	defer r.e.freeBatch(b)
	if err := b.Set([]byte("\xf0"+key), []byte(value), nil); err != nil {
		r.t.Fatal(err)
	}
	write := r.e.writeSynced
	if !synced {
		write = func(b *pebble.Batch) error { _, err := r.e.writeUnsynced(b); return err }
	}
	if err := write(b); err != nil {
		r.t.Fatal(err)
	}
	r.want[key] = value
}

// crash opens what a crash would leave, with so many percent of what was not synced, and compares it.
func (r *redoTest) crash(percent int, seed uint64) {
	r.t.Helper()
	e := r.open(r.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rand.New(rand.NewPCG(seed, 1))}))
	defer func() {
		if err := e.Close(); err != nil {
			r.t.Error(err)
		}
	}()
	for key, want := range r.want {
		value, closer, err := e.db.Get([]byte("\xf0" + key))
		if err != nil {
			r.t.Fatalf("%s: %v", key, err)
		}
		if string(value) != want {
			r.t.Errorf("%s holds %.20q, want %.20q", key, value, want)
		}
		_ = closer.Close()
	}
	if got := e.redo.lastNumber(); got != e.redo.durable.Load() || got < r.e.redo.durable.Load() {
		r.t.Errorf("opened with batch %d, durable %d; %d were before", got, e.redo.durable.Load(), r.e.redo.durable.Load())
	}
}

func (r *redoTest) redoFile(fs vfs.FS) []byte {
	r.t.Helper()
	data, err := readFile(fs, "d/"+redoFile)
	if err != nil {
		r.t.Fatal(err)
	}
	return data
}

// TestRedoKeepsItsSize: small commits change no file's size and leave the store's log alone; what is large
// goes there; the file ends where it should; all is there after a crash.
func TestRedoKeepsItsSize(t *testing.T) {
	r := newRedoTest(t)
	defer r.e.Close()
	r.put("a", "first", true)
	for range 50 {
		r.put("b", "second", true)
	}
	if n := len(r.redoFile(r.fs)); n != redoFillBytes {
		t.Errorf("the file has %d bytes", n)
	}
	r.crash(0, 1)
	large := strings.Repeat("large ", maxRedoBatch/3)
	r.put("c", large, true)
	r.put("d", "after it", true)
	r.crash(0, 2)
	r.put("e", large+"!", false)
	r.put("f", "small", false)
	r.put("g", "synced", true)
	r.crash(0, 3)
	r.crash(100, 3)
	for i := range 2*redoBytes/(16<<10) + 5 {
		r.put(fmt.Sprint("h", i%7), strings.Repeat(fmt.Sprint(i, " "), 4<<10), true)
	}
	r.crash(0, 4)
	if n := len(r.redoFile(r.fs)); n > redoBytes+redoFillBytes {
		t.Errorf("the file has %d bytes", n)
	}
}

// TestRedoUnsynced: what nobody waited for may be lost in a crash, but only from some batch on.
func TestRedoUnsynced(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	for range 30 {
		r := newRedoTest(t)
		synced, n := 0, 1+random.IntN(60)
		for i := range n {
			size := random.IntN(200)
			if random.IntN(15) == 0 {
				size = maxRedoBatch + random.IntN(maxRedoBatch)
			}
			durable := random.IntN(4) == 0
			r.put(fmt.Sprint(i), strings.Repeat("x", size), durable)
			if durable {
				synced = i + 1
			}
		}
		e := r.open(r.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: random.IntN(101), RNG: rand.New(rand.NewPCG(seed, 2))}))
		there := 0
		for i := range n {
			value, closer, err := e.db.Get([]byte("\xf0" + fmt.Sprint(i)))
			if err != nil {
				break
			}
			if len(value) != len(r.want[fmt.Sprint(i)]) {
				t.Errorf("batch %d has %d bytes", i, len(value))
			}
			_ = closer.Close()
			there++
		}
		for i := there; i < n; i++ {
			if _, closer, err := e.db.Get([]byte("\xf0" + fmt.Sprint(i))); err == nil {
				_ = closer.Close()
				t.Fatalf("batch %d is there, %d is not", i, there)
			}
		}
		if there < synced {
			t.Fatalf("%d batches of %d are there, %d were durable", there, n, synced)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if err := r.e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestRedoDamaged: after a crash a redo file that has been damaged, or is gone, is not opened when the store
// needs it; after a close it is not needed.
func TestRedoDamaged(t *testing.T) {
	r := newRedoTest(t)
	for i := range 20 {
		r.put(fmt.Sprint(i), strings.Repeat("y", 100), true)
	}
	crashed := func() vfs.FS { return r.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 0}) }
	whole := r.redoFile(r.fs)
	for _, c := range []struct {
		name   string
		change func(data []byte)
		lost   bool
	}{
		{"head", func(d []byte) { d[3] ^= 1 }, true},
		{"first record", func(d []byte) { d[redoHead+30] ^= 1 }, true},
		{"in the middle", func(d []byte) { d[bytes.LastIndexByte(d, 'y')/2] ^= 1 }, true},
		{"behind the end", func(d []byte) { d[len(d)-1] ^= 1 }, false},
		{"first gone", func(d []byte) {
			chain, _, _ := readRedoHead(d)
			_, n := readRedo(d[redoHead:], chain, 0)
			_, m := readRedo(d[redoHead+n:], chain, 0)
			copy(d[redoHead:], d[redoHead+n+m:])
		}, true},
	} {
		fs := crashed()
		data := bytes.Clone(whole)
		c.change(data)
		if err := writeFileSynced(fs, "d/"+redoFile, data); err != nil {
			t.Fatal(err)
		}
		e, err := Open(Options{Dir: "d", FS: fs, NoMaintenance: true})
		if c.lost != (sqlerr.CodeOf(err) == sqlerr.DataCorrupted) {
			t.Errorf("%s: %v", c.name, err)
		}
		if e != nil {
			_ = e.Close()
		}
	}
	fs := crashed()
	if err := fs.Remove("d/" + redoFile); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Options{Dir: "d", FS: fs, NoMaintenance: true}); sqlerr.CodeOf(err) != sqlerr.DataCorrupted {
		t.Errorf("without the file: %v", err)
	}
	if err := r.e.Close(); err != nil {
		t.Fatal(err)
	}
	if err := writeFileSynced(r.fs, "d/"+redoFile, nil); err != nil {
		t.Fatal(err)
	}
	r.e = r.open(r.fs)
	r.crash(0, 1)
	if err := r.e.Close(); err != nil {
		t.Error(err)
	}
}

// TestRedoFails: a failed sync of the file stops the engine, and what was durable before stays.
func TestRedoFails(t *testing.T) {
	r := newRedoTest(t)
	r.put("a", "1", true)
	r.e.redo.file = failingRedo{r.e.redo.file}
	b := r.e.newBatch()
	_ = b.Set([]byte("\xf0b"), []byte("2"), nil)
	if err := r.e.writeSynced(b); sqlerr.CodeOf(err) != sqlerr.IOError {
		t.Errorf("a failed sync gives %v", err)
	}
	if err := r.e.writeSynced(r.e.newBatch()); sqlerr.CodeOf(err) != sqlerr.IOError {
		t.Errorf("a write afterwards gives %v", err)
	}
	r.crash(0, 1)
	_ = r.e.Close() // has failed
}

type failingRedo struct{ vfs.File }

func (failingRedo) SyncData() error { return fmt.Errorf("no more") }

// BenchmarkRedo measures what one writer waits for beside the sync itself.
func BenchmarkRedo(b *testing.B) {
	r := newRedoTest(b)
	b.ReportAllocs()
	for b.Loop() {
		r.put("key", "value", true)
	}
	_ = r.e.Close()
}

// TestRedoForgetsEarlierChains: of several records that a crash kept in part, those behind the gap are not
// taken for the next run's, which uses their numbers again.
func TestRedoForgetsEarlierChains(t *testing.T) {
	met := 0
	for seed := range uint64(40) {
		r := newRedoTest(t)
		r.put("large", strings.Repeat("x", maxRedoBatch+1), true) // the file begins anew with what comes
		for _, key := range []string{"k1", "k2"} {
			r.put(key, strings.Repeat("old", 1700), false)
		}
		r.e.redo.file = failingRedo{r.e.redo.file}
		if err := r.e.SyncLog(); err == nil {
			t.Fatal("no failure")
		}
		disk := r.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: rand.New(rand.NewPCG(seed, 1))})
		_ = r.e.Close() // has failed
		next := &redoTest{t: t, fs: disk, want: map[string]string{"large": r.want["large"]}}
		next.e = next.open(disk)
		gone := true
		for _, key := range []string{"k1", "k2"} {
			_, closer, err := next.e.db.Get([]byte("\xf0" + key))
			if gone = gone && err != nil; err == nil {
				_ = closer.Close()
			}
		}
		if gone {
			met++
			next.put("n1", strings.Repeat("new", 1700), true)
			e := next.open(disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 0}))
			for _, key := range []string{"k1", "k2"} {
				if _, closer, err := e.db.Get([]byte("\xf0" + key)); err == nil {
					_ = closer.Close()
					t.Errorf("seed %d: %s, lost in the first crash, is back after the second", seed, key)
				}
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := next.e.Close(); err != nil {
			t.Error(err)
		}
	}
	if met == 0 {
		t.Error("no crash lost both batches")
	}
}

// TestRedoHoldsAnything: values that hold records of an earlier chain, at every place that one may lie at, are
// neither applied nor taken for damage.
func TestRedoHoldsAnything(t *testing.T) {
	r := newRedoTest(t)
	for round := range 12 {
		forged := r.e.newBatch()
		_ = forged.Set([]byte("\xf0forged"), []byte("!"), nil)
		number := r.e.redo.lastNumber()
		var value []byte
		for _, ahead := range []uint64{1, 2, 3, 4, 1 << 40} {
			for len(value)%redoAlign != round%redoAlign {
				value = append(value, ' ')
			}
			value = appendRedo(value, r.e.redo.chain, redoRecord{number + ahead, number + ahead - 1, forged.Repr()})
		}
		for range 3 {
			r.put("value", string(value), true)
		}
		if err := r.e.Close(); err != nil {
			t.Fatal(err)
		}
		r.e = r.open(r.fs)
		r.put("small", "s", true)
		crashed := r.open(r.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 0}))
		if _, closer, err := crashed.db.Get([]byte("\xf0forged")); err == nil {
			_ = closer.Close()
			t.Error("a value was applied as a batch")
		}
		if err := crashed.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := r.e.Close(); err != nil {
		t.Error(err)
	}
}

// TestRedoBesideDamage: what a damaged store can still be read of has the changes that only the redo file
// holds.
func TestRedoBesideDamage(t *testing.T) {
	r := newRedoTest(t)
	random := rand.New(rand.NewPCG(1, 1))
	for i := range 8 {
		for k := range 30 {
			value := make([]byte, 3000)
			for x := range value {
				value[x] = byte(random.Uint32())
			}
			r.put(fmt.Sprint("k", k, "-", i), string(value), true)
		}
		must(t, r.e.Flush(bg))
	}
	r.put("last", "small", true)
	disk := r.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 0})
	must(t, r.e.Close())
	names, err := disk.List("d/rows")
	must(t, err)
	for _, name := range names {
		if path := "d/rows/" + name; strings.HasSuffix(name, ".sst") {
			if data, err := readFile(disk, path); err == nil && len(data) > 50_000 {
				data[30_000] ^= 0xff
				must(t, writeFileSynced(disk, path, data))
			}
		}
	}
	e, err := Open(Options{Dir: "d", FS: disk})
	if err != nil {
		t.Skipf("the damage was met while opening: %v", err)
	}
	value, closer, err := e.db.Get([]byte("\xf0last"))
	if err != nil || string(value) != "small" {
		t.Errorf("the last change is not there: %v", err)
	}
	if err == nil {
		must(t, closer.Close())
	}
	_ = e.Close() // is damaged
}
