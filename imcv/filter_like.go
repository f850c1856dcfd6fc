package imcv

import (
	"math/bits"
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
)

// likeTest answers LIKE on symbols without decoding them. The pattern becomes an automaton over bytes; what a
// whole symbol does to a state is found out when it is met first, and looked up from then on. A string
// of 50 bytes is so judged in some seven steps.
type likeTest struct {
	negated bool
	next    [][256]uint8 // states by state and byte
	ends    []bool       // states in which a string matches at its end
	stays   []bool       // states that no byte leaves
	// table holds the state after each symbol from each state, unknownState where nobody has looked. It
	// belongs to one unit at a time.
	table []uint8
}

const (
	unknownState = 0xff
	maxStates    = 64
)

// like takes LIKE and NOT LIKE of a column and a pattern known now whose only wildcard is %: _ stands for a
// character of one to four bytes.
func (c *conjunct) like(e *expr.Call, column func(expr.ColID) (catalog.ColumnID, bool), env *expr.Env) {
	col := columnOf(e.Args[0])
	if col == nil || e.Fn.Name != "~~" && e.Fn.Name != "!~~" || col.Typ.ID != catalog.Text && col.Typ.ID != catalog.Varchar {
		return
	}
	pattern, ok := known(e.Args[1], col.Typ, env)
	id, covered := column(col.ID)
	if !ok || !covered || pattern.Null {
		return
	}
	if t := newLikeTest(pattern.S); t != nil {
		t.negated = e.Fn.Name == "!~~"
		c.col, c.match = id, t
	}
}

// newLikeTest returns nil for patterns that it does not know or that are too long.
func newLikeTest(pattern string) *likeTest {
	if strings.ContainsAny(pattern, `_\`) || len(pattern)+2 > maxStates {
		return nil
	}
	t := &likeTest{}
	parts := strings.Split(pattern, "%")
	dead := t.state()
	t.loop(dead, dead)
	// The first part is at the start of the string: other bytes lead to where nothing matches.
	at := t.state()
	for i := range len(parts[0]) {
		t.loop(at, dead)
		next := t.state()
		t.next[at][parts[0][i]] = next
		at = next
	}
	t.loop(at, dead)
	if len(parts) == 1 {
		t.ends[at] = true
		t.close()
		return t
	}
	for _, part := range parts[1 : len(parts)-1] {
		at = t.search(at, part)
	}
	if last := parts[len(parts)-1]; last != "" {
		at = t.searchEnd(at, last)
	} else {
		t.loop(at, at)
	}
	t.ends[at] = true
	t.close()
	return t
}

func (t *likeTest) state() uint8 {
	t.next, t.ends = append(t.next, [256]uint8{}), append(t.ends, false)
	return uint8(len(t.next) - 1)
}

// loop makes every byte lead from a state to another.
func (t *likeTest) loop(from, to uint8) {
	for b := range t.next[from] {
		t.next[from][b] = to
	}
}

// search adds states that find the first occurrence of a part, after Knuth, Morris and Pratt, and returns the
// one in which it has been found.
func (t *likeTest) search(start uint8, part string) uint8 {
	at, fallback := start, start // fallback: where the part without its first byte would be
	t.loop(start, start)
	for i := range len(part) {
		if i > 0 {
			t.next[at] = t.next[fallback]
		}
		next := t.state()
		after := t.next[fallback][part[i]]
		t.next[at][part[i]] = next
		if i > 0 {
			fallback = after
		}
		at = next
	}
	return at
}

// searchEnd is search for a part that has to end the string: when more follows, the search goes on.
func (t *likeTest) searchEnd(start uint8, part string) uint8 {
	found := t.search(start, part)
	state := start // after the longest proper suffix of the part that it begins with
	for i := 1; i < len(part); i++ {
		state = t.next[state][part[i]]
	}
	t.next[found] = t.next[state]
	return found
}

// close notes which states are left by no byte: a string need not be read on.
func (t *likeTest) close() {
	t.stays = make([]bool, len(t.next))
	for s := range t.next {
		t.stays[s] = true
		for _, to := range t.next[s] {
			t.stays[s] = t.stays[s] && int(to) == s
		}
	}
}

// reset prepares the test for another unit.
func (t *likeTest) reset() {
	if t.table == nil {
		t.table = make([]uint8, maxSymbols*len(t.next))
	}
	for i := range t.table {
		t.table[i] = unknownState
	}
}

// narrow clears the bits of rows that do not pass.
func (t *likeTest) narrow(mask []uint64, x *symbols, from int) {
	states := len(t.next)
	for w := range mask {
		for rest := mask[w]; rest != 0; rest &= rest - 1 {
			i := bits.TrailingZeros64(rest)
			s := uint8(1) // 0 is where nothing matches
			for _, c := range x.at(from + w*64 + i) {
				to := t.table[int(c%maxSymbols)*states+int(s)]
				if to == unknownState {
					to = t.step(x.alphabet, c, s)
				}
				if s = to; t.stays[s] {
					break
				}
			}
			if t.ends[s] == t.negated {
				mask[w] &^= 1 << i
			}
		}
	}
}

// step finds out what a symbol does to a state.
func (t *likeTest) step(a *alphabet, symbol uint16, s uint8) uint8 {
	to := s
	for _, b := range a.symbol(int(symbol)) {
		to = t.next[to][b]
	}
	t.table[int(symbol)*len(t.next)+int(s)] = to
	return to
}
