package expr_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/vector"
)

// The matrix: every evaluator, over batches of several sizes, with and without selection, NULLs
// and dictionaries, must agree with evaluation row by row.

var matrixTypes = []struct{ name, typ string }{
	{"b", "bool"}, {"i2", "int2"}, {"i4", "int4"}, {"i8", "int8"}, {"f4", "float4"}, {"f8", "float8"},
	{"n2", "numeric(12,2)"}, {"n5", "numeric(30,5)"}, {"n", "numeric"}, {"t", "text"}, {"v", "varchar(20)"}, {"c", "char(6)"},
	{"d", "date"}, {"ts", "timestamp"}, {"tz", "timestamptz"}, {"iv", "interval"}, {"by", "bytea"},
	{"j4", "int4"}, {"m2", "numeric(12,2)"}, {"u", "text"}, {"e", "date"}, {"g8", "float8"}, {"c2", "char(6)"},
}

var matrixExprs = []string{
	"i4 + j4", "i4 - 1", "1 - i4", "i4 * j4", "i4 / j4", "i4 % j4", "i2 + i2", "i2 * i4", "i8 + i4", "i8 * i8", "i8 - 5", "-i4", "abs(i8)",
	"i4 & 7", "i4 | j4", "i4 # j4", "~i8", "i4 << 2", "i8 >> 1",
	"f8 + g8", "f8 * 2", "f8 / g8", "f4 + f4", "f4 * f8", "1 - f8", "sqrt(abs(f8))", "round(f8)", "floor(f8)", "sign(f8)",
	"n2 + m2", "n2 - 1", "1 - n2", "n2 * m2", "n2 * (1 - m2)", "n2 * (1 - m2) * (1 + m2)", "n2 * n5", "n5 * n5", "n5 + n2", "n5 - n", "n * n2",
	"n2 / m2", "n2 / 7", "n5 / n2", "n % 7", "n2 % m2", "-n2", "-n5", "-n", "abs(n2)", "round(n2)", "round(n2, 1)", "round(n5, 2)", "trunc(n5, 3)", "ceil(n2)", "floor(n5)",
	"n2 + i4", "i4 * n2", "i8 * n5", "n2 + f8", "sign(n2)", "mod(n5, 3)", "round(n, 2)",
	"n2 * n2 * n2 * n2 * n2", "n5 * n5 * n5", "(n2 + m2) * (n2 - m2)", "n2 + 0.005", "n2 * 1.5 + 1",
	"i4 = j4", "i4 < j4", "i4 >= 3", "3 < i4", "i2 = i8", "i2 < 100000", "i8 <> i4", "f8 < g8", "f8 >= 1.5", "f4 = f8", "f8 = 'NaN'", "f8 < 'NaN'", "f8 > 'NaN'", "f8 <= 'NaN'",
	"n2 < m2", "n2 >= 0.05", "n2 > 0.055", "n2 = 1", "n5 < n2", "n5 > 100", "n < n2", "n = 1.5", "n2 > i4", "n5 between 0.05 and 1e20",
	"t = u", "t < u", "t >= 'b'", "'m' > t", "t <> ''", "v = t", "v = 'abc'", "c = 'ab'", "c = c2", "c < 'b'", "c = t", "by = '\\x61'", "by < by",
	"d = e", "d < e", "d < '2000-01-01'", "d <= '2000-01-01'::timestamp", "d < '2000-01-01 12:00'::timestamp", "d >= '2000-01-01 12:00'::timestamp", "d = '2000-01-01 12:00'::timestamp", "d <> '2000-01-01'::timestamp",
	"'2000-01-01 12:00'::timestamp > d", "d < ts", "ts < '2000-01-01'", "tz > ts", "iv < '1 month'", "iv = iv", "b = true", "b < b",
	"b and i4 > 0", "b or i4 > 0", "not b", "i4 > 0 and n2 > 0 and t > 'b'", "i4 > 0 or n2 > 0 or t > 'b'", "not (i4 > 0 and (b or t like 'a%'))",
	"i4 <> 0 and 10 / i4 > 1", "i4 = 0 or 10 / i4 > 1", "b is null", "t is not null", "b is true", "b is not false", "b is unknown", "i4 is distinct from j4", "t is not distinct from u", "n2 is distinct from n5", "c is distinct from c2",
	"i4 in (1, 2, 3)", "i4 in (1, null)", "i4 not in (1, 2, 30, 40, 50, 60, 70, 80, 90, 100)", "i4 in (j4, 5)", "t in ('a', 'abc', 'xyz')", "t not in ('a', null)", "c in ('ab', 'b')", "v in ('abc')", "d in ('2000-01-01', '1999-12-31')", "n2 in (1, 2.5)", "n5 in (1, 2.5)", "n in (1.0, 2.5)", "f8 in (1, 2.5)", "i8 in (1, 10000000000)", "i2 in (1,2)",
	"case when i4 > 0 then i4 when b then -i4 else 0 end", "case when b then t else u end", "case when i4 <> 0 then 100 / i4 end", "case when i4 > 0 then n2 else 0 end", "case when i4 > 0 then n2 * m2 else 0 end", "case when i4 > 0 then n2 else n5 end", "case when b then n else n2 end",
	"case i4 when 1 then 'one' when 2 then 'two' else t end", "case when b then d else e end", "case when b then iv end", "(case when i4 > 0 then n2 * m2 else 0 end) * (1 - m2)", "case when b then n2 when i4 > 0 then m2 end",
	"coalesce(i4, j4)", "coalesce(t, u, 'none')", "coalesce(n2, 0)", "coalesce(n2, m2)", "coalesce(n2, n5, 1)", "coalesce(n2 * 1.5, 0) + 1", "coalesce(b, i4 > 0)", "nullif(i4, j4)", "nullif(t, u)", "nullif(n2, m2)", "greatest(i4, j4, 3)", "least(t, u)", "greatest(n2, n5)", "greatest(d, e)",
	"t || u", "t || i4", "v || c", "t || n2", "t || d", "length(t)", "upper(t)", "lower(u)", "substring(t from 2 for 2)", "substr(t, i4)", "left(t, 2)", "right(t, -1)", "replace(t, 'a', u)", "position('b' in t)", "trim(t)", "ltrim(t, 'a')", "lpad(t, 5, 'xy')", "reverse(t)", "split_part(t, 'b', 1)", "concat(t, i4, n2, d)", "concat_ws('-', t, u, c)", "translate(t, 'ab', 'x')", "initcap(t)", "md5(t)", "ascii(t)", "starts_with(t, u)", "length(c)", "length(by)", "repeat(t, i4 % 3)",
	"t like 'a%'", "t like '%b'", "t like '%b%'", "t like 'a_c'", "t not like '%b%'", "t like u", "t ilike 'A%'", "v like '%c%'", "c like 'a%'", "t ~ '^a'", "t ~* 'B'", "t like '%a%b%'",
	"d + 1", "d + i4 % 1000", "d - e", "d + iv", "ts + iv", "ts - iv", "tz + iv", "ts - ts", "iv + iv", "iv * 2", "iv / 2", "-iv", "ts + '1 month'", "d - '90 days'::interval",
	"extract(year from d)", "extract(month from ts)", "extract(day from d)", "extract(quarter from d)", "extract(epoch from ts)", "extract(second from ts)", "extract(hour from tz)", "extract(day from iv)", "date_part('dow', d)", "date_trunc('month', ts)", "date_trunc('year', d)", "age(ts, d)", "extract(year from d) = 2000", "extract(year from d) + 1",
	"i4::int8", "i2::int4", "i4::float8", "i8::float8", "i4::text", "i4::numeric", "i4::numeric(20,3)", "i8::numeric", "n2::int4", "n2::float8", "n2::text", "n2::numeric", "n2::numeric(20,4)", "n2::numeric(14,1)", "n5::numeric(14,2)", "n::numeric(40,3)", "f8::numeric", "f4::float8", "f8::float4", "f8::text", "b::text", "b::int4", "i4::bool", "d::text", "d::timestamp", "ts::date", "ts::text", "tz::timestamp", "ts::timestamptz", "iv::text", "t::varchar(2)", "t::char(3)", "c::text", "v::text", "t::bytea", "by::text", "i2::float4", "(i4::text)::int4", "(n2::text)::numeric(12,2)", "(d::text)::date", "i8::int4", "i4::int2", "t::name",
	"n2::text = '1.50'", "round(n2 * 100)::int4", "(i4 + 1)::numeric(12,2) * n2",
}

