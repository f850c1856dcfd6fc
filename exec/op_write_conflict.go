package exec

import (
	"slices"

	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// upsert inserts rows under ON CONFLICT. Each row's keys are looked up in the latest committed state,
// and locked when no row has them, so whoever else inserts the same key waits; rows without a conflict
// are inserted together, and existing rows updated together.
type upsert struct {
	w         *writePusher
	node      *planner.OnConflict
	set       *expr.Program // over the existing row's columns, then the excluded row's
	where     expr.Filter
	generated *rowGenerated               // of updated rows
	changed   map[storage.RowRef]struct{} // rows this statement has inserted or updated

	keys     []*storage.RowKeys  // of the batch, as node.Arbiters
	fresh    vector.Sel          // rows of the batch to insert
	pending  map[string]struct{} // their encoded keys
	existing []conflicting
}

// conflicting is a row of the batch, the live one of number k, and the stored row that has its key in
// an arbiter.
type conflicting struct {
	ref     storage.RowRef
	at      uint64 // it had the key in or after this commit
	row     uint16
	k       int
	arbiter int
}

var errAffectedTwice = sqlerr.New(sqlerr.CardinalityViolation, "ON CONFLICT DO UPDATE command cannot affect row a second time").
	WithHint("Ensure that no rows proposed for insertion within the same command have duplicate constrained values.")

func newUpsert(w *writePusher) (*upsert, error) {
	u := &upsert{w: w, node: w.op.conflict, changed: w.op.seen, pending: map[string]struct{}{}}
	u.count(0, 0)
	if !u.node.Update {
		return u, nil
	}
	at := layout(slices.Concat(u.node.Existing, u.node.Excluded))
	var err error
	if u.set, err = expr.CompileAll(u.node.Set, at, w.op.run.env); err != nil {
		return nil, err
	}
	if u.generated, err = newRowGenerated(u.node.Generated, w.op.rowCols, w.op.run.env); err != nil {
		return nil, err
	}
	if u.node.Where != nil {
		u.where, err = expr.CompileFilter(u.node.Where, at, w.op.run.env)
	}
	return u, err
}

// count counts rows for EXPLAIN ANALYZE.
func (u *upsert) count(inserted, conflicting int) {
	u.w.op.stats.count("Tuples Inserted", int64(inserted))
	u.w.op.stats.count("Conflicting Tuples", int64(conflicting))
}

// write inserts or updates the rows of a batch, which have passed the table's checks.
func (u *upsert) write(b *vector.Batch) error {
	u.keys = u.keys[:0]
	for _, index := range u.node.Arbiters {
		keys, err := u.w.op.run.query.Txn.Engine().EncodeRows(u.w.op.table, index, b)
		if err != nil {
			return err
		}
		u.keys = append(u.keys, keys)
	}
	for k := range b.Live() {
		i := uint16(k)
		if b.Sel != nil {
			i = b.Sel[k]
		}
		if err := u.w.w.Check(); err != nil {
			return err
		}
		if err := u.place(b, k, i); err != nil {
			return err
		}
		if u.w.program != nil && len(u.existing) > 0 { // RETURNING keeps the rows' order
			if err := u.flush(b); err != nil {
				return err
			}
		}
	}
	return u.flush(b)
}

// place decides what becomes of a row, the live one of number k.
func (u *upsert) place(b *vector.Batch, k int, row uint16) error {
	txn := u.w.op.run.query.Txn
	var keys []string
	for n, index := range u.node.Arbiters {
		key, ok := u.keys[n].Key(k)
		if !ok {
			continue
		}
		if _, again := u.pending[string(key)]; again {
			if u.node.Update {
				return errAffectedTwice
			}
			u.count(0, 1)
			return nil
		}
		keys = append(keys, string(key))
		ref, at, found, err := txn.LookupOrLock(u.w.w.Ctx, u.w.op.table, index, key)
		if err != nil {
			return err
		}
		if found {
			return u.conflict(b, conflicting{ref, at, row, k, n})
		}
	}
	u.fresh = append(u.fresh, row)
	for _, key := range keys {
		u.pending[key] = struct{}{}
	}
	return nil
}

// conflict treats a row whose key exists.
func (u *upsert) conflict(b *vector.Batch, x conflicting) error {
	if !u.node.Update {
		u.count(0, 1)
		if u.w.op.run.query.Txn.RereadsRows() {
			return nil
		}
		return u.lock([]storage.RowRef{x.ref}, storage.KeyShare) // the row must be one that the transaction sees
	}
	if slices.ContainsFunc(u.existing, func(c conflicting) bool { return c.ref == x.ref }) {
		if err := u.flush(b); err != nil { // the first one's WHERE may leave the row alone
			return err
		}
	}
	if _, again := u.changed[x.ref]; again {
		return errAffectedTwice
	}
	u.existing = append(u.existing, x)
	return nil
}

// lock locks stored rows. At REPEATABLE READ they must be as the transaction sees them.
func (u *upsert) lock(refs []storage.RowRef, mode storage.LockMode) error {
	txn := u.w.op.run.query.Txn
	changed, _, err := txn.LockRows(u.w.w.Ctx, u.w.op.table, refs, mode, storage.Wait)
	if err == nil && len(changed) > 0 && !txn.RereadsRows() {
		return sqlerr.New(sqlerr.SerializationFailure, "could not serialize access due to concurrent update")
	}
	return err
}

// flush inserts and updates the rows placed so far. Rows whose stored row was removed, or got another
// key, before it was locked are placed anew.
func (u *upsert) flush(b *vector.Batch) error {
	for {
		if err := u.insert(b); err != nil || len(u.existing) == 0 {
			return err
		}
		gone, err := u.updateExisting(b)
		if err != nil {
			return err
		}
		slices.SortFunc(gone, func(x, y conflicting) int { return x.k - y.k })
		for _, x := range gone {
			if err := u.place(b, x.k, x.row); err != nil {
				return err
			}
		}
	}
}

// updateExisting locks and updates the stored rows that are in the way of rows placed so far. It
// returns those that are not any more.
func (u *upsert) updateExisting(b *vector.Batch) (gone []conflicting, err error) {
	slices.SortFunc(u.existing, func(a, b conflicting) int {
		if a.ref < b.ref {
			return -1
		}
		return 1
	})
	refs := make([]storage.RowRef, len(u.existing))
	for i, x := range u.existing {
		refs[i] = x.ref
	}
	if err := u.lock(refs, storage.NoKeyUpdate); err != nil {
		return nil, err
	}
	txn := u.w.op.run.query.Txn
	stay := u.existing[:0]
	refs = refs[:0]
	for _, x := range u.existing {
		key, _ := u.keys[x.arbiter].Key(x.k)
		if has, err := txn.HasKey(u.node.Arbiters[x.arbiter], key, x.ref, x.at); err != nil {
			return nil, err
		} else if has {
			stay, refs = append(stay, x), append(refs, x.ref)
		} else {
			gone = append(gone, x)
		}
	}
	u.count(0, len(stay))
	view := txn.LatestView()
	defer view.Release()
	for from := 0; from < len(refs); {
		to := from
		for to < len(refs) && refs[to].Store() == refs[from].Store() {
			to++
		}
		if err := u.update(b, view, stay[from:to], refs[from:to]); err != nil {
			return nil, err
		}
		from = to
	}
	u.existing = u.existing[:0]
	return gone, nil
}

func (u *upsert) insert(b *vector.Batch) error {
	if len(u.fresh) == 0 {
		return nil
	}
	rows := vector.Batch{N: b.N, Sel: u.fresh, Vecs: b.Vecs}
	refs, err := u.w.op.run.query.Txn.Insert(u.w.w.Ctx, u.w.op.table, &rows)
	if err != nil {
		return err
	}
	u.count(len(refs), 0)
	for _, ref := range refs {
		u.changed[ref] = struct{}{}
	}
	if err = u.w.noteKeys(&rows); err == nil {
		err = u.w.written(&rows)
	}
	u.fresh = u.fresh[:0]
	clear(u.pending)
	return err
}

// update updates existing rows of one store, in order of their references.
func (u *upsert) update(b *vector.Batch, view *storage.View, list []conflicting, refs []storage.RowRef) error {
	table := u.w.op.table
	both, err := u.pairs(b, view, list)
	if err != nil {
		return err
	}
	if u.where != nil {
		if both.Sel, err = u.where.Select(both, nil, make(vector.Sel, 0, both.N)); err != nil || len(both.Sel) == 0 {
			return err
		}
		chosen := make([]storage.RowRef, len(both.Sel))
		for i, row := range both.Sel {
			chosen[i] = refs[row]
		}
		refs = chosen
	}
	vecs, err := u.set.Eval(both, both.Sel)
	if err != nil {
		return err
	}
	rows := vector.Batch{N: both.N, Sel: both.Sel, Vecs: vecs}
	if err := u.generated.fill(&rows); err != nil {
		return err
	}
	if err := u.w.checks.check(&rows); err != nil {
		return err
	}
	if u.w.root != nil {
		if err := u.w.stays(&rows); err != nil {
			return err
		}
	}
	after, err := u.w.op.run.query.Txn.Update(u.w.w.Ctx, table, refs, &rows)
	if err != nil {
		return err
	}
	for _, ref := range append(after, refs...) {
		u.changed[ref] = struct{}{}
	}
	if err := u.w.noteReplaced(&rows, both); err != nil {
		return err
	}
	return u.w.written(&rows)
}

// noteReplaced notes what became of the values of foreign keys in rows that took the place of others.
func (p *writePusher) noteReplaced(fresh, old *vector.Batch) error {
	if p.root != nil {
		return p.root.noteReplaced(p.toRoot(fresh), p.toRoot(old))
	}
	if p.op.keys == nil {
		return nil
	}
	changes := p.op.run.query.Keys
	changes.begin(p.op.table, p.op.keys)
	return changes.written(p.op.run.query.Txn.Engine(), fresh, old)
}

// pairs reads existing rows and puts the columns of the rows that they are in the way of behind
// theirs.
func (u *upsert) pairs(b *vector.Batch, view *storage.View, list []conflicting) (*vector.Batch, error) {
	table := u.w.op.table
	ids, rows, cols := make([]uint64, len(list)), make([]uint32, len(list)), make([]int, len(table.Columns))
	for i, c := range list {
		ids[i], rows[i] = c.ref.Row(), uint32(c.row)
	}
	for i := range cols {
		cols[i] = i
	}
	both := &vector.Batch{}
	missing, err := view.Fetch(table, list[0].ref.Store(), ids, cols, both)
	if err != nil {
		return nil, err
	}
	if missing != nil {
		return nil, sqlerr.New(sqlerr.SerializationFailure, "could not serialize access due to concurrent delete")
	}
	for i := range table.Columns {
		excluded := &vector.Vector{}
		vector.Gather(excluded, b.Vecs[i], rows)
		both.Vecs = append(both.Vecs, excluded)
	}
	return both, nil
}
