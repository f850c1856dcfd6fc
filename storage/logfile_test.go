package storage

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// logSizes returns the sizes of the log files.
func logSizes(t *testing.T, fs vfs.FS, dir string) (sizes []int64) {
	t.Helper()
	names, err := fs.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".log") {
			info, err := fs.Stat(fs.PathJoin(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			sizes = append(sizes, info.Size())
		}
	}
	return sizes
}

// TestLogIsFilled: small commits change no file's size, a large one is written once, and all are there
// after a crash.
func TestLogIsFilled(t *testing.T) {
	fs := vfs.NewCrashableMem()
	engine := func(fs vfs.FS) *Engine {
		e, err := Open(Options{Dir: "d", FS: fs, NoMaintenance: true})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	e := engine(fs)
	put := func(e *Engine, key string, value []byte) {
		b := e.newBatch()
		defer e.freeBatch(b)
		if err := b.Set([]byte("\xf0"+key), value, nil); err != nil {
			t.Fatal(err)
		}
		if err := e.writeSynced(b); err != nil {
			t.Fatal(err)
		}
	}
	put(e, "a", []byte("first"))
	first := logSizes(t, fs, e.dirs.rows)
	for range 50 {
		put(e, "b", []byte("second"))
	}
	if now := logSizes(t, fs, e.dirs.rows); len(now) != len(first) || now[0] != first[0] || now[0]%logFillBytes != 0 {
		t.Errorf("log files of %v bytes have %v after small commits", first, now)
	}
	large := make([]byte, 5*logFillBytes)
	for i := range large {
		large[i] = byte(i * 7)
	}
	put(e, "c", large)
	if now := logSizes(t, fs, e.dirs.rows); now[len(now)-1] > int64(len(large))+2*logFillBytes {
		t.Errorf("log files of %v bytes hold %d", now, len(large))
	}
	put(e, "d", []byte("third"))
	for _, kept := range []int{0, 100} {
		again := engine(fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: kept, RNG: rand.New(rand.NewPCG(1, 1))}))
		for key, want := range map[string]string{"a": "first", "b": "second", "c": string(large), "d": "third"} {
			value, closer, err := again.db.Get([]byte("\xf0" + key))
			if err != nil {
				t.Fatalf("%s: %v", key, err)
			}
			if string(value) != want {
				t.Errorf("%s holds another value after a crash", key)
			}
			_ = closer.Close()
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