// matrixData makes n rows.
func matrixData(r *rand.Rand, n int, nulls bool) []*vector.Vector {
	strs := []string{"", "a", "ab", "abc", "b", "aXbc", "xyz", "ábc", "  pad ", "A%c", "bab"}
	var vecs []*vector.Vector
	for _, mt := range matrixTypes {
		t := parseType(mt.typ)
		v := vector.New(t.Kind(), n)
		for range n {
			var text string
			switch t.ID {
			case catalog.Bool:
				text = []string{"t", "f"}[r.IntN(2)]
			case catalog.Int2, catalog.Int4:
				text = fmt.Sprint(r.IntN(12) - 4)
			case catalog.Int8:
				text = fmt.Sprint(r.Int64N(1<<r.UintN(34)+2) - 1)
			case catalog.Float4, catalog.Float8:
				text = []string{"0", "1.5", "-2.25", "1e10", "NaN", "3", "2.5", "1"}[r.IntN(8)]
			case catalog.Numeric:
				text = fmt.Sprintf("%.2f", (r.Float64()-0.3)*[]float64{1, 10, 1e5, 1e9}[r.IntN(4)])
				if t.Prec == 30 && r.IntN(3) == 0 {
					text = fmt.Sprintf("%d%d.%05d", r.IntN(1e9), r.IntN(1e9), r.IntN(1e5))
				}
				if t.Prec == 0 && r.IntN(3) == 0 {
					text = []string{"1.5", "1e30", "NaN", "2.500", "-Infinity", "0.000001", "1"}[r.IntN(7)]
				}
			case catalog.Date:
				text = fmt.Sprintf("%d-%02d-%02d", 1999+r.IntN(3), 1+r.IntN(12), 1+r.IntN(28))
				if r.IntN(4) == 0 {
					text = "2000-01-01"
				}
			case catalog.Timestamp, catalog.TimestampTZ:
				text = fmt.Sprintf("%d-%02d-%02d %02d:%02d:%02d.%06d", 1999+r.IntN(3), 1+r.IntN(12), 1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(1e6))
			case catalog.Interval:
				text = fmt.Sprintf("%d months %d days %d seconds", r.IntN(5)-2, r.IntN(60)-30, r.IntN(100000)-50000)
			case catalog.Char:
				text = strs[r.IntN(5)]
			default:
				text = strs[r.IntN(len(strs))]
			}
			d := try(expr.ParseDatum(t, text, nil))
			if nulls && r.IntN(4) == 0 {
				d = vector.NullDatum(t.Kind())
			}
			vector.AppendDatum(v, d)
		}
		vecs = append(vecs, v)
	}
	return vecs
}

