package weft_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weftdb/weft"
)

var boundedPlans = flag.Int("bounded-plans", 600, "random plans whose bounds TestBoundsHold checks")

// boundFuzz runs random plans over skewed tables with keys of all kinds.
type boundFuzz struct {
	t     *testing.T
	r     *rand.Rand
	s     *weft.Session
	nodes int // checked
	tight int // of these with a bound that is reached
}

func (f *boundFuzz) pick(list ...string) string { return list[f.r.IntN(len(list))] }

// tables makes tables of 0 to 60 rows: k is a key, u unique with NULLs, (a, b) a key of two columns, s skewed.
func (f *boundFuzz) tables() {
	mustExec(f.t, f.s, `create table t0 (k int primary key, u int unique, a int, b int, s int, unique nulls not distinct (a, b));
		create table t1 (k bigint primary key, u int unique nulls not distinct, a int not null, b int not null, s int, unique (a, b));
		create table t2 (k int not null, u int, a int, b int, s int);
		create table t3 (k int, u int, a int, b int, s int, primary key (k)) partition by range (k);
		create table t3_a partition of t3 for values from (minvalue) to (20); create table t3_b partition of t3 for values from (20) to (40);
		create table t3_c partition of t3 default; create index on t2 (k); create index on t3 (s)`)
	for i := range 4 {
		f.fill(fmt.Sprintf("t%d", i), f.r.IntN(60))
	}
}

func (f *boundFuzz) fill(table string, rows int) {
	value := func(n int) string {
		if f.r.IntN(6) == 0 {
			return "null"
		}
		return fmt.Sprint(f.r.IntN(n))
	}
	for range rows {
		skewed := "7"
		if f.r.IntN(3) == 0 {
			skewed = value(10)
		}
		_, err := f.s.Exec(context.Background(), fmt.Sprintf("insert into %s values (%d, %s, %s, %s, %s) on conflict do nothing", table, f.r.IntN(60), value(60), value(8), value(8), skewed))
		if err != nil && codeOf(err) != "23502" {
			f.t.Fatal(err)
		}
	}
}

func (f *boundFuzz) column() string { return f.pick("k", "k", "u", "a", "b", "s") }

// relation is something to join; it has the columns k, u, a, b, s.
func (f *boundFuzz) relation(depth int) string {
	table := f.pick("t0", "t1", "t2", "t3")
	if depth == 0 || f.r.IntN(3) > 0 {
		return table
	}
	columns := "k, u, a, b, s"
	switch f.r.IntN(8) {
	case 0:
		return "(select " + columns + " from " + table + " where " + f.condition("") + ")"
	case 1:
		return fmt.Sprintf("(select %s from %s order by %s limit %d offset %d)", columns, table, f.column(), f.r.IntN(9), f.r.IntN(3))
	case 2:
		return "(select distinct " + columns + " from " + table + ")"
	case 3:
		c := f.column()
		return "(select " + c + " as k, max(u) as u, min(a) as a, count(*)::int as b, " + c + " as s from " + f.relation(depth-1) + " r group by " + c + ")"
	case 4:
		return "(select " + columns + " from " + table + " " + f.pick("union all", "union", "intersect all", "except all", "except") + " select " + columns + " from " + f.pick("t0", "t2", "t3") + ")"
	case 5:
		return "(select x.k, y.u, x.a, y.b, x.s from " + f.relation(depth-1) + " x " + f.join() + " " + f.relation(depth-1) + " y on " + f.on("x", "y") + ")"
	case 6:
		return fmt.Sprintf("(select g as k, g as u, g %% 3 as a, g %% 5 as b, 7 as s from generate_series(%d, %d, %d) g)", f.r.IntN(9), f.r.IntN(40), 1+f.r.IntN(4))
	}
	return "(select x.* from " + table + " x, lateral (select y.k as o from " + f.relation(depth-1) + " y where " + f.on("x", "y") + " limit 2) z)"
}

func (f *boundFuzz) join() string {
	return f.pick("join", "join", "left join", "right join", "full join")
}

func (f *boundFuzz) on(x, y string) string {
	equal := func() string {
		return x + "." + f.column() + f.pick(" = ", " = ", " = ", " is not distinct from ") + y + "." + f.column()
	}
	on := equal()
	for f.r.IntN(3) == 0 {
		on += " and " + equal()
	}
	if f.r.IntN(4) == 0 {
		on = x + ".a = " + y + ".a and " + x + ".b = " + y + ".b"
	}
	return on
}

