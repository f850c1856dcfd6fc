package storage

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/weftdb/weft/catalog"
)

// SERIALIZABLE is snapshot isolation with the check of Cahill, Röhm and Fekete ("Serializable
// Isolation for Snapshot Databases", 2008), in the form that Ports and Grittner gave it
// ("Serializable Snapshot Isolation in PostgreSQL", 2012).
//
// Two transactions are concurrent if each began before the other ended; a transaction begins when it
// takes its snapshot. There is an edge R → W between concurrent transactions if R could have seen,
// had it run later, what W wrote: R comes before W in every equivalent serial order. Snapshot
// isolation allows a history that no serial order explains only if there are edges
//
//	in → pivot → out
//
// where out, which may be the same as in, was the first of the three to commit; and if in wrote
// nothing, out had committed before in began. A transaction must not commit as the last one that such
// a structure needs.
//
// Whoever is the last of the three is in or the pivot, so it is enough to look at a transaction when
// it commits, and only at those that committed before: it is the pivot if it has an edge to a
// committed out and one from a committed in; it is in if it has an edge to a committed pivot, which
// keeps when the earliest of its outs committed. Nothing has to be known of transactions that still
// run, and what the last one read and wrote is complete. Check and commit number are one step under
// the tracker's mutex; the wait for the log comes after it. A victim can be run again at once: those
// that it failed with have committed, so they are not concurrent with the next attempt.
//
// Reads and writes are noted as logical ones, in accessSet: a scan reads its table, however few rows
// a filter, bounds of column units or a LIMIT leave of it; a scan of an index reads a range of its
// keys, whether there are rows in it or not. A write concerns the old and the new key of the row in
// every index. Notes outlive ROLLBACK TO: what was read then may have been acted on. Writers of one
// row, or of one key of a unique index, exclude each other while they run, and the second one fails
// if the row changed since its snapshot; where it does not (the key was freed, or the row is again
// what it was), the first has an edge to it like a reader.
//
// Foreign keys are checked in the latest committed state under locks that last to the end, and count
// as no reads; so do statistics. Transactions of other levels take no part.

// serialTracker knows the serializable transactions of an engine.
type serialTracker struct {
	mu sync.Mutex
	// clock counts beginnings and ends of transactions, which it puts into an order that agrees with
	// snapshots and commit numbers. The fields below are guarded by mu, too.
	clock  uint64
	active map[*serialTxn]struct{}
	// done are transactions that committed while some other that is still active ran, by lastEnd.
	done      []*serialDone
	doneBytes int
	// newest is the end of the last transaction that committed: those that began later have nobody to
	// be in conflict with.
	newest atomic.Uint64
}

// never is the time of what did not happen.
const never = math.MaxUint64

// serialTxn is a serializable transaction that has not ended.
type serialTxn struct {
	id uint64
	// begin is when the snapshot was taken, 0 before; readOnly that the transaction was declared so
	// by then. They are set once, under the tracker's mu.
	begin    uint64
	readOnly bool
	// safe is set when no reading can be in conflict any more.
	safe atomic.Bool

	mu            sync.Mutex // guards the sets; taken with the tracker's mu held or alone
	reads, writes accessSet
	over          bool // nothing is noted any more

	// Of a read-only transaction, guarded by the tracker's mu: the writers whose ends decide whether
	// the snapshot is safe, and whether it has turned out not to be. settled is closed when that is
	// decided.
	awaited map[*serialTxn]struct{}
	unsafe  bool
	settled chan struct{}
}

// serialDone is what is kept of a committed transaction, or of several together: then times are those
// on the side of caution.
type serialDone struct {
	id            uint64
	reads, writes accessSet
	begin         uint64 // of the last one
	first, last   uint64 // ends
	readOnly      bool   // all wrote nothing
	earliestOut   uint64 // end of the earliest that there is an edge to and that committed before, or never
	bytes         int
}

func newSerialTxn(id uint64) *serialTxn {
	return &serialTxn{id: id, reads: accessSet{}, writes: accessSet{}, settled: make(chan struct{})}
}

// begin takes the transaction's snapshot. A read-only transaction that begins while no writer runs
// needs no watching: whoever commits later began later, so no out of a pivot that the transaction
// could lead to has committed before.
func (k *serialTracker) begin(e *Engine, t *serialTxn, readOnly bool) *snapshot {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := e.snapshot()
	k.clock++
	t.begin, t.readOnly = k.clock, readOnly
	if readOnly {
		t.awaited = map[*serialTxn]struct{}{}
		for w := range k.active {
			if !w.readOnly {
				t.awaited[w] = struct{}{}
			}
		}
		if len(t.awaited) == 0 {
			t.settle(false)
			return s
		}
	}
	if k.active == nil {
		k.active = map[*serialTxn]struct{}{}
	}
	k.active[t] = struct{}{}
	return s
}

// settle decides about a read-only transaction's snapshot. The tracker's mu is held.
func (t *serialTxn) settle(unsafe bool) {
	if t.unsafe = unsafe; !unsafe {
		t.safe.Store(true)
		t.forget()
	}
	t.awaited = nil
	close(t.settled)
}

// forget drops what was noted and stops noting.
func (t *serialTxn) forget() {
	t.mu.Lock()
	t.reads, t.writes, t.over = nil, nil, true
	t.mu.Unlock()
}

