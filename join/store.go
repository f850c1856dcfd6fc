package join

import (
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// MaxRows is the most rows a Store holds: a row is named by 32 bits, of which the highest values
// are taken.
const MaxRows = 1<<32 - 16

// maxHeap bounds the strings of one column, whose offsets are 32 bits.
const maxHeap = 1<<31 - 1

var errTooMany = sqlerr.New(sqlerr.ProgramLimitExceeded, "more than %d rows in one table of a join or sort", int64(MaxRows))

// Memory is asked before a structure grows. Grow fails with 53200 when the limit is reached. What was
// granted is given back with Shrink, or in the end by the reservation's owner.
type Memory interface {
	Grow(bytes int64) error
	Shrink(bytes int64)
}

// Store holds rows by columns. Rows are appended by one goroutine; a store that no longer grows
// may be read by many.
type Store struct {
	cols    []storeColumn
	rows    int
	memory  Memory
	need    int64 // bytes the rows take, as counted while appending
	granted int64
	plain   bool // columns are never kept in dictionary form
}

// storeColumn is one column of a Store. Its vector is flat, or a dictionary vector over words as
// long as everything appended had dictionary form.
type storeColumn struct {
	kind  vector.Kind
	v     *vector.Vector
	words *words // nil = flat
}

// NewStore returns an empty store. memory may be nil.
func NewStore(kinds []vector.Kind, memory Memory) *Store {
	s := &Store{cols: make([]storeColumn, len(kinds)), memory: memory}
	for i, k := range kinds {
		s.cols[i] = storeColumn{kind: k, v: vector.New(k, 0)}
	}
	return s
}

// Rows returns the number of rows.
func (s *Store) Rows() int { return s.rows }

// Columns returns the number of columns.
func (s *Store) Columns() int { return len(s.cols) }

// Column returns column i: flat or in dictionary form, not to be changed.
func (s *Store) Column(i int) *vector.Vector { return s.cols[i].v }

// Bytes is the memory the rows take, roughly.
func (s *Store) Bytes() int64 { return s.need }

// clear drops the rows and keeps their memory.
func (s *Store) clear() {
	for i := range s.cols {
		s.cols[i].v.Reset(s.cols[i].kind, 0)
		s.cols[i].words = nil
	}
	s.rows, s.need = 0, 0
}

// release drops the rows and their memory.
func (s *Store) release() {
	for i := range s.cols {
		s.cols[i] = storeColumn{kind: s.cols[i].kind, v: vector.New(s.cols[i].kind, 0)}
	}
	if s.memory != nil {
		s.memory.Shrink(s.granted)
	}
	s.rows, s.need, s.granted = 0, 0, 0
}

// Append adds the live rows of vecs, one vector per column in any form.
func (s *Store) Append(vecs []*vector.Vector, n int, sel vector.Sel) error {
	live := n
	if sel != nil {
		live = len(sel)
	}
	if live == 0 {
		return nil
	}
	if s.rows+live > MaxRows {
		return errTooMany
	}
	if err := s.reserve(vecs, n, live); err != nil {
		return err
	}
	for i := range s.cols {
		if err := s.cols[i].append(vecs[i], s.rows, n, sel, s.plain); err != nil {
			return err
		}
	}
	s.rows += live
	return nil
}

// reserve asks for the memory of live more rows. Vectors double as they grow, and so do the
// requests. What is refused is not counted: callers tell an empty store by its bytes.
func (s *Store) reserve(vecs []*vector.Vector, n, live int) error {
	need := s.need
	for i := range s.cols {
		switch v := vecs[i]; {
		case v.Kind != vector.Bytes:
			need += int64(live * v.Kind.Width())
		case v.Form == vector.Flat:
			need += int64(4*live) + int64(heapBytes(v, n))*int64(live)/int64(n)
		case v.Form == vector.Const:
			need += int64(4*live) + int64(live*len(v.BytesAt(0)))
		default:
			need += int64(12 * live)
		}
	}
	if s.memory != nil && need > s.granted {
		more := max(need-s.granted, s.granted, 4096)
		if err := s.memory.Grow(more); err != nil {
			// Close to the limit: ask for what is needed only.
			if more = need - s.granted; s.memory.Grow(more) != nil {
				return err
			}
		}
		s.granted += more
	}
	s.need = need
	return nil
}

// append adds a batch's live rows to the column, which holds row rows.
func (c *storeColumn) append(v *vector.Vector, row, n int, sel vector.Sel, plain bool) error {
	c.growValid(row + n)
	if row == 0 && !plain && v.Form == vector.Dict && v.Kind == vector.Bytes && v.Dict.Len <= maxWords {
		c.words = newWords()
		c.v.ResetDict(c.words.list)
	}
	if c.words != nil {
		if c.words.add(c.v, v, n, sel) {
			return nil
		}
		c.flatten()
	}
	switch {
	case sel != nil:
		vector.AppendSel(c.v, v, sel)
	case v.Form == vector.Flat:
		vector.AppendRange(c.v, v, 0, n)
	default:
		vector.AppendSel(c.v, v, allRows[:n])
	}
	if c.kind == vector.Bytes && len(c.v.Heap()) > maxHeap { // offsets have wrapped around
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "more than 2 GB of strings in one column of a join or sort")
	}
	return nil
}

