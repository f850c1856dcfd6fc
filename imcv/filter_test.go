package imcv

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// groupOf makes a loaded reader of one unit, which is column 1.
func groupOf(u *unit, c testColumn) *GroupReader {
	g := &group{rows: len(c.positions), limit: u.rows}
	col := newColumn(g, 1, u)
	g.columns = []*column{col}
	r := &GroupReader{group: g, columns: g.columns, units: []*unit{u}}
	copy(r.Trusted[:], presence(c))
	return r
}

// randomCondition is a condition on column 1, mostly with values of the column, and whether every unit of
// ordered values is to answer it.
func randomCondition(t *testing.T, r *rand.Rand, c testColumn) expr.Expr {
	t.Helper()
	col := &expr.Col{ID: 1, Name: "c", Typ: c.typ}
	value := func() expr.Expr {
		d := c.values[r.IntN(len(c.values))]
		if r.IntN(4) == 0 {
			d = randomValue(r, c.typ.Kind(), "large")
		}
		if d.Kind == vector.I64 && r.IntN(3) == 0 && !d.Null {
			d.I += int64(r.IntN(3)) - 1
		}
		if r.IntN(40) == 0 {
			d = vector.NullDatum(c.typ.Kind())
		}
		return &expr.Const{Value: d, Typ: c.typ}
	}
	var e expr.Expr
	var err error
	switch k := r.IntN(10); {
	case k == 0:
		return &expr.IsNull{Arg: col, Negated: r.IntN(2) == 0}
	case k <= 2:
		in := &expr.InList{Arg: col, Negated: r.IntN(3) == 0}
		for range 1 + r.IntN(5) {
			in.List = append(in.List, value())
		}
		return in
	case k == 3 && c.typ.Kind() == vector.Bytes:
		pattern := &expr.Const{Value: vector.StringDatum([]string{"%1%", "value -%", "%final%sleep%", "%5", "_alue%", "final%s ", "%eps%", "%", "value 5", ""}[r.IntN(10)]), Typ: catalog.Type{ID: catalog.Text}}
		e, err = expr.ResolveLike(col, pattern, nil, false, r.IntN(2) == 0, 0)
	case k == 4:
		return &expr.IsDistinct{Left: col, Right: value(), Negated: r.IntN(2) == 0}
	default:
		left, right := expr.Expr(col), value()
		if r.IntN(4) == 0 {
			left, right = right, left
		}
		e, err = expr.ResolveBinary([]string{"=", "<>", "<", "<=", ">", ">="}[r.IntN(6)], left, right, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestFilterOnCodes compares filters on codes with the same filters on values: random columns of all types
// and encodings, with holes and NULLs, in random windows.
func TestFilterOnCodes(t *testing.T) {
	r := newRand(t)
	bound, left := map[Encoding]int{}, map[Encoding]int{}
	for _, typ := range unitTypes {
		for _, shape := range unitShapes {
			c := randomColumn(r, typ, shape, 1000+r.IntN(5000))
			b := newUnitBuilder(typ)
			addColumn(b, c)
			u := b.finish(presence(c))
			reader := groupOf(u, c)
			conditions := 40
			if testing.Short() {
				conditions = 8
			}
			for range conditions {
				var conds []expr.Expr
				for range 1 + r.IntN(2) {
					conds = append(conds, randomCondition(t, r, c))
				}
				f := NewUnitFilter(conds, func(expr.ColID) (catalog.ColumnID, bool) { return 1, true }, &expr.Env{})
				rest := Rest(conds, f.Bind(reader))
				bound[u.values.encoding()] += len(conds) - len(rest)
				left[u.values.encoding()] += len(rest)
				compareFilters(t, r, reader, f, conds, rest, fmt.Sprintf("%v %s (%s) %s", typ, shape, u.values.encoding(), describe(conds)))
			}
		}
	}
	for e := range encodingCount {
		t.Logf("%s: %d conjuncts on codes, %d left", e, bound[e], left[e])
		if bound[e] == 0 && !testing.Short() {
			t.Errorf("no conjunct was answered on codes of a %s unit", e)
		}
	}
}

func describe(conds []expr.Expr) (s string) {
	for _, c := range conds {
		s += fmt.Sprintf("[%s] ", expr.String(c))
	}
	return s
}

func compareFilters(t *testing.T, r *rand.Rand, reader *GroupReader, f *UnitFilter, conds, rest []expr.Expr, what string) {
	t.Helper()
	limit := reader.Limit()
	v := &vector.Vector{}
	for range 8 {
		from := r.IntN(limit)
		if r.IntN(2) == 0 {
			from &^= 63
		}
		n := 1 + r.IntN(min(vector.BatchCap, limit-from))
		batch := vector.Batch{N: n, Vecs: []*vector.Vector{v}}
		want := apply(t, reader, &batch, conds, from, n, nil)
		sel, all := f.Select(reader, from, n, nil)
		if all {
			sel = vector.SelectAll(n, nil, nil)
		}
		got := apply(t, reader, &batch, rest, from, n, sel)
		if !slices.Equal(got, want) {
			t.Fatalf("%s: positions %d…%d: %d rows on codes and then %d by the rest, want %d", what, from, from+n-1, len(sel), len(got), len(want))
		}
		if len(want) > 0 && f.Skip(reader) {
			t.Fatalf("%s: the group would be skipped", what)
		}
	}
}

// apply filters trusted rows by expressions on their values.
func apply(t *testing.T, reader *GroupReader, b *vector.Batch, conds []expr.Expr, from, n int, in vector.Sel) vector.Sel {
	t.Helper()
	if in == nil {
		var all bool
		if in, all = reader.Select(from, n, nil); all {
			in = vector.SelectAll(n, nil, nil)
		}
	}
	reader.Read(1, b.Vecs[0], from, n, nil)
	out := slices.Clone(in)
	for _, cond := range conds {
		f, err := expr.CompileFilter(cond, func(expr.ColID) int { return 0 }, nil)
		if err != nil {
			t.Fatal(err)
		}
		sel, err := f.Select(b, out, nil)
		if err != nil {
			t.Fatal(err)
		}
		out = slices.Clone(sel)
	}
	return out
}

// TestLikeTest compares the automaton with LIKE on random strings and patterns of few letters.
func TestLikeTest(t *testing.T) {
	r := newRand(t)
	random := func(letters string, n int) string {
		b := make([]byte, r.IntN(n))
		for i := range b {
			b[i] = letters[r.IntN(len(letters))]
		}
		return string(b)
	}
	text := catalog.Type{ID: catalog.Text}
	for range 3000 {
		pattern := random("ab%", 9)
		l := newLikeTest(pattern)
		v := vector.New(vector.Bytes, 20)
		for range 20 {
			v.AppendString(random("ab", 12))
		}
		like, err := expr.ResolveLike(&expr.Col{ID: 1, Typ: text}, &expr.Const{Value: vector.StringDatum(pattern), Typ: text}, nil, false, false, 0)
		if err != nil {
			t.Fatal(err)
		}
		f, err := expr.CompileFilter(like, func(expr.ColID) int { return 0 }, nil)
		if err != nil {
			t.Fatal(err)
		}
		want, err := f.Select(&vector.Batch{N: 20, Vecs: []*vector.Vector{v}}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			s := uint8(1)
			for _, b := range v.BytesAt(i) {
				s = l.next[s][b]
			}
			if got := l.ends[s]; got != slices.Contains(want, uint16(i)) {
				t.Fatalf("%q like %q: %v", v.BytesAt(i), pattern, got)
			}
		}
	}
	for _, pattern := range []string{"a_", "\\%", string(make([]byte, 100))} {
		if newLikeTest(pattern) != nil {
			t.Errorf("pattern %q was taken", pattern)
		}
	}
}

// TestBloom makes sure that filters hold all values of their units and exclude most others.
func TestBloom(t *testing.T) {
	r := newRand(t)
	for _, typ := range []catalog.Type{{ID: catalog.Int8}, {ID: catalog.Int4}, {ID: catalog.Text}} {
		c := randomColumn(r, typ, "large", 20000)
		b := newUnitBuilder(typ)
		addColumn(b, c)
		u := b.finish(presence(c))
		if u.bloom == nil {
			t.Fatalf("%v: no filter", typ)
		}
		for _, d := range c.values {
			if !d.Null && !newZoneTest("=", d).mayHold(u.bloom) {
				t.Fatalf("%v: %v is missing", typ, d)
			}
		}
		wrong := 0
		for range 10000 {
			if newZoneTest("in", randomValue(r, typ.Kind(), "huge")).mayHold(u.bloom) {
				wrong++
			}
		}
		if wrong > 1000 {
			t.Errorf("%v: %d of 10000 strangers pass", typ, wrong)
		}
	}
}

// TestSelection turns random masks into selections.
func TestSelection(t *testing.T) {
	r := newRand(t)
	for range 500 {
		n := 1 + r.IntN(1024)
		density := r.IntN(101)
		mask := vector.NewBitmap(n)
		var want vector.Sel
		for i := range n {
			if r.IntN(100) < density {
				mask.Set(i)
				want = append(want, uint16(i))
			}
		}
		got, all := selection(mask, n, nil)
		if all != (len(want) == n) || !all && !slices.Equal(got, want) {
			t.Fatalf("%d of %d rows: got %v (all %v), want %v", len(want), n, got, all, want)
		}
	}
}

// TestMaskKernels compares the kernels that the processor offers with the ones in Go, and these with
// comparing code by code.
func TestMaskKernels(t *testing.T) {
	r := newRand(t)
	for range 2000 {
		width := 1 << r.IntN(4)
		n := 1 + r.IntN(300)
		data := alignedBytes(width * (n + 3))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		low, span := r.Uint64()>>r.IntN(64), r.Uint64()>>r.IntN(64)
		ones := ^uint64(0) >> (64 - 8*width)
		from := r.IntN(4)
		got := vector.NewBitmap(n)
		got.Fill(n)
		maskCodes(got, data, from, n, width, low, span)
		plain := vector.NewBitmap(n)
		plain.Fill(n)
		switch width {
		case 1:
			maskRange(plain, data[from:from+n], uint8(low), uint8(span))
		case 2:
			maskRange(plain, asSlice[uint16](data)[from:from+n], uint16(low), uint16(span))
		case 4:
			maskRange(plain, asSlice[uint32](data)[from:from+n], uint32(low), uint32(span))
		case 8:
			maskRange64(plain, asSlice[uint64](data)[from:from+n], low, span)
		}
		s := &ints{width: width, codes: data}
		for i := range n {
			want := (s.code(from+i)-low)&ones <= span&ones
			if got.Get(i) != want || plain.Get(i) != want {
				t.Fatalf("width %d, code %d of %d, %#x in %#x+%#x: %v and %v, want %v", width, i, n, s.code(from+i), low, span, got.Get(i), plain.Get(i), want)
			}
		}
	}
}

// BenchmarkFilterOnCodes measures one comparison from codes to the selection of a batch.
func BenchmarkFilterOnCodes(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, k := range []struct {
		name  string
		shape string
	}{{"packed1", "small"}, {"packed2", "medium"}, {"packed4", "large"}, {"plain8", "huge"}, {"runs", "sorted"}, {"sequence", "ascending"}} {
		c := testColumn{typ: catalog.Type{ID: catalog.Int8}}
		for i := range storage.GroupRows {
			c.positions = append(c.positions, i)
			c.values = append(c.values, shapedValue(r, vector.I64, k.shape, i))
		}
		builder := newUnitBuilder(c.typ)
		addColumn(builder, c)
		reader := groupOf(builder.finish(presence(c)), c)
		sorted := slices.SortedFunc(slices.Values(c.values), compare)
		for _, percent := range []int{1, 50} {
			b.Run(fmt.Sprintf("%s/%d%%", k.name, percent), func(b *testing.B) {
				cond, err := expr.ResolveBinary("<", &expr.Col{ID: 1, Typ: c.typ}, &expr.Const{Value: sorted[len(sorted)*percent/100], Typ: c.typ}, 0)
				if err != nil {
					b.Fatal(err)
				}
				f := NewUnitFilter([]expr.Expr{cond}, func(expr.ColID) (catalog.ColumnID, bool) { return 1, true }, &expr.Env{})
				if f.Bind(reader) != 0 {
					b.Fatal("not answered on codes")
				}
				sel := make(vector.Sel, 0, vector.BatchCap+8)
				b.ReportAllocs()
				for b.Loop() {
					for from := 0; from < storage.GroupRows; from += vector.BatchCap {
						if out, all := f.Select(reader, from, vector.BatchCap, sel); !all {
							sel = out
						}
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/storage.GroupRows, "ns/row")
			})
		}
	}
}
