package weft_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/weftdb/weft"
)

var (
	crashes    = flag.Int("crashes", 10, "workloads that TestCrashAtSyncs cuts the power of")
	crashShare = flag.Int("crash-share", 12, "percentage of the sync points at which it does")
	crashSeed  = flag.Uint64("crash-seed", 0, "seed of the first workload; 0 = from the clock")
)

// crashPoint is a disk as a crash left it, with the bounds of what it must hold.
type crashPoint struct {
	disk    *vfs.MemFS
	what    string // where it was
	durable int    // the last step that had been acknowledged as durable
	begun   int    // the last step that had begun
	ticket  int64  // the last number handed out by durable steps
}

// linkFS keeps links and clones of a disk in memory apart: a link takes the disk's lock twice, which
// with a clone in between would wait for ever.
type linkFS struct {
	vfs.FS
	linking *sync.Mutex
}

func (f linkFS) Link(oldname, newname string) error {
	f.linking.Lock()
	defer f.linking.Unlock()
	return f.FS.Link(oldname, newname)
}

// powerCut clones a disk at the sync points of a workload. It counts what is acknowledged.
type powerCut struct {
	disk           *vfs.MemFS
	linking        sync.Mutex
	durable, begun atomic.Int64
	ticket         atomic.Int64
	syncs          atomic.Int64

	mu     sync.Mutex // guards the rest
	share  int        // percentage of the sync points
	random *rand.Rand
	points []crashPoint
}

// String is part of errorfs.Injector.
func (p *powerCut) String() string { return "power cut" }

// MaybeError is called before each operation. The disk just before a sync is cloned without
// anything that is not synced, and with a random part of it. Just after a sync it is as before
// the next one; the moments just after something was acknowledged are cut at too, between steps.
func (p *powerCut) MaybeError(op errorfs.Op) error {
	switch op.Kind {
	case errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo:
		p.syncs.Add(1)
		p.cut("before the sync of " + op.Path)
	}
	return nil
}

func (p *powerCut) cut(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.random.IntN(100) >= p.share {
		return
	}
	for _, percent := range []int{0, 1 + p.random.IntN(100)} {
		c := crashPoint{what: fmt.Sprintf("%s, with %d %% of what was not synced", what, percent)}
		c.durable, c.ticket = int(p.durable.Load()), p.ticket.Load()
		p.linking.Lock()
		c.disk = p.disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: p.random})
		p.linking.Unlock()
		c.begun = int(p.begun.Load())
		p.points = append(p.points, c)
	}
}

// fs is the disk with its power cuts.
func (p *powerCut) fs() vfs.FS { return errorfs.Wrap(linkFS{p.disk, &p.linking}, p) }

func (p *powerCut) setShare(percent int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.share = percent
}

func (p *powerCut) take() []crashPoint {
	p.mu.Lock()
	defer p.mu.Unlock()
	points := p.points
	p.points = nil
	return points
}

// crashRun runs a workload and checks what is left of it after each of many crashes.
type crashRun struct {
	t       *testing.T
	w       *workload
	states  []state        // after each step; the first is that of an empty database
	backups map[string]int // those that were acknowledged → the step
	random  *rand.Rand

	mu    sync.Mutex // guards stats
	stats *crashStats
}

// crashStats counts over all workloads.
type crashStats struct{ steps, refused, unsupported, syncs, points, nested, backups int }

// TestCrashAtSyncs cuts the power at the sync points of random workloads, with what is not synced lost,
// or kept in part. Afterwards the database must hold exactly what it held after one of the workload's
// steps, not before the last that was acknowledged as durable; Check must find nothing, new rows
// must find their place, and no number may be handed out twice. The same goes for backups.
func TestCrashAtSyncs(t *testing.T) {
	first := *crashSeed
	if first == 0 {
		first = uint64(time.Now().UnixNano())
	}
	t.Logf("seed of the first workload %d", first)
	workloads := *crashes
	if testing.Short() {
		workloads = min(workloads, 1)
	}
	files := workloadFiles(t)
	var stats crashStats
	for n := range workloads {
		r := &crashRun{t: t, w: newWorkload(first+uint64(n), files, 12, 40), backups: map[string]int{}, stats: &stats,
			random: rand.New(rand.NewPCG(first+uint64(n), 18))}
		r.run()
		if t.Failed() {
			t.Fatalf("seed %d", r.w.seed)
		}
		if n%10 == 9 && n+1 < workloads {
			t.Logf("%d workloads so far, %d crashes", n+1, stats.points)
		}
	}
	t.Logf("%d workloads of %d steps, %d of them refused and %d not supported; %d sync points, %d crashes, %d of them while recovering, %d backups opened",
		workloads, stats.steps, stats.refused, stats.unsupported, stats.syncs, stats.points, stats.nested, stats.backups)
	if stats.refused*3 > stats.steps {
		t.Errorf("%d of %d steps were refused: the workloads do not do what they are for", stats.refused, stats.steps)
	}
}

