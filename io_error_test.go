package weft_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/weftdb/weft"
)

var (
	ioErrors     = flag.Int("io-errors", 6, "workloads that TestFailingOperations lets file operations fail in")
	ioErrorShare = flag.Int("io-error-share", 2, "percentage of the operations that it lets fail")
	ioErrorSeed  = flag.Uint64("io-error-seed", 0, "seed of the first workload; 0 = from the clock")
)

// fault fails one file operation, or all from one on.
type fault struct {
	at      int64 // the number of the operation, from 1
	lasting bool
	full    bool // the disk is full: reading goes on

	seen   atomic.Int64
	failed atomic.Pointer[string] // the first operation that failed
	off    atomic.Bool
}

// String is part of errorfs.Injector.
func (f *fault) String() string {
	text := fmt.Sprintf("operation %d", f.at)
	if f.lasting {
		text += " and all after it"
	}
	if what := f.failed.Load(); what != nil {
		text += " (" + *what + ")"
	}
	if f.full {
		return text + ", disk full"
	}
	return text + ", input/output error"
}

// MaybeError counts an operation and fails it if it is its turn.
func (f *fault) MaybeError(op errorfs.Op) error {
	if op.Kind == errorfs.OpLock || f.off.Load() {
		return nil // the operating system locks without these file systems
	}
	n := f.seen.Add(1)
	if f.at == 0 || n < f.at || n > f.at && !f.lasting || f.full && op.Kind.ReadOrWrite() == errorfs.OpIsRead {
		return nil
	}
	what := fmt.Sprintf("kind %d of %s", op.Kind, op.Path)
	f.failed.CompareAndSwap(nil, &what)
	if f.full {
		return &os.PathError{Op: "operation", Path: op.Path, Err: syscall.ENOSPC}
	}
	return &os.PathError{Op: "operation", Path: op.Path, Err: syscall.EIO}
}

// errorRun is a workload with what its steps do on a healthy disk.
type errorRun struct {
	t      *testing.T
	w      *workload
	codes  []string // of the steps' errors
	states []state  // after each step; the first is that of an empty database

	count   *sync.Mutex    // guards visible
	visible map[string]int // SQLSTATEs that reported a failure
}

// TestFailingOperations runs workloads again and again, and lets another file operation fail each time,
// once or from then on. Each step must do what it does on a healthy disk or report the failure; what
// can still be read must be right. On a healthy disk the database must open again with every step
// that was acknowledged, and with nothing but whole steps.
func TestFailingOperations(t *testing.T) {
	first := *ioErrorSeed
	if first == 0 {
		first = uint64(time.Now().UnixNano())
	}
	t.Logf("seed of the first workload %d", first)
	workloads := *ioErrors
	if testing.Short() {
		workloads = min(workloads, 2)
	}
	files := workloadFiles(t)
	codes := map[string]int{}
	injected, unnoticed := 0, 0
	var count sync.Mutex // guards them
	for n := range workloads {
		seed := first + uint64(n)
		random := rand.New(rand.NewPCG(seed, 21))
		r := &errorRun{t: t, w: newWorkload(seed, files, 6, 14), visible: codes, count: &count}
		operations := r.healthy()
		var wg sync.WaitGroup
		slots := make(chan struct{}, 16) // most of the time is waiting
		for at := int64(1); at <= operations && !t.Failed(); at++ {
			for _, lasting := range []bool{false, true} {
				if random.IntN(100) >= *ioErrorShare {
					continue
				}
				f := &fault{at: at, lasting: lasting, full: random.IntN(2) == 0}
				slots <- struct{}{}
				wg.Go(func() {
					defer func() { <-slots }()
					noticed, err := r.run(f)
					if err != nil {
						t.Errorf("seed %d, %s: %v", seed, f, err)
					}
					count.Lock()
					defer count.Unlock()
					if f.failed.Load() == nil {
						return // there were fewer operations this time
					}
					if injected++; !noticed {
						unnoticed++
					}
				})
			}
		}
		wg.Wait()
		if t.Failed() {
			return
		}
		if n%10 == 9 && n+1 < workloads {
			t.Logf("%d workloads so far, %d errors injected", n+1, injected)
		}
	}
	t.Logf("%d workloads, %d errors injected, %d of them without consequence; SQLSTATEs %s", workloads, injected, unnoticed, sortedCodes(codes))
	if injected == 0 || unnoticed == injected {
		t.Error("no error had consequences")
	}
}

