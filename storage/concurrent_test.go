package storage

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

func TestSecondInserterWaits(t *testing.T) {
	e := memEngine(t)
	tbl := createTable(t, e, kvTable(e, "t"))
	for _, firstCommits := range []bool{false, true} {
		a, b := e.Begin(TxnOptions{}), e.Begin(TxnOptions{})
		_, err := a.Insert(bg, tbl, kv(1, "a"))
		must(t, err)

		ctx, cancel := context.WithTimeout(bg, 10*time.Millisecond)
		_, err = b.Insert(ctx, tbl, kv(1, "b"))
		wantCode(t, err, sqlerr.QueryCanceled)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("cause lost: %v", err)
		}
		cancel()

		waits := e.Metrics().LockWaits
		got := make(chan error)
		go func() {
			_, err := b.Insert(bg, tbl, kv(1, "b"))
			got <- err
		}()
		for e.Metrics().LockWaits == waits {
			time.Sleep(time.Millisecond)
		}
		if firstCommits {
			must(t, a.Commit(bg))
			wantCode(t, <-got, sqlerr.UniqueViolation)
			b.Rollback()
			equal(t, committed(t, e, tbl), "1=a")
		} else {
			a.Rollback()
			must(t, <-got)
			b.Rollback()
		}
	}
}

func TestDeadlockOfTransactions(t *testing.T) {
	e := memEngine(t)
	tbl := createTable(t, e, kvTable(e, "t"))
	insertKV(t, e, tbl, 1, "a", 2, "b")
	a, b := e.Begin(TxnOptions{}), e.Begin(TxnOptions{})
	r1, r2 := refOf(t, a, tbl, 1), refOf(t, a, tbl, 2)
	_, err := a.Update(bg, tbl, []RowRef{r1}, kv(1, "a1"))
	must(t, err)
	_, err = b.Update(bg, tbl, []RowRef{r2}, kv(2, "b2"))
	must(t, err)
	got := make(chan error, 2)
	go func() {
		_, err := a.Update(bg, tbl, []RowRef{r2}, kv(2, "a2"))
		if err != nil {
			a.Rollback()
		}
		got <- err
	}()
	go func() {
		_, err := b.Update(bg, tbl, []RowRef{r1}, kv(1, "b1"))
		if err != nil {
			b.Rollback()
		}
		got <- err
	}()
	first, second := <-got, <-got
	if first == nil {
		first, second = second, first
	}
	wantCode(t, first, sqlerr.DeadlockDetected)
	must(t, second)
	a.Rollback()
	b.Rollback()
}

func TestRowConflict(t *testing.T) {
	e := memEngine(t)
	tbl := createTable(t, e, kvTable(e, "t"))
	insertKV(t, e, tbl, 1, "a", 2, "b", 3, "c")

	x := e.Begin(TxnOptions{})
	x.BeginStatement()
	v := x.View()
	refs := []RowRef{lookup(t, v, tbl, 1), lookup(t, v, tbl, 2), lookup(t, v, tbl, 3)}
	v.Release()
	y := e.Begin(TxnOptions{})
	_, err := y.Update(bg, tbl, refs[1:2], kv(2, "b2"))
	must(t, err)
	_, err = y.Delete(bg, tbl, refs[2:])
	must(t, err)
	must(t, y.Commit(bg))

	// Row 1 shares their page but did not change.
	_, err = x.Update(bg, tbl, refs[:1], kv(1, "a1"))
	must(t, err)
	changed, _, err := x.LockRows(bg, tbl, refs, Update, Wait)
	must(t, err)
	if len(changed) != 2 || changed[0] != 1 || changed[1] != 2 {
		t.Errorf("changed %v", changed)
	}
	// Having been told, the caller reads the newest version and goes on.
	latest := x.LatestView()
	equal(t, contents(t, latest, tbl), "1=a 2=b2")
	latest.Release()
	_, err = x.Update(bg, tbl, refs[1:2], kv(2, "b3"))
	must(t, err)
	x.EndStatement()
	must(t, x.Commit(bg))
	equal(t, committed(t, e, tbl), "1=a1 2=b3")

	// At the snapshot level, the conflict of a later statement ends the transaction.
	x = e.Begin(TxnOptions{Isolation: Snapshot})
	equal(t, seen(t, x, tbl), "1=a1 2=b3")
	insertKV(t, e, tbl, 4, "d")
	y = e.Begin(TxnOptions{})
	_, err = y.Delete(bg, tbl, refs[:1])
	must(t, err)
	must(t, y.Commit(bg))
	_, err = x.Delete(bg, tbl, refs[:1])
	var conflict *RowConflict
	if !errors.As(err, &conflict) || !conflict.Deleted || conflict.Ref != refs[0] {
		t.Fatalf("error %v", err)
	}
	wantCode(t, err, sqlerr.SerializationFailure)
	x.Rollback()

	// Locks: SKIP LOCKED and NOWAIT.
	x, y = e.Begin(TxnOptions{}), e.Begin(TxnOptions{})
	_, _, err = x.LockRows(bg, tbl, refs[1:2], Update, Wait)
	must(t, err)
	_, skipped, err := y.LockRows(bg, tbl, []RowRef{refs[1], refOf(t, y, tbl, 4)}, KeyShare, SkipLocked)
	must(t, err)
	if len(skipped) != 1 || skipped[0] != 0 {
		t.Errorf("skipped %v", skipped)
	}
	_, _, err = y.LockRows(bg, tbl, refs[1:2], KeyShare, NoWait)
	wantCode(t, err, sqlerr.LockNotAvailable)
	x.Rollback()
	y.Rollback()
}

