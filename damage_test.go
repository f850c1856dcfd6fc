package weft_test

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

var damages = flag.Int("damages", 30, "times that TestDamageAnywhere damages a database")

// TestDamageAnywhere changes bytes at random places of the files of a database, and opens it. That
// fails with an error that says so, or what is read is right or fails with such an error. That holds for
// the logs and the manifest too, whose damage looks like the end that a power failure leaves: the
// databases have been closed, and remember how.
func TestDamageAnywhere(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 22))
	files := workloadFiles(t)
	refusedOpenings, failedReads, unharmed := 0, 0, 0
	var disk *vfs.MemFS
	var states []state
	times := *damages
	if testing.Short() {
		times = min(times, 6)
	}
	for n := range times {
		if n%10 == 0 {
			disk, states = finished(t, newWorkload(random.Uint64(), files, 20, 40))
		}
		damaged := disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: random})
		where := damage(t, damaged, random)
		run, err := openWorkload(damaged, "")
		if err != nil {
			if !isDamage(err) {
				t.Errorf("%s: open: %+v", where, err)
			}
			refusedOpenings++
			continue
		}
		want := states[len(states)-1]
		now, err := takeState(run.db)
		switch {
		case err != nil && !isDamage(err):
			t.Errorf("%s: read: %+v", where, err)
		case err != nil:
			if failedReads++; checkFindings(run.db) == nil {
				t.Errorf("%s: a table cannot be read, and Check finds nothing", where)
			}
		case now != want:
			t.Errorf("%s: wrong data was read:\n%s", where, difference(want, now))
		default:
			_ = checkFindings(run.db) // an index may be damaged
			unharmed++
		}
		if err := run.close(); err != nil && !isDamage(err) {
			t.Errorf("%s: close: %+v", where, err)
		}
	}
	t.Logf("%d databases damaged: %d were not opened, in %d a table could not be read, %d held everything",
		times, refusedOpenings, failedReads, unharmed)
}

// finished runs a workload to its end and returns its disk, and what it held after each step.
func finished(t *testing.T, w *workload) (disk *vfs.MemFS, states []state) {
	t.Helper()
	disk = vfs.NewCrashableMem()
	run, err := openWorkload(disk, "")
	if err != nil {
		t.Fatal(err)
	}
	keep := func() {
		st, err := takeState(run.db)
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, st)
	}
	keep()
	for _, s := range w.steps {
		if err := run.run(s); err != nil && !refused(err) {
			t.Fatalf("%s: %v", s, err)
		}
		keep()
	}
	if err := run.close(); err != nil {
		t.Fatal(err)
	}
	return disk, states
}

// damage changes a few bytes of one file.
func damage(t *testing.T, disk *vfs.MemFS, random *rand.Rand) (where string) {
	t.Helper()
	dir := disk.PathJoin(databaseDir, "rows")
	names, err := disk.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for {
		name := names[random.IntN(len(names))]
		path := disk.PathJoin(dir, name)
		info, err := disk.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() == 0 || strings.HasPrefix(name, "OPTIONS") {
			continue
		}
		f, err := disk.OpenReadWrite(path, vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		at, b := random.Int64N(info.Size()), make([]byte, 1+random.IntN(8))
		n, err := f.ReadAt(b, at)
		if err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		for i := range b[:n] {
			b[i] ^= byte(1 + random.IntN(255))
		}
		if _, err = f.WriteAt(b[:n], at); err == nil {
			err = f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%d bytes at %d of the %d of %s", n, at, info.Size(), name)
	}
}

// isDamage reports whether an error says that data is damaged.
func isDamage(err error) bool { return sqlState(err) == "XX001" }
