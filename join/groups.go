package join

import (
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// Groups numbers the distinct keys it is shown: 0 for the first, and so on. NULL equals NULL. It
// finds keys in one of four ways, starting with the fastest that suits the first batch and moving
// on, never back, when a batch does not fit: by dictionary codes (short lists of words), by value (an
// integer of a narrow range), by keys packed into one or two machine words, by hash. The stored keys are the truth, the index is
// rebuilt from them.
//
// A Groups belongs to one goroutine until it no longer grows.
type Groups struct {
	kinds []vector.Kind
	store *Store // keys, then extra columns
	index groupIndex
	vecs  []*vector.Vector

	added  [BlockRows]uint16 // rows of the batch that began a group
	fresh  int
	number uint32 // of the next group
}

// groupIndex finds groups by key.
type groupIndex interface {
	// assign numbers the rows of in and reports whether it could; where it could not, nothing was
	// changed. It calls begin for every row with a key not seen before.
	assign(g *Groups, dst []uint32, keys []*vector.Vector, n int, in vector.Sel) (bool, error)
	// insert enters groups from to from+n-1, whose keys are given, and reports whether it could.
	insert(g *Groups, keys []*vector.Vector, from, n int) (bool, error)
	// next returns the index to use when this one cannot go on.
	next(g *Groups) groupIndex
	name() string
}

// NewGroups returns an empty numbering of keys. For each group the first row's values of the extra
// columns are kept. memory may be nil.
func NewGroups(keys, extra []vector.Kind, memory Memory) *Groups {
	kinds := append(append([]vector.Kind(nil), keys...), extra...)
	return &Groups{kinds: keys, store: NewStore(kinds, memory)}
}

// Len returns the number of groups.
func (g *Groups) Len() int { return g.store.Rows() }

// Store returns the groups' keys and extra columns; row i is group i.
func (g *Groups) Store() *Store { return g.store }

// Form names the way keys are found, for EXPLAIN.
func (g *Groups) Form() string {
	if g.index == nil {
		return "none"
	}
	return g.index.name()
}

// Assign writes the group of each live row to dst, by row position, beginning new groups as
// needed.
func (g *Groups) Assign(dst []uint32, keys, extra []*vector.Vector, n int, sel vector.Sel) error {
	in := sel
	if in == nil {
		in = allRows[:n]
	}
	if g.index == nil {
		g.index = firstIndex(g, keys)
	}
	g.vecs = append(append(g.vecs[:0], keys...), extra...)
	g.fresh, g.number = 0, uint32(g.store.Rows())
	if g.store.Rows()+len(in) > MaxRows {
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "more than %d groups", int64(MaxRows))
	}
	for {
		ok, err := g.index.assign(g, dst, keys, n, in)
		if err != nil {
			return err
		}
		if ok {
			return g.keep(n)
		}
		if err := g.move(); err != nil {
			return err
		}
	}
}

// begin starts a group with a row's key and returns its number.
func (g *Groups) begin(row uint16) uint32 {
	g.added[g.fresh&(BlockRows-1)] = row
	g.fresh++
	g.number++
	return g.number - 1
}

// keep stores the keys of the groups begun.
func (g *Groups) keep(n int) error {
	if g.fresh == 0 {
		return nil
	}
	added := vector.Sel(g.added[:g.fresh])
	g.fresh = 0
	return g.store.Append(g.vecs, n, added)
}

// move replaces the index by the next one that can hold the keys so far.
func (g *Groups) move() error {
	keys := NewBlock(len(g.kinds))
	for {
		g.index = g.index.next(g)
		ok := true
		for from := 0; from < g.store.Rows() && ok; from += BlockRows {
			n := min(BlockRows, g.store.Rows()-from)
			for i := range keys {
				vector.Slice(keys[i], g.store.Column(i), from, n)
			}
			var err error
			if ok, err = g.index.insert(g, keys, from, n); err != nil {
				return err
			}
		}
		if ok {
			return nil
		}
	}
}

// grow reserves memory for an index.
func (g *Groups) grow(bytes int) error {
	if g.store.memory == nil {
		return nil
	}
	return g.store.memory.Grow(int64(bytes))
}

// firstIndex chooses the index for the first batch.
func firstIndex(g *Groups, keys []*vector.Vector) groupIndex {
	if d := newDictGroups(keys); d != nil {
		return d
	}
	if d := newDirectGroups(g.kinds); d != nil {
		return d
	}
	return firstPacked(g)
}
