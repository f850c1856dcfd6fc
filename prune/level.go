package prune

import (
	"math"
	"slices"
	"sort"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/vector"
)

// key is a column or expression by which a level divides rows.
type key struct {
	pos     int       // of the partitioned table's column, −1 = an expression
	expr    expr.Expr // over Desc.Cols
	typ     catalog.Type
	notNull bool
	compare func(a *vector.Vector, i int, b *vector.Vector, j int) int
	values  *vector.Vector // of the edges of a range, or of a list, in order
	ints    []int64        // the same, where they are integers
}

// newLevel describes one level. root and cols are what the keys are resolved in.
func newLevel(t *catalog.Table, partitions []*catalog.Table, root *catalog.Table, cols []*expr.Col, bind Binder) (*Level, error) {
	l := &Level{table: t, nullKid: -1, defaultKid: -1}
	for i := range t.Partitioning.Keys {
		k, err := newKey(t, &t.Partitioning.Keys[i], root, cols, bind)
		if err != nil {
			return nil, err
		}
		l.keys = append(l.keys, k)
	}
	var err error
	switch t.Partitioning.Strategy {
	case catalog.PartitionByRange:
		err = l.addRanges(partitions)
	case catalog.PartitionByList:
		err = l.addLists(partitions)
	default:
		l.addHashes(partitions)
	}
	for _, p := range partitions {
		if p.Bound.Default {
			l.defaultKid = len(l.kids)
			l.kids = append(l.kids, kid{table: p})
		}
	}
	for i := range l.keys {
		l.keys[i].ints = integers(l.keys[i].values)
	}
	if l.edges > 0 && l.kinds[0][0] < 0 && l.keys[0].ints != nil {
		l.keys[0].ints[0] = math.MinInt64 // everything is behind MINVALUE
	}
	return l, err
}

func newKey(t *catalog.Table, p *catalog.PartitionKey, root *catalog.Table, cols []*expr.Col, bind Binder) (key, error) {
	k := key{pos: -1, typ: p.Type, compare: expr.CompareValues(p.Type), values: vector.New(p.Type.Kind(), 0)}
	if p.Column == 0 {
		var err error
		k.expr, err = bind(p.Expr)
		return k, err
	}
	column := &t.Columns[t.ColumnByID(p.Column)]
	k.pos = root.ColumnIndex(column.Name)
	k.expr, k.notNull = cols[k.pos], column.NotNull
	return k, nil
}

// integers returns the values of a vector whose order is that of integers, nil for others.
func integers(v *vector.Vector) []int64 {
	switch v.Kind {
	case vector.Bool, vector.I16, vector.I32, vector.I64:
	default:
		return nil
	}
	out := make([]int64, v.Len)
	for i := range out {
		out[i] = vector.DatumAt(v, i).I
	}
	return out
}

// ParseBound reads a value of a bound.
func ParseBound(typ catalog.Type, v catalog.BoundValue) (vector.Datum, error) {
	if v.Kind != catalog.BoundIsValue {
		return vector.NullDatum(typ.Kind()), nil
	}
	return expr.ParseDatum(typ, v.Text, nil)
}

// edge is an end of a range while a level is built.
type edge struct {
	values *vector.Batch // one row
	kinds  []int8
}

func (l *Level) edge(bound []catalog.BoundValue) (edge, error) {
	e := edge{values: &vector.Batch{N: 1}}
	for i, v := range bound {
		d, err := ParseBound(l.keys[i].typ, v)
		if err != nil {
			return e, err
		}
		vec := vector.New(l.keys[i].typ.Kind(), 1)
		vector.AppendDatum(vec, d)
		e.values.Vecs = append(e.values.Vecs, vec)
		kind := int8(0)
		switch v.Kind {
		case catalog.BoundIsMin:
			kind = -1
		case catalog.BoundIsMax:
			kind = 1
		}
		e.kinds = append(e.kinds, kind)
	}
	return e, nil
}

func (l *Level) compareEdges(a, b edge) int {
	for i := range l.keys {
		switch {
		case a.kinds[i] != b.kinds[i]:
			return int(a.kinds[i]) - int(b.kinds[i])
		case a.kinds[i] != 0:
			return 0
		}
		if c := l.keys[i].compare(a.values.Vecs[i], 0, b.values.Vecs[i], 0); c != 0 {
			return c
		}
	}
	return 0
}

// rangePart is a partition of a range with its ends.
type rangePart struct {
	table    *catalog.Table
	from, to edge
}

func (l *Level) ranges(partitions []*catalog.Table) ([]rangePart, error) {
	var parts []rangePart
	for _, p := range partitions {
		if p.Bound.Default {
			continue
		}
		from, err := l.edge(p.Bound.From)
		if err != nil {
			return nil, err
		}
		to, err := l.edge(p.Bound.To)
		if err != nil {
			return nil, err
		}
		parts = append(parts, rangePart{p, from, to})
	}
	slices.SortFunc(parts, func(a, b rangePart) int { return l.compareEdges(a.from, b.from) })
	return parts, nil
}

