package exec

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	smaller = catalog.Type{ID: catalog.Int4}
	bigint  = catalog.Type{ID: catalog.Int8}
	double  = catalog.Type{ID: catalog.Float8}
	text    = catalog.Type{ID: catalog.Text}
	char5   = catalog.Type{ID: catalog.Char, Prec: 5}
	bpchar  = catalog.Type{ID: catalog.Char}
	money   = catalog.Type{ID: catalog.Numeric, Prec: 15, Scale: 2}
	wide    = catalog.Type{ID: catalog.Numeric, Prec: 30, Scale: 2}
	numeric = catalog.Type{ID: catalog.Numeric}
	boolean = catalog.Type{ID: catalog.Bool}
	date    = catalog.Type{ID: catalog.Date}
	span    = catalog.Type{ID: catalog.Interval}
)

// plans makes plans by hand.
type plans struct {
	t    testing.TB
	r    *rand.Rand
	next expr.ColID
	ctes []*planner.CTE
}

func newPlans(t testing.TB) *plans {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return &plans{t: t, r: rand.New(rand.NewPCG(seed, 1))}
}

func (p *plans) col(typ catalog.Type) *expr.Col {
	p.next++
	return &expr.Col{ID: p.next, Typ: typ, Name: fmt.Sprint("c", p.next)}
}

func (p *plans) cols(types ...catalog.Type) []*expr.Col {
	var out []*expr.Col
	for _, t := range types {
		out = append(out, p.col(t))
	}
	return out
}

func constant(t catalog.Type, d vector.Datum) expr.Expr { return &expr.Const{Value: d, Typ: t} }

func integer(i int64) expr.Expr { return constant(bigint, vector.IntDatum(vector.I64, i)) }

