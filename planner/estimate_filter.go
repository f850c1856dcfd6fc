package planner

import (
	"math"
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/vector"
)

// scanSelectivity estimates a scan's filter: by evaluating it on the table's sample where there is
// one, else from the columns' statistics.
func (b *binder) scanSelectivity(n *Scan, f *relFacts, stats *catalog.Stats) float64 {
	fromStats := f.selectivity(n.Filter)
	if stats == nil || len(stats.Sample) == 0 || len(stats.Sample[0]) == 0 {
		return fromStats
	}
	hits, ok := b.sampledHits(n, stats)
	if !ok {
		return fromStats
	}
	rows := len(stats.Sample[0])
	if hits == 0 {
		// Less than one row in the sample: the statistics may know how much less, but an
		// estimate of zero would make every join order look free.
		return math.Max(math.Min(fromStats, 0.5/float64(rows)), minimumSelectivity)
	}
	share := float64(hits) / float64(rows)
	if hits < reliableHits && len(n.Filter) == 1 {
		// A row or two of the sample say little; of a single condition the statistics say more.
		return math.Max(math.Min(fromStats, share), minimumSelectivity)
	}
	return share
}

// reliableHits is how many rows of a sample must pass a filter for their share to be believed.
const reliableHits = 5

// sampledFilter is what is known of a scan's filter: rules make many scans with the same one.
type sampledFilter struct {
	conds []expr.Expr
	hits  int
	ok    bool
}

// sampledHits is sampleHits, once for each filter.
func (b *binder) sampledHits(n *Scan, stats *catalog.Stats) (hits int, ok bool) {
	for _, s := range b.sampled {
		if slices.Equal(s.conds, n.Filter) {
			return s.hits, s.ok
		}
	}
	s := sampledFilter{conds: slices.Clone(n.Filter)}
	s.hits, s.ok = sampleHits(n, stats)
	b.sampled = append(b.sampled, s)
	return s.hits, s.ok
}

// sampleHits counts the sample rows that pass a scan's filter. false where the sample cannot tell.
func sampleHits(n *Scan, stats *catalog.Stats) (hits int, ok bool) {
	layout := map[expr.ColID]int{}
	var samples [][]vector.Datum
	batch := &vector.Batch{}
	used := columnSet(n.Filter...)
	for _, c := range n.Columns {
		if !used[c.Col.ID] {
			continue
		}
		at := slices.Index(stats.SampleColumns, n.Table.Columns[c.Pos].ID)
		if at < 0 {
			return 0, false
		}
		layout[c.Col.ID] = len(batch.Vecs)
		samples = append(samples, stats.Sample[at])
		batch.Vecs = append(batch.Vecs, vector.New(c.Col.Typ.Kind(), vector.BatchCap))
	}
	for _, e := range n.Filter {
		if expr.HasParam(e) || expr.VolatilityOf(e) == expr.Volatile {
			return 0, false
		}
	}
	filter, err := expr.CompileFilter(conjunction(n.Filter), func(id expr.ColID) int { return layout[id] }, &expr.Env{})
	if err != nil {
		return 0, false
	}
	rows, sel := len(stats.Sample[0]), make(vector.Sel, 0, vector.BatchCap)
	for from := 0; from < rows; from += vector.BatchCap {
		batch.N = min(rows-from, vector.BatchCap)
		for i, v := range batch.Vecs {
			v.Reset(v.Kind, 0)
			for _, d := range samples[i][from : from+batch.N] {
				vector.AppendDatum(v, d)
			}
		}
		passed, err := filter.Select(batch, nil, sel)
		if err != nil {
			return 0, false // an error while estimating is not the statement's error
		}
		hits += len(passed)
	}
	return hits, true
}

// selectivity estimates the share of rows for which all conditions hold, taking them as
// independent.
func (f *relFacts) selectivity(conds []expr.Expr) float64 {
	s := 1.0
	for _, c := range conds {
		s *= f.condSelectivity(c)
	}
	return math.Max(s, minimumSelectivity)
}

func (f *relFacts) condSelectivity(e expr.Expr) float64 {
	switch e := e.(type) {
	case *expr.Const:
		if e.Value.Null || e.Value.I == 0 {
			return 0
		}
		return 1
	case *expr.BoolOp:
		s := 1.0
		for _, a := range e.Args {
			if e.Or {
				s *= 1 - f.condSelectivity(a)
			} else {
				s *= f.condSelectivity(a)
			}
		}
		if e.Or {
			return 1 - s
		}
		return s
	case *expr.Not:
		return 1 - f.condSelectivity(e.Arg)
	case *expr.IsNull:
		return f.nullSelectivity(e)
	case *expr.InList:
		return f.inSelectivity(e)
	case *expr.Call:
		return f.callSelectivity(e)
	}
	return defaultBoolean
}

func (f *relFacts) nullSelectivity(e *expr.IsNull) float64 {
	share := defaultEquality
	if c, ok := e.Arg.(*expr.Col); ok {
		if facts, known := f.cols[c.ID]; known {
			share = facts.nullFraction
		}
	}
	if e.Negated {
		return 1 - share
	}
	return share
}

func (f *relFacts) inSelectivity(e *expr.InList) float64 {
	s := math.Min(1, float64(len(e.List))/math.Max(f.exprFacts(e.Arg).distinct, 1))
	if e.Negated {
		return 1 - s
	}
	return s
}

func (f *relFacts) callSelectivity(e *expr.Call) float64 {
	if len(e.Args) != 2 {
		return defaultBoolean
	}
	switch e.Fn.Name {
	case "=":
		l, r := f.exprFacts(e.Args[0]), f.exprFacts(e.Args[1])
		return 1 / math.Max(math.Max(l.distinct, r.distinct), 1)
	case "<>":
		l, r := f.exprFacts(e.Args[0]), f.exprFacts(e.Args[1])
		return 1 - 1/math.Max(math.Max(l.distinct, r.distinct), 2)
	case "<", "<=":
		return f.rangeSelectivity(e.Args[0], e.Args[1], true)
	case ">", ">=":
		return f.rangeSelectivity(e.Args[0], e.Args[1], false)
	case "~~", "~~*", "~", "~*":
		return defaultLike
	case "!~~", "!~~*", "!~", "!~*":
		return 1 - defaultLike
	}
	return defaultBoolean
}

// rangeSelectivity interpolates a constant between a column's bounds.
func (f *relFacts) rangeSelectivity(left, right expr.Expr, less bool) float64 {
	k, ok := right.(*expr.Const)
	col := left
	if !ok {
		if k, ok = left.(*expr.Const); !ok {
			return defaultRange
		}
		col, less = right, !less
	}
	facts := f.exprFacts(col)
	lo, okLo := numericValue(facts.min)
	hi, okHi := numericValue(facts.max)
	x, okX := numericValue(k.Value)
	if !okLo || !okHi || !okX || hi <= lo {
		return defaultRange
	}
	share := math.Min(math.Max((x-lo)/(hi-lo), 0), 1)
	if !less {
		share = 1 - share
	}
	return math.Max(share, 1/math.Max(f.rows, 1))
}

// numericValue places a value on the number line; values of one column share their scale.
func numericValue(d vector.Datum) (float64, bool) {
	if d.Null {
		return 0, false
	}
	switch d.Kind {
	case vector.I16, vector.I32, vector.I64:
		return float64(d.I), true
	case vector.F32, vector.F64:
		return d.F, true
	case vector.I128:
		return float64(d.Hi)*math.Exp2(64) + float64(uint64(d.I)), true
	}
	return 0, false
}
