package exec

import (
	"sync/atomic"

	"github.com/weftdb/weft/internal/sqlerr"
)

// Budget bounds the memory that the operators of all running queries hold together. Its methods
// may be called concurrently; nil is a budget without limit.
type Budget struct {
	limit atomic.Int64
	used  atomic.Int64
}

// NewBudget returns a budget of a number of bytes; 0 or less means no limit.
func NewBudget(limit int64) *Budget {
	b := &Budget{}
	b.limit.Store(limit)
	return b
}

// SetLimit changes the limit; what is reserved already stays so.
func (b *Budget) SetLimit(limit int64) { b.limit.Store(limit) }

// Limit returns the limit, 0 = none.
func (b *Budget) Limit() int64 {
	if b == nil {
		return 0
	}
	return max(b.limit.Load(), 0)
}

// Used returns the number of bytes reserved.
func (b *Budget) Used() int64 {
	if b == nil {
		return 0
	}
	return b.used.Load()
}

// Reserve takes bytes from the budget, or fails with 53200. Who reserved them releases them.
func (b *Budget) Reserve(n int64) error {
	if b == nil {
		return nil
	}
	limit := b.limit.Load()
	if used := b.used.Add(n); limit > 0 && used > limit {
		b.used.Add(-n)
		return sqlerr.New(sqlerr.OutOfMemory, "out of memory").
			WithDetail("Failed on request of %d bytes: %d of %d bytes are in use.", n, used-n, limit).
			WithHint("Raise memory_limit, or make the query keep fewer rows.")
	}
	return nil
}

// overdraw takes bytes whether or not they are there.
func (b *Budget) overdraw(n int64) {
	if b != nil {
		b.used.Add(n)
	}
}

// Release gives reserved bytes back.
func (b *Budget) Release(n int64) {
	if b != nil {
		b.used.Add(-n)
	}
}

// account is what one run of a plan has reserved; it is given back when the run ends.
type account struct {
	budget *Budget
	held   atomic.Int64
}

func (a *account) reserve(n int64) error {
	if err := a.budget.Reserve(n); err != nil {
		return err
	}
	a.held.Add(n)
	return nil
}

func (a *account) overdraw(n int64) {
	a.budget.overdraw(n)
	a.held.Add(n)
}

// giveBack releases some of what is reserved.
func (a *account) giveBack(n int64) {
	a.held.Add(-n)
	a.budget.Release(n)
}

func (a *account) release() { a.budget.Release(a.held.Swap(0)) }

// reserveChunk is how much a worker takes from the budget at least: small enough that dozens of
// idle workers do not starve a small budget, large enough that growing costs no atomic operation
// per batch.
const reserveChunk = 64 << 10

// Reservation is one structure's part of an account. It belongs to one goroutine.
type Reservation struct {
	account *account
	granted int64
	used    int64
	floor   int64  // granted whatever others have taken
	meter   *meter // nil: nobody asks
}

// leastBytes is the floor of all reservations: who holds next to nothing does not fail because others hold much.
const leastBytes = 16 << 10

func newReservation(a *account) Reservation { return Reservation{account: a, floor: leastBytes} }

// meter measures the most memory that some reservations use at a time, for EXPLAIN ANALYZE. nil measures nothing.
type meter struct{ used, peak atomic.Int64 }

func (m *meter) add(n int64) {
	if m == nil {
		return
	}
	now := m.used.Add(n)
	for peak := m.peak.Load(); now > peak && !m.peak.CompareAndSwap(peak, now); peak = m.peak.Load() {
	}
}

// Grow reserves n more bytes; it is called before they are allocated.
func (r *Reservation) Grow(n int64) error {
	r.used += n
	if r.used <= r.granted {
		r.meter.add(n)
		return nil
	}
	more := max(r.used-r.granted, reserveChunk)
	if err := r.account.reserve(more); err != nil {
		more = r.used - r.granted
		switch {
		case r.account.reserve(more) == nil:
		case r.used <= r.floor:
			r.account.overdraw(more)
		default:
			r.used -= n
			return err
		}
	}
	r.granted += more
	r.meter.add(n)
	return nil
}

// Shrink gives n bytes back.
func (r *Reservation) Shrink(n int64) {
	r.used -= n
	r.meter.add(-n)
	if spare := r.granted - r.used; spare > reserveChunk {
		r.account.giveBack(spare)
		r.granted = r.used
	}
}

// free gives everything back.
func (r *Reservation) free() {
	r.account.giveBack(r.granted)
	r.meter.add(-r.used)
	r.granted, r.used = 0, 0
}

// restart makes everything reserved available again, to a structure that replaces the one so far.
func (r *Reservation) restart() {
	r.meter.add(-r.used)
	r.used = 0
}
