package join

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"

	"github.com/weftdb/weft/vector"
)

// relation is a table of nullable values for the reference.
type relation struct {
	kinds []vector.Kind
	rows  [][]vector.Datum
}

// keyShape makes key columns that lead to one form of table.
type keyShape struct {
	name     string
	kinds    []vector.Kind
	value    func(r *rand.Rand, col int) vector.Datum
	nullSafe []bool
}

func intKey(kind vector.Kind, low, span int64) func(*rand.Rand, int) vector.Datum {
	return func(r *rand.Rand, _ int) vector.Datum { return vector.IntDatum(kind, low+r.Int64N(span)) }
}

var shapes = []keyShape{
	{"direct", []vector.Kind{vector.I64}, intKey(vector.I64, -50, 300), []bool{false}},
	{"direct-safe", []vector.Kind{vector.I32}, intKey(vector.I32, -50, 300), []bool{true}},
	{"inline", []vector.Kind{vector.I64}, func(r *rand.Rand, _ int) vector.Datum {
		return vector.IntDatum(vector.I64, r.Int64N(300)*0x1234567_12345)
	}, []bool{false}},
	{"packed", []vector.Kind{vector.I32, vector.I64, vector.I8}, func(r *rand.Rand, col int) vector.Datum {
		kind := []vector.Kind{vector.I32, vector.I64, vector.I8}[col]
		return vector.IntDatum(kind, r.Int64N(8)*[]int64{100_000, 70_000_000, 1}[col])
	}, []bool{false, true, false}},
	{"wide", []vector.Kind{vector.I64, vector.I64}, func(r *rand.Rand, _ int) vector.Datum {
		return vector.IntDatum(vector.I64, int64(r.Uint64N(17)*0xF123456789ABCDE))
	}, []bool{false, true}},
	{"string", []vector.Kind{vector.Bytes}, func(r *rand.Rand, _ int) vector.Datum {
		return vector.StringDatum(fmt.Sprint("key ", r.IntN(300)))
	}, []bool{false}},
	{"mixed", []vector.Kind{vector.Bytes, vector.F64, vector.Bool}, func(r *rand.Rand, col int) vector.Datum {
		switch col {
		case 0:
			return vector.StringDatum(strings.Repeat("x", r.IntN(20)))
		case 1:
			return vector.FloatDatum(vector.F64, float64(r.IntN(20))/2)
		}
		return vector.BoolDatum(r.IntN(2) == 0)
	}, []bool{true, false, false}},
}

// makeRelation makes rows of key columns, an id and a string.
func makeRelation(r *rand.Rand, shape keyShape, n int, nulls, unique bool) *relation {
	rel := &relation{kinds: append(append([]vector.Kind(nil), shape.kinds...), vector.I64, vector.Bytes)}
	used := map[string]bool{}
	for i := 0; i < n; i++ {
		var row []vector.Datum
		for c, k := range shape.kinds {
			d := shape.value(r, c)
			if nulls && r.IntN(10) == 0 {
				d = vector.NullDatum(k)
			}
			row = append(row, d)
		}
		if unique && used[fmt.Sprint(row)] {
			continue
		}
		used[fmt.Sprint(row)] = true
		id := int64(len(rel.rows))
		rel.rows = append(rel.rows, append(row, vector.IntDatum(vector.I64, id), vector.StringDatum(fmt.Sprint("word ", id%7))))
	}
	return rel
}

// batches cuts a relation into batches, of random form and selection.
func (rel *relation) batches(r *rand.Rand, visit func(b *vector.Batch)) {
	for from := 0; from < len(rel.rows); {
		n := min(1+r.IntN(vector.BatchCap), len(rel.rows)-from)
		var sel vector.Sel
		var rows [][]vector.Datum
		if r.IntN(2) == 0 { // dead rows between the live ones
			for _, row := range rel.rows[from : from+n/2] {
				if r.IntN(3) == 0 {
					rows = append(rows, rel.rows[r.IntN(len(rel.rows))])
				}
				if len(rows) == vector.BatchCap {
					break
				}
				sel = append(sel, uint16(len(rows)))
				rows = append(rows, row)
				if len(rows) == vector.BatchCap {
					break
				}
			}
			n = len(sel)
			if n == 0 {
				continue
			}
		} else {
			rows = rel.rows[from : from+n]
		}
		b := &vector.Batch{N: len(rows), Sel: sel}
		for c, k := range rel.kinds {
			b.Vecs = append(b.Vecs, makeVector(r, k, rows, c))
		}
		visit(b)
		from += n
	}
}