// Inserters of the same keys: each key ends up with exactly one row, and an error only if another
// transaction has it.
func TestConcurrentInserters(t *testing.T) {
	e := memEngine(t)
	tbl := createTable(t, e, kvTable(e, "t"))
	const keys = 40
	seed := newRand(t).Uint64()
	var owners [keys]atomic.Int32
	var wg sync.WaitGroup
	for w := range 6 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(w)))
			for range 60 {
				x := e.Begin(TxnOptions{})
				var mine []int
				var err error
				for range 1 + r.IntN(3) {
					k := r.IntN(keys)
					if _, err = x.Insert(bg, tbl, kv(k, strconv.Itoa(w))); err != nil {
						break
					}
					mine = append(mine, k)
				}
				switch code := sqlerr.CodeOf(err); {
				case err == nil && r.IntN(3) > 0:
					for _, k := range mine {
						if owners[k].Add(1) != 1 {
							t.Errorf("key %d was given out twice", k)
						}
					}
					must(t, x.Commit(bg))
				case err == nil || code == sqlerr.UniqueViolation || code == sqlerr.DeadlockDetected:
					x.Rollback()
				default:
					t.Error(err)
					x.Rollback()
				}
			}
		})
	}
	wg.Wait()
	want := 0
	for k := range owners {
		want += int(owners[k].Load())
	}
	equal(t, int(e.RowCount(tbl)), want)
	mustCheck(t, e)
}

// accounts moves money between rows while readers add it up: every view shows the same total.
func TestSnapshotsUnderLoad(t *testing.T) {
	for _, o := range []Options{{}, {Dir: "db", FS: vfs.NewMem()}} {
		e := openTest(t, o)
		tbl := kvTable(e, "t")
		tbl.Columns[1].Type = int8Type
		tbl = createTable(t, e, tbl)
		const accounts, total = 200, 200 * 100
		row := func(id, balance int64) *vector.Batch {
			return &vector.Batch{N: 1, Vecs: []*vector.Vector{
				vector.ConstOf(vector.IntDatum(vector.I64, id)), vector.ConstOf(vector.IntDatum(vector.I64, balance))}}
		}
		x := e.Begin(TxnOptions{})
		for id := range int64(accounts) {
			_, err := x.Insert(bg, tbl, row(id, 100))
			must(t, err)
		}
		must(t, x.Commit(bg))
		seed := newRand(t).Uint64()
		stop := make(chan struct{})
		var wg, readers sync.WaitGroup
		for w := range 3 {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(seed, uint64(w)))
				for range 150 {
					transfer(t, e, tbl, int64(r.IntN(accounts)), int64(r.IntN(accounts)), row)
				}
			})
		}
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				v := e.View()
				sum, n := sumBalances(t, v, tbl)
				if sum != total || n != accounts {
					t.Errorf("view at %d: %d in %d accounts", v.CommitNumber(), sum, n)
				}
				must(t, v.WaitDurable(bg))
				if e.durable.done.Load() < v.CommitNumber() {
					t.Error("view is not durable")
				}
				v.Release()
			}
		})
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					_, err := e.FoldGroup(bg, tbl, tbl.Stores[0], 0, e.CommitNumber())
					must(t, err)
					time.Sleep(time.Millisecond)
				}
			}
		})
		wg.Wait()
		close(stop)
		readers.Wait()
		mustCheck(t, e)
		must(t, e.Close())
	}
}

