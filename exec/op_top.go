package exec

import (
	"github.com/weftdb/weft/join"
	"github.com/weftdb/weft/vector"
)

// topRows is the most rows that ORDER BY … LIMIT keeps by pruning; above, everything is sorted:
// pruning would sort as much, several times.
const topRows = 1 << 18

// topN keeps the first rows of an order: the store is pruned whenever it has grown well beyond
// them, and rows that sort behind the last one kept are dropped as they come, by the first key.
type topN struct {
	rows  int // rows wanted, 0 = off
	bound int // rows at which the store is pruned
	// last is the first key of the last row kept; rows beyond it are not wanted.
	last *vector.Vector
	op   vector.CmpOp
	keep bool // NULLs come before last
	flat vector.Vector
	sel  vector.Sel
}

func (t *topN) init(s *sortSink) {
	if n := s.wanted(); n >= 0 {
		t.rows = max(int(n), 1)
		t.bound = 2*t.rows + 2*vector.BatchCap
		t.sel = make(vector.Sel, 0, vector.BatchCap)
	}
}

// candidates drops rows of a batch that come after the last row kept.
func (t *topN) candidates(st *sortState, n int, sel vector.Sel) vector.Sel {
	if t.last == nil {
		return sel
	}
	v := st.vecs[st.sink.keyCol[0]]
	if v.Form == vector.Const || v.Valid != nil && t.keep {
		return sel
	}
	if v.Form == vector.Dict {
		v = vector.Flatten(&t.flat, v, n)
	}
	t.sel = vector.SelectCompare(t.op, v, t.last, n, sel, t.sel)
	return t.sel
}

// prune sorts the store and keeps the first rows.
func (st *sortState) prune() error {
	s, t := st.sink, &st.top
	order, err := sortRows(st.w, s.words(st.store), st.store.Rows())
	if err != nil {
		return err
	}
	order = order[:min(t.rows, len(order))]
	st.memory.restart() // the old rows make room for the kept ones
	kept := join.NewStore(s.kinds, st.memory)
	vecs := join.NewBlock(len(s.kinds))
	idx := make([]uint32, 0, join.BlockRows)
	for from := 0; from < len(order); from += join.BlockRows {
		idx = idx[:0]
		for _, it := range order[from:min(from+join.BlockRows, len(order))] {
			idx = append(idx, it.row)
		}
		for i, v := range vecs {
			vector.Pick(v, st.store.Column(i), idx)
		}
		if err := kept.Append(vecs, len(idx), nil); err != nil {
			return err
		}
	}
	st.store = kept
	st.setLast(len(order))
	return nil
}

// setLast takes the first key of the last of n rows kept, once there are enough.
func (st *sortState) setLast(n int) {
	s, t := st.sink, &st.top
	if n < t.rows || len(s.keyCol) == 0 {
		return
	}
	last := vector.DatumAt(st.store.Column(s.keyCol[0]), n-1)
	if last.Null {
		t.last = nil // anything may come before NULL, or be NULL
		return
	}
	t.last, t.op, t.keep = vector.ConstOf(last), vector.Le, s.node.Keys[0].NullsFirst
	if s.node.Keys[0].Desc {
		t.op = vector.Ge
	}
}