func parseType(name string) catalog.Type {
	return typeOf(try(sql.ParseExpr("null::" + name)).(*sql.Cast).Type)
}

func matrixColumns() map[string]*expr.Col {
	m := map[string]*expr.Col{}
	for i, mt := range matrixTypes {
		m[mt.name] = &expr.Col{ID: expr.ColID(i), Typ: parseType(mt.typ), Name: mt.name}
	}
	return m
}

// dictForm gives a vector with repeated values a dictionary.
func dictForm(v *vector.Vector) *vector.Vector {
	dict := vector.New(v.Kind, v.Len)
	codes := make([]uint32, v.Len)
	seen := map[vector.Datum]uint32{}
	for i := range codes {
		d := vector.DatumAt(v, i)
		if d.Null {
			continue
		}
		c, ok := seen[d]
		if !ok {
			c = uint32(dict.Len)
			seen[d] = c
			vector.AppendDatum(dict, d)
		}
		codes[i] = c
	}
	out := &vector.Vector{}
	out.SetDict(codes, dict, v.Valid)
	return out
}

type rowAnswer struct {
	value string
	null  bool
	err   string
}

// byRow evaluates e for row i alone.
func byRow(e expr.Expr, ev expr.Evaluator, vecs []*vector.Vector, i int) rowAnswer {
	single := make([]*vector.Vector, len(vecs))
	expr.Walk(e, func(e expr.Expr) bool {
		if c, ok := e.(*expr.Col); ok {
			single[c.ID] = &vector.Vector{}
			vector.GatherSel(single[c.ID], vecs[c.ID], vector.Sel{uint16(i)})
		}
		return true
	})
	v, err := ev.Eval(&vector.Batch{N: 1, Vecs: single}, nil)
	if err != nil {
		return rowAnswer{err: errorText(err)}
	}
	if v.IsNull(0) {
		return rowAnswer{null: true}
	}
	return rowAnswer{value: string(expr.AppendText(nil, e.Type(), v, 0, nil))}
}

