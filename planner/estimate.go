package planner

import (
	"math"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/vector"
)

// colFacts is what is estimated of a column's values in some relation.
type colFacts struct {
	distinct     float64
	nullFraction float64
	min, max     vector.Datum
	width        float64
}

// relation facts: the one bottom-up analysis that all estimates read.
type relFacts struct {
	rows float64
	cols map[expr.ColID]colFacts
	// keys lists sets of columns whose values do not repeat, with the number of rows that the key
	// had before filters: a foreign key finds a match for rows/domain of its values.
	keys []keyFacts
}

type keyFacts struct {
	cols   colSet
	domain float64
}

// Defaults for what statistics do not tell, PostgreSQL's where it has one.
const (
	defaultRows        = 1000.0
	defaultEquality    = 0.005
	defaultRange       = 1.0 / 3
	defaultLike        = 0.05
	defaultBoolean     = 0.5
	defaultDistinct    = 200.0
	defaultSemi        = 0.5
	defaultResidual    = 0.5
	minimumSelectivity = 1e-9
)

// estimate fills in the estimates of n and everything below, and returns n's facts.
func (b *binder) estimate(n Node) *relFacts {
	if f, ok := b.known[n]; ok {
		return f
	}
	f := b.facts(n)
	b.known[n] = f
	e := n.Estimate()
	e.Rows, e.Width = RowsEst(math.Max(f.rows, 1)), f.width(n.Cols())
	b.cost(n)
	return f
}

func (f *relFacts) width(cols []*expr.Col) int {
	w := 0.0
	for _, c := range cols {
		w += f.colWidth(c)
	}
	return int(w + 0.5)
}

func (f *relFacts) colWidth(c *expr.Col) float64 {
	if facts, ok := f.cols[c.ID]; ok && facts.width > 0 {
		return facts.width
	}
	return typeWidth(c.Typ)
}

func typeWidth(t catalog.Type) float64 {
	if w := t.Kind().Width(); w > 0 {
		return float64(w)
	}
	if (t.ID == catalog.Char || t.ID == catalog.Varchar) && t.Prec > 0 {
		return math.Min(float64(t.Prec), 32)
	}
	return 32
}

// facts estimates a relation from its inputs.
func (b *binder) facts(n Node) *relFacts {
	switch n := n.(type) {
	case *Scan:
		return b.scanFacts(n)
	case *Filter:
		in := b.estimate(n.Input)
		return in.filtered(in.selectivity(n.Conds))
	case *Project:
		return b.projectFacts(n)
	case *Join:
		return b.joinNodeFacts(n)
	case *Aggregate:
		return b.aggregateFacts(n)
	case *Sort:
		return b.estimate(n.Input).limited(n.Limit, n.Offset)
	case *Limit:
		return b.estimate(n.Input).limited(n.Count, n.Offset)
	case *Append:
		return b.appendFacts(n)
	case *Values:
		return &relFacts{rows: float64(len(n.Rows)), cols: map[expr.ColID]colFacts{}}
	case *FuncScan:
		return b.funcFacts(n)
	case *CTEScan:
		in := b.estimate(n.CTE.Plan)
		return in.renamed(n.CTE.Plan.Cols(), n.Out)
	case *Apply:
		outer, inner := b.estimate(n.Outer), b.estimate(n.Inner)
		f := joinedFacts(outer, inner, n.Kind, outer.rows*math.Max(inner.rows, 1))
		return f
	}
	var last *relFacts
	for _, kid := range n.Kids() {
		last = b.estimate(kid)
	}
	if last == nil {
		return &relFacts{rows: 1, cols: map[expr.ColID]colFacts{}}
	}
	return last
}

