package exec

import (
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// lockRowsOp locks the rows that its input was made of and passes on those that are still as they
// were, or are made again from their newest versions. It runs on one worker, in order.
type lockRowsOp struct {
	run    *run
	node   *planner.LockRows
	tables []home   // as node.Rows
	refs   []int    // columns of the references, as node.Rows
	keep   []int    // the other columns
	limit  *limitOp // of a LIMIT above: no more rows are locked than it takes; nil = all
}

var lockModes = map[planner.LockStrength]storage.LockMode{planner.LockKeyShare: storage.KeyShare,
	planner.LockShare: storage.Share, planner.LockNoKeyUpdate: storage.NoKeyUpdate, planner.LockUpdate: storage.Update}

var lockPolicies = map[planner.LockWait]storage.WaitPolicy{planner.LockWaits: storage.Wait,
	planner.LockSkips: storage.SkipLocked, planner.LockFails: storage.NoWait}

func (b *builder) lockRows(n *planner.LockRows) ([]*stream, error) {
	if b.run.query.Txn == nil {
		return nil, sqlerr.New(sqlerr.ReadOnlyTransaction, "cannot lock rows in a read-only transaction")
	}
	op := &lockRowsOp{run: b.run, node: n}
	at := layout(n.Input.Cols())
	for i := range n.Rows {
		op.tables = append(op.tables, homeOf(findLocked(n.Input, n.Rows[i].Lock)))
		op.refs = append(op.refs, at(n.Rows[i].Ref.ID))
	}
	for _, c := range n.Cols() {
		op.keep = append(op.keep, at(c.ID))
	}
	streams, err := b.build(n.Input, n)
	if err != nil {
		return nil, err
	}
	for _, s := range streams {
		s.serial = true
		s.scan = nil // what a filter above would drop must be locked nevertheless
		s.add(op, nil)
	}
	return streams, nil
}

// limitLocks tells the LockRows below a LIMIT, with only projections between, how far to go.
func limitLocks(streams []*stream, input planner.Node, limit *limitOp) {
	for {
		p, ok := input.(*planner.Project)
		if !ok {
			break
		}
		input = p.Input
	}
	if _, ok := input.(*planner.LockRows); !ok {
		return
	}
	for _, s := range streams {
		for _, op := range s.ops {
			if l, ok := op.(*lockRowsOp); ok {
				l.limit = limit
			}
		}
	}
}

type lockRowsPusher struct {
	op      *lockRowsOp
	w       *Worker
	changed map[storage.RowRef]struct{} // locked rows that the input shows as they were before
	flat    []vector.Vector
	rows    [][]int64 // references of the current batch by table
	sel     vector.Sel
	picked  vector.Batch
	out     Pusher
}

func (op *lockRowsOp) Open(w *Worker, out Pusher) (Pusher, error) {
	return &lockRowsPusher{op: op, w: w, changed: map[storage.RowRef]struct{}{}, flat: make([]vector.Vector, len(op.refs)),
		rows: make([][]int64, len(op.refs)), picked: vector.Batch{Vecs: make([]*vector.Vector, len(op.keep))}, out: out}, nil
}

func (p *lockRowsPusher) Flush() error { return p.out.Flush() }

func (p *lockRowsPusher) Push(b *vector.Batch) error {
	for i, c := range p.op.refs {
		p.rows[i] = vector.Of[int64](vector.Flatten(&p.flat[i], b.Vecs[c], b.N))
	}
	live := cut(b, 0, b.Live(), make(vector.Sel, b.N))
	for len(live) > 0 {
		if err := p.w.Check(); err != nil {
			return err
		}
		n := len(live)
		if l := p.op.limit; l != nil {
			n = int(min(int64(n), max(l.end-l.seen.Load(), 0)))
			if n == 0 {
				return ErrStop
			}
		}
		if err := p.lock(b, live[:n]); err != nil {
			return err
		}
		live = live[n:]
	}
	return nil
}

// lock locks rows of the batch and passes them on, in order.
func (p *lockRowsPusher) lock(b *vector.Batch, rows vector.Sel) error {
	rows = append(vector.Sel(nil), rows...)
	for i := range p.op.node.Rows {
		var err error
		if rows, err = p.lockTable(i, rows); err != nil {
			return err
		}
	}
	p.sel = p.sel[:0]
	for _, row := range rows {
		if !p.isStale(int(row)) {
			p.sel = append(p.sel, row)
			continue
		}
		if err := p.pass(b); err != nil {
			return err
		}
		if !p.op.run.query.Txn.RereadsRows() {
			return sqlerr.New(sqlerr.SerializationFailure, "could not serialize access due to concurrent update")
		}
		if err := p.makeAgain(int(row)); err != nil {
			return err
		}
	}
	return p.pass(b)
}

// lockTable locks the rows of one table and returns those that were not skipped.
func (p *lockRowsPusher) lockTable(i int, rows vector.Sel) (vector.Sel, error) {
	l, table := &p.op.node.Rows[i], &p.op.tables[i]
	refs := make([]storage.RowRef, len(rows))
	for k, row := range rows {
		refs[k] = storage.RowRef(p.rows[i][row])
	}
	var skipped []int
	err := table.each(refs, func(leaf *catalog.Table, part []storage.RowRef, at []int) error {
		changed, left, err := p.op.run.query.Txn.LockRows(p.w.Ctx, leaf, part, lockModes[l.Strength], lockPolicies[l.Wait])
		if sqlerr.CodeOf(err) == sqlerr.LockNotAvailable && l.Wait == planner.LockFails {
			return sqlerr.New(sqlerr.LockNotAvailable, "could not obtain lock on row in relation %q", leaf.Name)
		}
		for _, k := range changed {
			p.changed[part[k]] = struct{}{}
		}
		for _, k := range left {
			skipped = append(skipped, place(at, k))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(skipped)
	left := rows[:0]
	for k, row := range rows {
		if len(skipped) > 0 && skipped[0] == k {
			skipped = skipped[1:]
			continue
		}
		left = append(left, row)
	}
	return left, nil
}

// findLocked finds a scan by the number of its lock.
func findLocked(n planner.Node, lock int) *planner.Scan {
	switch n := n.(type) {
	case *planner.Scan:
		if n.Lock == lock {
			return n
		}
	case *planner.CTEScan:
		return findLocked(n.CTE.Plan, lock)
	}
	for _, kid := range n.Kids() {
		if scan := findLocked(kid, lock); scan != nil {
			return scan
		}
	}
	return nil
}

func (p *lockRowsPusher) isStale(row int) bool {
	for i := range p.rows {
		if _, ok := p.changed[storage.RowRef(p.rows[i][row])]; ok {
			return true
		}
	}
	return false
}

// pass passes on the selected rows of the batch.
func (p *lockRowsPusher) pass(b *vector.Batch) error {
	if len(p.sel) == 0 {
		return nil
	}
	err := p.push(b, p.sel)
	p.sel = p.sel[:0]
	return err
}

func (p *lockRowsPusher) push(b *vector.Batch, sel vector.Sel) error {
	p.picked.N, p.picked.Sel = b.N, sel
	for i, c := range p.op.keep {
		p.picked.Vecs[i] = b.Vecs[c]
	}
	return p.out.Push(&p.picked)
}

// makeAgain computes a row anew from the newest versions of the table rows it was made of.
func (p *lockRowsPusher) makeAgain(row int) error {
	refs := map[int][]storage.RowRef{}
	for i := range p.rows {
		refs[p.op.node.Rows[i].Lock] = []storage.RowRef{storage.RowRef(p.rows[i][row])}
	}
	return p.op.run.recheck(p.op.node.Input, refs, &againPusher{p})
}

// againPusher takes rows that were made again.
type againPusher struct{ lock *lockRowsPusher }

func (p *againPusher) Push(b *vector.Batch) error { return p.lock.push(b, b.Sel) }
func (p *againPusher) Flush() error               { return nil }
