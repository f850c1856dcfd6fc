package expr

import (
	"github.com/weftdb/weft/vector"
)

// countStar is count(*).
var countStar = aggFn("count", "", "int8", func(*AggCall) Accumulator { return &countAcc{} })

// countAcc counts rows, or rows whose argument is not NULL.
type countAcc struct {
	counts []int64
	buf    vector.Sel
}

func (a *countAcc) Grow(groups int) { a.counts = grow(a.counts, groups) }

func (a *countAcc) Update(groups []uint32, args []*vector.Vector, n int, sel vector.Sel) error {
	if len(args) > 0 {
		v := args[0]
		if v.Form != vector.Const && v.Valid != nil {
			a.buf = vector.SelectValid(v.Valid, n, sel, a.buf)
			sel = a.buf
		} else if v.IsNull(0) {
			return nil
		}
	}
	countRows(a.counts, groups, n, sel)
	return nil
}

// countRows adds one per row to its group.
func countRows(counts []int64, groups []uint32, n int, sel vector.Sel) {
	switch {
	case groups == nil:
		counts[0] += int64(count(n, sel))
	case sel == nil:
		for _, g := range groups[:n] {
			counts[g]++
		}
	default:
		for _, i := range sel {
			counts[groups[i]]++
		}
	}
}

func (a *countAcc) Merge(other Accumulator, mapping []uint32) error {
	for g, c := range other.(*countAcc).counts {
		a.counts[mapGroup(mapping, g)] += c
	}
	return nil
}

func (a *countAcc) Result(from, to int, out *vector.Vector) error {
	for _, c := range a.counts[from:to] {
		vector.Append(out, c)
	}
	return nil
}

func (a *countAcc) SizeBytes() int { return cap(a.counts) * 8 }

// aggregateFunctions lists the aggregates.
func aggregateFunctions() []*Function {
	list := []*Function{
		aggFn("count", "any", "int8", func(*AggCall) Accumulator { return &countAcc{} }),
		countStar,
	}
	list = append(list, sumAggregates()...)
	list = append(list, extremeAggregates()...)
	list = append(list, boolAggregates()...)
	list = append(list, varianceAggregates()...)
	return append(list, textAggregates()...)
}
