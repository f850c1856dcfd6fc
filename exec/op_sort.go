package exec

import (
	"math"
	"sync"

	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/join"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// sortSink orders its input. Workers keep rows by columns; the order is found at the end, over row
// numbers. With a limit they keep few more rows than wanted.
type sortSink struct {
	run           *run
	node          *planner.Sort
	layout        func(expr.ColID) int
	outCols       int
	kinds         []vector.Kind // of the stored columns: the input's, then computed keys
	keyCol        []int         // per key: its stored column
	computed      []expr.Expr   // keys that are not plain input columns in normal form
	offset, limit int64         // limit < 0 = all

	mu     sync.Mutex // guards states while workers open
	states []*sortState
	store  *join.Store
	order  []sortItem
}

func (b *builder) sort(n *planner.Sort) ([]*stream, error) {
	in := n.Input.Cols()
	s := &sortSink{run: b.run, node: n, layout: layout(in), outCols: len(in), kinds: kindsOf(in), limit: -1}
	for i, e := range keyExprs(n.Keys) {
		at := bareColumns([]expr.Expr{e}, s.layout)[0]
		if at < 0 || !isNormal(e.Type()) {
			at = len(s.kinds)
			s.kinds = append(s.kinds, newNormalizer(e.Type()).kind(e.Type().Kind()))
			s.computed = append(s.computed, n.Keys[i].Expr)
		}
		s.keyCol = append(s.keyCol, at)
	}
	if n.Limit != nil || n.Offset != nil {
		l, err := newLimit(n.Limit, n.Offset, b.run.env)
		if err != nil {
			return nil, err
		}
		s.offset = l.offset
		if l.end < math.MaxInt64 {
			s.limit = l.end - l.offset
		}
	}
	streams, err := b.build(n.Input, n)
	if err != nil {
		return nil, err
	}
	out := one(&sortSource{s}, b.into(streams, s, n))
	out[0].serial = true
	return out, nil
}

func keyExprs(keys []planner.SortKey) []expr.Expr {
	list := make([]expr.Expr, len(keys))
	for i := range keys {
		list[i] = keys[i].Expr
	}
	return list
}

// wanted returns how many rows the order is wanted for, −1 = all.
func (s *sortSink) wanted() int64 {
	if s.limit < 0 || s.offset+s.limit > topRows || s.node.Ties {
		return -1
	}
	return s.offset + s.limit
}

// Finished reports that nothing is wanted.
func (s *sortSink) Finished() bool { return s.limit == 0 }

// sortState is one worker's rows.
type sortState struct {
	sink    *sortSink
	w       *Worker
	memory  *Reservation
	store   *join.Store
	program *expr.Program
	normal  []*normalizer
	vecs    []*vector.Vector
	top     topN
}

func (s *sortSink) Open(w *Worker) (Pusher, error) {
	st := &sortState{sink: s, w: w, memory: w.reservation(), normal: normalizers(s.computed)}
	st.store = join.NewStore(s.kinds, st.memory)
	st.top.init(s)
	var err error
	if len(s.computed) > 0 {
		st.program, err = expr.CompileAll(s.computed, s.layout, s.run.env)
	}
	s.mu.Lock()
	s.states = append(s.states, st)
	s.mu.Unlock()
	return st, err
}

func (st *sortState) Push(b *vector.Batch) error {
	st.vecs = append(st.vecs[:0], b.Vecs...)
	if st.program != nil {
		values, err := st.program.Eval(b, b.Sel)
		if err != nil {
			return err
		}
		for i, v := range values {
			st.vecs = append(st.vecs, st.normal[i].apply(v, b.N, b.Sel))
		}
	}
	sel := b.Sel
	if st.top.rows > 0 {
		if sel = st.top.candidates(st, b.N, sel); sel != nil && len(sel) == 0 {
			return nil
		}
	}
	if err := st.store.Append(st.vecs, b.N, sel); err != nil {
		return err
	}
	if st.top.rows > 0 && st.store.Rows() > st.top.bound {
		return st.prune()
	}
	return nil
}

func (st *sortState) Flush() error { return nil }

// words plans the order of a store's rows.
func (s *sortSink) words(store *join.Store) *sortWords {
	keys := make([]sortKey, len(s.keyCol))
	for i, c := range s.keyCol {
		keys[i] = sortKey{v: store.Column(c), desc: s.node.Keys[i].Desc, nullsFirst: s.node.Keys[i].NullsFirst}
	}
	return newSortWords(keys)
}

// Finish orders all workers' rows.
func (s *sortSink) Finish(w *Worker) error {
	s.store = join.NewStore(s.kinds, w.reservation())
	for _, st := range s.states {
		if err := s.store.Concat(st.store); err != nil {
			return err
		}
	}
	s.states = nil
	n := s.store.Rows()
	if err := w.reservation().Grow(int64(n) * 32); err != nil {
		return err
	}
	words := s.words(s.store)
	var err error
	s.order, err = sortRows(w, words, n)
	s.order = s.order[min(s.offset, int64(n)):]
	if s.limit >= 0 && s.limit < int64(len(s.order)) {
		end := int(s.limit)
		for s.node.Ties && end > 0 && end < len(s.order) && words.compare(s.order[end-1].row, s.order[end].row) == 0 {
			end++
		}
		s.order = s.order[:end]
	}
	return err
}

// sortSource yields the ordered rows.
type sortSource struct{ sink *sortSink }

func (s *sortSource) Morsels(*Worker) (int, error) { return min(len(s.sink.order), 1), nil }

type sortScanner struct {
	sink  *sortSink
	w     *Worker
	cols  []storedColumn
	batch vector.Batch
	idx   []uint32
	out   Pusher
}

func (s *sortSource) Open(w *Worker, out Pusher) (Scanner, error) {
	c := &sortScanner{sink: s.sink, w: w, out: out, idx: make([]uint32, vector.BatchCap),
		batch: vector.Batch{Vecs: join.NewBlock(s.sink.outCols)}}
	for i := range s.sink.outCols {
		c.cols = append(c.cols, newStoredColumn(s.sink.store.Column(i)))
	}
	return c, nil
}

func (c *sortScanner) Scan(int) error {
	order := c.sink.order
	for len(order) > 0 {
		part := order[:min(len(order), vector.BatchCap)]
		order = order[len(part):]
		idx := c.idx[:len(part)]
		for k := range part {
			idx[k] = part[k].row
		}
		for i, v := range c.batch.Vecs {
			c.cols[i].pick(v, idx)
		}
		c.batch.N = len(part)
		if err := c.w.Check(); err != nil {
			return err
		}
		if err := c.out.Push(&c.batch); err != nil {
			return err
		}
	}
	return nil
}
