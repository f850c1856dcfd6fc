package prune

import (
	"encoding/binary"
	"math"
	"sort"

	"github.com/bits-and-blooms/bitset"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/vector"
)

// Join is what the conditions of a join say of the partitions of one side, given values of the other.
// It is immutable.
type Join struct {
	Desc *Desc
	// Conds are conditions over the scan's columns in which what is of the other side is a parameter: all
	// of them are true for a pair of rows that match.
	Conds []expr.Expr
	// Params are the numbers of the parameters, and Types their types.
	Params []int
	Types  []catalog.Type
	// Column gives what the conditions call a column of the partitioned table, nil where they have no
	// name for it.
	Column func(pos int) expr.Expr
	// MaxRouted is how many rows a picker looks up one by one, which costs microseconds each, before it takes
	// all leaves; 0 = any number.
	MaxRouted int64
}

// Picker finds the leaves that the rows of the other side can have matches in. It belongs to one worker.
//
// Values are looked up by the same code that selects partitions for constants, so every condition counts
// that counts there. Most rows are not looked up: those with a value that has been looked up shortly
// before, those in the range of the last one, and all of them once there is nothing left to be found.
type Picker struct {
	join   *Join
	within *bitset.BitSet // the leaves of interest
	left   uint           // how many of them are not in set
	set    *bitset.BitSet
	env    expr.Env
	ints   *intPicker
	groups *groupPicker // without both, values are looked up one by one
	seen   map[string]struct{}
	text   []byte

	// Figures for EXPLAIN ANALYZE: rows, those with a NULL in a key, and values that were looked up.
	Rows, Nulls, Routed int64
	// Defaults is how many of the values that were looked up are for default partitions alone; that is counted
	// if CountDefaults is set.
	Defaults      int64
	CountDefaults bool
	// GaveUp tells that all leaves are taken without looking further.
	GaveUp bool
}

// NewPicker returns a picker of leaves out of a set. Parameters of the statement have the values of env.
func (j *Join) NewPicker(env *expr.Env, within *bitset.BitSet) *Picker {
	p := &Picker{join: j, within: within, left: within.Count(), set: bitset.New(uint(len(j.Desc.Leaves))), env: *env, seen: map[string]struct{}{}}
	p.env.Params = append([]vector.Datum(nil), env.Params...)
	for _, i := range j.Params {
		for len(p.env.Params) < i {
			p.env.Params = append(p.env.Params, vector.Datum{})
		}
	}
	if p.ints = j.intPicker(); p.ints == nil {
		p.groups = j.groupPicker()
	}
	return p
}

// Set returns the leaves found so far.
func (p *Picker) Set() *bitset.BitSet { return p.set }

// Stopped reports whether nothing is left to be found.
func (p *Picker) Stopped() bool { return p.left == 0 }

// Add looks at the live rows of a batch: values[i] are those of parameter i.
func (p *Picker) Add(values []*vector.Vector, n int, sel vector.Sel) {
	if sel == nil {
		p.Rows += int64(n)
	} else {
		p.Rows += int64(len(sel))
	}
	if p.left == 0 {
		return
	}
	switch {
	case p.ints != nil:
		p.addInts(values[p.ints.param], n, sel)
		return
	case p.groups != nil:
		p.addGroups(values, n, sel)
		return
	}
	if sel == nil {
		for i := 0; i < n && p.left > 0; i++ {
			p.addRow(values, i)
		}
		return
	}
	for _, i := range sel {
		if p.left == 0 {
			return
		}
		p.addRow(values, int(i))
	}
}

// GiveUp takes all leaves: looking further costs too much, or cannot be done.
func (p *Picker) GiveUp() {
	p.set.InPlaceUnion(p.within)
	p.left, p.GaveUp = 0, true
}

// maxSeen is how many values are remembered as looked up.
const maxSeen = 4096