func (f *boundFuzz) condition(alias string) string {
	c := alias + f.column()
	switch f.r.IntN(7) {
	case 0:
		return "false"
	case 1:
		return c + " is null"
	case 2:
		return alias + "k = " + fmt.Sprint(f.r.IntN(60))
	case 3:
		return alias + "a = 1 and " + alias + "b = (select min(b) from t0)"
	case 4:
		return c + f.pick(" in ", " not in ") + "(select " + f.column() + " from t1)"
	case 5:
		return f.pick("", "not ") + "exists (select from t2 z where z." + f.column() + " = " + c + ")"
	}
	return c + f.pick(" = ", " < ", " <> ") + fmt.Sprint(f.r.IntN(30))
}

func (f *boundFuzz) query() string {
	from := f.relation(2) + " r0"
	joins := f.r.IntN(4)
	for i := range joins {
		from += fmt.Sprintf(" %s %s r%d on %s", f.join(), f.relation(2), i+1, f.on(fmt.Sprintf("r%d", f.r.IntN(i+1)), fmt.Sprintf("r%d", i+1)))
	}
	if f.r.IntN(2) == 0 {
		from += " where " + f.condition("r0.")
	}
	if f.r.IntN(3) == 0 {
		return "select count(*), sum(r0.s) from " + from
	}
	return "select r0.* from " + from + f.pick("", "", " limit 5", " order by r0.k fetch first 2 rows with ties")
}

// check runs a query and compares the rows of each node with its bound.
func (f *boundFuzz) check(s *weft.Session, query string) {
	f.t.Helper()
	text := outcome(s, "explain (analyze, verbose, format json) "+query)
	if _, err := s.Exec(context.Background(), "explain (analyze, verbose, format json) "+query); err != nil {
		f.t.Fatalf("%s: %+v", query, err)
	}
	var plans []struct{ Plan map[string]any }
	if err := json.Unmarshal([]byte(text), &plans); err != nil {
		f.t.Fatalf("%s: %v in %s", query, err, text)
	}
	var visit func(node map[string]any)
	visit = func(node map[string]any) {
		bound, known := node["Plan Rows Bound"].(float64)
		actual, _ := node["Actual Rows"].(float64) // parts of a bitmap scan have none
		if known && actual > bound {
			f.t.Errorf("%s: a %v had %v rows, bound %v\n%s", query, node["Node Type"], actual, bound, outcome(s, "explain (analyze, verbose) "+query))
		}
		if f.nodes++; known && actual == bound {
			f.tight++
		}
		kids, _ := node["Plans"].([]any)
		for _, kid := range kids {
			visit(kid.(map[string]any))
		}
	}
	visit(plans[0].Plan)
}

// TestBoundsHold: no node of random plans yields more rows than its bound says, also where the transaction
// has written the tables, others have, and statistics are old.
func TestBoundsHold(t *testing.T) {
	first := firstSeed(t)
	nodes, tight := 0, 0
	for i := range (*boundedPlans + 29) / 30 {
		seed := first + uint64(i)
		f := &boundFuzz{t: t, r: rand.New(rand.NewPCG(seed, 13))}
		db := openMemory(t)
		f.s = db.Session()
		other := db.Session()
		f.tables()
		mustExec(t, f.s, f.pick("select 1", "analyze"))
		mustExec(t, f.s, f.pick("set threads = 1", "set threads = 3"))
		for n := range 30 {
			switch n {
			case 8:
				mustExec(t, f.s, "begin isolation level "+f.pick("read committed", "repeatable read")+"; select count(*) from t0")
			case 12:
				f.fill(f.pick("t0", "t2"), 30)
				mustExec(t, other, "delete from "+f.pick("t1", "t3")+" where a < 6")
			case 20:
				mustExec(t, f.s, f.pick("commit", "rollback"))
			case 24:
				f.fill("t3", 30)
				mustExec(t, f.s, "delete from t2 where k % 2 = 0; delete from t0")
			}
			f.check(f.s, f.query())
		}
		other.Close()
		if err := f.s.Close(); err != nil {
			t.Fatal(err)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		nodes, tight = nodes+f.nodes, tight+f.tight
	}
	if tight*5 < nodes {
		t.Errorf("only %d of %d bounds are reached", tight, nodes)
	}
	t.Logf("%d plans, %d nodes, %d bounds reached", *boundedPlans, nodes, tight)
}
