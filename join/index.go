package join

import (
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// Finisher says how Finish may work.
type Finisher struct {
	// Check is called now and then and stops the work with its error; nil = never.
	Check func() error
	// Parts is how many parts large tables are built in, and Run runs f(0) … f(n−1), perhaps at the
	// same time; nil = one part.
	Parts int
	Run   func(n int, f func(i int) error) error
}

// partRows is the least number of build rows per part: each part reads all keys, and what it then
// does for its own must outweigh that. Tests make it smaller.
var partRows = 1 << 15

// parts returns the number of parts, a power of two.
func (f *Finisher) parts(rows int) int {
	n := 1
	for f.Run != nil && 2*n <= f.Parts && rows >= 2*n*partRows {
		n *= 2
	}
	return n
}

func (f *Finisher) run(n int, do func(i int) error) error {
	if f.Run != nil && n > 1 {
		return f.Run(n, do)
	}
	for i := range n {
		if err := do(i); err != nil {
			return err
		}
	}
	return nil
}

// Finish ends the build: it puts the workers' rows together and builds the index. A large index is
// built in parts side by side. Each part has a share of the index, by key or by hash, reads all
// rows' keys and enters those of its share: nothing is locked, and a key with many rows delays its
// own part only.
//
// A table that may spill does so now if its rows were scattered already, or if there is no memory for
// putting them together or for the index.
func (t *Table) Finish(f Finisher) error {
	if !t.Spilled() {
		err := t.inMemory(&f)
		if t.spill == nil || sqlerr.CodeOf(err) != sqlerr.OutOfMemory {
			return err
		}
		t.takeBack()
		t.startSpill()
	}
	if t.spill.Grouping != nil {
		return t.leaveGroups(&f)
	}
	if err := t.gather(&f); err != nil {
		return err
	}
	err := t.index(&f)
	if sqlerr.CodeOf(err) == sqlerr.OutOfMemory {
		t.store.release()
		t.takeBack()
		t.builders = nil
		t.leaveAll()
		err = t.index(&f)
	}
	if err != nil {
		return err
	}
	return t.closeResident()
}

func (t *Table) inMemory(f *Finisher) error {
	if err := t.concat(f); err != nil {
		return err
	}
	return t.index(f)
}

// takeBack undoes a build that has failed for lack of memory: the rows are in builders again.
func (t *Table) takeBack() {
	if t.spec.Memory != nil {
		t.spec.Memory.Shrink(t.bytes.Swap(0))
	}
	t.form, t.pack, t.adjacent, t.entries = nil, nil, nil, nil
	if len(t.builders) == 0 {
		t.builders = []*Builder{{table: t, store: t.store}}
	}
	t.store = nil
}

// index builds the index over the store's rows.
func (t *Table) index(f *Finisher) error {
	t.rows = t.store.Rows()
	parts := f.parts(t.rows)
	if t.pack = newPacking(t.store, t.spec.Keys); t.pack == nil {
		return t.buildChained(f, parts)
	}
	if wantDirect(t.pack.span, t.rows) {
		return t.buildDirect(f, parts)
	}
	return t.buildInline(f, parts)
}

// concat puts the builders' stores together, a column at a time.
func (t *Table) concat(f *Finisher) error {
	if len(t.builders) == 0 {
		t.NewBuilder(nil)
	}
	var others []*Store
	for _, b := range t.builders {
		switch {
		case t.store == nil:
			t.store = b.store
		case b.store.rows > t.store.rows: // the largest one is not copied
			others, t.store = append(others, t.store), b.store
		default:
			others = append(others, b.store)
		}
	}
	if err := t.store.reserveOthers(others); err != nil {
		return err
	}
	t.builders = nil
	err := f.run(len(t.store.cols), func(i int) error {
		return t.store.concatColumn(i, others)
	})
	for _, o := range others {
		t.store.rows += o.rows
	}
	return err
}

// reader reads the keys of a table's rows block by block, for one part.
type reader struct {
	t     *Table
	check func() error
	vecs  []*vector.Vector
	codes [BlockRows]uint64
	sel   [BlockRows]uint16
}

func (t *Table) newReader(f *Finisher) *reader {
	return &reader{t: t, check: f.Check, vecs: NewBlock(len(t.spec.Keys))}
}

// blocks calls visit with the packed keys, in codes, of each block of rows that can match: rows
// from+i for each i of sel.
func (r *reader) blocks(visit func(from int, sel vector.Sel)) error {
	return r.stretch(0, r.t.rows, visit)
}

// stretch is blocks for the rows from one on, the first of a block, to another.
func (r *reader) stretch(from, to int, visit func(from int, sel vector.Sel)) error {
	for ; from < to; from += BlockRows {
		if err := r.block(from, visit); err != nil {
			return err
		}
	}
	return nil
}

// blocksBackwards is blocks from the last block to the first.
func (r *reader) blocksBackwards(visit func(from int, sel vector.Sel)) error {
	for from := (r.t.rows - 1) &^ (BlockRows - 1); from >= 0; from -= BlockRows {
		if err := r.block(from, visit); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) block(from int, visit func(from int, sel vector.Sel)) error {
	n := min(BlockRows, r.t.rows-from)
	for i := range r.vecs {
		vector.Slice(r.vecs[i], r.t.store.Column(i), from, n)
	}
	sel := r.t.pack.rows(r.codes[:], r.vecs, n, nil, r.sel[:])
	if sel == nil {
		sel = allRows[:n]
	}
	visit(from, sel)
	if r.check != nil && from&(64*BlockRows-1) == 0 {
		return r.check()
	}
	return nil
}

// shrink gives memory back that only building took.
func (t *Table) shrink(bytes int64) {
	t.bytes.Add(-bytes)
	if t.spec.Memory != nil {
		t.spec.Memory.Shrink(bytes)
	}
}

// grow reserves memory for an index part.
func (t *Table) grow(bytes int64) error {
	if t.spec.Memory != nil {
		if err := t.spec.Memory.Grow(bytes); err != nil {
			return err
		}
	}
	t.bytes.Add(bytes)
	return nil
}