func (b *binder) funcFacts(n *FuncScan) *relFacts {
	f := &relFacts{rows: defaultRows, cols: map[expr.ColID]colFacts{}}
	if n.Name != "generate_series" || len(n.Args) < 2 {
		f.rows = 10
		return f
	}
	lo, ok1 := n.Args[0].(*expr.Const)
	hi, ok2 := n.Args[1].(*expr.Const)
	if ok1 && ok2 && lo.Typ.IsInteger() {
		step := int64(1)
		if len(n.Args) == 3 {
			if k, ok := n.Args[2].(*expr.Const); ok && k.Value.I != 0 {
				step = k.Value.I
			}
		}
		f.rows = math.Max(0, float64((hi.Value.I-lo.Value.I)/step+1))
		f.cols[n.Out[0].ID] = colFacts{distinct: f.rows, min: lo.Value, max: hi.Value}
		f.keys = []keyFacts{{setOf(n.Out), f.rows}}
	}
	return f
}

// tableRows is how many rows are in what a scan reads, before its filter.
func (b *binder) tableRows(n *Scan) float64 {
	if n.Parts != nil {
		return n.Parts.rows
	}
	return b.world.Rows(n.Table)
}

func (b *binder) scanFacts(n *Scan) *relFacts {
	f := &relFacts{rows: defaultRows, cols: map[expr.ColID]colFacts{}}
	var stats *catalog.Stats
	if b.world != nil {
		f.rows = math.Max(b.tableRows(n), 0)
		stats = b.scanStats(n)
	}
	base := math.Max(f.rows, 1)
	byID := map[catalog.ColumnID]expr.ColID{}
	for _, c := range n.Columns {
		column := &n.Table.Columns[c.Pos]
		byID[column.ID] = c.Col.ID
		facts := colFacts{distinct: math.Min(defaultDistinct, base), min: vector.NullDatum(column.Type.Kind()), max: vector.NullDatum(column.Type.Kind())}
		if stats != nil {
			if s, ok := stats.Columns[column.ID]; ok {
				facts = colFacts{distinct: s.Distinct, nullFraction: s.NullFraction, min: s.Min, max: s.Max, width: s.AvgWidth}
				if grown := base / math.Max(float64(stats.Rows), 1); grown > 1 && s.Distinct > 0.1*float64(stats.Rows) {
					facts.distinct *= grown // a column that grows with its table
				}
			}
		}
		f.cols[c.Col.ID] = facts
	}
	for i := range n.Table.Indexes {
		index := &n.Table.Indexes[i]
		key := colSet{}
		complete := index.Enforced()
		for _, id := range index.Columns {
			if col, ok := byID[id]; ok {
				key[col] = true
			} else {
				complete = false
			}
		}
		if complete {
			f.keys = append(f.keys, keyFacts{key, base})
			if len(key) == 1 {
				for id := range key {
					facts := f.cols[id]
					facts.distinct = base
					f.cols[id] = facts
				}
			}
		}
	}
	if len(n.Filter) == 0 {
		return f
	}
	return f.filtered(b.scanSelectivity(n, f, stats))
}

// filtered scales facts to a share of the rows.
func (f *relFacts) filtered(selectivity float64) *relFacts {
	out := &relFacts{rows: f.rows * selectivity, keys: f.keys, cols: make(map[expr.ColID]colFacts, len(f.cols))}
	for id, c := range f.cols {
		c.distinct = survivingDistinct(c.distinct, f.rows, out.rows)
		out.cols[id] = c
	}
	return out
}

// survivingDistinct is the expected number of distinct values among kept of total rows.
func survivingDistinct(distinct, total, kept float64) float64 {
	if kept >= total || distinct <= 1 || total <= 0 {
		return math.Max(1, math.Min(distinct, math.Max(kept, 1)))
	}
	perValue := total / distinct
	d := distinct * (1 - math.Pow(1-kept/total, perValue))
	return math.Max(1, math.Min(d, math.Max(kept, 1)))
}

func (f *relFacts) limited(limit, offset expr.Expr) *relFacts {
	k, ok := limit.(*expr.Const)
	if !ok || k.Value.Null {
		return f
	}
	n := math.Max(float64(k.Value.I), 0)
	if n >= f.rows {
		return f
	}
	out := f.filtered(n / math.Max(f.rows, 1))
	out.rows = n
	return out
}

