package exec

import (
	"cmp"
	"slices"

	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// mergeOp does what the WHEN clauses of MERGE say with each joined row. It runs on one worker.
type mergeOp struct {
	run    *run
	stats  *nodeStats // of the node, nil without ANALYZE
	node   *planner.Merge
	writes []*writeOp // as node.Whens; nil: DO NOTHING
	target []int      // where the input has the table's columns, −1 = nowhere

	// The input may come in several streams, one after the other.
	changed map[storage.RowRef]struct{} // rows that the statement has updated or deleted
	stale   map[storage.RowRef]struct{} // locked rows that the input shows as they were before
}

func (b *builder) merge(n *planner.Merge) ([]*stream, error) {
	op := &mergeOp{run: b.run, stats: b.run.stats.of(n), node: n, changed: map[storage.RowRef]struct{}{}, stale: map[storage.RowRef]struct{}{}}
	at := layout(n.Input.Cols())
	for _, c := range n.Target {
		if c == nil {
			op.target = append(op.target, -1)
		} else {
			op.target = append(op.target, at(c.ID))
		}
	}
	for i := range n.Whens {
		w, err := b.mergeWrite(n, &n.Whens[i])
		if err != nil {
			return nil, err
		}
		op.writes = append(op.writes, w)
	}
	streams, err := b.build(n.Input, n)
	if err != nil {
		return nil, err
	}
	for _, s := range streams {
		s.serial = true
		s.add(op, nil)
	}
	return streams, nil
}

// mergeWrite returns what carries out a clause.
func (b *builder) mergeWrite(n *planner.Merge, w *planner.MergeWhen) (*writeOp, error) {
	op := &writeOp{run: b.run, rowCols: n.RowCols, checks: n.Checks, keys: n.Keys}
	op.changes(n.Table, n.Into)
	switch w.Action {
	case sql.MergeInsert:
		op.generated = n.Generated
		op.inserts()
	case sql.MergeUpdate:
		op.generated = w.Generated
		op.updates()
	case sql.MergeDelete:
		op.apart = true
		op.deletes()
	default:
		return nil, nil
	}
	return op, op.allowed()
}

// mergePusher is a mergeOp at work.
type mergePusher struct {
	op      *mergeOp
	w       *Worker
	on      expr.Filter // nil: every row
	clauses []mergeClause
	flat    vector.Vector
	out     Pusher
}

// mergeClause is a WHEN clause at work.
type mergeClause struct {
	*planner.MergeWhen
	cond   expr.Filter   // nil: every row
	values *expr.Program // nil: none are needed
	writer *writePusher  // nil: DO NOTHING
}

// mergeRows are rows of a batch that a clause was chosen for, and the rows of the table they have.
type mergeRows struct {
	rows vector.Sel
	refs []storage.RowRef
}

var errMergedTwice = sqlerr.New(sqlerr.CardinalityViolation, "MERGE command cannot affect row a second time").
	WithHint("Ensure that not more than one source row matches any one target row.")

func (op *mergeOp) Open(w *Worker, out Pusher) (Pusher, error) {
	m := &mergePusher{op: op, w: w, out: out}
	at := layout(op.node.Input.Cols())
	var err error
	if on := conjunction(op.node.On); on != nil {
		if m.on, err = expr.CompileFilter(on, at, op.run.env); err != nil {
			return nil, err
		}
	}
	for i := range op.node.Whens {
		c := mergeClause{MergeWhen: &op.node.Whens[i]}
		if c.Cond != nil {
			if c.cond, err = expr.CompileFilter(c.Cond, at, op.run.env); err != nil {
				return nil, err
			}
		}
		if len(c.Values) > 0 {
			if c.values, err = expr.CompileAll(c.Values, at, op.run.env); err != nil {
				return nil, err
			}
		}
		if op.writes[i] != nil {
			p, err := op.writes[i].Open(w, out)
			if err != nil {
				return nil, err
			}
			c.writer = p.(*writePusher)
		}
		m.clauses = append(m.clauses, c)
	}
	return m, nil
}

func (m *mergePusher) Flush() error { return m.out.Flush() }

func (m *mergePusher) Push(b *vector.Batch) error {
	tallied(m.op.stats, factMerged, func(t *mergeTally) { t.rows += int64(b.Live()) })
	for rows := cut(b, 0, b.Live(), make(vector.Sel, b.N)); len(rows) > 0; {
		var err error
		if rows, err = m.push(b, rows); err != nil {
			return err
		}
	}
	return nil
}

// push merges rows of the input. It returns those whose row of the table an earlier one is to change:
// that one may turn out to leave it alone.
func (m *mergePusher) push(b *vector.Batch, rows vector.Sel) (later vector.Sel, err error) {
	column := vector.Flatten(&m.flat, b.Vecs[len(b.Vecs)-1], b.N)
	refs := vector.Of[int64](column)
	taken := map[storage.RowRef]struct{}{}
	var current, old vector.Sel
	var oldRefs []storage.RowRef
	for _, row := range rows {
		if column.IsNull(int(row)) {
			current = append(current, row)
			continue
		}
		ref := storage.RowRef(refs[row])
		_, again := taken[ref]
		_, stale := m.op.stale[ref]
		_, changed := m.op.changed[ref]
		taken[ref] = struct{}{}
		switch {
		case again:
			later = append(later, row)
		case stale && !changed:
			old, oldRefs = append(old, row), append(oldRefs, ref)
		default:
			current = append(current, row)
		}
	}
	if err := m.merge(b, current); err != nil {
		return nil, err
	}
	return later, m.mergeNewest(b, old, oldRefs)
}

// merge does what is to be done with rows of a batch that have a row of the table each, or none.
func (m *mergePusher) merge(b *vector.Batch, rows vector.Sel) error {
	if len(rows) == 0 {
		return nil
	}
	if err := m.w.Check(); err != nil {
		return err
	}
	chosen, err := m.choose(b, rows)
	if err != nil {
		return err
	}
	// Keys that deleted rows give up are free for the others.
	for _, action := range []sql.MergeAction{sql.MergeDelete, sql.MergeUpdate, sql.MergeInsert} {
		for i := range m.clauses {
			if c := &m.clauses[i]; c.Action == action && len(chosen[i].rows) > 0 {
				if err := m.carryOut(c, b, chosen[i]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// choose finds the clause of each row and returns the rows of each clause.
func (m *mergePusher) choose(b *vector.Batch, rows vector.Sel) (list []mergeRows, err error) {
	column := vector.Flatten(&m.flat, b.Vecs[len(b.Vecs)-1], b.N)
	refs := vector.Of[int64](column)
	var sides [2]vector.Sel // without and with a row of the table
	for _, row := range rows {
		side := 1
		if column.IsNull(int(row)) {
			side = 0
		}
		sides[side] = append(sides[side], row)
	}
	list = make([]mergeRows, len(m.clauses))
	for i := range m.clauses {
		c, side := &m.clauses[i], 0
		if c.Matched {
			side = 1
		}
		chosen := sides[side]
		if len(chosen) == 0 {
			continue
		}
		if c.cond != nil {
			if chosen, err = c.cond.Select(b, sides[side], make(vector.Sel, 0, b.N)); err != nil {
				return nil, err
			}
		}
		sides[side] = without(sides[side], chosen)
		switch {
		case c.writer == nil:
		case !c.Matched:
			list[i].rows = chosen
		default:
			for _, row := range chosen {
				ref := storage.RowRef(refs[row])
				if _, again := m.op.changed[ref]; again {
					return nil, errMergedTwice
				}
				list[i].rows, list[i].refs = append(list[i].rows, row), append(list[i].refs, ref)
			}
		}
	}
	return list, nil
}

// without returns the rows that are not among others; both are in order.
func without(rows, others vector.Sel) vector.Sel {
	var rest vector.Sel
	for _, row := range rows {
		if len(others) > 0 && others[0] == row {
			others = others[1:]
			continue
		}
		rest = append(rest, row)
	}
	return rest
}

// carryOut does what a clause says with the rows chosen for it.
func (m *mergePusher) carryOut(c *mergeClause, b *vector.Batch, chosen mergeRows) error {
	rows := vector.Batch{N: b.N, Sel: chosen.rows}
	if c.values != nil {
		var err error
		if rows.Vecs, err = c.values.Eval(b, chosen.rows); err != nil {
			return err
		}
	}
	for _, ref := range chosen.refs {
		m.op.changed[ref] = struct{}{}
	}
	m.count(c.Action, len(chosen.rows))
	c.writer.again = func(stale vector.Sel, refs []storage.RowRef) error {
		for _, ref := range refs {
			delete(m.op.changed, ref)
			m.op.stale[ref] = struct{}{}
		}
		m.count(c.Action, -len(refs)) // they are merged again
		return m.mergeNewest(b, stale, refs)
	}
	return c.writer.change(&rows, chosen.refs)
}

// count counts rows that an action is carried out for, for EXPLAIN ANALYZE.
func (m *mergePusher) count(action sql.MergeAction, rows int) {
	tallied(m.op.stats, factMerged, func(t *mergeTally) {
		switch n := int64(rows); action {
		case sql.MergeInsert:
			t.inserted += n
		case sql.MergeUpdate:
			t.updated += n
		case sql.MergeDelete:
			t.deleted += n
		}
	})
}

// factMerged is the line of what MERGE has done.
const factMerged = "Tuples"

// mergeTally counts the source rows of MERGE by what came of them.
type mergeTally struct{ rows, inserted, updated, deleted int64 }

func (t *mergeTally) facts(key string, _ int64) []planner.Fact {
	return oneFact(key, planner.Counts{{Name: "inserted", N: t.inserted}, {Name: "updated", N: t.updated},
		{Name: "deleted", N: t.deleted}, {Name: "skipped", N: t.rows - t.inserted - t.updated - t.deleted}})
}

// staleRow is a row of a batch whose row of the table was changed by another transaction.
type staleRow struct {
	ref storage.RowRef
	row uint16
}

// mergeNewest merges rows of a batch anew with the newest versions of the table's rows that they were
// joined with, which are locked: where the join's condition is not true any more, or the row is gone,
// the source row has none.
func (m *mergePusher) mergeNewest(b *vector.Batch, stale vector.Sel, refs []storage.RowRef) error {
	list := make([]staleRow, len(refs))
	for i, ref := range refs {
		list[i] = staleRow{ref, stale[i]}
	}
	slices.SortFunc(list, func(a, b staleRow) int { return cmp.Compare(a.ref, b.ref) })
	view := m.op.run.query.Txn.LatestView()
	defer view.Release()
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].ref.Store() == list[0].ref.Store() {
			n++
		}
		if err := m.mergeStore(b, view, list[:n]); err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

// mergeStore is mergeNewest for rows of one store, in order.
func (m *mergePusher) mergeStore(b *vector.Batch, view *storage.View, list []staleRow) error {
	joined, missing, err := m.joinNewest(b, view, list)
	if err != nil {
		return err
	}
	var found, gone vector.Sel
	for i := range list {
		if missing == nil || !missing.Get(i) {
			found = append(found, uint16(i))
		}
	}
	if m.on != nil && len(found) > 0 {
		if found, err = m.on.Select(joined, found, make(vector.Sel, 0, joined.N)); err != nil {
			return err
		}
	}
	for i := range list {
		if !slices.Contains(found, uint16(i)) {
			gone = append(gone, uint16(i))
		}
	}
	if err := m.merge(joined, found); err != nil || !m.op.node.Inserts() {
		return err
	}
	alone := &vector.Batch{N: joined.N, Vecs: slices.Clone(joined.Vecs)}
	for _, at := range append(slices.Clone(m.op.target), len(joined.Vecs)-1) {
		if at >= 0 {
			null := &vector.Vector{}
			null.SetConst(vector.NullDatum(joined.Vecs[at].Kind))
			alone.Vecs[at] = null
		}
	}
	return m.merge(alone, gone)
}

// joinNewest puts source rows together with the newest versions of rows of one store, as the input
// has them.
func (m *mergePusher) joinNewest(b *vector.Batch, view *storage.View, list []staleRow) (*vector.Batch, vector.Bitmap, error) {
	joined := &vector.Batch{N: len(list), Vecs: make([]*vector.Vector, len(b.Vecs))}
	ids, rows, refs := make([]uint64, len(list)), make([]uint32, len(list)), make([]int64, len(list))
	for i, s := range list {
		ids[i], rows[i], refs[i] = s.ref.Row(), uint32(s.row), int64(s.ref)
	}
	var cols []int
	for pos, at := range m.op.target {
		if at >= 0 {
			cols = append(cols, pos)
		}
	}
	fetched := &vector.Batch{}
	at := home{m.op.node.Table, m.op.node.Into.Parts}
	leaf, err := at.leaf(list[0].ref.Store())
	if err != nil {
		return nil, nil, err
	}
	missing, err := view.Fetch(leaf, list[0].ref.Store(), ids, at.columns(list[0].ref.Store(), cols), fetched)
	if err != nil {
		return nil, nil, err
	}
	for i, pos := range cols {
		joined.Vecs[m.op.target[pos]] = fetched.Vecs[i]
	}
	last := len(b.Vecs) - 1
	joined.Vecs[last] = vector.FromSlice(vector.I64, refs)
	for i, v := range joined.Vecs {
		if v == nil {
			joined.Vecs[i] = &vector.Vector{}
			vector.Gather(joined.Vecs[i], b.Vecs[i], rows)
		}
	}
	return joined, missing, nil
}
