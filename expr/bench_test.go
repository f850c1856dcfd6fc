package expr_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/vector"
)

// The benchmarks report nanoseconds per row of a batch of 1024 rows that look like TPC-H's lineitem.

var benchColumns = []struct{ name, typ string }{
	{"l_quantity", "numeric(15,2)"}, {"l_extendedprice", "numeric(15,2)"}, {"l_discount", "numeric(15,2)"}, {"l_tax", "numeric(15,2)"},
	{"l_shipdate", "date"}, {"l_commitdate", "date"}, {"l_comment", "text"}, {"l_shipmode", "char(10)"}, {"k", "int4"}, {"f", "float8"}, {"l_shipmode_d", "char(10)"},
}

func lineitem(n int) *vector.Batch {
	r := rand.New(rand.NewPCG(1, 2))
	b := &vector.Batch{N: n}
	words := []string{"special", "requests", "pending", "furiously", "deposits", "sleep", "carefully", "quick"}
	modes := []string{"MAIL", "SHIP", "RAIL", "TRUCK", "AIR", "FOB", "REG AIR"}
	for _, c := range benchColumns {
		t := parseType(c.typ)
		v := vector.New(t.Kind(), n)
		for range n {
			text := ""
			switch c.name {
			case "l_quantity":
				text = fmt.Sprintf("%d.00", 1+r.IntN(50))
			case "l_extendedprice":
				text = fmt.Sprintf("%.2f", 900+r.Float64()*100000)
			case "l_discount":
				text = fmt.Sprintf("0.%02d", r.IntN(11))
			case "l_tax":
				text = fmt.Sprintf("0.%02d", r.IntN(9))
			case "l_shipdate", "l_commitdate":
				text = fmt.Sprintf("%d-%02d-%02d", 1992+r.IntN(7), 1+r.IntN(12), 1+r.IntN(28))
			case "l_comment":
				text = words[r.IntN(8)] + " " + words[r.IntN(8)] + " " + words[r.IntN(8)] + " " + words[r.IntN(8)]
			case "k", "f":
				text = fmt.Sprint(r.IntN(1000))
			default:
				text = modes[r.IntN(7)]
			}
			vector.AppendDatum(v, try(expr.ParseDatum(t, text, nil)))
		}
		b.Vecs = append(b.Vecs, v)
	}
	b.Vecs[10] = dictForm(b.Vecs[7])
	return b
}

func bindBench(text string) expr.Expr {
	columns = map[string]*expr.Col{}
	defer func() { columns = nil }()
	for i, c := range benchColumns {
		columns[c.name] = &expr.Col{ID: expr.ColID(i), Typ: parseType(c.typ), Name: c.name}
	}
	return try(expr.FoldConstants(try(bindText(text)), nil))
}

