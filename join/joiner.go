package join

import (
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// Kind tells which rows a join yields.
type Kind uint8

// The kinds, in the planner's order.
const (
	Inner Kind = iota
	Left
	Right
	Full
	Semi
	Anti
	RightSemi
	RightAnti
	NullAwareAnti
	Mark
	Single
)

// MarksBuild reports whether the kind remembers which build rows found a match, and yields build
// rows after all probe rows.
func (k Kind) MarksBuild() bool {
	return k == Right || k == Full || k == RightSemi || k == RightAnti
}

// NeedsMatch reports whether a probe row without a match has no part in what the kind yields.
func (k Kind) NeedsMatch() bool {
	switch k {
	case Inner, Semi, Right, RightSemi, RightAnti:
		return true
	}
	return false
}

// The values of a condition.
const (
	False uint8 = iota
	True
	Null
)

// Residual evaluates a join's conditions beyond its keys.
type Residual interface {
	// Test sets flags[k] to the condition's value for probe row probe[k] and build row build[k].
	Test(probe, build []uint32, flags []uint8) error
}

// Output receives what a Joiner finds in a batch, several times per batch perhaps. Arguments are
// borrowed for the call.
type Output interface {
	// Once passes probe rows on, each at most once and in order: row sel[k], joined with build row
	// build[k], or with NULLs where that is vector.NoRow. sel nil = all rows; build nil = the kind
	// yields no build columns.
	Once(sel vector.Sel, build []uint32) error
	// Pairs passes on joined rows; a probe row may occur many times.
	Pairs(probe, build []uint32) error
	// Marks passes on the rows sel (nil = all) with marks by row position: True, False or Null.
	Marks(sel vector.Sel, marks []uint8) error
}

// Joiner joins one worker's probe batches by a kind.
type Joiner struct {
	Prober
	kind      Kind
	nullAware bool
	residual  Residual
	out       Output
	limit     int // pairs at a time

	sel          vector.Sel // live rows of the batch, nil = all
	seen         [BlockRows]uint8
	flags        [BlockRows]uint8
	probe, build [BlockRows]uint32
	selBuf       [BlockRows]uint16
	marks        vector.Bitmap // build rows with a match
}

// NewJoiner returns a joiner over a table that will be finished by the first Push. residual may be
// nil. It may be called concurrently; the Joiner belongs to its caller.
func (t *Table) NewJoiner(kind Kind, nullAware bool, residual Residual, out Output) *Joiner {
	p := t.NewProber()
	return &Joiner{Prober: *p, kind: kind, nullAware: nullAware || kind == NullAwareAnti && residual == nil,
		residual: residual, out: out, limit: min(BlockRows, vector.BatchCap)}
}

// Push joins the live rows of a batch of n rows.
func (j *Joiner) Push(keys []*vector.Vector, n int, sel vector.Sel) error {
	j.sel = sel
	if j.kind.MarksBuild() && j.marks == nil {
		j.marks = j.t.AddMarks(j.t.rows)
	}
	j.Lookup(keys, n, sel)
	switch j.kind {
	case Semi, Anti, Mark, NullAwareAnti:
		return j.exists()
	case RightSemi, RightAnti:
		return j.markOnly()
	}
	return j.joined()
}

// Stored returns the vector in which to look up column Spec.Columns[i] for the build rows that Output
// receives. What it holds may be another batch's after the next Push.
func (j *Joiner) Stored(i int) *vector.Vector {
	if j.payload != nil {
		return j.payload
	}
	return j.t.Column(i)
}

// outer reports whether probe rows without a match are passed on.
func (j *Joiner) outer() bool { return j.kind == Left || j.kind == Full || j.kind == Single }

// joined serves the kinds that yield columns of both sides.
func (j *Joiner) joined() error {
	if j.t.exactRows() {
		return j.joinedOnce()
	}
	if j.outer() {
		clear(j.seen[:j.n])
	}
	for {
		m := j.pairs(j.probe[:j.limit], j.build[:j.limit])
		if m == 0 {
			break
		}
		m, err := j.test(m)
		if err != nil {
			return err
		}
		probe, build := j.probe[:m], j.build[:m]
		if err := j.note(probe, build); err != nil {
			return err
		}
		if m == 0 {
			continue
		}
		if err := j.out.Pairs(probe, build); err != nil {
			return err
		}
	}
	if !j.outer() {
		return nil
	}
	return j.lone()
}

// note remembers which rows have matched.
func (j *Joiner) note(probe, build []uint32) error {
	if j.outer() {
		for _, i := range probe {
			if j.kind == Single && j.seen[i] != 0 {
				return errTwoRows
			}
			j.seen[i] = 1
		}
	}
	if j.marks != nil {
		for _, r := range build {
			j.marks[r>>6] |= 1 << (r & 63)
		}
	}
	return nil
}

var errTwoRows = sqlerr.New(sqlerr.CardinalityViolation, "more than one row returned by a subquery used as an expression")

// test keeps those of the first m pairs for which the residual condition is true.
func (j *Joiner) test(m int) (int, error) {
	if j.residual == nil {
		return m, nil
	}
	if err := j.residual.Test(j.probe[:m], j.build[:m], j.flags[:m]); err != nil {
		return 0, err
	}
	k := 0
	for i, f := range j.flags[:m] {
		j.probe[k], j.build[k] = j.probe[i], j.build[i]
		k += b2i(f == True)
	}
	return k, nil
}

// lone passes on the live rows without a match.
func (j *Joiner) lone() error {
	sel := j.selBuf[:0]
	if j.sel == nil {
		for i := range j.n {
			if j.seen[i] == 0 {
				sel = append(sel, uint16(i))
			}
		}
	} else {
		for _, i := range j.sel {
			if j.seen[i] == 0 {
				sel = append(sel, i)
			}
		}
	}
	if len(sel) == 0 {
		return nil
	}
	build := j.build[:len(sel)]
	for k := range build {
		build[k] = vector.NoRow
	}
	return j.out.Once(sel, build)
}

// joinedOnce is joined for tables in which find delivers the one match of a row.
func (j *Joiner) joinedOnce() error {
	rows, build := j.rows, j.first[:len(j.rows)]
	if j.residual != nil && len(rows) > 0 {
		for k, i := range rows {
			j.probe[k] = uint32(i)
		}
		if err := j.residual.Test(j.probe[:len(rows)], build, j.flags[:len(rows)]); err != nil {
			return err
		}
		k := 0
		for i, f := range j.flags[:len(rows)] {
			rows[k], build[k] = rows[i], build[i]
			k += b2i(f == True)
		}
		rows, build = rows[:k], build[:k]
	}
	if j.marks != nil {
		for _, r := range build {
			j.marks[r>>6] |= 1 << (r & 63)
		}
	}
	if j.outer() {
		return j.outerOnce(rows, build)
	}
	switch len(rows) {
	case 0:
		return nil
	case j.n:
		rows = nil
	}
	return j.out.Once(rows, build)
}

// outerOnce passes every live row on, with its match or with NULLs.
func (j *Joiner) outerOnce(rows vector.Sel, build []uint32) error {
	if j.sel == nil {
		all := j.build[:j.n]
		for i := range all {
			all[i] = vector.NoRow
		}
		for k, i := range rows {
			all[i] = build[k]
		}
		return j.out.Once(nil, all)
	}
	all, k := j.build[:len(j.sel)], 0
	for i, row := range j.sel {
		all[i] = vector.NoRow
		if k < len(rows) && rows[k] == row {
			all[i] = build[k]
			k++
		}
	}
	return j.out.Once(j.sel, all)
}