// abandon ends a transaction that does not commit, or will never have begun.
func (k *serialTracker) abandon(t *serialTxn) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.leave(t, never)
	t.forget()
}

// commit checks a transaction and runs publish, which makes its writes visible, in one step.
func (k *serialTracker) commit(t *serialTxn, publish func() error) error {
	if t.safe.Load() {
		return publish() // it wrote nothing
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if t.begin == 0 { // it read nothing
		k.clock++
		t.begin = k.clock
	}
	wrote := t.wrote()
	out, err := k.check(t, !wrote, true)
	if err != nil {
		return err
	}
	if err := publish(); err != nil {
		return err
	}
	k.clock++
	d := &serialDone{id: t.id, begin: t.begin, first: k.clock, last: k.clock, readOnly: !wrote, earliestOut: out}
	t.mu.Lock()
	d.reads, d.writes = t.reads, t.writes
	t.reads, t.writes, t.over = nil, nil, true
	t.mu.Unlock()
	d.reads.tidy()
	d.writes.tidy()
	d.bytes = d.reads.size() + d.writes.size()
	k.done = append(k.done, d)
	k.doneBytes += d.bytes
	k.newest.Store(k.clock)
	k.leave(t, out)
	k.condense()
	return nil
}

func (t *serialTxn) wrote() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.writes) > 0
}

// leave takes a transaction out of the active ones, tells those that wait for its end, and drops what
// nobody needs any more. earliestOut is never for one that did not commit. mu is held.
func (k *serialTracker) leave(t *serialTxn, earliestOut uint64) {
	delete(k.active, t)
	for r := range k.active {
		if _, ok := r.awaited[t]; !ok {
			continue
		}
		delete(r.awaited, t)
		switch {
		case earliestOut < r.begin:
			r.settle(true)
		case len(r.awaited) == 0:
			r.settle(false)
			delete(k.active, r)
		}
	}
	oldest := uint64(never)
	for a := range k.active {
		oldest = min(oldest, a.begin)
	}
	n := 0
	for n < len(k.done) && k.done[n].last < oldest {
		k.doneBytes -= k.done[n].bytes
		n++
	}
	if n > 0 {
		rest := copy(k.done, k.done[n:])
		clear(k.done[rest:])
		k.done = k.done[:rest]
	}
	if len(k.done) == 0 {
		k.done = nil
	}
}

// What is kept of committed transactions at most. Only a transaction that stays open long makes it so
// many.
const (
	maxSerialDone      = 512
	maxSerialDoneBytes = 16 << 20
)

// condense makes one of the older half of what is kept when it has become too much. The one stands
// for all of them, with the more cautious of their times; so transactions that were open that long
// may fail without need, and others see no difference. mu is held.
func (k *serialTracker) condense() {
	for len(k.done) > 1 && (len(k.done) > maxSerialDone || k.doneBytes > maxSerialDoneBytes) {
		n := max(len(k.done)/2, 2)
		one := k.done[0]
		for _, d := range k.done[1:n] {
			one.reads.merge(d.reads)
			one.writes.merge(d.writes)
			one.begin = max(one.begin, d.begin)
			one.last = d.last
			one.readOnly = one.readOnly && d.readOnly
			one.earliestOut = min(one.earliestOut, d.earliestOut)
			k.doneBytes -= d.bytes
		}
		one.reads.tidy()
		one.writes.tidy()
		k.doneBytes -= one.bytes
		one.bytes = one.reads.size() + one.writes.size()
		k.doneBytes += one.bytes
		rest := copy(k.done[1:], k.done[n:])
		clear(k.done[1+rest:])
		k.done = k.done[:1+rest]
	}
}

// count returns how many transactions are active and how many records of committed ones are kept.
func (k *serialTracker) count() (active, done int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.active), len(k.done)
}

// readTable notes that a table was read.
func (t *serialTxn) readTable(id catalog.TableID) error {
	return t.note(func() { t.reads.addWhole(id) })
}

// readRanges notes that ranges of an index were read, which are copied.
func (t *serialTxn) readRanges(table catalog.TableID, index catalog.IndexID, ranges ...keyRange) error {
	return t.note(func() {
		a := t.reads.table(table)
		if a.whole {
			return
		}
		a.of(index)
		for _, r := range ranges {
			both := append(append(make([]byte, 0, len(r.low)+len(r.high)), r.low...), r.high...)
			a.add(index, keyRange{both[:len(r.low):len(r.low)], both[len(r.low):]})
		}
	})
}

// readKey notes that a key of an index was looked up.
func (t *serialTxn) readKey(table catalog.TableID, index catalog.IndexID, key []byte) error {
	return t.note(func() { t.reads.table(table).addKey(index, key) })
}

// writeTable notes that a table was written as a whole.
func (t *serialTxn) writeTable(id catalog.TableID) error {
	return t.note(func() { t.writes.addWhole(id) })
}

// note changes the sets. A cursor that outlives the commit of its transaction must not read on: who
// commits later could not know of it.
func (t *serialTxn) note(add func()) error {
	if t == nil || t.safe.Load() {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		if t.safe.Load() {
			return nil
		}
		return errReadAfterEnd
	}
	add()
	return nil
}