func (r *crashRun) run() {
	t := r.t
	power := &powerCut{disk: vfs.NewCrashableMem(), share: *crashShare, random: rand.New(rand.NewPCG(r.w.seed, 19))}
	power.begun.Store(1)
	run, err := openWorkload(power.fs(), "")
	if err != nil {
		t.Fatal(err)
	}
	empty, err := takeState(run.db)
	if err != nil {
		t.Fatal(err)
	}
	r.states = []state{empty}
	for i, s := range r.w.steps {
		number := i + 1
		power.begun.Store(int64(number))
		err := run.run(s)
		r.stats.steps++
		switch {
		case sqlState(err) == "0A000":
			r.stats.unsupported++
		case err != nil && refused(err):
			r.stats.refused++
		case err != nil:
			t.Fatalf("seed %d, step %d, %s: %+v", r.w.seed, number, s, err)
		}
		now, takeErr := takeState(run.db)
		if takeErr != nil {
			t.Fatalf("seed %d, after step %d, %s: %+v", r.w.seed, number, s, takeErr)
		}
		before := r.states[number-1]
		if err != nil && !s.several && now != before {
			t.Fatalf("seed %d, step %d, %s: failed with %v and changed\n%s", r.w.seed, number, s, err, difference(before, now))
		}
		r.states = append(r.states, now)
		// What changes nothing waits for no sync, so nothing before it need be durable; a backup and
		// the end of the database sync everything.
		if err == nil && !s.lazy && (now != before || s.backup != "" || s.reopen) {
			if s.backup != "" {
				r.backups[s.backup] = number
			}
			power.ticket.Store(r.lastTicket(run))
			power.durable.Store(int64(number))
		}
		power.cut("after step")
		r.check(power.take())
		if t.Failed() {
			t.Fatalf("seed %d, step %d, %s", r.w.seed, number, s)
		}
	}
	power.cut("before the database is closed")
	if err := run.close(); err != nil {
		t.Errorf("close: %v", err)
	}
	power.durable.Store(int64(len(r.w.steps)))
	power.setShare(100)
	power.cut("after the database was closed")
	r.check(power.take())
	r.stats.syncs += int(power.syncs.Load())
}

// lastTicket returns the largest number that was handed out by what is committed.
func (r *crashRun) lastTicket(run *workloadRun) int64 {
	if len(r.states) < 2 {
		return 0
	}
	n, err := number(run.s, "select coalesce(max(id), 0) from ticket")
	if err != nil {
		r.t.Fatal(err)
	}
	return n
}

// check checks crashed disks, two at a time.
func (r *crashRun) check(points []crashPoint) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, 2)
	for i := range points {
		p := &points[i]
		seed := r.random.Uint64()
		r.stats.points++
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := r.recover(p, rand.New(rand.NewPCG(seed, 20)), true); err != nil {
				r.t.Errorf("crash %s, steps %d to %d: %v", p.what, p.durable, p.begun, err)
			}
		})
	}
	wg.Wait()
	for i := range points {
		if err := r.checkBackups(&points[i]); err != nil {
			r.t.Errorf("crash %s: %v", points[i].what, err)
		}
	}
}

// recover opens a crashed disk and checks what it holds; in some cases the power fails again during
// recovery, or just after it.
func (r *crashRun) recover(p *crashPoint, random *rand.Rand, again bool) error {
	power := &powerCut{disk: p.disk, random: random}
	power.durable.Store(int64(p.durable))
	power.begun.Store(int64(p.begun))
	power.ticket.Store(p.ticket)
	if again && random.IntN(6) == 0 {
		power.share = 25
	}
	run, err := openWorkload(power.fs(), "")
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	at := 0
	now, err := takeState(run.db)
	if err == nil {
		at, err = r.find(now, p.durable, p.begun)
	}
	if err == nil {
		// Somebody may have read this; from here on it is not lost.
		power.durable.Store(int64(at))
		power.begun.Store(int64(at))
		power.cut("when recovered")
		power.setShare(0)
		err = r.checkRecovered(run, at, p)
	}
	if cerr := run.close(); err == nil && cerr != nil {
		err = fmt.Errorf("close: %w", cerr)
	}
	if err != nil {
		return err
	}
	for _, second := range power.take() {
		r.count(&r.stats.nested)
		if err := r.recover(&second, random, false); err != nil {
			return fmt.Errorf("and then %s: %w", second.what, err)
		}
	}
	return nil
}

