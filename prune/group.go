package prune

import (
	"github.com/bits-and-blooms/bitset"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/vector"
)

// Group is leaves of one or two partitioned tables whose rows find equal keys in each other only, not in
// the leaves of other groups.
type Group struct{ Left, Right *bitset.BitSet }

// DividedBy returns the columns by whose values the direct partitions of the table are told apart, by
// position, and their types; nil where an expression is among them.
func (d *Desc) DividedBy() (columns []int, types []catalog.Type) {
	for i := range d.top.keys {
		if d.top.keys[i].pos < 0 {
			return nil, nil
		}
		columns, types = append(columns, d.top.keys[i].pos), append(types, d.top.keys[i].typ)
	}
	return columns, types
}

// SameDivision reports whether values of two types that are equal are in the same place of a division by
// either: they are represented, ordered and hashed alike.
func SameDivision(a, b catalog.Type) bool {
	texts := func(t catalog.Type) bool { return t.ID == catalog.Text || t.ID == catalog.Varchar }
	if texts(a) && texts(b) {
		return true
	}
	return a.ID == b.ID && a.Kind() == b.Kind() && (a.ID != catalog.Numeric || a.Scale == b.Scale)
}

// Direct returns the leaves below each direct partition: the groups of one table alone.
func (d *Desc) Direct() []Group {
	out := make([]Group, len(d.top.kids))
	for i := range out {
		out[i] = Group{d.below(d.top, i), bitset.New(0)}
	}
	return out
}

// Divisions returns the leaves in sets such that rows with equal values of all keys that are fixed are in
// one set. Partitions are told apart from the top down, as far as all keys of a level are fixed.
func (d *Desc) Divisions(fixed func(key expr.Expr) bool) []*bitset.BitSet {
	return d.divisions(d.top, fixed, nil)
}

func (d *Desc) divisions(l *Level, fixed func(key expr.Expr) bool, out []*bitset.BitSet) []*bitset.BitSet {
	for i := range l.keys {
		if !fixed(l.keys[i].expr) {
			return append(out, d.interval(l.lo, l.hi))
		}
	}
	for i := range l.kids {
		if k := &l.kids[i]; k.level != nil {
			out = d.divisions(k.level, fixed, out)
		} else {
			out = append(out, d.interval(k.lo, k.hi))
		}
	}
	return out
}

func (d *Desc) below(l *Level, kid int) *bitset.BitSet {
	return d.interval(l.kids[kid].lo, l.kids[kid].hi)
}

func (d *Desc) interval(lo, hi int) *bitset.BitSet {
	set := bitset.New(uint(len(d.Leaves)))
	for leaf := lo; leaf < hi; leaf++ {
		set.Set(uint(leaf))
	}
	return set
}

// Match divides the leaves of two tables that are partitioned by as many columns, in the same way, into
// groups as small as possible. NULL counts as equal to NULL. It reports false where the ways differ.
//
// The values that keys can have fall into classes, by the bounds of both tables, each of which has one
// place at most in either. Direct partitions that share a class are in one group, and so on.
func Match(left, right *Desc) ([]Group, bool) {
	a, b := left.top, right.top
	if a.table.Partitioning.Strategy != b.table.Partitioning.Strategy || len(a.keys) != len(b.keys) {
		return nil, false
	}
	for i := range a.keys {
		if !SameDivision(a.keys[i].typ, b.keys[i].typ) {
			return nil, false
		}
	}
	s := newSets(len(a.kids) + len(b.kids))
	share := func(kidOfA, kidOfB int) {
		if kidOfA < 0 {
			kidOfA = a.defaultKid
		}
		if kidOfB < 0 {
			kidOfB = b.defaultKid
		}
		if kidOfA >= 0 && kidOfB >= 0 {
			s.union(kidOfA, len(a.kids)+kidOfB)
		}
	}
	switch a.table.Partitioning.Strategy {
	case catalog.PartitionByRange:
		eachRange(a, b, share)
		share(-1, -1) // NULL
	case catalog.PartitionByList:
		eachValue(a, b, share)
		share(a.nullKid, b.nullKid)
		share(-1, -1) // all other values
	default:
		if !eachRemainder(a, b, share) {
			return nil, false
		}
	}
	return s.groups(left, right), true
}