// makeVector makes a column of a batch; now and then in dictionary or constant form.
func makeVector(r *rand.Rand, k vector.Kind, rows [][]vector.Datum, col int) *vector.Vector {
	constant := true
	for _, row := range rows {
		constant = constant && row[col] == rows[0][col]
	}
	if constant && r.IntN(2) == 0 {
		return vector.ConstOf(rows[0][col])
	}
	if k == vector.Bytes && r.IntN(3) > 0 {
		dict, codes, seen := vector.New(k, 0), []uint32{}, map[string]uint32{}
		var nulls []int
		for i, row := range rows {
			if row[col].Null {
				nulls = append(nulls, i)
				codes = append(codes, 0)
				continue
			}
			c, ok := seen[row[col].S]
			if !ok {
				c = uint32(dict.Len)
				seen[row[col].S] = c
				dict.AppendString(row[col].S)
			}
			codes = append(codes, c)
		}
		v := &vector.Vector{}
		v.SetDict(codes, dict, nil)
		for _, i := range nulls {
			v.SetNull(i, len(rows))
		}
		return v
	}
	v := vector.New(k, 0)
	for _, row := range rows {
		vector.AppendDatum(v, row[col])
	}
	return v
}

// testResidual compares the ids of both sides: NULL when their sum is a multiple of 5.
type testResidual struct {
	batch *vector.Batch
	table *Table
	keys  int
}

func residualValue(l, r int64) uint8 {
	switch {
	case (l+r)%5 == 0:
		return Null
	case (l*3+r)%4 == 1:
		return False
	}
	return True
}

func (t *testResidual) Test(probe, build []uint32, flags []uint8) error {
	ids := t.table.Column(0)
	for k := range probe {
		l := vector.DatumAt(t.batch.Vecs[t.keys], int(probe[k])).I
		flags[k] = residualValue(l, vector.DatumAt(ids, int(build[k])).I)
	}
	return nil
}

// collector writes results as text.
type collector struct {
	batch *vector.Batch
	table *Table
	keys  int
	lines []string
}

func (c *collector) line(probe, build uint32) string {
	l, r := "-", "-"
	if probe != vector.NoRow {
		l = fmt.Sprint(vector.DatumAt(c.batch.Vecs[c.keys], int(probe)).I)
	}
	if build != vector.NoRow {
		id := vector.DatumAt(c.table.Column(0), int(build)).I
		var word vector.Vector
		vector.PickOuter(&word, c.table.Column(1), []uint32{build})
		if got := vector.DatumAt(&word, 0).S; got != fmt.Sprint("word ", id%7) {
			panic("string column broken: " + got)
		}
		r = fmt.Sprint(id)
	}
	return l + " " + r
}

func (c *collector) Once(sel vector.Sel, build []uint32) error {
	if sel == nil {
		sel = allRows[:c.batch.N]
	}
	for k, i := range sel {
		if build == nil {
			c.lines = append(c.lines, c.line(uint32(i), vector.NoRow))
		} else {
			c.lines = append(c.lines, c.line(uint32(i), build[k]))
		}
	}
	return nil
}

func (c *collector) Pairs(probe, build []uint32) error {
	for k := range probe {
		c.lines = append(c.lines, c.line(probe[k], build[k]))
	}
	return nil
}

func (c *collector) Marks(sel vector.Sel, marks []uint8) error {
	if sel == nil {
		sel = allRows[:c.batch.N]
	}
	for _, i := range sel {
		c.lines = append(c.lines, c.line(uint32(i), vector.NoRow)+fmt.Sprint(" mark ", marks[i]))
	}
	return nil
}

// reference joins by nested loops.
func reference(kind Kind, nullAware, residual bool, shape keyShape, left, right *relation) ([]string, error) {
	keys := len(shape.kinds)
	value := func(l, r []vector.Datum) uint8 {
		result := True
		for c := range shape.kinds {
			switch {
			case shape.nullSafe[c]:
				if l[c] != r[c] {
					return False
				}
			case l[c].Null || r[c].Null:
				if !nullAware {
					return False
				}
				result = Null
			case l[c] != r[c]:
				return False
			}
		}
		if residual && result == True {
			return residualValue(l[keys].I, r[keys].I)
		}
		return result
	}
	var lines []string
	id := func(row []vector.Datum) string { return fmt.Sprint(row[keys].I) }
	matched := make([]bool, len(right.rows))
	for _, l := range left.rows {
		count, null := 0, false
		for i, r := range right.rows {
			switch value(l, r) {
			case Null:
				null = true
			case True:
				count++
				matched[i] = true
				if kind == Inner || kind == Left || kind == Right || kind == Full || kind == Single {
					lines = append(lines, id(l)+" "+id(r))
				}
			}
		}
		if kind == Single && count > 1 {
			return nil, errTwoRows
		}
		lone := id(l) + " -"
		switch {
		case (kind == Left || kind == Full || kind == Single || kind == Anti) && count == 0,
			kind == Semi && count > 0, kind == NullAwareAnti && count == 0 && !null:
			lines = append(lines, lone)
		case kind == Mark && count > 0:
			lines = append(lines, lone+" mark 1")
		case kind == Mark && null:
			lines = append(lines, lone+" mark 2")
		case kind == Mark:
			lines = append(lines, lone+" mark 0")
		}
	}
	for i, r := range right.rows {
		switch {
		case (kind == Right || kind == Full || kind == RightAnti) && !matched[i], kind == RightSemi && matched[i]:
			lines = append(lines, "- "+id(r))
		}
	}
	return lines, nil
}

