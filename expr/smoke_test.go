package expr

import (
	"testing"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector"
)

func lit(s string) Expr {
	return &Const{Value: vector.StringDatum(s), Typ: catalog.Type{ID: catalog.Unknown}}
}
func i4(i int64) Expr {
	return &Const{Value: vector.IntDatum(vector.I32, i), Typ: catalog.Type{ID: catalog.Int4}}
}
func must(t *testing.T) func(e Expr, err error) Expr {
	return func(e Expr, err error) Expr {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
}

func TestTPCHQ1Shape(t *testing.T) {
	ok := must(t)
	n152 := catalog.Type{ID: catalog.Numeric, Prec: 15, Scale: 2}
	price, disc, tax := &Col{ID: 1, Typ: n152, Name: "l_extendedprice"}, &Col{ID: 2, Typ: n152, Name: "l_discount"}, &Col{ID: 3, Typ: n152, Name: "l_tax"}
	ship := &Col{ID: 4, Typ: catalog.Type{ID: catalog.Date}, Name: "l_shipdate"}
	discPrice := ok(ResolveBinary("*", price, ok(ResolveBinary("-", i4(1), disc, 0)), 0))
	charge := ok(ResolveBinary("*", discPrice, ok(ResolveBinary("+", i4(1), tax, 0)), 0))
	if got := String(charge); got != "((l_extendedprice * ('1'::numeric - l_discount)) * ('1'::numeric + l_tax))" {
		t.Error(got)
	}
	if got := charge.Type(); got != (catalog.Type{ID: catalog.Numeric, Prec: 47, Scale: 6}) {
		t.Error(got)
	}
	filter := ok(ResolveBinary("<=", ship, ok(ResolveBinary("-", ok(Coerce(lit("1998-12-01"), catalog.Type{ID: catalog.Date}, ExplicitCast, 0)), ok(Coerce(lit("90 days"), catalog.Type{ID: catalog.Interval}, ExplicitCast, 0)), 0)), 0))
	filter = ok(FoldConstants(filter, nil))
	if got := String(filter); got != "(l_shipdate <= '1998-09-02 00:00:00'::timestamp without time zone)" {
		t.Error(got)
	}
	b := vector.NewBatch([]vector.Kind{vector.I64, vector.I64, vector.I64, vector.I32})
	for i := range 10 {
		vector.Append(b.Vecs[0], int64(100000+i))
		vector.Append(b.Vecs[1], int64(i))
		vector.Append(b.Vecs[2], int64(8))
		vector.Append(b.Vecs[3], int32(civilToDays(1998, 8, 28+i)))
	}
	b.N = 10
	layout := func(id ColID) int { return int(id) - 1 }
	f, err := CompileFilter(filter, layout, nil)
	if err != nil {
		t.Fatal(err)
	}
	sel, err := f.Select(b, nil, nil)
	if err != nil || len(sel) != 6 {
		t.Fatal(sel, err)
	}
	sum, err := ResolveAgg("sum", []Expr{charge}, false, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	avg, _ := ResolveAgg("avg", []Expr{disc}, false, false, 0)
	star, _ := ResolveAgg("count", nil, false, true, 0)
	agg, err := NewAggregation([]*AggCall{sum, avg, star}, layout, nil)
	if err != nil {
		t.Fatal(err)
	}
	agg.Grow(1)
	if err := agg.Update(b, sel, nil); err != nil {
		t.Fatal(err)
	}
	want := []string{"6318.156060", "0.02500000000000000000", "6"}
	for i, call := range []*AggCall{sum, avg, star} {
		out := vector.New(call.Typ.Kind(), 1)
		if err := agg.Accumulator(i).Result(0, 1, out); err != nil {
			t.Fatal(err)
		}
		if got := FormatDatum(call.Typ, vector.DatumAt(out, 0), nil); got != want[i] {
			t.Errorf("%s = %s, want %s", call, got, want[i])
		}
	}
	ev, err := Compile(charge, layout, nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := ev.Eval(b, sel)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(AppendText(nil, charge.Type(), v, 2, nil)); got != "1058.421168" {
		t.Error(got)
	}
}