func (p *Picker) addRow(values []*vector.Vector, row int) {
	p.text = p.text[:0]
	null := false
	for _, v := range values {
		null = null || v.IsNull(row)
		p.text = appendValue(p.text, v, row)
	}
	if null {
		p.Nulls++
	}
	if _, ok := p.seen[string(p.text)]; ok {
		return
	}
	if len(p.seen) >= maxSeen {
		clear(p.seen)
	}
	p.seen[string(p.text)] = struct{}{}
	if p.Routed++; p.join.MaxRouted > 0 && p.Routed > p.join.MaxRouted {
		p.GiveUp()
		return
	}
	for i, v := range values {
		p.env.Params[p.join.Params[i]-1] = vector.DatumAt(v, row)
	}
	found := p.join.Desc.Select(p.join.Conds, p.join.Column, &Knowledge{Env: &p.env})
	found.InPlaceIntersection(p.within)
	if p.CountDefaults && p.join.Desc.onlyDefaults(found) {
		p.Defaults++
	}
	p.set.InPlaceUnion(found)
	p.left = p.within.Count() - p.set.Count()
}

// appendValue adds the representation of a value, which differs where values do.
func appendValue(b []byte, v *vector.Vector, row int) []byte {
	if v.IsNull(row) {
		return append(b, 0)
	}
	b = append(b, 1)
	if v.Kind == vector.Bytes {
		s := v.BytesAt(row)
		return append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	d := vector.DatumAt(v, row)
	switch v.Kind {
	case vector.F32, vector.F64:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(d.F))
	case vector.I128, vector.KindInterval:
		b = binary.LittleEndian.AppendUint64(b, uint64(d.Hi))
	}
	return binary.LittleEndian.AppendUint64(b, uint64(d.I))
}

// intPicker looks up integers, and what is stored as such, by one key of one level.
type intPicker struct {
	param  int // place of the value among the join's parameters
	level  *Level
	ranges bool    // of a range; else of a list
	ints   []int64 // edges of ranges that are values, or listed values
	skip   int     // edges before them: MINVALUE
	low    int64   // bounds of the key's type
	high   int64
	cache  [cachedInts]int64
	cached [cachedInts]bool
	from   int64 // the range of the last value
	to     int64
}

const cachedInts = 1024

// intPicker returns a fast way for the usual join: key = value, where the partitions of the table are
// leaves by that key alone, and both are integers or of one type that is stored as integers. Other
// conditions may leave out more, which the set that is picked from says as far as they are constants.
func (j *Join) intPicker() *intPicker {
	l := j.Desc.top
	if len(l.keys) != 1 || l.keys[0].ints == nil || l.table.Partitioning.Strategy == catalog.PartitionByHash {
		return nil
	}
	for i := range l.kids {
		if l.kids[i].level != nil {
			return nil
		}
	}
	k := &l.keys[0]
	var key expr.Expr
	if k.pos >= 0 {
		key = j.Column(k.pos)
	}
	param := j.equated(key, func(other catalog.Type) bool { return comparesAsInts(k.typ, other) })
	if param < 0 {
		return nil
	}
	p := &intPicker{param: param, level: l, ranges: l.table.Partitioning.Strategy == catalog.PartitionByRange, ints: k.ints, low: math.MinInt64, high: math.MaxInt64, from: 1, to: 0}
	switch k.typ.Kind() {
	case vector.I16:
		p.low, p.high = math.MinInt16, math.MaxInt16
	case vector.I32:
		p.low, p.high = math.MinInt32, math.MaxInt32
	}
	if p.ranges {
		for p.skip < l.edges && l.kinds[0][p.skip] < 0 {
			p.skip++
		}
		end := l.edges
		for end > p.skip && l.kinds[0][end-1] > 0 {
			end--
		}
		p.ints = k.ints[p.skip:end]
	}
	return p
}

// comparesAsInts reports whether values of two types, of which one is stored as integers, are equal where
// what is stored is. Numerics are of as many as three forms.
func comparesAsInts(key, other catalog.Type) bool {
	if key.IsInteger() && other.IsInteger() {
		return true
	}
	return key.ID == other.ID && key.Kind() == other.Kind() && (key.ID != catalog.Numeric || key.Scale == other.Scale)
}

