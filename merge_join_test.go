package weft_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weftdb/weft"
)

var mergeRounds = flag.Int("merge-joins", 40, "joins that TestMergeJoin runs")

// mergeColumns are the columns of the tables of TestMergeJoin. mergeKeys are the pairs of them that its joins
// compare: they differ in width, scale and padding.
const mergeColumns = `id integer, i2 smallint, i4 integer, i8 bigint, n2 numeric(10,2), n3 numeric(12,3), nb numeric, f4 real, f8 double precision, c char(8), v varchar(12), tx text, dt date, ts timestamp, o boolean, iv interval`

var mergeKeys = [][2]string{
	{"i2", "i2"}, {"i4", "i4"}, {"i8", "i8"}, {"i4", "i8"}, {"i8", "i2"}, {"n2", "n2"}, {"n2", "n3"}, {"nb", "n3"}, {"nb", "i4"}, {"f8", "f8"}, {"f4", "f8"}, {"f8", "i4"},
	{"c", "c"}, {"c", "v"}, {"v", "tx"}, {"tx", "tx"}, {"dt", "dt"}, {"ts", "dt"}, {"o", "o"}, {"iv", "iv"},
}

// mergeRow makes a row of random values, of which x, chosen by the caller, decides all but the identity.
func mergeRow(r *rand.Rand, id, values int) string {
	some := func(format string, args ...any) string {
		if r.IntN(8) == 0 {
			return "null"
		}
		return fmt.Sprintf(format, args...)
	}
	x := func() int { return r.IntN(values) - values/2 }
	return fmt.Sprintf("(%d, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)", id, some("%d", x()), some("%d", x()), some("%d", x()), some("%d.5", x()), some("%d.500", x()), some("%d", x()),
		some("%d", x()), some("'%s'", []string{"NaN", "-0", "0", fmt.Sprint(x())}[r.IntN(4)]), some("'k%d '", x()), some("'k%d'", x()), some("'k%d'", x()),
		some("date '2020-01-01' + %d", x()), some("date '2020-01-01' + %d", x()), some("%v", r.IntN(2) == 0), some("'%d days %d hours'", x()%3, 24*(x()%3)))
}

// TestMergeJoin runs random joins of random tables as merge joins, as hash joins and as nested loops, and
// compares what they yield; of those with ORDER BY, also the order. Groups of equal keys are small and large,
// and go to disk; the indexes are ascending and descending, with NULLs at either end.
func TestMergeJoin(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 5))
	s := memorySession(t)
	merged, rounds := 0, *mergeRounds
	if testing.Short() {
		rounds = 10
	}
	for round := range rounds {
		if round%10 == 0 {
			mustExec(t, s, "drop table if exists l, r")
			mergeTable(t, s, r, "l")
			mergeTable(t, s, r, "r")
		}
		query, keys, order := mergeQuery(r)
		mustExec(t, s, "set enable_hashjoin = off; set enable_nestloop = on; set enable_mergejoin = off; set work_mem = 0; set threads = 1")
		want, hashed := joinAnswer(t, s, query), false
		for _, settings := range []string{
			"set enable_hashjoin = on; set enable_nestloop = off",
			"set enable_hashjoin = on; set enable_nestloop = on; set enable_mergejoin = on; set threads = 3",
			"set enable_hashjoin = off; set enable_nestloop = off; set enable_mergejoin = on",
			"set enable_seqscan = off; set threads = 3; set work_mem = '1kB'",
		} {
			mustExec(t, s, settings)
			got := joinAnswer(t, s, query)
			if order && !slices.IsSortedFunc(got, byKeys(want, keys)) {
				t.Fatalf("round %d, %s: %s\nis out of order: %v", round, settings, query, got)
			}
			if sorted(got) != sorted(want) {
				t.Fatalf("round %d, %s: %s\ngives %v\nwant %v", round, settings, query, got, want)
			}
			plan := strings.Join(joinAnswer(t, s, "explain "+query), "\n")
			hashed = hashed || strings.Contains(plan, "Hash Cond")
			switch isMerged := strings.Contains(plan, "Merge Cond"); {
			case isMerged:
				merged++
			case hashed && strings.Contains(settings, "nestloop = off; set enable_mergejoin = on"):
				t.Fatalf("%s\nis not merged:\n%s", query, plan)
			}
		}
		mustExec(t, s, "set enable_seqscan = on")
	}
	t.Logf("%d joins, %d plans that merge", rounds, merged)
	if merged < rounds {
		t.Error("too few plans merge")
	}
}

func sorted(rows []string) string {
	rows = slices.Clone(rows)
	slices.Sort(rows)
	return strings.Join(rows, "\n")
}

// byKeys compares rows by the place that the first of their columns have in the answer that is right.
func byKeys(want []string, keys int) func(a, b string) int {
	place := map[string]int{}
	of := func(row string) string { return strings.Join(strings.SplitN(row, "|", keys+1)[:keys], "|") }
	for i, row := range want {
		if _, ok := place[of(row)]; !ok {
			place[of(row)] = i
		}
	}
	return func(a, b string) int { return place[of(a)] - place[of(b)] }
}

