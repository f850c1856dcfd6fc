package prune

import (
	"slices"

	"github.com/bits-and-blooms/bitset"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/vector"
)

// maxTuples bounds the combinations of listed values that are looked up one by one.
const maxTuples = 1024

// All returns the set of all leaves.
func (d *Desc) All() *bitset.BitSet {
	n := uint(len(d.Leaves))
	return bitset.New(n).FlipRange(0, n)
}

// Select returns the leaves that may hold a row for which all conditions are true. column gives what the
// conditions call a column of the partitioned table, nil where they have no name for it.
func (d *Desc) Select(conds []expr.Expr, column func(pos int) expr.Expr, known *Knowledge) *bitset.BitSet {
	s := &selector{d: d, column: column, known: known}
	return s.conjunction(conds)
}

type selector struct {
	d      *Desc
	column func(pos int) expr.Expr
	known  *Knowledge
}

// conjunction selects by conditions that are all true: first by what they say of keys one by one, then
// by each OR, whose arms are selected on their own.
func (s *selector) conjunction(conds []expr.Expr) *bitset.BitSet {
	var flat []expr.Expr
	for _, c := range conds {
		flat = append(flat, expr.Conjuncts(c)...)
	}
	set := bitset.New(uint(len(s.d.Leaves)))
	s.level(s.d.top, flat, set)
	for _, c := range flat {
		or, ok := c.(*expr.BoolOp)
		if !ok || set.None() {
			continue
		}
		arms := bitset.New(set.Len())
		for _, arm := range or.Args {
			arms.InPlaceUnion(s.conjunction([]expr.Expr{arm}))
		}
		set.InPlaceIntersection(arms)
	}
	return set
}

// level adds the leaves below a level.
func (s *selector) level(l *Level, conds []expr.Expr, set *bitset.BitSet) {
	r := &reader{known: s.known, out: make([]constraint, len(l.keys))}
	for i := range l.keys {
		r.keys = append(r.keys, s.over(&l.keys[i]))
		r.types = append(r.types, values{l.keys[i].typ, l.keys[i].compare})
		r.out[i].value = l.keys[i].notNull
	}
	for _, c := range conds {
		r.condition(c)
	}
	if r.never {
		return
	}
	for i := range r.out {
		if r.out[i].settle(&r.types[i]); r.out[i].never {
			return
		}
	}
	s.known.Waiting = s.known.Waiting || l.waits(r.out)
	kids := make([]bool, len(l.kids))
	switch l.table.Partitioning.Strategy {
	case catalog.PartitionByRange:
		l.selectRanges(r.out, kids)
	case catalog.PartitionByList:
		l.selectLists(&r.out[0], kids)
	default:
		l.selectHashes(r.out, kids)
	}
	for i, want := range kids {
		k := &l.kids[i]
		switch {
		case !want:
		case k.level != nil:
			s.level(k.level, conds, set)
		default:
			set.Set(uint(k.lo))
		}
	}
}

// waits reports whether an execution, which will know more of some keys, may select fewer partitions by that.
// Those by hash are selected by values of all keys only.
func (l *Level) waits(cs []constraint) bool {
	any, all := false, true
	for i := range cs {
		any, all = any || cs[i].waits, all && (cs[i].listed || cs[i].null || cs[i].fixed)
	}
	return any && (all || l.table.Partitioning.Strategy != catalog.PartitionByHash)
}

// over returns a key as the conditions would write it, nil if they cannot.
func (s *selector) over(k *key) expr.Expr {
	if k.pos >= 0 {
		return s.column(k.pos)
	}
	missing := false
	at := map[expr.ColID]int{}
	for i, c := range s.d.Cols {
		at[c.ID] = i
	}
	out := expr.Transform(k.expr, func(e expr.Expr) expr.Expr {
		c, ok := e.(*expr.Col)
		if !ok {
			return e
		}
		own := s.column(at[c.ID])
		if own == nil {
			missing = true
			return e
		}
		return own
	})
	if missing {
		return nil
	}
	return out
}

func (l *Level) selectAll(kids []bool) {
	for i := range kids {
		kids[i] = true
	}
}

// selectLists selects by what is said of the only key.
func (l *Level) selectLists(c *constraint, kids []bool) {
	take := func(kid int) {
		if kid < 0 {
			kid = l.defaultKid
		}
		if kid >= 0 {
			kids[kid] = true
		}
	}
	if c.listed {
		for _, d := range c.list {
			v := oneValue(l.keys[0].typ, d)
			take(l.kidOf([]*vector.Vector{v}, 0))
		}
		return
	}
	if !c.value {
		take(l.nullKid)
	}
	if c.null {
		return
	}
	take(-1) // it may hold any value that is not listed
	from, to := l.listedBetween(c)
	excluded := map[int]bool{}
	for _, d := range slices.Concat(c.not, c.distinct) {
		if at, ok := l.valueAt(oneValue(l.keys[0].typ, d), 0); ok {
			excluded[at] = true
		}
	}
	for i := from; i < to; i++ {
		if !excluded[i] {
			kids[l.owners[i]] = true
		}
	}
}

