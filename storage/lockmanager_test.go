package storage

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftdb/weft/internal/sqlerr"
)

func owner(id uint64) *lockOwner { return &lockOwner{id: id} }

func mustLock(t *testing.T, m *lockManager, o *lockOwner, r resource, mode LockMode) {
	t.Helper()
	if ok, _, err := m.lock(context.Background(), o, r, mode, Wait); err != nil || !ok {
		t.Fatalf("lock: %v %v", ok, err)
	}
}

// waitsFor waits until n requests wait.
func waitsFor(t *testing.T, m *lockManager, n uint64) {
	t.Helper()
	for range 5000 {
		if m.waits.Load() == n {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("%d waits, want %d", m.waits.Load(), n)
}

// PostgreSQL's documented tables: a mode conflicts exactly with these.
func TestLockMatrix(t *testing.T) {
	for kind, want := range map[lockKind][]string{
		lockRow: {"...X", "..XX", ".XXX", "XXXX"},
		lockRelation: {".......X", "......XX", "....XXXX", "...XXXXX", "..XX.XXX", "..XXXXXX",
			".XXXXXXX", "XXXXXXXX"},
	} {
		for a, row := range want {
			for b, x := range row {
				m := &lockManager{}
				r := resource{kind: kind, id: 1}
				mustLock(t, m, owner(1), r, LockMode(a))
				ok, _, _ := m.lock(context.Background(), owner(2), r, LockMode(b), SkipLocked)
				if ok == (x == 'X') {
					t.Errorf("kind %d: modes %d and %d: granted %v", kind, a, b, ok)
				}
			}
		}
	}
}

func TestLockUpgradeAndRelease(t *testing.T) {
	m := &lockManager{}
	a, b := owner(1), owner(2)
	r := resource{kind: lockRow, id: 9}
	mustLock(t, m, a, r, KeyShare)
	mustLock(t, m, b, r, NoKeyUpdate)
	if _, held, _ := m.lock(context.Background(), b, r, Share, Wait); !held {
		t.Error("NoKeyUpdate does not cover Share")
	}
	if _, _, err := m.lock(context.Background(), b, r, Update, NoWait); sqlerr.CodeOf(err) != sqlerr.LockNotAvailable {
		t.Errorf("upgrade against a share lock: %v", err)
	}
	got := make(chan error)
	go func() {
		_, _, err := m.lock(context.Background(), b, r, Update, Wait)
		got <- err
	}()
	waitsFor(t, m, 1)
	m.releaseAll(a)
	if err := <-got; err != nil {
		t.Fatal(err)
	}
	m.releaseAll(b)
	for i := range m.shards {
		if m.shards[i].locks.count != 0 {
			t.Error("locks left behind")
		}
	}
}

func TestLockCancel(t *testing.T) {
	m := &lockManager{}
	a, b, c := owner(1), owner(2), owner(3)
	r := resource{kind: lockRow, id: 9}
	mustLock(t, m, a, r, Share)
	ctx, cancel := context.WithCancel(context.Background())
	got := make(chan error, 2)
	go func() {
		_, _, err := m.lock(ctx, b, r, Update, Wait)
		got <- err
	}()
	waitsFor(t, m, 1)
	go func() { // waits behind b only, so b's end lets it go on
		_, _, err := m.lock(context.Background(), c, r, Share, Wait)
		got <- err
	}()
	waitsFor(t, m, 2)
	cancel()
	var canceled, granted int
	for range 2 {
		switch err := <-got; {
		case err == nil:
			granted++
		case sqlerr.CodeOf(err) == sqlerr.QueryCanceled && errors.Is(err, context.Canceled):
			canceled++
		default:
			t.Fatal(err)
		}
	}
	if canceled != 1 || granted != 1 {
		t.Errorf("canceled %d granted %d", canceled, granted)
	}
}

func TestDeadlock(t *testing.T) {
	m := &lockManager{}
	const n = 4
	owners := make([]*lockOwner, n)
	for i := range owners {
		owners[i] = owner(uint64(i))
		mustLock(t, m, owners[i], resource{kind: lockRow, id: uint64(i)}, Update)
	}
	got := make(chan error, n)
	for i := range owners {
		go func() {
			_, _, err := m.lock(context.Background(), owners[i], resource{kind: lockRow, id: uint64((i + 1) % n)}, Update, Wait)
			if err != nil {
				m.releaseAll(owners[i])
			}
			got <- err
			m.releaseAll(owners[i])
		}()
	}
	victims := 0
	for range n {
		if err := <-got; err != nil {
			if sqlerr.CodeOf(err) != sqlerr.DeadlockDetected {
				t.Fatal(err)
			}
			victims++
		}
	}
	if victims != 1 {
		t.Errorf("%d victims of one cycle", victims)
	}
}

// Random owners lock random resources in random modes; holders never conflict, and everybody ends.
func TestLockStress(t *testing.T) {
	m := &lockManager{}
	const resources = 6
	var counts [resources][4]atomic.Int32
	var wg sync.WaitGroup
	seed := newRand(t).Uint64()
	for w := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			r := rand.New(rand.NewPCG(seed, uint64(w)))
			for i := range 400 {
				o := owner(uint64(w*1000 + i))
				held := map[int]modeSet{}
				for range 1 + r.IntN(4) {
					n, mode := r.IntN(resources), LockMode(r.IntN(4))
					res := resource{kind: lockRow, id: uint64(n)}
					ok, had, err := m.lock(context.Background(), o, res, mode, WaitPolicy(r.IntN(2)*2))
					if err != nil {
						if sqlerr.CodeOf(err) != sqlerr.DeadlockDetected {
							t.Error(err)
						}
						break
					}
					if !ok || had || held[n]&mode.bit() != 0 {
						continue
					}
					held[n] |= mode.bit()
					counts[n][mode].Add(1)
					for other := range LockMode(4) {
						mine := int32(0)
						if held[n]&other.bit() != 0 {
							mine = 1
						}
						if res.conflicts(mode)&other.bit() != 0 && counts[n][other].Load() > mine {
							t.Errorf("modes %d and %d held together", mode, other)
						}
					}
				}
				for n, set := range held {
					for mode := range LockMode(4) {
						if set&mode.bit() != 0 {
							counts[n][mode].Add(-1)
						}
					}
				}
				m.releaseAll(o)
			}
		}()
	}
	wg.Wait()
	for i := range m.shards {
		if m.shards[i].locks.count != 0 {
			t.Errorf("locks left behind: %v", m.shards[i].locks.slots)
		}
	}
}

