package prune

import (
	"sort"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlname"
	"github.com/weftdb/weft/vector"
)

// Router finds the leaves of rows. It belongs to one worker.
type Router struct {
	d      *Desc
	env    *expr.Env
	levels map[*Level]*levelRouter
	sels   []vector.Sel // by depth
}

// levelRouter is a level at work.
type levelRouter struct {
	program *expr.Program // nil: the keys are columns
	vecs    []*vector.Vector
	flat    []vector.Vector
	kids    []int32
}

// NewRouter returns a router of rows that have the columns of the partitioned table, in order.
func (d *Desc) NewRouter(env *expr.Env) *Router {
	return &Router{d: d, env: env, levels: map[*Level]*levelRouter{}}
}

// Route sets leaves[i] to the number of the leaf that live row i of a batch belongs to, −1 if there is
// none. Where there is none, Missing tells whose keys were not found.
func (r *Router) Route(b *vector.Batch, leaves []int32) error {
	return r.route(r.d.top, 0, b, b.Sel, leaves)
}

func (r *Router) route(l *Level, depth int, b *vector.Batch, sel vector.Sel, leaves []int32) error {
	lr, err := r.evaluate(l, b, sel)
	if err != nil {
		return err
	}
	n := b.N
	if sel != nil {
		n = len(sel)
	}
	below := false
	lr.locate(l, n, sel, b.N)
	for i := range n {
		row := i
		if sel != nil {
			row = int(sel[i])
		}
		leaves[row] = -1
		if k := lr.kids[row]; k >= 0 {
			leaves[row] = int32(l.kids[k].lo)
			below = below || l.kids[k].level != nil
		}
	}
	if !below {
		return nil
	}
	for len(r.sels) <= depth {
		r.sels = append(r.sels, nil)
	}
	for k := range l.kids {
		if l.kids[k].level == nil {
			continue
		}
		part := r.sels[depth][:0]
		for i := range n {
			row := i
			if sel != nil {
				row = int(sel[i])
			}
			if int(lr.kids[row]) == k {
				part = append(part, uint16(row))
			}
		}
		if r.sels[depth] = part; len(part) == 0 {
			continue
		}
		if err := r.route(l.kids[k].level, depth+1, b, part, leaves); err != nil {
			return err
		}
	}
	return nil
}

// evaluate computes the keys of a level.
func (r *Router) evaluate(l *Level, b *vector.Batch, sel vector.Sel) (*levelRouter, error) {
	lr := r.levels[l]
	if lr == nil {
		var err error
		if lr, err = r.open(l); err != nil {
			return nil, err
		}
		r.levels[l] = lr
	}
	if lr.program != nil {
		vecs, err := lr.program.Eval(b, sel)
		if err != nil {
			return nil, err
		}
		copy(lr.vecs, vecs)
		return lr, nil
	}
	for i := range l.keys {
		lr.vecs[i] = b.Vecs[l.keys[i].pos]
	}
	return lr, nil
}

func (r *Router) open(l *Level) (*levelRouter, error) {
	lr := &levelRouter{vecs: make([]*vector.Vector, len(l.keys)), flat: make([]vector.Vector, len(l.keys))}
	var list []expr.Expr
	computed := false
	for i := range l.keys {
		list = append(list, l.keys[i].expr)
		computed = computed || l.keys[i].pos < 0
	}
	if !computed {
		return lr, nil
	}
	at := map[expr.ColID]int{}
	for i, c := range r.d.Cols {
		at[c.ID] = i
	}
	var err error
	lr.program, err = expr.CompileAll(list, func(id expr.ColID) int { return at[id] }, r.env)
	return lr, err
}

// locate sets kids of the rows. The usual case, one integer that divides by range, remembers the last
// range: rows often come in order.
func (lr *levelRouter) locate(l *Level, n int, sel vector.Sel, rows int) {
	if cap(lr.kids) < rows {
		lr.kids = make([]int32, max(rows, vector.BatchCap))
	}
	lr.kids = lr.kids[:rows]
	if len(l.keys) == 1 && l.keys[0].ints != nil && l.table.Partitioning.Strategy == catalog.PartitionByRange {
		lr.locateInts(l, n, sel, rows)
		return
	}
	for i := range n {
		row := i
		if sel != nil {
			row = int(sel[i])
		}
		lr.kids[row] = int32(l.kidOf(lr.vecs, row))
	}
}

func (lr *levelRouter) locateInts(l *Level, n int, sel vector.Sel, rows int) {
	v := vector.Flatten(&lr.flat[0], lr.vecs[0], rows)
	at := intReader(v)
	ints := l.keys[0].ints
	if l.edges > 0 && l.kinds[0][l.edges-1] > 0 {
		ints = ints[:l.edges-1] // nothing is behind MAXVALUE
	}
	interval, from, to := -1, int64(0), int64(0) // the last one found, where it has two ends
	for i := range n {
		row := i
		if sel != nil {
			row = int(sel[i])
		}
		if v.IsNull(row) {
			lr.kids[row] = int32(l.defaultKid)
			continue
		}
		x := at(row)
		if interval < 0 || x < from || x >= to {
			k := sort.Search(len(ints), func(i int) bool { return ints[i] > x })
			interval = -1
			if k > 0 && k < len(ints) {
				interval, from, to = k, ints[k-1], ints[k]
			}
			lr.kids[row] = int32(l.owners[k])
		} else {
			lr.kids[row] = int32(l.owners[interval])
		}
		if lr.kids[row] < 0 {
			lr.kids[row] = int32(l.defaultKid)
		}
	}
}

func intReader(v *vector.Vector) func(int) int64 {
	switch v.Kind {
	case vector.I16:
		x := vector.Of[int16](v)
		return func(i int) int64 { return int64(x[i]) }
	case vector.I32:
		x := vector.Of[int32](v)
		return func(i int) int64 { return int64(x[i]) }
	case vector.I64:
		x := vector.Of[int64](v)
		return func(i int) int64 { return x[i] }
	}
	return func(i int) int64 { return vector.DatumAt(v, i).I }
}

// Missing is why a row has no leaf: the partitioned table that has no partition for it, and the values
// of its keys.
type Missing struct {
	Table  *catalog.Table
	Keys   []string // as written in PARTITION BY
	Types  []catalog.Type
	Values []vector.Datum
}

// Missing explains why a row of a batch has no leaf.
func (r *Router) Missing(b *vector.Batch, row int) (*Missing, error) {
	sel := vector.Sel{uint16(row)}
	for l := r.d.top; ; {
		lr, err := r.evaluate(l, b, sel)
		if err != nil {
			return nil, err
		}
		if k := l.kidOf(lr.vecs, row); k >= 0 {
			l = l.kids[k].level
			continue
		}
		m := &Missing{Table: l.table}
		for i := range l.keys {
			p := &l.table.Partitioning.Keys[i]
			name := p.Expr
			if p.Column != 0 {
				name = sqlname.Quote(l.table.Columns[l.table.ColumnByID(p.Column)].Name)
			}
			m.Keys, m.Types = append(m.Keys, name), append(m.Types, p.Type)
			m.Values = append(m.Values, vector.DatumAt(lr.vecs[i], row))
		}
		return m, nil
	}
}