// heapBytes bounds what n rows of v add to a heap.
func heapBytes(v *vector.Vector, n int) int {
	switch v.Form {
	case vector.Const:
		return n * len(v.BytesAt(0))
	case vector.Dict:
		return n * (1 + len(v.Dict.Heap())/(1+v.Dict.Len)) // on average
	}
	o := v.Offsets()
	return int(o[n] - o[0])
}

// growValid gives the validity bitmap room in steps that double.
func (c *storeColumn) growValid(rows int) {
	if c.v.Valid == nil || (rows+63)/64 <= cap(c.v.Valid) {
		return
	}
	grown := make(vector.Bitmap, len(c.v.Valid), max(2*cap(c.v.Valid), (rows+63)/64))
	copy(grown, c.v.Valid)
	c.v.Valid = grown
}

// flatten turns the column from dictionary to flat form.
func (c *storeColumn) flatten() {
	c.v = vector.Flatten(vector.New(c.kind, 0), c.v, c.v.Len)
	c.words = nil
}

// Concat appends the rows of other, which is not used afterwards. Its memory stays reserved.
func (s *Store) Concat(other *Store) error {
	if s.rows == 0 {
		s.cols, s.rows = other.cols, other.rows
		s.need += other.need
		s.granted += other.granted
		return nil
	}
	vecs := NewBlock(len(s.cols))
	for from := 0; from < other.rows; from += BlockRows {
		n := min(BlockRows, other.rows-from)
		other.Block(vecs, from, n)
		if err := s.Append(vecs, n, nil); err != nil {
			return err
		}
	}
	return nil
}

// reserveOthers accounts for the rows of other stores that will be appended.
func (s *Store) reserveOthers(others []*Store) error {
	rows, bytes := s.rows, int64(0)
	for _, o := range others {
		rows += o.rows
		bytes += o.need
	}
	if rows > MaxRows {
		return errTooMany
	}
	if s.memory != nil && bytes > 0 {
		if err := s.memory.Grow(bytes); err != nil {
			return err
		}
		s.granted += bytes
	}
	s.need += bytes
	return nil
}

// concatColumn appends column i of other stores. Their rows are counted by the caller.
func (s *Store) concatColumn(i int, others []*Store) error {
	row := s.rows
	var view vector.Vector
	for _, o := range others {
		for from := 0; from < o.rows; from += BlockRows {
			n := min(BlockRows, o.rows-from)
			vector.Slice(&view, o.cols[i].v, from, n)
			if err := s.cols[i].append(&view, row, n, nil, s.plain); err != nil {
				return err
			}
			row += n
		}
	}
	return nil
}

// NewBlock returns vectors for Store.Block to point at rows.
func NewBlock(cols int) []*vector.Vector {
	vecs := make([]*vector.Vector, cols)
	for i := range vecs {
		vecs[i] = &vector.Vector{}
	}
	return vecs
}

// Block makes vecs rows from to from+n-1: views where from is a multiple of 64, fresh copies
// elsewhere. The vectors must not be used for anything else: writing to a view writes to the store.
func (s *Store) Block(vecs []*vector.Vector, from, n int) {
	if from&63 == 0 {
		for i := range s.cols {
			vector.Slice(vecs[i], s.cols[i].v, from, n)
		}
		return
	}
	idx := make([]uint32, n)
	for k := range idx {
		idx[k] = uint32(from + k)
	}
	for i := range s.cols {
		vecs[i] = &vector.Vector{}
		vector.Pick(vecs[i], s.cols[i].v, idx)
	}
}

// BatchRows is how many stored rows to show in a batch, so that the next ones can be a view too.
func BatchRows() int {
	if vector.BatchCap < 64 {
		return vector.BatchCap
	}
	return vector.BatchCap &^ 63
}

// BlockRows is how many rows the passes over a finished store take at a time: what fits a Sel and
// the first-level cache.
const BlockRows = 1024

// allRows selects every row of a block.
var allRows = func() vector.Sel {
	sel := make(vector.Sel, BlockRows)
	for i := range sel {
		sel[i] = uint16(i)
	}
	return sel
}()
