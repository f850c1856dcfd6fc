package exec

import (
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/prune"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// placement finds the leaves of rows of a partitioned table, and checks rows as their leaves ask. It
// belongs to one worker.
type placement struct {
	desc    *prune.Desc
	env     *expr.Env
	router  *prune.Router
	leaves  map[int]*leafWriter
	numbers []int32
}

func newPlacement(d *prune.Desc, env *expr.Env) placement {
	return placement{desc: d, env: env, router: d.NewRouter(env), leaves: map[int]*leafWriter{}}
}

// partWriter writes the rows of a writePusher, which are those of a partitioned table, to its leaves.
type partWriter struct {
	placement
	p *writePusher
}

// leafWriter is a leaf that rows are written to.
type leafWriter struct {
	number int
	*prune.Leaf
	checks *rowChecks
	upsert *writePusher // of ON CONFLICT
}

// leafRows are rows of a batch that belong to one leaf, as the leaf has its columns.
type leafRows struct {
	*leafWriter
	rows vector.Batch
	at   []int // which live rows of the batch they are
}

func newPartWriter(p *writePusher) *partWriter {
	return &partWriter{newPlacement(p.op.home.desc, p.op.run.env), p}
}

// change checks and writes rows. Rows that are there already are locked first, all of them: once
// something is written, no row may turn out to have been changed by others.
func (w *partWriter) change(rows *vector.Batch, refs []storage.RowRef) error {
	p := w.p
	if p.op.refs {
		if stale, err := w.lock(refs); err != nil || stale != nil {
			if err == nil {
				err = p.changeStale(rows, refs, stale)
			}
			return err
		}
	}
	if p.upsert != nil {
		return w.insertOrUpdate(rows)
	}
	if p.op.checked {
		groups, err := w.place(rows)
		if err == nil && refs == nil {
			err = w.insert(groups)
		} else if err == nil {
			err = w.update(groups, refs)
		}
		if err != nil {
			return err
		}
	} else if err := w.delete(refs); err != nil {
		return err
	}
	if err := p.noteKeys(rows); err != nil {
		return err
	}
	return p.written(rows)
}

// lock locks rows and tells which of them others have changed since the statement's view; nil if none.
func (w *partWriter) lock(refs []storage.RowRef) (stale []bool, err error) {
	op := w.p.op
	err = op.home.each(refs, func(leaf *catalog.Table, part []storage.RowRef, at []int) error {
		changed, _, err := op.run.query.Txn.LockRows(w.p.w.Ctx, leaf, part, op.mode, storage.Wait)
		for _, i := range changed {
			if stale == nil {
				stale = make([]bool, len(refs))
			}
			stale[place(at, i)] = true
		}
		return err
	})
	if err == nil && stale != nil && !op.run.query.Txn.RereadsRows() {
		err = sqlerr.New(sqlerr.SerializationFailure, "could not serialize access due to concurrent update")
	}
	return stale, err
}

// place finds the leaves of rows, and refuses the first row that has none or that its leaf refuses.
func (w *placement) place(rows *vector.Batch) ([]*leafRows, error) {
	groups, lost, err := w.groups(rows)
	if err != nil {
		return nil, err
	}
	row, failure := lost, error(nil)
	if lost >= 0 {
		if failure, err = w.missing(rows, lost); err != nil {
			return nil, err
		}
	}
	for _, g := range groups {
		at, err := g.checks.first(&g.rows)
		if err != nil && at < 0 {
			return nil, err
		}
		if err != nil && (row < 0 || at < row) {
			row, failure = at, err
		}
	}
	return groups, failure
}

// groups divides rows by their leaves, in the order of their first rows. lost is the first row without a
// leaf, −1 if all have one.
func (w *placement) groups(rows *vector.Batch) (groups []*leafRows, lost int, err error) {
	if len(w.numbers) < rows.N {
		w.numbers = make([]int32, max(rows.N, vector.BatchCap))
	}
	if err := w.router.Route(rows, w.numbers); err != nil {
		return nil, 0, err
	}
	lost = -1
	byLeaf := map[int32]*leafRows{}
	var last *leafRows
	for k := range rows.Live() {
		row := liveRow(rows, k)
		number := w.numbers[row]
		if number < 0 {
			if lost < 0 {
				lost = row
			}
			continue
		}
		if last == nil || last.number != int(number) {
			if last = byLeaf[number]; last == nil {
				leaf, err := w.leaf(int(number))
				if err != nil {
					return nil, 0, err
				}
				last = &leafRows{leafWriter: leaf, rows: leaf.toLeaf(rows)}
				byLeaf[number] = last
				groups = append(groups, last)
			}
		}
		last.rows.Sel, last.at = append(last.rows.Sel, uint16(row)), append(last.at, k)
	}
	return groups, lost, nil
}

// toLeaf returns rows without a selection yet, with the columns in the leaf's order.
func (l *leafWriter) toLeaf(rows *vector.Batch) vector.Batch {
	out := vector.Batch{N: rows.N, Sel: vector.Sel{}, Vecs: make([]*vector.Vector, len(l.Columns))}
	for pos, at := range l.Columns {
		out.Vecs[at] = rows.Vecs[pos]
	}
	return out
}

// leaf returns what writes to a leaf.
func (w *placement) leaf(number int) (*leafWriter, error) {
	l := w.leaves[number]
	if l != nil {
		return l, nil
	}
	l = &leafWriter{number: number, Leaf: &w.desc.Leaves[number]}
	cols, checks, err := planner.LeafChecks(l.Table)
	if err != nil {
		return nil, err
	}
	if l.checks, err = newRowChecks(l.Table, checks, cols, w.env); err != nil {
		return nil, err
	}
	l.checks.shown = l.Columns
	w.leaves[number] = l
	return l, nil
}

// missing is the error of a row that no partition is for.
func (w *placement) missing(rows *vector.Batch, row int) (failure, err error) {
	m, err := w.router.Missing(rows, row)
	if err != nil {
		return nil, err
	}
	return noPartition(m, w.env), nil
}

func (w *partWriter) insert(groups []*leafRows) error {
	for _, g := range groups {
		if _, err := w.p.op.run.query.Txn.Insert(w.p.w.Ctx, g.Table, &g.rows); err != nil {
			return err
		}
	}
	return nil
}

func (w *partWriter) delete(refs []storage.RowRef) error {
	return w.p.op.home.each(refs, func(leaf *catalog.Table, part []storage.RowRef, _ []int) error {
		_, err := w.p.op.run.query.Txn.Delete(w.p.w.Ctx, leaf, part)
		return err
	})
}

// update replaces rows that stay in their leaves, and moves the others.
func (w *partWriter) update(groups []*leafRows, refs []storage.RowRef) error {
	var leave []storage.RowRef
	arrive := make([]vector.Batch, len(groups))
	stay, stayRefs := make([]vector.Batch, len(groups)), make([][]storage.RowRef, len(groups))
	for i, g := range groups {
		arrive[i], stay[i] = vector.Batch{N: g.rows.N, Vecs: g.rows.Vecs}, vector.Batch{N: g.rows.N, Vecs: g.rows.Vecs}
		for k, row := range g.rows.Sel {
			ref := refs[g.at[k]]
			if w.desc.LeafOf(ref.Store()) == g.number {
				stay[i].Sel, stayRefs[i] = append(stay[i].Sel, row), append(stayRefs[i], ref)
			} else {
				arrive[i].Sel, leave = append(arrive[i].Sel, row), append(leave, ref)
			}
		}
	}
	txn, ctx := w.p.op.run.query.Txn, w.p.w.Ctx
	err := w.p.op.home.each(leave, func(leaf *catalog.Table, part []storage.RowRef, _ []int) error {
		return txn.Leave(ctx, leaf, part)
	})
	if err != nil {
		return err
	}
	for i, g := range groups {
		if len(stayRefs[i]) > 0 {
			if _, err := txn.Update(ctx, g.Table, stayRefs[i], &stay[i]); err != nil {
				return err
			}
		}
	}
	for i, g := range groups {
		if len(arrive[i].Sel) > 0 {
			if _, err := txn.Insert(ctx, g.Table, &arrive[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// insertOrUpdate inserts rows under ON CONFLICT, leaf by leaf: unique keys say which leaf a row is in.
// Rows keep their order, by which one that comes twice is found.
func (w *partWriter) insertOrUpdate(rows *vector.Batch) error {
	if _, err := w.place(rows); err != nil {
		return err
	}
	for from := 0; from < rows.Live(); {
		number := w.numbers[liveRow(rows, from)]
		leaf := w.leaves[int(number)]
		if leaf.upsert == nil {
			var err error
			if leaf.upsert, err = w.leafUpsert(leaf); err != nil {
				return err
			}
		}
		part := leaf.toLeaf(rows)
		for from < rows.Live() && w.numbers[liveRow(rows, from)] == number {
			part.Sel = append(part.Sel, uint16(liveRow(rows, from)))
			from++
		}
		if err := leaf.upsert.upsert.write(&part); err != nil {
			return err
		}
	}
	return nil
}

// leafUpsert returns a writer of a leaf that does what ON CONFLICT says there, and hands on what it has
// written as rows of the partitioned table.
func (w *partWriter) leafUpsert(l *leafWriter) (*writePusher, error) {
	root := w.p.op
	op := *root
	op.table, op.home = l.Table, home{table: l.Table}
	op.rowCols = make([]*expr.Col, len(l.Columns))
	c := &planner.OnConflict{Update: root.conflict.Update, Where: root.conflict.Where}
	if c.Update {
		c.Existing, c.Excluded, c.Set = make([]*expr.Col, len(l.Columns)), make([]*expr.Col, len(l.Columns)), make([]expr.Expr, len(l.Columns))
	}
	for pos, at := range l.Columns {
		op.rowCols[at] = root.rowCols[pos]
		if c.Update {
			c.Existing[at], c.Excluded[at], c.Set[at] = root.conflict.Existing[pos], root.conflict.Excluded[pos], root.conflict.Set[pos]
		}
	}
	for _, g := range root.conflict.Generated {
		c.Generated = append(c.Generated, planner.Generated{Pos: l.Columns[g.Pos], Expr: g.Expr})
	}
	for i := range l.Table.Indexes {
		if x := &l.Table.Indexes[i]; root.conflict.Any && x.Unique && x.State == catalog.IndexReady {
			c.Arbiters = append(c.Arbiters, x)
		}
	}
	for _, index := range root.conflict.Arbiters {
		if root.conflict.Any {
			break
		}
		own := l.Index(index)
		if own == nil {
			return nil, sqlerr.New(sqlerr.InternalError, "an index is missing in a partition: index=%s table=%s", index.Name, l.Table.Name)
		}
		c.Arbiters = append(c.Arbiters, own)
	}
	op.conflict = c
	writer := &writePusher{op: &op, w: w.p.w, checks: l.checks, root: w.p, leaf: l, out: w.p.out}
	var err error
	writer.upsert, err = newUpsert(writer)
	return writer, err
}

// toRoot returns rows of a leaf, perhaps with as many old ones behind, as the partitioned table has its
// columns.
func (p *writePusher) toRoot(rows *vector.Batch) *vector.Batch {
	out := &vector.Batch{N: rows.N, Sel: rows.Sel, Vecs: slices.Clone(rows.Vecs)}
	n := len(p.leaf.Columns)
	for pos, at := range p.leaf.Columns {
		for first := 0; first+n <= len(rows.Vecs); first += n {
			out.Vecs[first+pos] = rows.Vecs[first+at]
		}
	}
	return out
}

// stays refuses rows that an update would take to another leaf where ON CONFLICT asks for it.
func (p *writePusher) stays(rows *vector.Batch) error {
	w := p.root.parts
	leaves := make([]int32, rows.N)
	if err := w.router.Route(p.toRoot(rows), leaves); err != nil {
		return err
	}
	for k := range rows.Live() {
		if leaves[liveRow(rows, k)] != int32(p.leaf.number) {
			return sqlerr.New(sqlerr.FeatureNotSupported, "invalid ON UPDATE specification").
				WithDetail("The result tuple would appear in a different partition than the original tuple.")
		}
	}
	return nil
}

// noPartition is the error of a row that no partition is for.
func noPartition(m *prune.Missing, env *expr.Env) error {
	values := make([]string, len(m.Values))
	for i, d := range m.Values {
		values[i] = shownValue(m.Types[i], d, env)
	}
	e := sqlerr.New(sqlerr.CheckViolation, "no partition of relation %q found for row", m.Table.Name).WithTable(m.Table.Name).
		WithDetail("Partition key of the failing row contains (%s) = (%s).", joinNames(m.Keys), joinNames(values))
	e.SchemaName = m.Table.Schema
	return e
}

// boundCheck refuses rows that are stored in a partition by its own name and do not belong there.
type boundCheck struct {
	node     *planner.PartitionCheck
	table    *catalog.Table
	router   *prune.Router
	from, to int
	numbers  []int32
}

func newBoundCheck(n *planner.PartitionCheck, t *catalog.Table, env *expr.Env) *boundCheck {
	if n == nil {
		return nil
	}
	c := &boundCheck{node: n, table: t, router: n.Desc.NewRouter(env)}
	c.from, c.to = n.Desc.Interval(t.ID)
	return c
}

// first returns the first live row that does not belong to the partition, −1 if all do.
func (c *boundCheck) first(rows *vector.Batch) (int, error) {
	if c == nil {
		return -1, nil
	}
	if len(c.numbers) < rows.N {
		c.numbers = make([]int32, max(rows.N, vector.BatchCap))
	}
	whole := vector.Batch{N: rows.N, Sel: rows.Sel}
	for _, at := range c.node.Columns {
		whole.Vecs = append(whole.Vecs, rows.Vecs[at])
	}
	if err := c.router.Route(&whole, c.numbers); err != nil {
		return -1, err
	}
	for k := range rows.Live() {
		row := liveRow(rows, k)
		number := int(c.numbers[row])
		if number >= c.from && number < c.to {
			continue
		}
		if number < 0 { // a partition of the table may be missing, not the table
			if m, err := c.router.Missing(&whole, row); err != nil || m.Table.ID == c.table.ID {
				return -1, err
			}
		}
		return row, nil
	}
	return -1, nil
}
