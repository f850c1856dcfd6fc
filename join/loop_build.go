package join

import (
	"sync"
	"sync/atomic"

	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// Loop holds the build rows of a join without keys: every probe row meets every build row, block
// by block. As a Table it is filled by one LoopBuilder per worker, finished once, and read by many.
// Its rows are in memory, or, where that does not take them, all on disk.
type Loop struct {
	kinds    []vector.Kind
	spill    *Spill // nil: nothing may go to disk
	held     atomic.Int64
	onDisk   atomic.Bool
	mu       sync.Mutex // guards builders while workers open, and the start of spool
	builders []*LoopBuilder
	rows     *Store
	spool    *Spool // nil: the rows are in memory
	marking
}

// NewLoop returns an empty loop over rows of the given columns. spill may be nil.
func NewLoop(kinds []vector.Kind, spill *Spill) *Loop { return &Loop{kinds: kinds, spill: spill} }

// LoopOver returns a finished loop over the rows of a store.
func LoopOver(s *Store) *Loop { return &Loop{rows: s} }

// Rows returns the number of build rows.
func (l *Loop) Rows() int {
	if l.spool != nil {
		return int(l.spool.Rows())
	}
	return l.rows.rows
}

// Store returns the build rows; an empty store of their kinds when they are on disk.
func (l *Loop) Store() *Store { return l.rows }

// Spool returns the build rows when they are on disk, else nil.
func (l *Loop) Spool() *Spool { return l.spool }

// LoopBuilder takes one worker's build rows.
type LoopBuilder struct {
	loop   *Loop
	store  *Store
	writer *SpoolWriter // once rows go to disk
}

// NewBuilder adds a worker. It may be called concurrently; the builder belongs to its caller.
func (l *Loop) NewBuilder(memory Memory) *LoopBuilder {
	b := &LoopBuilder{loop: l, store: NewStore(l.kinds, memory)}
	l.mu.Lock()
	l.builders = append(l.builders, b)
	l.mu.Unlock()
	return b
}

// Append adds the live rows of vecs, one vector per column in any form.
func (b *LoopBuilder) Append(vecs []*vector.Vector, n int, sel vector.Sel) error {
	l := b.loop
	if l.onDisk.Load() {
		if err := b.toDisk(); err != nil {
			return err
		}
		return b.writer.Append(vecs, n, sel)
	}
	before := b.store.need
	err := b.store.Append(vecs, n, sel)
	if l.spill == nil || err != nil && sqlerr.CodeOf(err) != sqlerr.OutOfMemory {
		return err
	}
	if err == nil && l.held.Add(b.store.need-before) <= l.spill.LimitBytes {
		return nil
	}
	l.startSpill()
	if spillErr := b.toDisk(); spillErr != nil || err == nil {
		return spillErr
	}
	return b.writer.Append(vecs, n, sel) // the store has not taken them
}

// startSpill makes all builders write their rows to disk from their next batch on.
func (l *Loop) startSpill() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.onDisk.Load() {
		l.spool = NewSpool(l.spill.Files, l.kinds)
		l.onDisk.Store(true)
	}
}

// toDisk writes the builder's rows so far.
func (b *LoopBuilder) toDisk() error {
	if b.writer != nil {
		return nil
	}
	b.writer = b.loop.spool.NewWriter()
	err := b.store.writeTo(b.writer)
	b.store.release()
	return err
}

// writeTo writes a store's rows to a spool.
func (s *Store) writeTo(w *SpoolWriter) error {
	block := NewBlock(len(s.cols))
	for from := 0; from < s.rows; from += BlockRows {
		n := min(BlockRows, s.rows-from)
		s.Block(block, from, n)
		if err := w.Append(block, n, nil); err != nil {
			return err
		}
	}
	return nil
}

// Finish ends the build.
func (l *Loop) Finish() error {
	builders := l.builders
	l.builders = nil
	l.rows = NewStore(l.kinds, nil)
	if !l.onDisk.Load() && len(builders) > 0 {
		err := l.gather(builders)
		if err == nil || l.spill == nil || sqlerr.CodeOf(err) != sqlerr.OutOfMemory {
			return err
		}
		l.rows = NewStore(l.kinds, nil)
		l.startSpill()
	}
	for _, b := range builders {
		if err := b.toDisk(); err != nil {
			return err
		}
		if err := b.writer.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// gather brings the rows of all builders together in memory. After an error they are as they were.
func (l *Loop) gather(builders []*LoopBuilder) error {
	first, others := builders[0].store, []*Store(nil)
	for _, b := range builders[1:] {
		if b.store.rows > 0 {
			others = append(others, b.store)
		}
	}
	if first.rows == 0 && len(others) > 0 {
		first, others = others[0], others[1:]
	}
	if err := first.reserveOthers(others); err != nil {
		return err
	}
	for i := range first.cols {
		if err := first.concatColumn(i, others); err != nil {
			return err
		}
	}
	for _, o := range others {
		first.rows += o.rows
		o.release()
	}
	l.rows = first
	return nil
}