// transfer moves one unit, again after a conflict.
func transfer(t *testing.T, e *Engine, tbl *catalog.Table, from, to int64, row func(id, balance int64) *vector.Batch) {
	if from == to {
		return
	}
	for {
		x := e.Begin(TxnOptions{Isolation: Snapshot})
		v := x.View()
		var refs []RowRef
		var balances []int64
		for _, id := range []int64{from, to} {
			ref := lookup(t, v, tbl, id)
			var b vector.Batch
			_, err := v.Fetch(tbl, ref.Store(), []uint64{ref.Row()}, []int{1}, &b)
			must(t, err)
			refs = append(refs, ref)
			balances = append(balances, vector.Of[int64](b.Vecs[0])[0])
		}
		v.Release()
		_, err := x.Update(bg, tbl, refs[:1], row(from, balances[0]-1))
		if err == nil {
			_, err = x.Update(bg, tbl, refs[1:], row(to, balances[1]+1))
		}
		if err == nil {
			must(t, x.Commit(bg))
			return
		}
		x.Rollback()
		if c := sqlerr.CodeOf(err); c != sqlerr.SerializationFailure && c != sqlerr.DeadlockDetected {
			t.Error(err)
			return
		}
	}
}

func sumBalances(t *testing.T, v *View, tbl *catalog.Table) (sum, n int64) {
	c, err := v.ScanGroup(tbl, tbl.Stores[0], 0, []int{1}, ScanOptions{})
	must(t, err)
	var b vector.Batch
	for {
		more, err := c.Next(&b)
		must(t, err)
		if !more {
			break
		}
		for _, x := range vector.Of[int64](b.Vecs[0])[:b.N] {
			sum += x
			n++
		}
	}
	must(t, c.Close())
	return sum, n
}

// slowSyncFS makes syncs take time, as on a disk.
type slowSyncFS struct{ vfs.FS }

type slowSyncFile struct{ vfs.File }

func (f slowSyncFile) Sync() error {
	time.Sleep(2 * time.Millisecond)
	return f.File.Sync()
}

func (f slowSyncFile) SyncData() error {
	time.Sleep(2 * time.Millisecond)
	return f.File.SyncData()
}

func (s slowSyncFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := s.FS.Create(name, c)
	return slowSyncFile{f}, err
}

func (s slowSyncFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	f, err := s.FS.OpenReadWrite(name, c, o...)
	return slowSyncFile{f}, err
}

func (s slowSyncFS) ReuseForWrite(a, b string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := s.FS.ReuseForWrite(a, b, c)
	return slowSyncFile{f}, err
}

func TestGroupCommit(t *testing.T) {
	if *spillFlag > 0 {
		t.Skip("ingestions share no syncs")
	}
	e := openTest(t, Options{Dir: "db", FS: slowSyncFS{vfs.NewMem()}})
	defer func() { must(t, e.Close()) }()
	tbl := createTable(t, e, kvTable(e, "t"))
	before := e.Metrics()
	const writers, each = 16, 10
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				insertKV(t, e, tbl, w*each+i, "x")
			}
		})
	}
	wg.Wait()
	after := e.Metrics()
	commits, syncs := after.Commits-before.Commits, after.LogSyncs-before.LogSyncs
	equal(t, commits, writers*each)
	if syncs*3 > commits {
		t.Errorf("%d syncs for %d commits", syncs, commits)
	}
	if after.DurableNumber != after.CommitNumber {
		t.Errorf("durable %d of %d", after.DurableNumber, after.CommitNumber)
	}
}

func TestNoSyncWait(t *testing.T) {
	if *spillFlag > 0 {
		t.Skip("ingestions are synced")
	}
	e := openTest(t, Options{Dir: "db", FS: vfs.NewMem(), NoMaintenance: true})
	tbl := createTable(t, e, kvTable(e, "t"))
	gate := gatedFile{e.redo.file, make(chan struct{})}
	e.redo.file = gate
	for i := range 50 { // no sync comes to its end meanwhile
		x := e.Begin(TxnOptions{NoSyncWait: true})
		_, err := x.Insert(bg, tbl, kv(i, "x"))
		must(t, err)
		must(t, x.Commit(bg))
	}
	v := e.View()
	ctx, cancel := context.WithCancel(bg)
	cancel()
	wantCode(t, v.WaitDurable(ctx), sqlerr.QueryCanceled)
	close(gate.open)
	must(t, v.WaitDurable(bg))
	v.Release()
	must(t, e.Close())
}

// gatedFile syncs when it is open.
type gatedFile struct {
	vfs.File
	open chan struct{}
}

func (f gatedFile) SyncData() error {
	<-f.open
	return f.File.SyncData()
}