func perRow(b *testing.B, n int, f func()) {
	f()
	b.ReportAllocs()
	for b.Loop() {
		f()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/row")
}

func BenchmarkFilter(b *testing.B) {
	for name, text := range map[string]string{
		"q6":         "l_shipdate >= '1994-01-01'::date and l_shipdate < '1994-01-01'::date + interval '1' year and l_discount between 0.06 - 0.01 and 0.06 + 0.01 and l_quantity < 24",
		"q1":         "l_shipdate <= '1998-12-01'::date - interval '90' day",
		"columns":    "l_shipdate < l_commitdate",
		"like":       "l_comment not like '%special%requests%'",
		"prefix":     "l_comment like 'special%'",
		"in":         "l_shipmode in ('MAIL', 'SHIP')",
		"in_dict":    "l_shipmode_d in ('MAIL', 'SHIP')",
		"or":         "k < 100 or k > 900 or k = 500",
		"case":       "case when k < 500 then l_quantity < 20 else l_quantity > 40 end",
		"int":        "k < 500",
		"char_equal": "l_shipmode = 'MAIL'",
	} {
		b.Run(name, func(b *testing.B) {
			f := try(expr.CompileFilter(bindBench(text), layout, nil))
			batch, out := lineitem(1024), make(vector.Sel, 1024)
			perRow(b, 1024, func() { try(f.Select(batch, nil, out)) })
		})
	}
}

func BenchmarkEval(b *testing.B) {
	for name, text := range map[string]string{
		"disc_price": "l_extendedprice * (1 - l_discount)",
		"charge":     "l_extendedprice * (1 - l_discount) * (1 + l_tax)",
		"int_add":    "k + 1", "int_mul": "k * k", "float": "f * 2 + 1",
		"case":      "case when k < 500 then l_extendedprice * (1 - l_discount) else 0 end",
		"year":      "extract(year from l_shipdate)",
		"substring": "substring(l_comment from 1 for 7)",
		"divide":    "l_extendedprice / l_quantity",
		"concat":    "l_shipmode || l_comment",
		"date_add":  "l_shipdate + interval '1' month",
		"to_text":   "l_extendedprice::text",
		"compare":   "k < 500", "upper": "upper(l_comment)",
	} {
		b.Run(name, func(b *testing.B) {
			ev := try(expr.Compile(bindBench(text), layout, nil))
			batch := lineitem(1024)
			perRow(b, 1024, func() { try(ev.Eval(batch, nil)) })
		})
	}
}

func bindAggs(texts ...string) []*expr.AggCall {
	var calls []*expr.AggCall
	for _, text := range texts {
		call := try(sql.ParseExpr(text)).(*sql.FuncCall)
		var args []expr.Expr
		for _, a := range call.Args {
			columns = map[string]*expr.Col{}
			for i, c := range benchColumns {
				columns[c.name] = &expr.Col{ID: expr.ColID(i), Typ: parseType(c.typ), Name: c.name}
			}
			args = append(args, bind(a))
			columns = nil
		}
		calls = append(calls, try(expr.ResolveAgg(call.Name.Name, args, false, call.Star, 0)))
	}
	return calls
}

func BenchmarkAggregate(b *testing.B) {
	q1 := []string{"sum(l_quantity)", "sum(l_extendedprice)", "sum(l_extendedprice * (1 - l_discount))", "sum(l_extendedprice * (1 - l_discount) * (1 + l_tax))",
		"avg(l_quantity)", "avg(l_extendedprice)", "avg(l_discount)", "count(*)"}
	for name, texts := range map[string][]string{
		"q1": q1, "q6": {"sum(l_extendedprice * l_discount)"}, "count": {"count(*)"}, "sum_int": {"sum(k)"}, "sum_float": {"sum(f)"},
		"sum_numeric": {"sum(l_extendedprice)"}, "min_date": {"min(l_shipdate)"},
		"q14": {"sum(case when l_shipmode = 'MAIL' then l_extendedprice * (1 - l_discount) else 0 end)"},
	} {
		for _, groups := range []int{1, 4, 1000} {
			b.Run(fmt.Sprintf("%s/groups=%d", name, groups), func(b *testing.B) {
				agg := try(expr.NewAggregation(bindAggs(texts...), layout, nil))
				agg.Grow(groups)
				batch := lineitem(1024)
				var ids []uint32
				if groups > 1 {
					ids = make([]uint32, 1024)
					r := rand.New(rand.NewPCG(1, 2))
					for i := range ids {
						ids[i] = uint32(r.IntN(groups))
					}
				}
				perRow(b, 1024, func() { check(agg.Update(batch, nil, ids)) })
			})
		}
	}
}

// BenchmarkCompile is what a point query pays before its first row.
func BenchmarkCompile(b *testing.B) {
	e := bindBench("k = 5 and f > 1.5 and l_shipmode = 'MAIL'")
	b.ReportAllocs()
	for b.Loop() {
		try(expr.CompileFilter(e, layout, nil))
	}
}