// finisher builds in one part or several at the same time.
func finisher(r *rand.Rand) Finisher {
	f := Finisher{Check: func() error { return nil }}
	if r.IntN(2) == 0 {
		return f
	}
	f.Parts = 1 + r.IntN(5)
	f.Run = func(n int, do func(i int) error) error {
		errs := make(chan error, n)
		for i := range n {
			go func() { errs <- do(i) }()
		}
		var err error
		for range n {
			err = errors.Join(err, <-errs)
		}
		return err
	}
	return f
}

// run joins by a table built and probed by several workers.
func run(r *rand.Rand, kind Kind, nullAware, residual bool, shape keyShape, left, right *relation) (*Table, []string, error) {
	spec := Spec{Columns: []vector.Kind{vector.I64, vector.Bytes}, KeepNulls: kind.MarksBuild()}
	for i, k := range shape.kinds {
		spec.Keys = append(spec.Keys, Key{Kind: k, NullSafe: shape.nullSafe[i]})
	}
	exists := kind == Semi || kind == Anti || kind == Mark || kind == NullAwareAnti
	spec.SetOnly = exists && !residual && r.IntN(2) == 0
	t, keys := NewTable(spec), len(shape.kinds)
	builders := []*Builder{t.NewBuilder(nil), t.NewBuilder(nil), t.NewBuilder(nil)}
	var err error
	right.batches(r, func(b *vector.Batch) {
		if e := builders[r.IntN(1+r.IntN(3))].Append(b.Vecs[:keys], b.Vecs[keys:], b.N, b.Sel); e != nil {
			err = e
		}
	})
	if err != nil {
		return nil, nil, err
	}
	if err := t.Finish(finisher(r)); err != nil {
		return nil, nil, err
	}
	out := &collector{table: t, keys: keys}
	test := &testResidual{table: t, keys: keys}
	var joiners []*Joiner
	for range 2 {
		var res Residual
		if residual {
			res = test
		}
		joiners = append(joiners, t.NewJoiner(kind, nullAware, res, out))
	}
	left.batches(r, func(b *vector.Batch) {
		out.batch, test.batch = b, b
		if e := joiners[r.IntN(2)].Push(b.Vecs[:keys], b.N, b.Sel); e != nil {
			err = e
		}
	})
	if kind.MarksBuild() {
		t.EndProbe(t.Rows())
		var buf [100]uint32
		for from := 0; from < t.Rows(); {
			var rows []uint32
			rows, from = t.BuildRows(kind, from, t.Rows(), buf[:])
			for _, row := range rows {
				out.lines = append(out.lines, out.line(vector.NoRow, row))
			}
		}
	}
	return t, out.lines, err
}

func TestKinds(t *testing.T) {
	defer func(a, b, c int) { partRows, wholeRows, inlinePartRows = a, b, c }(partRows, wholeRows, inlinePartRows)
	partRows, wholeRows, inlinePartRows = 16, 32, 8
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	forms := map[string]bool{}
	for kind := Inner; kind <= Single; kind++ {
		for _, shape := range shapes {
			for c := range 16 {
				residual, nulls, unique, aware := c&1 != 0, c&2 != 0, c&4 != 0, c&8 != 0
				if kind == NullAwareAnti && !residual {
					aware = true
				}
				if aware && (residual || len(shape.kinds) > 1 || shape.nullSafe[0] || kind != NullAwareAnti && kind != Mark) {
					continue
				}
				r := rand.New(rand.NewPCG(seed, uint64(kind)<<32|uint64(c)))
				sizes := [][2]int{{120, 100}, {3, 120}, {120, 0}, {600, 15}}[c%4]
				if c >= 12 {
					sizes = [2]int{200, 200}
				}
				left := makeRelation(r, shape, sizes[0], nulls, false)
				right := makeRelation(r, shape, sizes[1], nulls, unique)
				name := fmt.Sprintf("kind=%d shape=%s residual=%v nulls=%v unique=%v aware=%v", kind, shape.name, residual, nulls, unique, aware)
				want, wantErr := reference(kind, aware, residual, shape, left, right)
				table, got, err := run(r, kind, aware, residual, shape, left, right)
				if (err != nil) != (wantErr != nil) {
					t.Fatalf("%s: error %v, want %v", name, err, wantErr)
				}
				if err != nil {
					continue
				}
				forms[table.Form()] = true
				sort.Strings(got)
				sort.Strings(want)
				if strings.Join(got, "\n") != strings.Join(want, "\n") {
					t.Fatalf("%s (form %s): got %d lines, want %d\n%s", name, table.Form(), len(got), len(want), difference(got, want))
				}
			}
		}
	}
	for _, f := range []string{"direct-array", "direct-ranges", "direct-set", "inline-open", "inline-ranges", "unchained"} {
		if !forms[f] {
			t.Errorf("form %q was never chosen", f)
		}
	}
}

func difference(got, want []string) string {
	count := map[string]int{}
	for _, s := range got {
		count[s]++
	}
	for _, s := range want {
		count[s]--
	}
	var out []string
	for s, n := range count {
		if n != 0 {
			out = append(out, fmt.Sprintf("%+d %s", n, s))
		}
	}
	sort.Strings(out)
	return strings.Join(out[:min(len(out), 20)], "\n")
}
