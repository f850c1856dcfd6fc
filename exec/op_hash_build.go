package exec

import (
	"sync"

	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/join"
	"github.com/weftdb/weft/vector"
)

// hashBuild is the sink that builds a join's hash table.
type hashBuild struct {
	plan    *joinPlan
	table   *join.Table
	keys    []expr.Expr
	normal  []*normalizer // per key, for its form only: workers have their own
	columns []int         // input columns that are stored besides the keys
	place   places
	built   bool
	lent    []*runtimeFilter
	memory  *sharedReservation
	wise    *wiseJoin // nil: all rows are joined at a time
	meter   *meter    // nil without ANALYZE
}

// newHashBuild takes the kinds of what the probe side writes when the build goes to disk, and what groups
// the rows of a partition-wise join, nil if nothing does.
func newHashBuild(p *joinPlan, probe []vector.Kind, grouped *wiseAggregate) *hashBuild {
	h := &hashBuild{plan: p}
	if p.stats != nil {
		h.meter = &meter{}
	}
	h.memory = &sharedReservation{Reservation: newReservation(p.run.account)}
	h.memory.meter = h.meter
	spec := join.Spec{KeepNulls: p.kind.MarksBuild(), Unique: p.node.RightUnique, SetOnly: p.exists() && p.residual == nil, Memory: h.memory}
	for _, k := range p.node.Keys {
		z := newKeyNormalizer(k.Right.Type(), k.Left.Type())
		h.keys, h.normal = append(h.keys, k.Right), append(h.normal, z)
		spec.Keys = append(spec.Keys, join.Key{Kind: z.kind(k.Right.Type().Kind()), NullSafe: k.NullSafe})
	}
	h.place, h.columns = placeColumns(h.keys, h.normal, p.right, p.needed(rightSide, p.right))
	for _, c := range h.columns {
		spec.Columns = append(spec.Columns, p.right[c].Typ.Kind())
	}
	spec.Spill = p.spill(probe)
	spec.Payload = h.payloadOnly()
	if h.wise = newWiseJoin(h, grouped); h.wise != nil && spec.Spill != nil {
		spec.Spill.Grouping = h.wise.grouping()
	}
	h.table = join.NewTable(spec)
	return h
}

// payloadOnly reports whether one column besides the keys is all that is read of build rows, and that of
// such as match.
func (h *hashBuild) payloadOnly() bool {
	p := h.plan
	switch p.kind {
	case join.Inner, join.Left, join.Single:
	default:
		return false
	}
	if len(h.columns) != 1 || p.residual != nil {
		return false
	}
	for _, c := range p.needed(rightSide, p.right) {
		if h.place[c] >= 0 {
			return false
		}
	}
	return true
}

// places tells where the columns of a join's side are stored: key i as i, column i besides the keys as
// −2−i; −1 = not stored.
type places []int

// placeColumns finds places for the needed columns of a side, and lists those stored besides the keys.
func placeColumns(keys []expr.Expr, normal []*normalizer, cols []*expr.Col, needed []int) (at places, besides []int) {
	at = make(places, len(cols))
	for i := range at {
		at[i] = -1
	}
	position := layout(cols)
	for i, k := range keys {
		if c, ok := k.(*expr.Col); ok && normal[i] == nil && at[position(c.ID)] == -1 {
			at[position(c.ID)] = i
		}
	}
	for _, c := range needed {
		if at[c] == -1 {
			at[c] = -2 - len(besides)
			besides = append(besides, c)
		}
	}
	return at, besides
}

// needed lists the columns of a side that the output or the residual condition takes.
func (p *joinPlan) needed(from side, cols []*expr.Col) []int {
	var out []int
	for _, c := range p.out {
		if c.side == from {
			out = append(out, c.at)
		}
	}
	if p.residual != nil {
		used := expr.Columns(p.residual)
		for i, c := range cols {
			if used.Has(c.ID) {
				out = append(out, i)
			}
		}
	}
	return out
}

