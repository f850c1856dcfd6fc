package weft_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/weftdb/weft"
)

// The pairs of columns that the joins of TestRuntimeFilters compare: of the fact table and of the other.
// They differ in width, scale and padding; some lie clustered in the fact table, some in no order, and
// all have NULLs.
var filterPairs = [][2]string{
	{"i2", "i2"}, {"i4", "i4"}, {"i8", "i8"}, {"i4", "i8"}, {"i8", "i4"}, {"i2", "i8"}, {"n2", "n2"}, {"n2", "n3"}, {"nb", "nb"},
	{"n2", "i4"}, {"f", "f"}, {"f", "i4"}, {"c", "c"}, {"c", "v"}, {"v", "c"}, {"v", "v"}, {"v", "tx"}, {"tx", "tx"}, {"dt", "dt"}, {"ts", "ts"}, {"ts", "dt"},
}

var filterRounds = flag.Int("filterrounds", 16, "joins that TestRuntimeFilters runs")

const filterColumns = `i2 smallint, i4 integer, i8 bigint, n2 numeric(10,2), n3 numeric(12,3), nb numeric, f double precision, c char(8), v varchar(12), tx text, dt date, ts timestamp, o boolean`

// filterRow makes the values of a row that is the i-th of n keys, some of them NULL.
const filterRow = `nullif(x / 50, 7)::smallint, nullif(x, 100), nullif(x * 1234567891011, 0), x * 0.25, x * 0.250, x * 1.5,
	case x %% 50 when 0 then '-0'::float8 when 1 then 'NaN'::float8 when 2 then 0 when 3 then null else x end,
	'c' || x %% 90, 'v' || x %% 3000, case when x %% 17 = 0 then null else 'a longer text ' || x end, date '2020-01-01' + x / 10, timestamp '2020-01-01' + x / 10 * interval '1 day', x %% 3 = 0`

// filterForms are joins that make each form of filter.
var filterForms = []struct {
	form, cond string
	keys       int
}{
	{"in", "fact.i4 = dim.i4", 30}, {"bitmap", "fact.i4 = dim.i8 / 1234567891011", 500}, {"range,bloom", "fact.i8 = dim.i8", 3000}, {"bloom", "fact.tx = dim.tx", 3000},
}

// TestRuntimeFilters runs random joins by rows and by columns, with runtime filters and without, between
// updates, and compares the results.
func TestRuntimeFilters(t *testing.T) {
	ctx, seed := context.Background(), rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 3))
	db, err := weft.Open(ctx, "", weft.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := db.Session()
	defer s.Close()
	rows, rounds := 140000, *filterRounds
	if testing.Short() {
		rounds = len(filterForms)
	}
	mustExec(t, s, "create table fact (id bigint primary key, "+filterColumns+")")
	mustExec(t, s, "create table dim (id bigint primary key, "+filterColumns+")")
	mustExec(t, s, fmt.Sprintf("insert into fact select g, "+filterRow+" from (select g, g / 10 as x from generate_series(1, %d) g) k", rows))
	mustExec(t, s, "alter table fact colview(id, i2, i4, i8, n2, nb, f, c, v, tx, dt, ts, o)")
	mustExec(t, s, "select * from gs_imcv_flush('fact')")
	forms, skipped := map[string]bool{}, false
	form, skip := regexp.MustCompile(`RF1\[([a-z,]+)\]`), regexp.MustCompile(`row groups skipped [1-9]`)
	for round := range rounds {
		if r.IntN(4) == 0 {
			mustExec(t, s, fmt.Sprintf("update fact set i4 = i4 + 1, v = 'v' || id %% 70 where id %% 997 = %d", r.IntN(997)))
		}
		n, first, step, query := []int{1, 3, 40, 300, 4000}[r.IntN(5)], r.IntN(rows/10), 1+r.IntN(9)*r.IntN(2), filterQuery(r)
		if round < len(filterForms) {
			n, step, query = filterForms[round].keys, 1, "select count(*), sum(dim.id) from fact join dim on "+filterForms[round].cond
		}
		mustExec(t, s, "truncate dim")
		mustExec(t, s, fmt.Sprintf("insert into dim select g, "+filterRow+" from (select g, %d + g * %d as x from generate_series(1, %d) g) k", first, step, n))
		var want string
		for _, mode := range []string{"row", "column"} {
			for _, filters := range []string{"off", "on"} {
				mustExec(t, s, fmt.Sprintf("set htap_router_mode = '%s'; set enable_runtime_filter = %s; set threads = %d", mode, filters, 1+r.IntN(3)))
				got, err := queryText(s, query)
				if err != nil {
					t.Fatalf("%s: %v", query, err)
				}
				switch {
				case want == "":
					want = fmt.Sprint(got)
				case fmt.Sprint(got) != want:
					t.Fatalf("round %d, %d keys from %d in steps of %d, by %s with filters %s:\n%s\ngives %v, want %s", round, n, first, step, mode, filters, query, got, want)
				}
			}
		}
		plan, err := queryText(s, "explain (analyze, costs off, timing off) "+query)
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprint(plan)
		if m := form.FindStringSubmatch(text); m != nil {
			forms[m[1]] = true
		}
		skipped = skipped || skip.MatchString(text)
	}
	for _, f := range filterForms {
		if !forms[f.form] {
			t.Errorf("no filter was of the form %s", f.form)
		}
	}
	if !skipped {
		t.Error("no row group was skipped")
	}
}

// filterQuery makes a join of the two tables.
func filterQuery(r *rand.Rand) string {
	var conds []string
	if r.IntN(5) == 0 {
		conds = append(conds, "fact.o = dim.o")
	}
	for range 1 + r.IntN(3)/2 {
		p := filterPairs[r.IntN(len(filterPairs))]
		conds = append(conds, fmt.Sprintf("fact.%s = dim.%s", p[0], p[1]))
	}
	cond, where := strings.Join(conds, " and "), ""
	if r.IntN(3) == 0 {
		where = fmt.Sprintf(" and fact.id %% %d <> 0", 2+r.IntN(5))
	}
	const sums = "count(*), sum(fact.id), count(fact.n3), min(fact.c)"
	switch r.IntN(5) {
	case 0:
		return "select " + sums + " from fact where exists (select from dim where " + cond + ")" + where
	case 1:
		return "select " + sums + " from fact where not exists (select from dim where " + cond + ")" + where
	case 2:
		return "select " + sums + ", count(dim.id) from fact right join dim on " + cond + where
	case 3:
		return "select " + sums + ", count(dim.id) from fact left join dim on " + cond + where
	}
	return "select " + sums + ", sum(dim.id) from fact join dim on " + cond + where
}