func joinAnswer(t *testing.T, s *weft.Session, query string) []string {
	t.Helper()
	rows, err := queryText(s, query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	out := make([]string, len(rows))
	for i := range rows {
		out[i] = strings.Join(rows[i], "|")
	}
	return out
}

// mergeTable makes a table with random rows and indexes.
func mergeTable(t *testing.T, s *weft.Session, r *rand.Rand, name string) {
	mustExec(t, s, fmt.Sprintf("create table %s (%s)", name, mergeColumns))
	values := []int{2, 20, 300}[r.IntN(3)]
	var rows []string
	for id := range []int{0, 5, 300, 1500}[r.IntN(4)] {
		rows = append(rows, mergeRow(r, id, values))
	}
	if len(rows) > 0 {
		mustExec(t, s, fmt.Sprintf("insert into %s values %s", name, strings.Join(rows, ", ")))
	}
	for range 6 {
		pair := mergeKeys[r.IntN(len(mergeKeys))]
		var parts []string
		for _, c := range []string{pair[r.IntN(2)], "i4"}[:1+r.IntN(2)] {
			parts = append(parts, c+[]string{"", " desc", " nulls first", " desc nulls last"}[r.IntN(4)])
		}
		mustExec(t, s, fmt.Sprintf("create index on %s (%s) include (id)", name, strings.Join(parts, ", ")))
	}
	mustExec(t, s, "analyze "+name)
}

// mergeQuery makes a join; order tells that its rows are sorted by the first so many columns.
func mergeQuery(r *rand.Rand) (query string, keys int, order bool) {
	var conds, cols []string
	op := []string{"=", "=", "=", "is not distinct from"}[r.IntN(4)]
	for i := range 1 + r.IntN(3)/2 {
		p := mergeKeys[r.IntN(len(mergeKeys))]
		if i == 1 {
			p = [2]string{"i4", "i4"}
		}
		conds = append(conds, fmt.Sprintf("l.%s %s r.%s", p[0], op, p[1]))
		cols = append(cols, "l."+p[0])
	}
	if r.IntN(2) == 0 {
		conds = append(conds, []string{"l.id < r.id", "l.i2 + r.i2 > 0", "l.id <> 3", "r.o"}[r.IntN(4)])
	}
	kind := []string{"join", "left join", "right join", "full join", "semi", "anti"}[r.IntN(6)]
	if kind == "full join" && len(conds) > 1 && strings.Contains(conds[len(conds)-1], "<>") {
		conds = conds[:len(conds)-1]
	}
	cond := strings.Join(conds, " and ")
	shown := make([]string, len(cols)) // equal values as one text
	for i, c := range cols {
		switch shown[i] = c; c {
		case "l.iv":
			shown[i] = "extract(epoch from l.iv)"
		case "l.f8":
			shown[i] = "l.f8 + 0"
		}
	}
	query = strings.Join(shown, ", ") + ", l.id from l"
	keys = len(cols)
	switch kind {
	case "semi":
		query += " where exists (select from r where " + cond + ")"
	case "anti":
		query += " where not exists (select from r where " + cond + ")"
	default:
		query = strings.Join(shown, ", ") + ", l.id, r.id, 7 as seven from l " + kind + " r on " + cond
	}
	if r.IntN(2) == 0 {
		var by []string
		for _, c := range cols {
			by = append(by, c+[]string{"", " desc", " nulls first", " desc nulls last"}[r.IntN(4)])
		}
		return "select " + query + " order by " + strings.Join(by, ", "), keys, true
	}
	return "select " + query, keys, false
}

// TestMergeJoinStops checks that a LIMIT ends the reading of both sides, that an error of either side ends the
// join, and that a query that is cancelled leaves nothing behind.
func TestMergeJoinStops(t *testing.T) {
	s := memorySession(t)
	mustExec(t, s, "create table a (k int primary key); create table b (k int primary key, v int)")
	mustExec(t, s, "insert into a select g from generate_series(1, 50000) g; insert into b select g, g - 20000 from generate_series(1, 50000) g; analyze")
	plan := strings.Join(joinAnswer(t, s, "explain (analyze, costs off, timing off, summary off) select a.k from a join b on a.k = b.k order by a.k limit 3"), "\n")
	if !strings.Contains(plan, "Merge Join") || strings.Contains(plan, "rows=50000") || strings.Contains(plan, "Sort") {
		t.Errorf("it reads more than it needs:\n%s", plan)
	}
	mustExec(t, s, "set enable_hashjoin = off; set enable_nestloop = off")
	for _, query := range []string{
		"select count(*) from (select k from a order by k) x join (select 1 / v as d, k from b order by k) y on x.k = y.k where d < 5",
		"select count(*) from (select 1 / v as d, k from b order by k) y join (select k from a order by k) x on x.k = y.k where d < 5",
		"select count(*) from a join b on a.k = b.k and 1 / b.v < 5",
	} {
		if _, err := queryText(s, query); err == nil || !strings.Contains(err.Error(), "division by zero") {
			t.Errorf("%s: %v", query, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	rows, err := s.Query(ctx, "select x.v from b x join b y on x.v % 2 = y.v % 2")
	if err != nil {
		t.Fatal(err)
	}
	rows.Next()
	cancel()
	for rows.Next() {
	}
	if err := rows.Close(); err == nil && rows.Err() == nil {
		t.Error("a cancelled join ended without an error")
	}
	if got := joinAnswer(t, s, "select count(*) from a join b on a.k = b.v"); got[0] != "30000" {
		t.Error(got)
	}
}

// TestMergeJoinPlans checks where the planner merges, what it says of it, and where a sort is not needed.
func TestMergeJoinPlans(t *testing.T) {
	s := memorySession(t)
	mustExec(t, s, "create table a (k int primary key, v int); create table b (k bigint not null, w text); create index b_k on b (k) include (w); create table c (k int primary key, x text)")
	mustExec(t, s, "insert into a select g, g % 10 from generate_series(1, 30000) g; insert into b select g / 2, g from generate_series(1, 30000) g; insert into c select g, g from generate_series(1, 30000, 3) g; analyze")
	const forced = "set enable_hashjoin = off; set enable_nestloop = off; "
	for _, c := range []struct{ settings, query, want string }{
		{"", "select a.k, b.w from a join b on a.k = b.k", `
Merge Join
  Merge Cond: (b.k = a.k)
  ->  Index Only Scan using b_k on b
  ->  Index Only Scan using a_pkey on a`},
		{"", "select a.k, b.w, c.x from a left join b on a.k = b.k join c on c.k = a.k order by a.k desc limit 5", `
Limit
  ->  Merge Left Join
        Merge Cond: (a.k = b.k)
        ->  Merge Join
              Merge Cond: (c.k = a.k)
              ->  Index Scan Backward using c_pkey on c
              ->  Index Only Scan Backward using a_pkey on a
        ->  Index Only Scan Backward using b_k on b`},
		{"", "select s.k, s.n from a join (select k, count(*) as n from b group by k order by k) s on s.k = a.k order by s.k", `
Merge Join
  Merge Cond: (b.k = a.k)
  ->  Sort
        Sort Key: b.k
        ->  HashAggregate
              Group Key: b.k
              ->  Seq Scan on b
  ->  Index Only Scan using a_pkey on a`},
		{forced, "select a.v, c.x from a full join c on a.v = c.k and a.k < 7 and c.x = a.v::text where a.k is null", `
Filter
  Filter: (a.k IS NULL)
  ->  Merge Full Join
        Merge Cond: ((a.v = c.k) AND ((a.v)::text = c.x))
        Join Filter: (a.k < 7)
        ->  Sort
              Sort Key: a.v, (a.v)::text
              ->  Seq Scan on a
        ->  Sort
              Sort Key: c.k, c.x
              ->  Seq Scan on c`},
		{forced, "select a.v from a where exists (select from c where c.k = a.v and c.x <> 'q') order by a.v desc", `
Merge Semi Join
  Merge Cond: (a.v = c.k)
  ->  Sort
        Sort Key: a.v DESC
        ->  Seq Scan on a
  ->  Sort
        Sort Key: c.k DESC
        ->  Seq Scan on c
              Filter: (c.x <> 'q'::text)`},
		{forced, "select a.v from a where a.v not in (select c.k from c)", `
Nested Loop Null-Aware Anti Join
  Join Filter: (a.v = c.k)`},
		{forced, "select a.v from a, c where a.k < c.k", `
Nested Loop
  Join Filter: (a.k < c.k)`},
		{"", "select a.v, c.x from a join c on a.k = c.k where a.v = 3 for update", `
LockRows
  ->  Hash Join`},
		{"set enable_mergejoin = off", "select a.k, b.w from a join b on a.k = b.k order by a.k limit 5", `
Top-N Sort
  Sort Key: a.k
  ->  Hash Join`},
	} {
		mustExec(t, s, "reset all; "+c.settings)
		if got := "\n" + strings.Join(joinAnswer(t, s, "explain (costs off) "+c.query), "\n"); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s\ngives %s\nwant %s", c.query, got, c.want)
		}
	}
}

// TestMergeJoinMemory: no input is sorted for a merge join where memory does not take it and a hash join would
// go to disk.
func TestMergeJoinMemory(t *testing.T) {
	s := openMemory(t).Session()
	mustExec(t, s, "create table a (id int, k int, t text); create index on a (id); insert into a select g, g % 3, repeat('x', 200) || g from generate_series(1, 60000) g; analyze; set memory_limit = '24MB'")
	wantRow(t, s, "select x.id, length(y.t) from a x left join a y on x.id = y.k order by x.id limit 1", int64(1), int64(201))
}