// stored returns the stored values of a build column.
func (h *hashBuild) stored(col int) *vector.Vector {
	if at := h.place[col]; at >= 0 {
		return h.table.Key(at)
	}
	return h.table.Column(-2 - h.place[col])
}

type hashBuildPusher struct {
	build   *hashBuild
	builder *join.Builder
	program *expr.Program
	normal  []*normalizer
	keys    []*vector.Vector
	columns []*vector.Vector
}

func (h *hashBuild) Open(w *Worker) (Pusher, error) {
	var memory join.Memory = h.memory
	if h.wise == nil { // else it is to be given back when the next group comes
		own := w.reservation()
		own.meter, memory = h.meter, own
	}
	p := &hashBuildPusher{build: h, builder: h.table.NewBuilder(memory), columns: make([]*vector.Vector, len(h.columns)), keys: make([]*vector.Vector, len(h.keys))}
	for _, k := range h.plan.node.Keys {
		p.normal = append(p.normal, newKeyNormalizer(k.Right.Type(), k.Left.Type()))
	}
	var err error
	p.program, err = expr.CompileAll(h.keys, layout(h.plan.right), h.plan.run.env)
	return p, err
}

func (p *hashBuildPusher) Push(b *vector.Batch) error {
	values, err := p.program.Eval(b, b.Sel)
	if err != nil {
		return err
	}
	for i, v := range values {
		p.keys[i] = p.normal[i].apply(v, b.N, b.Sel)
	}
	for i, c := range p.build.columns {
		p.columns[i] = b.Vecs[c]
	}
	return p.builder.Append(p.keys, p.columns, b.N, b.Sel)
}

func (p *hashBuildPusher) Flush() error { return nil }

func (h *hashBuild) Finish(w *Worker) error {
	err := h.table.Finish(join.Finisher{Check: w.Check, Parts: w.run.threads, Run: w.run.parallel})
	h.built = err == nil
	if err == nil {
		h.describe()
	}
	return err
}

// describe says in EXPLAIN ANALYZE what the table became, and what of it is on disk.
func (h *hashBuild) describe() {
	if h.plan.stats == nil {
		return
	}
	t := h.table
	tallied(h.plan.stats, factTable, func(all *tableTally) { all.add(t) })
	h.describeMemory()
	if t.Spilled() && t.GroupSpools() == nil {
		f := t.SpillFigures()
		h.spilled(join.SpillFigures{Partitions: f.Partitions, OnDisk: f.OnDisk, BuildBytes: f.BuildBytes})
	}
}

// describeMemory says in EXPLAIN ANALYZE how much memory all tables of the build took, so far.
func (h *hashBuild) describeMemory() {
	tallied(h.plan.stats, factMemory, func(all *greatestMemory) { all.peak = max(all.peak, h.meter.peak.Load()) })
}

// renew gives the memory of the table back and makes an empty one for other rows.
func (h *hashBuild) renew() {
	h.memory.free()
	h.table, h.built = h.table.Renewed(), false
	for _, f := range h.lent {
		f.renew()
	}
}

// Rows, EndProbe and BuildRows are the table's: that of the moment.
func (h *hashBuild) Rows() int { return h.table.Rows() }

// EndProbe tells the table that the last probe row has come.
func (h *hashBuild) EndProbe(rows int) { h.table.EndProbe(rows) }

// BuildRows lists rows of the table that the kind yields after all probe rows.
func (h *hashBuild) BuildRows(kind join.Kind, from, to int, dst []uint32) ([]uint32, int) {
	return h.table.BuildRows(kind, from, to, dst)
}

// sharedReservation is a Reservation for structures that several workers grow.
type sharedReservation struct {
	Reservation
	mu sync.Mutex
}

func (r *sharedReservation) Grow(n int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Reservation.Grow(n)
}

func (r *sharedReservation) Shrink(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Reservation.Shrink(n)
}

// free gives everything back.
func (r *sharedReservation) free() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Reservation.free()
}
