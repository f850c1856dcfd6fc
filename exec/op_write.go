package exec

import (
	"errors"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// writeOp changes a table by its input's rows and passes on what RETURNING computes. It runs on
// one worker.
type writeOp struct {
	run      *run
	stats    *nodeStats // of the node, nil without ANALYZE
	table    *catalog.Table
	home     home
	bound    *planner.PartitionCheck // of a partition
	write    func(w *writePusher, b *vector.Batch, refs []storage.RowRef) error
	input    planner.Node
	refs     bool             // the input's last column is the row's reference
	mode     storage.LockMode // of the rows that refs name
	conflict *planner.OnConflict
	repeats  bool // the input may name a row twice
	// seen are the rows named so far where the input repeats itself, or those that ON CONFLICT has
	// written. The input may come in several streams, one after the other.
	seen      map[storage.RowRef]struct{}
	generated []planner.Generated
	checks    []planner.TableCheck
	checked   bool // the input's rows are to be stored
	rowCols   []*expr.Col
	returning []expr.Expr
	keys      *planner.References // nil: no foreign key is concerned
	apart     bool                // the keys of deleted rows are noted apart from those of updated ones
}

func (b *builder) write(n planner.Node) ([]*stream, error) {
	op := &writeOp{run: b.run, stats: b.run.stats.of(n)}
	var returning []planner.Item
	switch n := n.(type) {
	case *planner.Insert:
		op.input, returning, op.rowCols = n.Input, n.Returning, n.RowCols
		op.changes(n.Table, n.Into)
		op.generated, op.checks, op.keys, op.conflict = n.Generated, n.Checks, n.Keys, n.Conflict
		op.inserts()
		if bulk := b.run.query.Bulk; bulk != nil {
			op.write = func(_ *writePusher, rows *vector.Batch, _ []storage.RowRef) error { return bulk.add(rows) }
		}
	case *planner.Update:
		op.input, returning, op.rowCols = n.Input, n.Returning, n.RowCols
		op.changes(n.Table, n.Into)
		op.generated, op.checks, op.keys = n.Generated, n.Checks, n.Keys
		op.updates()
	case *planner.Delete:
		op.input, returning, op.rowCols, op.keys = n.Input, n.Returning, n.Input.Cols(), n.Keys
		op.changes(n.Table, n.Into)
		op.deletes()
	}
	if err := op.allowed(); err != nil {
		return nil, err
	}
	if op.repeats = op.refs && mayRepeat(op.input); op.repeats || op.conflict != nil {
		op.seen = map[storage.RowRef]struct{}{}
	}
	for i := range returning {
		op.returning = append(op.returning, returning[i].Expr)
	}
	streams, err := b.build(op.input, n)
	if err != nil {
		return nil, err
	}
	for _, s := range streams {
		s.serial = true
		s.add(op, nil)
	}
	return streams, nil
}

// changes sets the table that op changes.
func (op *writeOp) changes(t *catalog.Table, target planner.Target) {
	op.table, op.home, op.bound = t, home{t, target.Parts}, target.Bound
}

// inserts makes op store its input's rows.
func (op *writeOp) inserts() {
	op.checked = true
	op.write = func(w *writePusher, b *vector.Batch, _ []storage.RowRef) error {
		_, err := w.op.run.query.Txn.Insert(w.w.Ctx, w.op.table, b)
		return err
	}
}

// updates makes op replace the rows that refs name.
func (op *writeOp) updates() {
	op.checked, op.refs, op.mode = true, true, storage.NoKeyUpdate
	op.write = func(w *writePusher, b *vector.Batch, refs []storage.RowRef) error {
		_, err := w.op.run.query.Txn.Update(w.w.Ctx, w.op.table, refs, w.fresh(b))
		return err
	}
}

// deletes makes op delete the rows that refs name.
func (op *writeOp) deletes() {
	op.refs, op.mode = true, storage.Update
	op.write = func(w *writePusher, _ *vector.Batch, refs []storage.RowRef) error {
		_, err := w.op.run.query.Txn.Delete(w.w.Ctx, w.op.table, refs)
		return err
	}
}

// allowed refuses to write where that is not possible, and forgets foreign keys that nobody asks for.
func (op *writeOp) allowed() error {
	if op.run.query.Txn == nil {
		return sqlerr.New(sqlerr.ReadOnlyTransaction, "cannot write to %s in a read-only transaction", op.table.Name)
	}
	if op.run.query.Keys == nil {
		op.keys = nil
	}
	return nil
}

// mayRepeat reports whether a plan may yield a scan's row more than once.
func mayRepeat(n planner.Node) bool {
	switch n := n.(type) {
	case *planner.Scan:
		return false
	case *planner.Project, *planner.Filter, *planner.Sort, *planner.Limit:
		return mayRepeat(n.Kids()[0])
	}
	return true
}

// writePusher is a writeOp at work.
type writePusher struct {
	op        *writeOp
	w         *Worker
	generated *rowGenerated
	checks    *rowChecks
	program   *expr.Program
	seen      map[storage.RowRef]struct{}
	refs      []storage.RowRef
	sel       vector.Sel
	rows      vector.Batch // what is written
	flat      vector.Vector
	batch     vector.Batch
	upsert    *upsert     // of ON CONFLICT
	parts     *partWriter // of a partitioned table
	// root is the writer of the partitioned table that this one, of its leaf, is a part of.
	root *writePusher
	leaf *leafWriter
	// again treats rows that others have changed since the statement's view, which are locked by now,
	// given by their places in the batch and their references; nil: writeNewest does.
	again func(rows vector.Sel, refs []storage.RowRef) error
	out   Pusher
}

func (op *writeOp) Open(w *Worker, out Pusher) (Pusher, error) {
	p := &writePusher{op: op, w: w, out: out}
	p.seen = op.seen
	var err error
	if p.generated, err = newRowGenerated(op.generated, op.rowCols, op.run.env); err != nil {
		return nil, err
	}
	if op.checked {
		if p.checks, err = newRowChecks(op.table, op.checks, op.rowCols, op.run.env); err != nil {
			return nil, err
		}
		p.checks.bound, p.checks.boundFirst = newBoundCheck(op.bound, op.table, op.run.env), op.refs
	}
	if op.conflict != nil {
		if p.upsert, err = newUpsert(p); err != nil {
			return nil, err
		}
	}
	if op.home.desc != nil {
		p.parts = newPartWriter(p)
	}
	if len(op.returning) > 0 {
		p.program, err = expr.CompileAll(op.returning, layout(op.rowCols), op.run.env)
	}
	return p, err
}

func (p *writePusher) Flush() error { return p.out.Flush() }

func (p *writePusher) Push(b *vector.Batch) error {
	if err := p.w.Check(); err != nil {
		return err
	}
	p.rows = vector.Batch{N: b.N, Sel: b.Sel, Vecs: b.Vecs}
	if p.op.refs {
		if p.takeRefs(b); len(p.refs) == 0 {
			return nil
		}
		p.rows.Vecs = b.Vecs[:len(b.Vecs)-1]
	}
	return p.change(&p.rows, p.refs)
}

// change completes, checks and writes rows.
func (p *writePusher) change(rows *vector.Batch, refs []storage.RowRef) error {
	if err := p.generated.fill(rows); err != nil {
		return err
	}
	if p.parts != nil {
		if p.checks != nil {
			if at, err := p.checks.bound.first(rows); err != nil || at >= 0 {
				if err == nil {
					err = p.checks.boundError().WithDetail("Failing row contains (%s).", p.checks.describe(rows, at))
				}
				return err
			}
		}
		return p.parts.change(rows, refs)
	}
	if p.checks != nil {
		if err := p.checks.check(rows); err != nil {
			return err
		}
	}
	if p.upsert != nil {
		return p.upsert.write(rows)
	}
	if err := p.op.write(p, rows, refs); err != nil {
		var conflict *storage.RowConflict
		if !errors.As(err, &conflict) {
			return err
		}
		if !p.op.run.query.Txn.RereadsRows() {
			return conflict.Unwrap()
		}
		return p.changeNewest(rows, refs, conflict)
	}
	if err := p.noteKeys(rows); err != nil {
		return err
	}
	return p.written(rows)
}

// fresh returns the columns of rows that are to be stored: behind them are old values.
func (p *writePusher) fresh(rows *vector.Batch) *vector.Batch {
	return &vector.Batch{N: rows.N, Sel: rows.Sel, Vecs: rows.Vecs[:len(p.op.table.Columns)]}
}

// noteKeys notes what became of the values of foreign keys in rows that were written.
func (p *writePusher) noteKeys(rows *vector.Batch) error {
	if p.root != nil {
		return p.root.noteKeys(p.toRoot(rows))
	}
	keys := p.op.keys
	if keys == nil {
		return nil
	}
	changes, engine := p.op.run.query.Keys, p.op.run.query.Txn.Engine()
	if p.op.apart {
		changes = changes.Deleted()
	}
	changes.begin(p.op.table, keys)
	switch {
	case !p.op.refs:
		return changes.written(engine, rows, nil)
	case !p.op.checked:
		return changes.written(engine, nil, rows)
	}
	return changes.written(engine, p.fresh(rows), rows)
}

// written counts rows that were stored or deleted and passes on what RETURNING computes of them.
func (p *writePusher) written(rows *vector.Batch) error {
	if p.root != nil {
		return p.root.written(p.toRoot(rows))
	}
	p.op.run.affected.Add(int64(rows.Live()))
	if p.program == nil {
		return nil
	}
	vecs, err := p.program.Eval(rows, rows.Sel)
	if err != nil {
		return err
	}
	p.batch = vector.Batch{N: rows.N, Sel: rows.Sel, Vecs: vecs}
	return p.out.Push(&p.batch)
}

// takeRefs collects the live rows' references. A row that the statement has changed already is
// left alone: of several joined rows, any one decides.
func (p *writePusher) takeRefs(b *vector.Batch) {
	column := vector.Flatten(&p.flat, b.Vecs[len(b.Vecs)-1], b.N)
	refs := vector.Of[int64](column)
	p.refs = p.refs[:0]
	sel := p.sel[:0]
	for k := range b.Live() {
		i := uint16(k)
		if b.Sel != nil {
			i = b.Sel[k]
		}
		ref := storage.RowRef(refs[i])
		if p.seen != nil {
			if _, again := p.seen[ref]; again {
				continue
			}
			p.seen[ref] = struct{}{}
		}
		p.refs = append(p.refs, ref)
		sel = append(sel, i)
	}
	p.sel = sel
	if len(sel) < b.N {
		p.rows.Sel = sel
	}
}