// oneThread makes runs of a workload alike: several workers draw numbers in any order.
const oneThread = "set threads = 1"

// healthy runs the workload on a healthy disk and returns the number of file operations.
func (r *errorRun) healthy() int64 {
	count := &fault{}
	run, err := openWorkload(errorfs.Wrap(vfs.NewCrashableMem(), count), oneThread)
	if err != nil {
		r.t.Fatal(err)
	}
	keep := func() {
		now, err := takeState(run.db)
		if err != nil {
			r.t.Fatal(err)
		}
		r.states = append(r.states, now)
	}
	keep()
	for i, s := range r.w.steps {
		err := run.run(s)
		if err != nil && !refused(err) {
			r.t.Fatalf("seed %d, step %d, %s: %+v", r.w.seed, i+1, s, err)
		}
		r.codes = append(r.codes, sqlState(err))
		keep()
	}
	if err := run.close(); err != nil {
		r.t.Fatal(err)
	}
	return count.seen.Load()
}

// probe is what is written after a failure, to see whether it lasts if it is acknowledged.
const probe = "-777"

// run runs the workload with a fault, up to the first step that reports it.
func (r *errorRun) run(f *fault) (noticed bool, err error) {
	watchdog := time.AfterFunc(time.Minute, func() {
		stacks := make([]byte, 1<<20)
		panic(fmt.Sprintf("seed %d, %s: hangs\n%s", r.w.seed, f, stacks[:runtime.Stack(stacks, true)]))
	})
	defer watchdog.Stop()
	disk := vfs.NewCrashableMem()
	e := &errorOutcome{backups: map[string]int{}}
	run, err := openWorkload(errorfs.Wrap(disk, f), oneThread)
	if err != nil {
		noticed = true
		if err := r.clean(err); err != nil {
			return noticed, fmt.Errorf("open: %w", err)
		}
	} else if noticed, err = r.steps(run, e); err != nil {
		return noticed, err
	}
	afterCrash := disk.CrashClone(vfs.CrashCloneCfg{})
	if run != nil && run.db != nil {
		if err := run.close(); err != nil {
			noticed = true
			if err := r.clean(err); err != nil {
				return noticed, fmt.Errorf("close: %w", err)
			}
		}
	}
	f.off.Store(true)
	for what, d := range map[string]*vfs.MemFS{"after closing": disk, "after a crash": afterCrash} {
		if err := r.reopen(d, e); err != nil {
			return noticed, fmt.Errorf("%s, steps %d to %d: %w", what, e.durable, e.begun, err)
		}
	}
	return noticed, nil
}

// errorOutcome is what a run with a fault has acknowledged.
type errorOutcome struct {
	durable, begun int
	probed         bool
	backups        map[string]int
}

// steps runs steps until one reports the fault.
func (r *errorRun) steps(run *workloadRun, e *errorOutcome) (noticed bool, err error) {
	for i, s := range r.w.steps {
		number := i + 1
		e.begun = number
		err := run.run(s)
		low := number
		if sqlState(err) != r.codes[i] {
			if err := r.clean(err); err != nil {
				return true, fmt.Errorf("step %d, %s: %w", number, s, err)
			}
			noticed, low = true, number-1
			if s.reopen {
				_ = run.db.Close() // it may have been closed by then
				run.db = nil
				return true, nil
			}
		} else if err == nil && !s.lazy && (r.states[i] != r.states[number] || s.backup != "" || s.reopen) {
			e.durable = number
			if s.backup != "" {
				e.backups[s.backup] = number
			}
		}
		now, err := takeState(run.db)
		if err == nil {
			if err := r.match(now, low, number); err != nil {
				return noticed, fmt.Errorf("read after step %d, %s: %w", number, s, err)
			}
		} else {
			noticed = true
			if err := r.clean(err); err != nil {
				return true, fmt.Errorf("read after step %d, %s: %w", number, s, err)
			}
		}
		if !noticed {
			continue
		}
		_, err = run.s.Exec(r.t.Context(), "set synchronous_commit = on; insert into ticket (n) values ("+probe+")")
		e.probed = err == nil
		if err != nil && !refused(err) {
			if err := r.clean(err); err != nil {
				return true, fmt.Errorf("write after a failure in step %d, %s: %w", number, s, err)
			}
		}
		return true, nil
	}
	return false, nil
}

