package exec

import (
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// changeNewest writes rows of which at least one, the conflict, was changed by another transaction
// since the statement's view. Rows before it are locked and unchanged; the others have not been
// looked at. At READ COMMITTED a changed row, once it is locked, is judged by its newest version: if
// that passes the conditions, the new values are computed from it, else the row is left alone. The
// other tables are read as the statement sees them. (PostgreSQL's EvalPlanQual.)
func (p *writePusher) changeNewest(rows *vector.Batch, refs []storage.RowRef, conflict *storage.RowConflict) error {
	txn := p.op.run.query.Txn
	stale := make([]bool, len(refs))
	stale[conflict.Index] = true
	behind := conflict.Index + 1
	changed, _, err := txn.LockRows(p.w.Ctx, p.op.table, refs[behind:], p.op.mode, storage.Wait)
	if err != nil {
		return err
	}
	for _, i := range changed {
		stale[behind+i] = true
	}
	fresh := vector.Batch{N: rows.N, Vecs: rows.Vecs, Sel: make(vector.Sel, 0, len(refs))}
	var freshRefs, staleRefs []storage.RowRef
	for k, ref := range refs {
		if stale[k] {
			staleRefs = append(staleRefs, ref)
			continue
		}
		i := uint16(k)
		if rows.Sel != nil {
			i = rows.Sel[k]
		}
		fresh.Sel, freshRefs = append(fresh.Sel, i), append(freshRefs, ref)
	}
	if len(freshRefs) > 0 {
		if err := p.change(&fresh, freshRefs); err != nil {
			return err
		}
	}
	return p.writeNewest(staleRefs)
}

// writeNewest runs the input again with only the newest versions of some rows, which are locked, in
// place of the table, and writes what comes out.
func (p *writePusher) writeNewest(refs []storage.RowRef) error {
	view := p.op.run.query.Txn.LatestView()
	defer view.Release()
	again := *p.op.run
	again.threads, again.outer, again.ctes, again.stats = 1, p.op.run, nil, nil
	again.newest = &newestRows{scan: targetScan(p.op.input), view: view, refs: refs}
	again.account = &account{budget: p.op.run.account.budget}
	defer again.account.release()
	writer := &writePusher{op: p.op, w: p.w, checks: p.checks, program: p.program, out: p.out}
	if p.op.repeats {
		writer.seen = map[storage.RowRef]struct{}{}
	}
	return again.collect(p.op.input, &pusherSink{writer})
}

// targetScan finds the scan whose rows a plan is to change.
func targetScan(n planner.Node) *planner.Scan {
	if scan, ok := n.(*planner.Scan); ok && scan.ForUpdate {
		return scan
	}
	for _, kid := range n.Kids() {
		if scan := targetScan(kid); scan != nil {
			return scan
		}
	}
	return nil
}

// pusherSink ends a plan that runs inside of a pusher; what follows that one is not flushed.
type pusherSink struct{ Pusher }

func (s *pusherSink) Open(*Worker) (Pusher, error) { return s, nil }
func (s *pusherSink) Finish(*Worker) error         { return nil }
func (s *pusherSink) Flush() error                 { return nil }
