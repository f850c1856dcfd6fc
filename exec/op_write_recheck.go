package exec

import (
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
	return p.changeStale(rows, refs, stale)
}

// changeStale writes rows, all of them locked, of which some are stale: changed by others since the
// statement's view.
func (p *writePusher) changeStale(rows *vector.Batch, refs []storage.RowRef, stale []bool) error {
	fresh := vector.Batch{N: rows.N, Vecs: rows.Vecs, Sel: make(vector.Sel, 0, len(refs))}
	var freshRefs, staleRefs []storage.RowRef
	var staleRows vector.Sel
	for k, ref := range refs {
		i := uint16(liveRow(rows, k))
		if stale[k] {
			staleRows, staleRefs = append(staleRows, i), append(staleRefs, ref)
			continue
		}
		fresh.Sel, freshRefs = append(fresh.Sel, i), append(freshRefs, ref)
	}
	if len(freshRefs) > 0 {
		if err := p.change(&fresh, freshRefs); err != nil {
			return err
		}
	}
	if p.again != nil {
		return p.again(staleRows, staleRefs)
	}
	return p.writeNewest(staleRefs)
}

// writeNewest runs the input again with only the newest versions of some rows, which are locked, in
// place of the table, and writes what comes out.
func (p *writePusher) writeNewest(refs []storage.RowRef) error {
	writer := &writePusher{op: p.op, w: p.w, generated: p.generated, checks: p.checks, program: p.program, out: p.out}
	if p.parts != nil {
		writer.parts = newPartWriter(writer)
	}
	if p.op.repeats {
		writer.seen = map[storage.RowRef]struct{}{}
	}
	return p.op.run.recheck(p.op.input, map[int][]storage.RowRef{targetLock: refs}, writer)
}

// targetLock is the number of the scan that UPDATE and DELETE change: binding marks it first.
const targetLock = 1
