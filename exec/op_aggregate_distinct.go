package exec

import (
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/join"
	"github.com/weftdb/weft/vector"
)

// distinctState collects the distinct arguments of one aggregate with DISTINCT, per group. They
// reach the accumulator at the end, when all workers' sets are one.
type distinctState struct {
	call    *expr.AggCall
	filter  expr.Filter
	program *expr.Program
	normal  []*normalizer
	set     *join.Groups // of group number (if grouped) and arguments
	grouped bool
	acc     expr.Accumulator

	sel   vector.Sel
	group vector.Vector
	keys  []*vector.Vector
	extra []*vector.Vector
	keep  []int // per argument: its column in set's store
	ids   []uint32
}

func newDistinct(s *aggregateSink, call *expr.AggCall, grouped bool, memory *Reservation) (*distinctState, error) {
	d := &distinctState{call: call, grouped: grouped, normal: normalizers(call.Args), ids: make([]uint32, join.BlockRows)}
	var err error
	if call.Filter != nil {
		if d.filter, err = expr.CompileFilter(call.Filter, s.layout, s.run.env); err != nil {
			return nil, err
		}
	}
	if d.program, err = expr.CompileAll(call.Args, s.layout, s.run.env); err != nil {
		return nil, err
	}
	var kinds, extra []vector.Kind
	if grouped {
		kinds = append(kinds, vector.I32)
		d.keys = append(d.keys, &d.group)
	}
	keys := len(kinds) + len(call.Args)
	for i, e := range call.Args {
		kinds = append(kinds, d.normal[i].kind(e.Type().Kind()))
		if d.normal[i] == nil {
			d.keep = append(d.keep, len(kinds)-1)
			continue
		}
		d.keep = append(d.keep, keys+len(extra))
		extra = append(extra, e.Type().Kind())
	}
	d.keys = append(d.keys, make([]*vector.Vector, len(call.Args))...)
	d.extra = make([]*vector.Vector, len(extra))
	d.set = join.NewGroups(kinds, extra, memory)
	return d, nil
}

// push adds the arguments of a batch's rows sel; groups are the rows' group numbers.
func (d *distinctState) push(b *vector.Batch, sel vector.Sel, groups []uint32) error {
	if d.filter != nil {
		var err error
		if d.sel, err = d.filter.Select(b, sel, d.sel); err != nil {
			return err
		}
		if sel = d.sel; len(sel) == 0 {
			return nil
		}
	}
	values, err := d.program.Eval(b, sel)
	if err != nil {
		return err
	}
	if d.grouped {
		d.group.SetFixed(vector.I32, vector.BytesOf(groups), b.N, nil)
	}
	extra := 0
	for i, v := range values {
		d.keys[len(d.keys)-len(values)+i] = d.normal[i].apply(v, b.N, sel)
		if d.normal[i] != nil {
			d.extra[extra] = v
			extra++
		}
	}
	return d.set.Assign(d.ids, d.keys, d.extra, b.N, sel)
}

// merge adds another worker's set, whose group g is mapping[g] here.
func (d *distinctState) merge(w *Worker, other *distinctState, mapping []uint32) error {
	vecs := join.NewBlock(other.set.Store().Columns())
	var renamed [join.BlockRows]uint32
	for from := 0; from < other.set.Len(); from += join.BlockRows {
		n := min(join.BlockRows, other.set.Len()-from)
		other.set.Store().Block(vecs, from, n)
		if d.grouped {
			for i, g := range vector.Of[uint32](vecs[0])[:n] {
				renamed[i] = mapping[g]
			}
			vecs[0] = vector.FromSlice(vector.I32, renamed[:n])
		}
		if err := d.set.Assign(d.ids, vecs[:len(d.keys)], vecs[len(d.keys):], n, nil); err != nil {
			return err
		}
		if err := w.Check(); err != nil {
			return err
		}
	}
	return nil
}

// finish feeds the accumulator.
func (d *distinctState) finish(w *Worker, groups int) error {
	d.acc = expr.NewAccumulator(d.call)
	d.acc.Grow(groups)
	vecs := join.NewBlock(d.set.Store().Columns())
	args := make([]*vector.Vector, len(d.keep))
	for from := 0; from < d.set.Len(); from += join.BlockRows {
		n := min(join.BlockRows, d.set.Len()-from)
		d.set.Store().Block(vecs, from, n)
		var ids []uint32
		if d.grouped {
			ids = vector.Of[uint32](vecs[0])[:n]
		}
		for i, c := range d.keep {
			args[i] = vecs[c]
		}
		if err := d.acc.Update(ids, args, n, nil); err != nil {
			return err
		}
		if err := w.Check(); err != nil {
			return err
		}
	}
	return nil
}