// eachRange visits the ranges between the edges of both levels.
func eachRange(a, b *Level, visit func(kidOfA, kidOfB int)) {
	i, k := 0, 0
	for {
		visit(a.owners[i], b.owners[k])
		order := 0
		switch {
		case i == a.edges && k == b.edges:
			return
		case i == a.edges:
			order = 1
		case k == b.edges:
			order = -1
		default:
			order = compareLevels(a, i, b, k)
		}
		if order <= 0 {
			i++
		}
		if order >= 0 {
			k++
		}
	}
}

// compareLevels compares an edge of one level with one of another.
func compareLevels(a *Level, i int, b *Level, k int) int {
	for key := range a.keys {
		kind := a.kinds[key][i]
		if c := int(kind) - int(b.kinds[key][k]); c != 0 || kind != 0 {
			return c
		}
		if c := a.keys[key].compare(a.keys[key].values, i, b.keys[key].values, k); c != 0 {
			return c
		}
	}
	return 0
}

// eachValue visits the listed values of both levels.
func eachValue(a, b *Level, visit func(kidOfA, kidOfB int)) {
	x, y := a.keys[0].values, b.keys[0].values
	for i, k := 0, 0; i < x.Len || k < y.Len; {
		order := 0
		switch {
		case i == x.Len:
			order = 1
		case k == y.Len:
			order = -1
		default:
			order = a.keys[0].compare(x, i, y, k)
		}
		kidOfA, kidOfB := -1, -1
		if order <= 0 {
			kidOfA = a.owners[i]
			i++
		}
		if order >= 0 {
			kidOfB = b.owners[k]
			k++
		}
		visit(kidOfA, kidOfB)
	}
}

// maxRemainders bounds what is looked at for two tables divided by hash with moduli that have little in
// common.
const maxRemainders = 1 << 16

// eachRemainder visits the remainders by a common multiple of all moduli; false where there are too many.
func eachRemainder(a, b *Level, visit func(kidOfA, kidOfB int)) bool {
	m, n := len(a.remainders), len(b.remainders)
	if m == 0 || n == 0 {
		return true
	}
	common := m / gcd(m, n) * n
	if common > maxRemainders {
		return false
	}
	for r := range common {
		visit(a.remainders[r%m], b.remainders[r%n])
	}
	return true
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// sets are disjoint sets of the numbers below their length: each number leads to another of its set, the
// least one to itself.
type sets []int

func newSets(n int) sets {
	s := make(sets, n)
	for i := range s {
		s[i] = i
	}
	return s
}

func (s sets) least(i int) int {
	for s[i] != i {
		s[i] = s[s[i]]
		i = s[i]
	}
	return i
}

func (s sets) union(i, k int) {
	i, k = s.least(i), s.least(k)
	s[max(i, k)] = min(i, k)
}

// groups lists the sets of partitions as groups of leaves.
func (s sets) groups(left, right *Desc) (out []Group) {
	at := map[int]int{}
	for i := range s {
		least := s.least(i)
		number, ok := at[least]
		if !ok {
			number = len(out)
			at[least] = number
			out = append(out, Group{bitset.New(uint(len(left.Leaves))), bitset.New(uint(len(right.Leaves)))})
		}
		if kids := len(left.top.kids); i < kids {
			out[number].Left.InPlaceUnion(left.below(left.top, i))
		} else {
			out[number].Right.InPlaceUnion(right.below(right.top, i-kids))
		}
	}
	return out
}

// Grouper tells in which direct partition rows can find a value that is equal to one they have. It
// belongs to one worker.
type Grouper struct {
	level *Level
	at    *levelRouter
	keys  []int
}

// NewGrouper returns a grouper of rows whose column keys[i] is compared with the table's i-th partition
// key, with values that its type represents in the same way.
func (d *Desc) NewGrouper(keys []int) *Grouper {
	n := len(d.top.keys)
	return &Grouper{level: d.top, at: &levelRouter{vecs: make([]*vector.Vector, n), flat: make([]vector.Vector, n)}, keys: keys}
}

// Kids returns the numbers of the direct partitions of live rows, by row, −1 where there is none. They
// are the grouper's until the next call.
func (g *Grouper) Kids(columns []*vector.Vector, n int, sel vector.Sel) []int32 {
	for i, k := range g.keys {
		g.at.vecs[i] = columns[k]
	}
	live := n
	if sel != nil {
		live = len(sel)
	}
	g.at.locate(g.level, live, sel, n)
	return g.at.kids
}