func TestMatrix(t *testing.T) {
	columns = matrixColumns()
	defer func() { columns = nil }()
	r := rand.New(rand.NewPCG(21, 22))
	type shape struct {
		n           int
		nulls, dict bool
	}
	shapes := []shape{{3, false, false}, {7, true, false}, {7, true, true}, {200, false, true}, {200, true, false}}
	if !testing.Short() {
		shapes = append(shapes, shape{1024, true, false}, shape{1024, true, true})
	}
	var data [][]*vector.Vector
	for _, s := range shapes {
		s.n = min(s.n, vector.BatchCap)
		data = append(data, matrixData(r, s.n, s.nulls))
	}
	for _, text := range matrixExprs {
		e, err := bindText(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		ev, single := try(expr.Compile(e, layout, nil)), try(expr.Compile(e, layout, nil))
		prog := try(expr.CompileAll([]expr.Expr{e, e}, layout, nil))
		var filter expr.Filter
		if e.Type().ID == catalog.Bool {
			filter = try(expr.CompileFilter(e, layout, nil))
		}
		for k, s := range shapes {
			vecs := data[k]
			n := vecs[0].Len
			want := make([]rowAnswer, n)
			for i := range want {
				want[i] = byRow(e, single, vecs, i)
			}
			b := &vector.Batch{N: n, Vecs: vecs}
			if s.dict {
				b.Vecs = nil
				for _, v := range vecs {
					b.Vecs = append(b.Vecs, dictForm(v))
				}
			}
			for _, sel := range selections(r, n) {
				if !checkBatch(t, text, e, ev, prog, filter, b, sel, want) {
					break
				}
			}
		}
	}
}

func selections(r *rand.Rand, n int) []vector.Sel {
	list := []vector.Sel{nil, {}}
	for _, share := range []float64{0.1, 0.7} {
		sel := vector.Sel{}
		for i := range n {
			if r.Float64() < share {
				sel = append(sel, uint16(i))
			}
		}
		list = append(list, sel)
	}
	return list
}

func checkBatch(t *testing.T, text string, e expr.Expr, ev expr.Evaluator, prog *expr.Program, filter expr.Filter, b *vector.Batch, sel vector.Sel, want []rowAnswer) bool {
	rows := sel
	if sel == nil {
		rows = vector.SelectAll(b.N, nil, nil)
	}
	wantErr := ""
	for _, i := range rows {
		if wantErr == "" {
			wantErr = want[i].err
		}
	}
	fail := func(format string, args ...any) bool {
		t.Errorf("%s, %d rows, %d selected (all %v): %s", text, b.N, len(rows), sel == nil, fmt.Sprintf(format, args...))
		return false
	}
	if filter != nil {
		got, err := filter.Select(b, sel, nil)
		if (err != nil) != (wantErr != "") {
			return fail("filter error %v, want %q", err, wantErr)
		}
		if err == nil {
			var expected vector.Sel
			for _, i := range rows {
				if want[i].value == "t" {
					expected = append(expected, i)
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(append(vector.Sel{}, expected...)) {
				return fail("filter keeps %v, want %v", got, expected)
			}
		}
	}
	values, err := ev.Eval(b, sel)
	if (err != nil) != (wantErr != "") {
		return fail("error %v, want %q", err, wantErr)
	}
	list, perr := prog.Eval(b, sel)
	if (perr != nil) != (wantErr != "") {
		return fail("program: error %v, want %q", perr, wantErr)
	}
	if err != nil {
		return true
	}
	for k, v := range []*vector.Vector{values, list[0], list[1]} {
		if v.Kind != e.Type().Kind() {
			return fail("kind %v", v.Kind)
		}
		if v.Form == vector.Flat && v.Len != b.N {
			return fail("%d rows in the result", v.Len)
		}
		for _, i := range rows {
			got := rowAnswer{null: v.IsNull(int(i))}
			if !got.null {
				got.value = string(expr.AppendText(nil, e.Type(), v, int(i), nil))
			}
			if got != want[i] {
				return fail("way %d, row %d: got %v, want %v", k, i, got, want[i])
			}
		}
	}
	return true
}