func (r *crashRun) count(n *int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*n++
}

// checkRecovered checks a database that was opened after a crash and holds what it held after step at.
func (r *crashRun) checkRecovered(run *workloadRun, at int, p *crashPoint) error {
	if err := checkFindings(run.db); err != nil {
		return err
	}
	if at == 0 {
		return nil // there are no tables
	}
	ctx := context.Background()
	id, err := number(run.s, "insert into ticket (n) values (-1) returning id")
	if err != nil {
		return err
	}
	if id <= p.ticket {
		return fmt.Errorf("number %d was handed out again, %d was in use", id, p.ticket)
	}
	for _, text := range []string{"insert into a (x, k) values (1, -987654321)", "insert into b (t) select 'new' from generate_series(1, 70)",
		"insert into c (id) values (-5)", "update a set y = y || '.'", "delete from b where id % 2 = 0"} {
		if _, err := run.s.Exec(ctx, text); err != nil && !refused(err) {
			return fmt.Errorf("after recovery: %s: %w", text, err)
		}
	}
	return checkFindings(run.db)
}

// find finds a state among those after the steps from low to high.
func (r *crashRun) find(now state, low, high int) (int, error) {
	high = min(high, len(r.states)-1)
	for i := high; i >= low; i-- {
		if r.states[i] == now {
			return i, nil
		}
		if i > 0 && r.w.steps[i-1].several && r.states[i].rows == now.rows {
			return i, nil
		}
	}
	for i := range r.states {
		if r.states[i] == now {
			return 0, fmt.Errorf("it holds what it held after step %d, not after one of %d to %d", i, low, high)
		}
	}
	return 0, fmt.Errorf("it holds what it never held; the difference to step %d:\n%s", high, difference(r.states[high], now))
}

// checkBackups checks the backups on a crashed disk.
func (r *crashRun) checkBackups(p *crashPoint) error {
	for _, s := range r.w.steps[:p.begun] {
		if s.backup == "" || r.random.IntN(3) != 0 {
			continue
		}
		step, acked := r.backups[s.backup]
		acked = acked && step <= p.durable
		_, err := p.disk.Stat(p.disk.PathJoin(s.backup, "FORMAT"))
		if errors.Is(err, os.ErrNotExist) && !acked {
			continue // it is no database
		}
		if err != nil {
			return fmt.Errorf("backup %s: %w", s.backup, err)
		}
		if err := r.checkBackup(p, s.backup, step); err != nil {
			return fmt.Errorf("backup %s: %w", s.backup, err)
		}
		r.stats.backups++
	}
	return nil
}

// checkBackup checks a backup that is complete.
func (r *crashRun) checkBackup(p *crashPoint, dir string, step int) error {
	db, err := weft.OpenOn(p.disk, dir)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	now, err := takeState(db)
	if err == nil && step > 0 {
		_, err = r.find(now, step, step)
	} else if err == nil {
		_, err = r.find(now, 0, p.begun)
	}
	return errors.Join(err, checkFindings(db), db.Close())
}

// checkFindings returns what Check finds as an error.
func checkFindings(db *weft.DB) error {
	var found []error
	_, err := db.Check(context.Background(), weft.CheckOptions{Report: func(f weft.Finding) { found = append(found, errors.New(f.String())) }})
	return errors.Join(append(found, err)...)
}

// difference shows the lines in which states differ, up to a few.
func difference(a, b state) string {
	lines := map[string]int{}
	for _, line := range strings.Split(a.rows+a.definitions, "\n") {
		lines[line]--
	}
	for _, line := range strings.Split(b.rows+b.definitions, "\n") {
		lines[line]++
	}
	var out []string
	for line, n := range lines {
		if n != 0 && len(out) < 12 {
			out = append(out, strconv.Itoa(n)+" "+line[:min(len(line), 300)])
		}
	}
	return strings.Join(out, "\n")
}
