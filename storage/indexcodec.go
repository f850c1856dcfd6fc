package storage

import (
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// IndexProgram computes what an index has beyond columns: the values of its expressions, and which
// rows belong to it. It is made once for a table's description and used by many goroutines.
type IndexProgram interface {
	// Inputs are the positions in the table's Columns of what it reads.
	Inputs() []int
	// Run computes n rows, whose columns are flat vectors in the order of Inputs. It calls use with
	// one vector per expression, in any form, and the rows that belong to the index, nil = all. Both
	// are valid during the call; values of rows that do not belong are arbitrary.
	Run(inputs []*vector.Vector, n int, use func(values []*vector.Vector, rows vector.Sel) error) error
}

// indexCodec encodes the entries of one index.
type indexCodec struct {
	keyCodec
	index *catalog.Index
	// inputs are the columns that entries are made of, as positions in the table's Columns.
	inputs []int
	// keyAt says where in inputs each column of the key is; ^n is the program's expression n.
	keyAt     []int
	includeAt []int // where in inputs the included columns are
	include   payloadCodec
	program   IndexProgram // nil: columns only
	programAt []int        // where in inputs its inputs are
}

// newIndexCodec compiles an index.
func (e *Engine) newIndexCodec(tbl *catalog.Table, index *catalog.Index) (indexCodec, error) {
	ix := indexCodec{index: index}
	place := func(id catalog.ColumnID) (at int, err error) {
		pos := tbl.ColumnByID(id)
		if pos < 0 {
			return 0, errNoColumn(tbl, id)
		}
		return ix.input(pos), nil
	}
	exprs := 0
	ix.cols = make([]keyColumn, len(index.Columns))
	for n, id := range index.Columns {
		var typ catalog.Type
		if id == 0 {
			ix.keyAt = append(ix.keyAt, ^exprs)
			typ = index.Exprs[exprs].Type
			exprs++
		} else {
			at, err := place(id)
			if err != nil {
				return ix, err
			}
			ix.keyAt = append(ix.keyAt, at)
			typ = tbl.Columns[ix.inputs[at]].Type
		}
		desc, nullsFirst := index.KeyOrder(n)
		ix.cols[n] = keyColumn{typ: typ, op: keyOpOf(typ), desc: desc, nullsFirst: nullsFirst}
	}
	for _, id := range index.Include {
		at, err := place(id)
		if err != nil {
			return ix, err
		}
		ix.includeAt = append(ix.includeAt, at)
		ix.include.kinds = append(ix.include.kinds, tbl.Columns[ix.inputs[at]].Type.Kind())
	}
	if index.OnColumns() {
		return ix, nil
	}
	if e.CompileIndex == nil {
		return ix, sqlerr.New(sqlerr.InternalError, "nothing computes the expressions of indexes: index=%s", index.Name)
	}
	var err error
	if ix.program, err = e.CompileIndex(tbl, index); err != nil {
		return ix, err
	}
	for _, pos := range ix.program.Inputs() {
		ix.programAt = append(ix.programAt, ix.input(pos))
	}
	return ix, nil
}

// input returns the place of a column of the table in inputs, where it is added if need be.
func (ix *indexCodec) input(pos int) int {
	at := slices.Index(ix.inputs, pos)
	if at < 0 {
		at = len(ix.inputs)
		ix.inputs = append(ix.inputs, pos)
	}
	return at
}

// suffixed reports whether the entry of a key ends with the row's reference, so that others may have
// the same key.
func (ix *indexCodec) suffixed(hasNull bool) bool {
	return !ix.index.Unique || hasNull && !ix.index.NullsNotDistinct
}

// maxKeyBytes is the largest index entry. The store keeps some keys of every block in memory.
const maxKeyBytes = 16 << 10

func (ix *indexCodec) checkSize(bytes int) error {
	if bytes <= maxKeyBytes {
		return nil
	}
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "index row size %d exceeds maximum %d for index %q", bytes, maxKeyBytes, ix.index.Name).
		WithConstraint(ix.index.Name)
}

// keyTable holds the entries of many rows in every index of a table, one behind the other: their
// keys, and what they carry besides.
type keyTable struct {
	buf     []byte
	entries []tableEntry
	indexes int

	args, keys, include []*vector.Vector // scratch of fill
}