// withoutCasts returns what is converted, where the conversion keeps values apart and in order.
func withoutCasts(e expr.Expr) expr.Expr {
	for {
		c, ok := e.(*expr.Cast)
		if !ok || !keepsOrder(c.Arg.Type(), c.Typ) {
			return e
		}
		e = c.Arg
	}
}

func (p *Picker) addInts(v *vector.Vector, n int, sel vector.Sel) {
	if v.Form == vector.Const {
		n, sel = 1, nil
	}
	var flat vector.Vector
	v = vector.Flatten(&flat, v, n)
	switch v.Kind {
	case vector.Bool, vector.I8:
		pickInts(p, vector.Of[int8](v), v.Valid, n, sel)
	case vector.I16:
		pickInts(p, vector.Of[int16](v), v.Valid, n, sel)
	case vector.I32:
		pickInts(p, vector.Of[int32](v), v.Valid, n, sel)
	case vector.I64:
		pickInts(p, vector.Of[int64](v), v.Valid, n, sel)
	}
}

func pickInts[T int8 | int16 | int32 | int64](p *Picker, values []T, valid vector.Bitmap, n int, sel vector.Sel) {
	live := n
	if sel != nil {
		live = len(sel)
	}
	t := p.ints
	for k := range live {
		row := k
		if sel != nil {
			row = int(sel[k])
		}
		if valid != nil && !valid.Get(row) {
			p.Nulls++
			continue
		}
		x := int64(values[row])
		if x >= t.from && x < t.to {
			continue
		}
		at := uint64(x) * 0x9E3779B97F4A7C15 >> 54
		if t.cached[at] && t.cache[at] == x {
			continue
		}
		t.cached[at], t.cache[at] = true, x
		p.Routed++
		leaf, byDefault := t.leafOf(x)
		if byDefault {
			p.Defaults++
		}
		if leaf >= 0 && p.found(uint(leaf)) {
			return
		}
	}
}

// found adds a leaf and reports whether nothing is left to be found.
func (p *Picker) found(leaf uint) bool {
	if p.set.Test(leaf) {
		return false
	}
	if p.set.Set(leaf); p.within.Test(leaf) {
		p.left--
	}
	return p.left == 0
}

// leafOf returns the leaf of a value, −1 if there is none, whether that is the default partition, and
// remembers its range.
func (t *intPicker) leafOf(x int64) (leaf int, byDefault bool) {
	if x < t.low || x > t.high {
		return -1, false
	}
	kid := -1
	if t.ranges {
		at := sort.Search(len(t.ints), func(i int) bool { return t.ints[i] > x })
		if at > 0 && at < len(t.ints) {
			t.from, t.to = t.ints[at-1], t.ints[at]
		}
		kid = t.level.owners[t.skip+at]
	} else {
		at := sort.Search(len(t.ints), func(i int) bool { return t.ints[i] >= x })
		if at < len(t.ints) && t.ints[at] == x {
			kid = t.level.owners[at]
		}
	}
	if kid < 0 {
		kid, byDefault = t.level.defaultKid, true
	}
	if kid < 0 {
		return -1, false
	}
	return t.level.kids[kid].lo, byDefault
}

// Default reports whether a leaf is, or is below, a partition for what the others do not take.
func (d *Desc) Default(leaf int) bool {
	for _, t := range d.Leaves[leaf].Path {
		if t.Bound != nil && t.Bound.Default {
			return true
		}
	}
	return false
}

// onlyDefaults reports whether there are leaves, and all are such.
func (d *Desc) onlyDefaults(leaves *bitset.BitSet) bool {
	for i, ok := leaves.NextSet(0); ok; i, ok = leaves.NextSet(i + 1) {
		if !d.Default(int(i)) {
			return false
		}
	}
	return leaves.Any()
}
