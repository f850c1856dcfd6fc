package expr_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/vector"
)

const aggGoldenPath = "testdata/aggregates.txt"

// aggCase is an aggregate over a list of values; NULL is a NULL.
type aggCase struct {
	agg, typ string
	values   []string
}

func aggCases() []aggCase {
	r := rand.New(rand.NewPCG(9, 9))
	lists := map[string][][]string{
		"int2":          {{"1", "2", "NULL"}, {"NULL"}, {}, {"32767", "32767", "-5"}, {"7"}},
		"int4":          {{"1", "2", "NULL", "4"}, {"NULL", "NULL"}, {}, {"2147483647", "2147483647", "1"}, {"-3"}, {"0", "0"}},
		"int8":          {{"1", "2", "NULL"}, {"9223372036854775807", "9223372036854775807", "5"}, {}, {"-9223372036854775808", "-9223372036854775808"}},
		"numeric(15,2)": {{"1.10", "2.25", "NULL"}, {"0", "0"}, {"9999999999999.99", "9999999999999.99"}, {}, {"-5.55"}},
		"numeric(38,4)": {{"1.1000", "99999999999999999999999999999999.9999", "99999999999999999999999999999999.9999"}, {"-1.5", "1.5"}},
		"numeric":       {{"1.1", "2.25", "NULL", "3"}, {"1e30", "1e-30", "5"}, {"NaN", "1"}, {"Infinity", "1"}, {"Infinity", "-Infinity"}, {"0.00", "0"}, {"123456789012345678901234567890123456789012345678901234567890", "1.5"}},
		"float8":        {{"1.5", "2.25", "NULL"}, {"NaN", "1"}, {"Infinity", "1"}, {"1e308", "1e308"}, {}, {"0.1", "0.2", "0.3"}, {"-0.0"}},
		"float4":        {{"1.5", "2.25", "NULL"}, {"0.1", "0.2"}, {"3e38", "3e38"}, {"NaN", "5"}},
		"text":          {{"b", "a", "NULL", "c"}, {}, {"NULL"}, {"", "x"}},
		"char(5)":       {{"b", "a", "NULL"}, {"ab", "ab"}},
		"varchar(5)":    {{"b", "a", "NULL"}},
		"date":          {{"2020-01-02", "1999-12-31", "NULL", "infinity"}, {}},
		"timestamp":     {{"2020-01-02 10:00", "1999-12-31 23:59:59.5", "NULL"}},
		"interval":      {{"1 day", "23 hours", "NULL", "1 mon"}, {"1 mon", "30 days"}, {}},
		"bool":          {{"t", "f", "NULL"}, {"t", "t"}, {}, {"NULL"}},
	}
	for range 6 {
		var ints, decs, floats []string
		for range 5 + r.IntN(20) {
			ints = append(ints, fmt.Sprint(r.IntN(2000000)-1000000))
			decs = append(decs, fmt.Sprintf("%.2f", (r.Float64()-0.3)*1e6))
			floats = append(floats, fmt.Sprint(float64(r.IntN(1000))/8))
		}
		lists["int4"] = append(lists["int4"], ints)
		lists["int8"] = append(lists["int8"], ints)
		lists["numeric(15,2)"] = append(lists["numeric(15,2)"], decs)
		lists["numeric"] = append(lists["numeric"], append(decs, ints...))
		lists["float8"] = append(lists["float8"], floats)
	}
	aggs := map[string]string{
		"count(x)":    "int2 int4 int8 numeric(15,2) numeric float8 text date bool",
		"count(*)":    "int4 text",
		"sum(x)":      "int2 int4 int8 numeric(15,2) numeric(38,4) numeric float4 float8 interval text",
		"avg(x)":      "int2 int4 int8 numeric(15,2) numeric(38,4) numeric float4 float8 interval date",
		"min(x)":      "int2 int4 int8 numeric(15,2) numeric(38,4) numeric float4 float8 text char(5) varchar(5) date timestamp interval bool",
		"max(x)":      "int2 int4 int8 numeric(15,2) numeric(38,4) numeric float4 float8 text char(5) varchar(5) date timestamp interval",
		"bool_and(x)": "bool int4", "bool_or(x)": "bool", "every(x)": "bool",
		"bit_and(x)": "int2 int4 int8", "bit_or(x)": "int4", "bit_xor(x)": "int4",
		"stddev(x)": "int2 int4 int8 numeric(15,2) numeric float4 float8", "stddev_samp(x)": "int4 float8", "stddev_pop(x)": "int4 numeric(15,2) numeric float8",
		"variance(x)": "int4 int8 numeric(15,2) numeric float8", "var_samp(x)": "numeric(15,2)", "var_pop(x)": "int4 numeric(15,2) numeric float8",
		"string_agg(x, ',')":                           "text varchar(5)",
		"sum(x * x)":                                   "int4 numeric(15,2) numeric(38,4) numeric float8",
		"sum(x * (1 - x) * (1 + x))":                   "numeric(15,2) numeric(38,4)",
		"sum(case when x > 0 then x * x else 0 end)":   "numeric(15,2) numeric",
		"avg(case when x > 0 then x * 1.5 else 0 end)": "numeric(15,2) int4",
		"sum(coalesce(x, 0))":                          "numeric(15,2) int4 numeric",
		"sum(x) filter (where x > 1)":                  "int4 numeric(15,2)",
		"max(-x)":                                      "int4 numeric(15,2)",
		"sum(x / 3)":                                   "int4 numeric(15,2)",
		"sum(x::float8)":                               "int4 numeric(15,2)",
		"sum(x::numeric(20,3))":                        "int4 numeric(15,2)",
	}
	var names []string
	for a := range aggs {
		names = append(names, a)
	}
	var cases []aggCase
	slices.Sort(names)
	for _, a := range names {
		for _, t := range strings.Fields(aggs[a]) {
			for _, l := range lists[t] {
				cases = append(cases, aggCase{a, t, l})
			}
		}
	}
	return cases
}