func (l *Level) addRanges(partitions []*catalog.Table) error {
	parts, err := l.ranges(partitions)
	if err != nil {
		return err
	}
	l.kinds = make([][]int8, len(l.keys))
	add := func(e edge, owner int) {
		for i := range l.keys {
			vector.AppendRange(l.keys[i].values, e.values.Vecs[i], 0, 1)
			l.kinds[i] = append(l.kinds[i], e.kinds[i])
		}
		l.edges++
		l.owners = append(l.owners, owner)
	}
	l.owners = []int{-1}
	for i, p := range parts {
		if i > 0 && l.compareEdges(parts[i-1].to, p.from) == 0 {
			l.owners[l.edges] = i
		} else {
			add(p.from, i)
		}
		add(p.to, -1)
		l.kids = append(l.kids, kid{table: p.table})
	}
	return nil
}

// listValue is a value of a list partition while a level is built.
type listValue struct {
	row   int // in the values as written
	table *catalog.Table
}

func (l *Level) addLists(partitions []*catalog.Table) error {
	k := &l.keys[0]
	written := vector.New(k.typ.Kind(), 0)
	var values []listValue
	var null *catalog.Table
	for _, p := range partitions {
		for _, v := range p.Bound.In {
			if v.Kind == catalog.BoundIsNull {
				null = p
				continue
			}
			d, err := ParseBound(k.typ, v)
			if err != nil {
				return err
			}
			vector.AppendDatum(written, d)
			values = append(values, listValue{len(values), p})
		}
	}
	slices.SortFunc(values, func(a, b listValue) int { return k.compare(written, a.row, written, b.row) })
	kids := map[*catalog.Table]int{}
	kidOf := func(t *catalog.Table) int {
		at, ok := kids[t]
		if !ok {
			at = len(l.kids)
			kids[t] = at
			l.kids = append(l.kids, kid{table: t})
			l.listed = append(l.listed, 0)
		}
		return at
	}
	for _, v := range values {
		vector.AppendRange(k.values, written, v.row, v.row+1)
		at := kidOf(v.table)
		l.owners = append(l.owners, at)
		l.listed[at]++
	}
	if null != nil {
		l.nullKid = kidOf(null)
	}
	return nil
}

func (l *Level) addHashes(partitions []*catalog.Table) {
	sorted := slices.Clone(partitions)
	slices.SortFunc(sorted, func(a, b *catalog.Table) int {
		if a.Bound.Modulus != b.Bound.Modulus {
			return a.Bound.Modulus - b.Bound.Modulus
		}
		return a.Bound.Remainder - b.Bound.Remainder
	})
	if len(sorted) == 0 {
		return
	}
	l.remainders = make([]int, sorted[len(sorted)-1].Bound.Modulus)
	for i := range l.remainders {
		l.remainders[i] = -1
	}
	for i, p := range sorted {
		l.kids = append(l.kids, kid{table: p})
		for r := p.Bound.Remainder; r < len(l.remainders); r += p.Bound.Modulus {
			l.remainders[r] = i
		}
	}
}

// edgesBefore counts the edges that are not behind a prefix of m key values, given at row of vecs. tail
// tells where, among the keys with that prefix, the place is: −1 before all of them, 1 behind them.
// strict leaves out an edge in that very place.
func (l *Level) edgesBefore(vecs []*vector.Vector, row, m, tail int, strict bool) int {
	return sort.Search(l.edges, func(e int) bool {
		c := l.compareEdge(e, vecs, row, m, tail)
		return c > 0 || strict && c == 0
	})
}

func (l *Level) compareEdge(e int, vecs []*vector.Vector, row, m, tail int) int {
	for i := range m {
		if kind := l.kinds[i][e]; kind != 0 {
			return int(kind)
		}
		if c := l.keys[i].compare(l.keys[i].values, e, vecs[i], row); c != 0 {
			return c
		}
	}
	if m == len(l.keys) || int(l.kinds[m][e]) == tail {
		return 0
	}
	return -tail
}

// valueAt returns where a value stands among those of a list, and whether it is one of them.
func (l *Level) valueAt(v *vector.Vector, row int) (int, bool) {
	k := &l.keys[0]
	n := k.values.Len
	at := sort.Search(n, func(i int) bool { return k.compare(k.values, i, v, row) >= 0 })
	return at, at < n && k.compare(k.values, at, v, row) == 0
}

// hashKid returns the kid of a hash of rows of key values, −1 if there is none.
func (l *Level) hashKid(vecs []*vector.Vector, row int) int {
	switch {
	case l.nodes != nil:
		return l.nodes.NodeOf(vecs, row)
	case len(l.remainders) == 0:
		return -1
	}
	hash := uint64(0)
	for i := range l.keys {
		if v := vecs[i]; !v.IsNull(row) {
			typ := l.keys[i].typ
			hash = vector.PGHashCombine64(hash, vector.PGPartitionHash(typ.PGHash(), int(typ.Scale), v, row))
		}
	}
	return l.remainders[hash%uint64(len(l.remainders))]
}

// kidOf returns the kid that a row of key values belongs to, −1 if there is none.
func (l *Level) kidOf(vecs []*vector.Vector, row int) int {
	found := -1
	switch l.table.Partitioning.Strategy {
	case catalog.PartitionByHash:
		return l.hashKid(vecs, row)
	case catalog.PartitionByList:
		if vecs[0].IsNull(row) {
			found = l.nullKid
		} else if at, ok := l.valueAt(vecs[0], row); ok {
			found = l.owners[at]
		}
	default:
		if !slices.ContainsFunc(vecs, func(v *vector.Vector) bool { return v.IsNull(row) }) {
			found = l.owners[l.edgesBefore(vecs, row, len(vecs), 0, false)]
		}
	}
	if found < 0 {
		found = l.defaultKid
	}
	return found
}