// listedBetween returns which of the listed values lie between a constraint's ends.
func (l *Level) listedBetween(c *constraint) (from, to int) {
	typ := l.keys[0].typ
	to = l.keys[0].values.Len
	if c.low != nil {
		at, found := l.valueAt(oneValue(typ, c.low.value), 0)
		if from = at; found && c.low.open {
			from++
		}
	}
	if c.high != nil {
		at, found := l.valueAt(oneValue(typ, c.high.value), 0)
		if to = at; found && !c.high.open {
			to++
		}
	}
	return from, max(from, to)
}

// selectHashes selects by values that are known of all keys.
func (l *Level) selectHashes(cs []constraint, kids []bool) {
	lists := make([][]vector.Datum, len(cs))
	for i := range cs {
		switch {
		case cs[i].listed:
			lists[i] = cs[i].list
		case cs[i].null:
			lists[i] = []vector.Datum{vector.NullDatum(l.keys[i].typ.Kind())}
		default:
			l.selectAll(kids)
			return
		}
	}
	ok := l.tuples(lists, func(vecs []*vector.Vector) {
		if kid := l.hashKid(vecs, 0); kid >= 0 {
			kids[kid] = true
		}
	})
	if !ok {
		l.selectAll(kids)
	}
}

// tuples calls f for every combination of values; it does not, and returns false, where there are too
// many.
func (l *Level) tuples(lists [][]vector.Datum, f func(vecs []*vector.Vector)) bool {
	n := 1
	for _, list := range lists {
		if n *= len(list); n > maxTuples {
			return false
		}
	}
	vecs := make([]*vector.Vector, len(lists), len(l.keys))
	var each func(i int)
	each = func(i int) {
		if i == len(lists) {
			f(vecs)
			return
		}
		for _, d := range lists[i] {
			vecs[i] = oneValue(l.keys[i].typ, d)
			each(i + 1)
		}
	}
	each(0)
	return true
}

// selectRanges selects by values that are known of the first keys, and the ends of the next one.
func (l *Level) selectRanges(cs []constraint, kids []bool) {
	nulls := false // a row with a NULL in its key is in the default partition
	for i := range cs {
		if cs[i].null {
			if l.defaultKid >= 0 {
				kids[l.defaultKid] = true
			}
			return
		}
		nulls = nulls || !cs[i].value
	}
	if nulls && l.defaultKid >= 0 {
		kids[l.defaultKid] = true
	}
	prefix := 0
	var lists [][]vector.Datum
	for prefix < len(cs) && cs[prefix].listed {
		lists = append(lists, cs[prefix].list)
		prefix++
	}
	take := func(from, to int) {
		for k := from; k <= to; k++ {
			if kid := l.owners[k]; kid >= 0 {
				kids[kid] = true
			} else if l.defaultKid >= 0 {
				kids[l.defaultKid] = true
			}
		}
	}
	ok := l.tuples(lists, func(vecs []*vector.Vector) {
		from, to := l.edgesBefore(vecs, 0, prefix, -1, false), l.edgesBefore(vecs, 0, prefix, 1, prefix < len(l.keys))
		if prefix < len(cs) {
			c, typ := &cs[prefix], l.keys[prefix].typ
			if c.low != nil {
				with := append(vecs[:prefix:prefix], oneValue(typ, after(typ, c.low)))
				from = l.edgesBefore(with, 0, prefix+1, openTail(c.low.open && !discrete(typ), -1), false)
			}
			if c.high != nil {
				with := append(vecs[:prefix:prefix], oneValue(typ, c.high.value))
				tail := openTail(c.high.open, 1)
				to = l.edgesBefore(with, 0, prefix+1, tail, c.high.open || prefix+1 < len(l.keys))
			}
		}
		take(from, to)
	})
	if !ok {
		l.selectAll(kids)
	}
}

// openTail is the place among the keys with a value of an end: on the near side of all, or of none.
func openTail(open bool, near int) int {
	if open {
		return -near
	}
	return near
}

// discrete reports whether a value has a next one.
func discrete(t catalog.Type) bool { return t.IsInteger() || t.ID == catalog.Date }

// after is the first value that a low end leaves, where the type has a next one.
func after(t catalog.Type, l *limit) vector.Datum {
	d := l.value
	if !l.open || !discrete(t) {
		return d
	}
	last := map[vector.Kind]int64{vector.I16: 1<<15 - 1, vector.I32: 1<<31 - 1, vector.I64: 1<<63 - 1}
	if d.I < last[t.Kind()] {
		d.I++
	}
	return d
}