func fetchAggGolden(t *testing.T, cases []aggCase) {
	var script, out bytes.Buffer
	script.WriteString("\\pset null NULL\n\\pset fieldsep '\\t'\n")
	for _, c := range cases {
		rows := "SELECT NULL::" + c.typ + " WHERE false"
		if len(c.values) > 0 {
			var list []string
			for i, v := range c.values {
				if v != "NULL" {
					v = "'" + v + "'"
				}
				list = append(list, fmt.Sprintf("(%d,%s::%s)", i, v, c.typ))
			}
			rows = "SELECT x FROM (VALUES " + strings.Join(list, ",") + ") v(i,x) ORDER BY i"
		}
		fmt.Fprintf(&script, "SELECT pg_typeof(a), a, '|' FROM (SELECT %s a FROM (%s) t(x)) t;\n\\if :ERROR\n\\echo ERROR :LAST_ERROR_SQLSTATE :LAST_ERROR_MESSAGE\n\\endif\n", c.agg, rows)
	}
	cmd := exec.Command("psql", "-XqAt")
	cmd.Stdin = &script
	answers, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSuffix(string(answers), "\n"), "\n")
	if len(got) != len(cases) {
		t.Fatalf("%d answers for %d cases", len(got), len(cases))
	}
	for i, c := range cases {
		answer := got[i]
		if parts := strings.Split(answer, "\t"); len(parts) == 3 {
			answer = parts[0] + " " + parts[1]
		}
		fmt.Fprintf(&out, "%s\t%s\t%s\t%s\n", c.agg, c.typ, strings.Join(c.values, ";"), answer)
	}
	if err := os.WriteFile(aggGoldenPath, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestAggregates replays PostgreSQL's answers: in one piece, and split over merged accumulators.
func TestAggregates(t *testing.T) {
	if *rewrite {
		fetchAggGolden(t, aggCases())
	}
	data, err := os.ReadFile(aggGoldenPath)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		parts := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		c := aggCase{parts[0], parts[1], nil}
		if parts[2] != "" {
			c.values = strings.Split(parts[2], ";")
		} else if strings.HasPrefix(c.typ, "text") && parts[2] == "" {
			c.values = nil
		}
		for _, mode := range []string{"one", "groups", "merge", "raw", "dict"} {
			if got := runAggregate(c, mode); got != parts[3] && !closeFloats(got, parts[3]) {
				t.Errorf("%s over %s %q, %s:\n got %s\nwant %s", c.agg, c.typ, c.values, mode, got, parts[3])
				break
			}
		}
	}
}

// closeFloats allows for sums of floats in another order.
func closeFloats(a, b string) bool {
	var x, y float64
	if _, err := fmt.Sscanf(a, "double precision %g", &x); err != nil {
		return false
	}
	if _, err := fmt.Sscanf(b, "double precision %g", &y); err != nil {
		return false
	}
	d := x - y
	return d*d <= 1e-28*(x*x+y*y)
}