// failures are the SQLSTATEs of a disk that fails: input or output, no space, damage.
var failures = []string{"58030", "53100", "XX001"}

// clean returns an error unless err reports a failing disk in one line.
func (r *errorRun) clean(err error) error {
	r.count.Lock()
	r.visible[sqlState(err)]++
	r.count.Unlock()
	if slices.Contains(failures, sqlState(err)) && !strings.Contains(err.Error(), "\n") {
		return nil
	}
	return fmt.Errorf("not a clean report of the failure: %+v", err)
}

// match returns an error unless a state is one of those after the steps from low to high.
func (r *errorRun) match(now state, low, high int) error {
	for i := low; i <= high; i++ {
		if now.rows == r.states[i].rows && (now.definitions == r.states[i].definitions || i > 0 && r.w.steps[i-1].several) {
			return nil
		}
	}
	return fmt.Errorf("it does not hold what it holds after steps %d to %d; the difference:\n%s", low, high, difference(r.states[high], now))
}

// reopen opens a disk that works again.
func (r *errorRun) reopen(disk *vfs.MemFS, e *errorOutcome) error {
	run, err := openWorkload(disk, "")
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	err = r.reopened(run, e)
	if err = errors.Join(err, checkFindings(run.db), run.close()); err != nil {
		return err
	}
	for _, s := range r.w.steps[:e.begun] {
		if s.backup == "" {
			continue
		}
		if _, err := disk.Stat(disk.PathJoin(s.backup, "FORMAT")); errors.Is(err, os.ErrNotExist) && e.backups[s.backup] == 0 {
			continue
		}
		db, err := weft.OpenOn(disk, s.backup)
		if err != nil {
			return fmt.Errorf("open %s: %w", s.backup, err)
		}
		now, err := takeState(db)
		if err == nil {
			low := e.backups[s.backup]
			high := low
			if low == 0 {
				high = e.begun
			}
			err = r.match(now, low, high)
		}
		if err = errors.Join(err, checkFindings(db), db.Close()); err != nil {
			return fmt.Errorf("%s: %w", s.backup, err)
		}
	}
	return nil
}

func (r *errorRun) reopened(run *workloadRun, e *errorOutcome) error {
	if len(run.s.Catalog().Tables()) > 0 {
		var probes []string
		rows, err := queryText(run.s, "delete from ticket where n = "+probe+" returning n")
		if err != nil {
			return err
		}
		for _, row := range rows {
			probes = append(probes, row[0])
		}
		if e.probed && len(probes) == 0 {
			return errors.New("the row written after the failure is lost")
		}
	} else if e.probed {
		return errors.New("everything is lost")
	}
	now, err := takeState(run.db)
	if err != nil {
		return err
	}
	if err := r.match(now, e.durable, e.begun); err != nil {
		return err
	}
	if _, err := run.s.Exec(r.t.Context(), "create table after (id serial primary key, t text unique); insert into after (t) values ('new'); drop table after"); err != nil {
		return err
	}
	return nil
}

// sortedCodes lists SQLSTATEs with their numbers.
func sortedCodes(codes map[string]int) string {
	var out []string
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		out = append(out, fmt.Sprintf("%s %d", code, codes[code]))
	}
	return strings.Join(out, ", ")
}