func (p *plans) op(name string, l, r expr.Expr) expr.Expr {
	e, err := expr.ResolveBinary(name, l, r, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	return e
}

func (p *plans) agg(name string, distinct bool, args ...expr.Expr) *expr.AggCall {
	call, err := expr.ResolveAgg(name, args, distinct, len(args) == 0, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	return call
}

type row = []vector.Datum

// values is a Values node.
func (p *plans) values(types []catalog.Type, rows []row) planner.Node {
	v := &planner.Values{Out: p.cols(types...)}
	for _, r := range rows {
		var list []expr.Expr
		for i, d := range r {
			list = append(list, constant(types[i], d))
		}
		v.Rows = append(v.Rows, list)
	}
	return v
}

// table yields rows from several morsels, with rows that a filter drops between them.
func (p *plans) table(types []catalog.Type, rows []row) planner.Node {
	types = append(append([]catalog.Type(nil), types...), boolean)
	var all []row
	for _, r := range rows {
		for p.r.IntN(3) == 0 {
			other := rows[p.r.IntN(len(rows))]
			all = append(all, append(append(row(nil), other...), vector.BoolDatum(false)))
		}
		all = append(all, append(append(row(nil), r...), vector.BoolDatum(true)))
	}
	cte := &planner.CTE{ID: len(p.ctes), Name: "t", Plan: p.values(types, all)}
	p.ctes = append(p.ctes, cte)
	scan := &planner.CTEScan{CTE: cte, Out: p.cols(types...)}
	filter := &planner.Filter{Input: scan, Conds: []expr.Expr{scan.Out[len(types)-1]}}
	project := &planner.Project{Input: filter}
	for _, c := range scan.Out[:len(types)-1] {
		project.Items = append(project.Items, planner.Item{Col: p.col(c.Typ), Expr: c})
	}
	return project
}

func (p *plans) plan(root planner.Node) *planner.Plan {
	return &planner.Plan{Root: root, CTEs: p.ctes, ParamSlots: 8}
}

// rows collects a result.
type rows struct {
	mu   sync.Mutex
	list []row
}

func (r *rows) Push(b *vector.Batch) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k := range b.Live() {
		i := k
		if b.Sel != nil {
			i = int(b.Sel[k])
		}
		var one row
		for _, v := range b.Vecs {
			one = append(one, vector.DatumAt(v, i))
		}
		r.list = append(r.list, one)
	}
	return nil
}

// run runs a plan and returns its rows.
func (p *plans) run(root planner.Node, threads int) []row {
	p.t.Helper()
	out := &rows{}
	if _, err := Run(context.Background(), Query{Plan: p.plan(root), Threads: threads, Analyze: p.r.IntN(4) == 0}, out); err != nil {
		p.t.Fatal(err)
	}
	return out.list
}

func lines(list []row) []string {
	var out []string
	for _, r := range list {
		var parts []string
		for _, d := range r {
			switch {
			case d.Null:
				parts = append(parts, "NULL")
			case d.Kind == vector.Bytes:
				parts = append(parts, fmt.Sprintf("%q", d.S))
			case d.Kind == vector.F64:
				parts = append(parts, fmt.Sprint(d.F))
			case d.Kind == vector.I128 || d.Kind == vector.KindInterval:
				parts = append(parts, fmt.Sprint(d.Hi, ":", d.I))
			default:
				parts = append(parts, fmt.Sprint(d.I))
			}
		}
		out = append(out, strings.Join(parts, " "))
	}
	return out
}

// same compares results, in any order.
func (p *plans) same(name string, got, want []row) {
	p.t.Helper()
	p.sameLines(name, lines(got), lines(want))
}

func (p *plans) sameLines(name string, g, w []string) {
	p.t.Helper()
	sort.Strings(g)
	sort.Strings(w)
	if strings.Join(g, "\n") == strings.Join(w, "\n") {
		return
	}
	count := map[string]int{}
	for _, s := range g {
		count[s]++
	}
	for _, s := range w {
		count[s]--
	}
	var diff []string
	for s, n := range count {
		if n != 0 {
			diff = append(diff, fmt.Sprintf("%+d  %s", n, s))
		}
	}
	sort.Strings(diff)
	p.t.Fatalf("%s: %d rows, want %d:\n%s", name, len(g), len(w), strings.Join(diff[:min(len(diff), 20)], "\n"))
}

// small makes morsels small for a test, so that several workers have something to do.
func small(t testing.TB) {
	old := morselRows
	morselRows = 100
	t.Cleanup(func() { morselRows = old })
}

// datum makes a random value, of few distinct ones.
func (p *plans) datum(t catalog.Type, distinct int, nulls bool) vector.Datum {
	if nulls && p.r.IntN(8) == 0 {
		return vector.NullDatum(t.Kind())
	}
	i := int64(p.r.IntN(distinct)) - int64(distinct/2)
	switch t.Kind() {
	case vector.F64:
		return vector.FloatDatum(vector.F64, float64(i)/4)
	case vector.I128:
		return vector.Int128Datum(vector.Int128{Lo: uint64(i), Hi: i >> 63})
	case vector.KindInterval:
		return vector.IntervalDatum(vector.Interval{Days: int32(i), Micros: i * 1000})
	case vector.Bytes:
		if t == numeric {
			return p.number(i)
		}
		s := fmt.Sprint("v", i)
		if t.ID == catalog.Char && t.Prec == 0 {
			s += strings.Repeat(" ", p.r.IntN(3))
		} else if t.ID == catalog.Char {
			s = fmt.Sprintf("%-5.5s", s)
		}
		return vector.StringDatum(s)
	case vector.Bool:
		return vector.BoolDatum(i&1 != 0)
	}
	return vector.IntDatum(t.Kind(), i)
}

// number makes a numeric with a random display scale.
func (p *plans) number(i int64) vector.Datum {
	d, err := expr.ParseDatum(numeric, fmt.Sprint(i)+[]string{"", ".0", ".00"}[p.r.IntN(3)], nil)
	if err != nil {
		p.t.Fatal(err)
	}
	return d
}

// random makes rows of random values.
func (p *plans) random(n int, types []catalog.Type, distinct int, nulls bool) []row {
	list := make([]row, n)
	for i := range list {
		for _, t := range types {
			list[i] = append(list[i], p.datum(t, distinct, nulls))
		}
	}
	return list
}