func runAggregate(c aggCase, mode string) (answer string) {
	defer func() {
		if r := recover(); r != nil {
			err, ok := r.(error)
			if !ok {
				panic(r)
			}
			answer = errorText(err)
		}
	}()
	parsedType := try(sql.ParseExpr("null::" + c.typ)).(*sql.Cast)
	typ := typeOf(parsedType.Type)
	col := &expr.Col{ID: 0, Typ: typ, Name: "x"}
	call := bindAggregate(c.agg, col)
	column := vector.New(typ.Kind(), len(c.values))
	for _, v := range c.values {
		d := vector.NullDatum(typ.Kind())
		if v != "NULL" {
			d = try(expr.ParseDatum(typ, v, nil))
		}
		vector.AppendDatum(column, d)
	}
	if mode == "dict" {
		column = toDict(column)
	}
	b := &vector.Batch{N: column.Len, Vecs: []*vector.Vector{column}}
	acc := accumulate(call, b, mode)
	out := vector.New(call.Typ.Kind(), 1)
	group := 0
	if mode == "groups" {
		group = 1
	}
	check(acc.Result(group, group+1, out))
	name := call.Typ.Base().String() + " "
	if out.IsNull(0) {
		return name + "NULL"
	}
	return name + string(expr.AppendText(nil, call.Typ, out, 0, nil))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func toDict(v *vector.Vector) *vector.Vector {
	dict := vector.New(v.Kind, v.Len)
	vector.AppendDatum(dict, vector.Datum{Kind: v.Kind})
	codes := make([]uint32, v.Len)
	for i := range codes {
		if d := vector.DatumAt(v, i); !d.Null {
			codes[i] = uint32(dict.Len)
			vector.AppendDatum(dict, d)
		}
	}
	out := &vector.Vector{}
	out.SetDict(codes, dict, v.Valid)
	return out
}

func layout(id expr.ColID) int { return int(id) }

func accumulate(call *expr.AggCall, b *vector.Batch, mode string) expr.Accumulator {
	calls := []*expr.AggCall{call}
	agg := try(expr.NewAggregation(calls, layout, nil))
	switch mode {
	case "groups": // every row once in group 1, and twice in group 0
		agg.Grow(2)
		groups := make([]uint32, b.N)
		check(agg.Update(b, nil, groups))
		check(agg.Update(b, nil, groups))
		for i := range groups {
			groups[i] = 1
		}
		check(agg.Update(b, nil, groups))
	case "merge":
		agg.Grow(1)
		other := try(expr.NewAggregation(calls, layout, nil))
		other.Grow(3)
		var first, second vector.Sel
		for i := range b.N {
			if i < b.N/2 {
				first = append(first, uint16(i))
			} else {
				second = append(second, uint16(i))
			}
		}
		groups := make([]uint32, b.N)
		for i := range groups {
			groups[i] = 2
		}
		check(agg.Update(b, append(vector.Sel{}, first...), nil))
		check(other.Update(b, append(vector.Sel{}, second...), groups))
		check(agg.Merge(other, []uint32{0, 0, 0}))
	case "raw": // Evaluator and Accumulator by hand
		acc := expr.NewAccumulator(call)
		acc.Grow(1)
		var sel vector.Sel
		if call.Filter != nil {
			sel = try(try(expr.CompileFilter(call.Filter, layout, nil)).Select(b, nil, nil))
		}
		var args []*vector.Vector
		for _, a := range call.Args {
			args = append(args, try(try(expr.Compile(a, layout, nil)).Eval(b, sel)))
		}
		check(acc.Update(nil, args, b.N, sel))
		return acc
	default:
		agg.Grow(1)
		check(agg.Update(b, nil, nil))
	}
	return agg.Accumulator(0)
}

// bindAggregate binds an aggregate call over column x.
func bindAggregate(text string, col *expr.Col) *expr.AggCall {
	call := try(sql.ParseExpr(text)).(*sql.FuncCall)
	columns = map[string]*expr.Col{"x": col}
	defer func() { columns = nil }()
	out := try(expr.ResolveAgg(call.Name.Name, bindAll(call.Args), call.Distinct, call.Star, call.Start))
	if call.Filter != nil {
		out.Filter = boolean(bind(call.Filter))
	}
	return out
}