func BenchmarkLockRows(b *testing.B) {
	m := &lockManager{}
	ctx := context.Background()
	for b.Loop() {
		o := owner(1)
		for i := range uint64(1000) {
			if _, _, err := m.lock(ctx, o, resource{kind: lockRow, id: i}, Update, Wait); err != nil {
				b.Fatal(err)
			}
		}
		m.releaseAll(o)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/lock")
}

// TestAwaitHolders waits for those who hold a resource: later ones neither wait nor are waited for, a
// cycle is found from both sides, and giving up leaves nothing behind.
func TestAwaitHolders(t *testing.T) {
	m := &lockManager{}
	r := resource{kind: lockRelation, object: 7}
	early, late, builder := owner(1), owner(2), owner(3)
	mustLock(t, m, builder, r, ShareUpdateExclusive)
	if err := m.awaitHolders(context.Background(), builder, r, TableShare); err != nil {
		t.Fatal(err) // nobody is there
	}
	mustLock(t, m, early, r, RowExclusive)
	done := make(chan error)
	await := func(ctx context.Context) { done <- m.awaitHolders(ctx, builder, r, TableShare) }

	ctx, cancel := context.WithCancel(context.Background())
	go await(ctx)
	waitsFor(t, m, 1)
	cancel()
	if err := <-done; sqlerr.CodeOf(err) != sqlerr.QueryCanceled {
		t.Fatalf("cancelled: %v", err)
	}

	go await(context.Background())
	waitsFor(t, m, 2)
	mustLock(t, m, late, r, RowExclusive)
	if _, _, err := m.lock(context.Background(), early, r, AccessExclusive, Wait); sqlerr.CodeOf(err) != sqlerr.DeadlockDetected {
		t.Fatalf("a writer that waits for the builder: %v", err)
	}
	select {
	case err := <-done:
		t.Fatalf("did not wait: %v", err)
	case <-time.After(10 * time.Millisecond):
	}
	m.releaseAll(early)
	if err := <-done; err != nil {
		t.Fatal(err)
	}

	again := owner(4) // waits already when the builder begins to
	mustLock(t, m, again, r, RowExclusive)
	stuck := make(chan error)
	go func() {
		_, _, err := m.lock(context.Background(), again, r, AccessExclusive, Wait)
		stuck <- err
	}()
	waitsFor(t, m, 4)
	if err := m.awaitHolders(context.Background(), builder, r, TableShare); sqlerr.CodeOf(err) != sqlerr.DeadlockDetected {
		t.Fatalf("a builder that waits for a waiting writer: %v", err)
	}
	m.releaseAll(builder)
	m.releaseAll(late)
	if err := <-stuck; err != nil {
		t.Fatal(err)
	}
	m.releaseAll(again)
	for i := range m.shards {
		if n := m.shards[i].locks.count; n != 0 {
			t.Errorf("%d locks are left", n)
		}
	}
}

// TestTableAskedForAgain asks for tables again and again, as each statement does: an owner is known to hold
// what it was granted, no more than that, and nothing once it has released its locks.
func TestTableAskedForAgain(t *testing.T) {
	m := &lockManager{}
	one, other := owner(1), owner(2)
	a, b := resource{kind: lockRelation, object: 1}, resource{kind: lockRelation, object: 2}
	for range 3 {
		mustLock(t, m, one, a, RowExclusive)
		mustLock(t, m, one, a, AccessShare)
		mustLock(t, m, one, b, AccessShare)
	}
	if n := len(one.held); n != 2 {
		t.Errorf("%d resources are held", n)
	}
	mustLock(t, m, other, b, RowExclusive)
	mustLock(t, m, other, b, ShareUpdateExclusive)
	if granted, _, _ := m.lock(context.Background(), one, b, Exclusive, SkipLocked); granted {
		t.Error("a stronger mode was granted beside another owner's")
	}
	if granted, _, _ := m.lock(context.Background(), other, a, AccessExclusive, SkipLocked); granted {
		t.Error("a table was granted beside its writer")
	}
	m.releaseAll(one)
	mustLock(t, m, other, a, AccessExclusive)
	for _, mode := range []LockMode{AccessShare, RowExclusive} {
		if granted, _, _ := m.lock(context.Background(), one, a, mode, SkipLocked); granted {
			t.Errorf("mode %d was granted after the locks were released", mode)
		}
	}
	m.releaseAll(other)
	if n := m.excluding.Load(); n != 0 {
		t.Errorf("%d owners exclude readers", n)
	}
}