// tableEntry says where in the buffer an entry is.
type tableEntry struct {
	start, keyEnd, end int
	suffixed           bool
	present            bool // the row belongs to the index
}

// rowEntry is the entry of a row in an index. Key has the index's prefix and no reference.
type rowEntry struct {
	key      []byte
	payload  []byte // of included columns, nil = the index has none
	suffixed bool   // the reference belongs behind the key
	present  bool   // false: the row is none of the index's
}

func (k *keyTable) reset(rows, indexes int) {
	k.buf, k.indexes = k.buf[:0], indexes
	k.entries = slices.Grow(k.entries[:0], rows*indexes)[:rows*indexes]
	clear(k.entries)
}

func (k *keyTable) rows() int {
	if k.indexes == 0 {
		return 0
	}
	return len(k.entries) / k.indexes
}

func (k *keyTable) get(row, index int) rowEntry {
	e := &k.entries[row*k.indexes+index]
	out := rowEntry{key: k.buf[e.start:e.keyEnd:e.keyEnd], suffixed: e.suffixed, present: e.present}
	if e.end > e.keyEnd {
		out.payload = k.buf[e.keyEnd:e.end:e.end]
	}
	return out
}

// same reports whether two entries are the same but for their references.
func (e *rowEntry) same(o *rowEntry) bool {
	return e.present == o.present && string(e.key) == string(o.key) && string(e.payload) == string(o.payload)
}

// fill encodes the entries of n rows in one index. The columns that ix.inputs lists are the vectors
// at the places at of vecs, nil = in order; row i of them is row rows[i] of the table, nil = row i.
func (k *keyTable) fill(index int, ix *indexCodec, vecs []*vector.Vector, at []int, rows []int, n int) error {
	input := func(i int) *vector.Vector {
		if at == nil {
			return vecs[i]
		}
		return vecs[at[i]]
	}
	k.include = k.include[:0]
	for _, p := range ix.includeAt {
		k.include = append(k.include, input(p))
	}
	k.keys = k.keys[:0]
	for _, p := range ix.keyAt {
		var v *vector.Vector
		if p >= 0 {
			v = input(p)
		}
		k.keys = append(k.keys, v)
	}
	if ix.program != nil {
		k.args = k.args[:0]
		for _, p := range ix.programAt {
			k.args = append(k.args, input(p))
		}
		return k.fillComputed(index, ix, rows, n)
	}
	for i := range n {
		if err := k.set(k.place(index, rows, i), ix, i); err != nil {
			return err
		}
	}
	return nil
}

// place is where the entry of row i in an index stands.
func (k *keyTable) place(index int, rows []int, i int) int {
	if rows != nil {
		i = rows[i]
	}
	return i*k.indexes + index
}

// fillComputed is fill for an index with a program, whose inputs are in k.args.
func (k *keyTable) fillComputed(index int, ix *indexCodec, rows []int, n int) error {
	return ix.program.Run(k.args, n, func(values []*vector.Vector, members vector.Sel) error {
		if members != nil && len(members) == 0 {
			return nil
		}
		for i, p := range ix.keyAt {
			if p < 0 {
				k.keys[i] = values[^p]
			}
		}
		if members == nil {
			for i := range n {
				if err := k.set(k.place(index, rows, i), ix, i); err != nil {
					return err
				}
			}
		}
		for _, i := range members {
			if err := k.set(k.place(index, rows, int(i)), ix, int(i)); err != nil {
				return err
			}
		}
		return nil
	})
}

// set encodes an entry from row i of the vectors in scratch.
func (k *keyTable) set(place int, ix *indexCodec, i int) error {
	e := &k.entries[place]
	e.start = len(k.buf)
	var hasNull bool
	k.buf, hasNull = ix.appendRow(appendIndexPrefix(k.buf, ix.index.ID), k.keys, i)
	e.keyEnd, e.suffixed, e.present = len(k.buf), ix.suffixed(hasNull), true
	if len(ix.includeAt) > 0 {
		k.buf = ix.include.append(k.buf, k.include, i)
	}
	e.end = len(k.buf)
	return ix.checkSize(e.end - e.start)
}