func (f *relFacts) renamed(from, to []*expr.Col) *relFacts {
	out := &relFacts{rows: f.rows, cols: map[expr.ColID]colFacts{}}
	with := map[expr.ColID]expr.ColID{}
	for i := range from {
		if to[i] == nil {
			continue
		}
		with[from[i].ID] = to[i].ID
		if c, ok := f.cols[from[i].ID]; ok {
			out.cols[to[i].ID] = c
		}
	}
	out.keys = renamedKeys(f.keys, with)
	return out
}

func renamedKeys(keys []keyFacts, with map[expr.ColID]expr.ColID) []keyFacts {
	var out []keyFacts
	for _, k := range keys {
		cols := colSet{}
		complete := true
		for id := range k.cols {
			to, ok := with[id]
			complete = complete && ok
			cols[to] = true
		}
		if complete {
			out = append(out, keyFacts{cols, k.domain})
		}
	}
	return out
}

func (b *binder) projectFacts(n *Project) *relFacts {
	in := b.estimate(n.Input)
	out := &relFacts{rows: in.rows, cols: map[expr.ColID]colFacts{}}
	with := map[expr.ColID]expr.ColID{}
	for _, it := range n.Items {
		if c, ok := it.Expr.(*expr.Col); ok {
			with[c.ID] = it.Col.ID
		}
		out.cols[it.Col.ID] = in.exprFacts(it.Expr)
	}
	out.keys = renamedKeys(in.keys, with)
	return out
}

// exprFacts estimates a computed column: at most as many values as its columns have combinations.
func (f *relFacts) exprFacts(e expr.Expr) colFacts {
	if c, ok := e.(*expr.Col); ok {
		if facts, ok := f.cols[c.ID]; ok {
			return facts
		}
	}
	unknown := vector.NullDatum(e.Type().Kind())
	out := colFacts{distinct: 1, min: unknown, max: unknown, width: typeWidth(e.Type())}
	if k, ok := e.(*expr.Const); ok {
		out.min, out.max = k.Value, k.Value
		return out
	}
	for id := range columnSet(e) {
		out.distinct *= math.Max(f.cols[id].distinct, 1)
	}
	out.distinct = math.Min(out.distinct, math.Max(f.rows, 1))
	return out
}

func (b *binder) aggregateFacts(n *Aggregate) *relFacts {
	in := b.estimate(n.Input)
	out := &relFacts{rows: 1, cols: map[expr.ColID]colFacts{}}
	if len(n.Groups) > 0 {
		groups := 1.0
		for _, g := range n.Groups {
			facts := in.exprFacts(g.Expr)
			out.cols[g.Col.ID] = facts
			groups *= math.Max(facts.distinct, 1)
		}
		out.rows = math.Max(1, math.Min(groups, in.rows))
		out.keys = []keyFacts{{setOf(itemCols(n.Groups)), out.rows}}
	}
	for _, a := range n.Aggs {
		t := a.Col.Typ
		out.cols[a.Col.ID] = colFacts{distinct: out.rows, min: vector.NullDatum(t.Kind()), max: vector.NullDatum(t.Kind()), width: typeWidth(t)}
	}
	return out
}

func (b *binder) appendFacts(n *Append) *relFacts {
	out := &relFacts{cols: map[expr.ColID]colFacts{}}
	for _, input := range n.Inputs {
		in := b.estimate(input)
		out.rows += in.rows
		for i, c := range input.Cols() {
			facts := out.cols[n.Out[i].ID]
			facts.distinct += in.cols[c.ID].distinct
			facts.min, facts.max = vector.NullDatum(c.Typ.Kind()), vector.NullDatum(c.Typ.Kind())
			out.cols[n.Out[i].ID] = facts
		}
	}
	return out
}
