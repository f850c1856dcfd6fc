package weft_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weftdb/weft"
)

var (
	pressures    = flag.Int("pressures", 150, "random queries that TestRandomPressure runs short of memory")
	pressureSeed = flag.Uint64("pressure-seed", 0, "seed of TestRandomPressure; 0 = from the clock")
)

// pressureTables have 8,000 rows or so each, whose keys repeat, miss each other and are null; two are partitioned
// alike and one has a column view.
const pressureTables = `
	create table x (k int, t text, n int, v numeric(12,2));
	create table y (k bigint, t text, n int, v numeric(12,2)) partition by range (k);
	create table y1 partition of y for values from (minvalue) to (700);
	create table y2 partition of y for values from (700) to (1500);
	create table y3 partition of y default;
	create table z (k int, t text, n int, v numeric(12,2)) partition by hash (k);
	create table z1 partition of z for values with (modulus 2, remainder 0);
	create table z2 partition of z for values with (modulus 2, remainder 1);
	insert into x select nullif(g * 31 % 2003, 7), 'text ' || g * 17 % 1009, g, g / 7.0 from generate_series(1, 8000) g;
	insert into y select nullif(g * 13 % 3001, 11), 'text ' || g % 1511, g, g / 3.0 from generate_series(1, 9000) g;
	insert into z select nullif(g * 7 % 1201, 3), nullif('text ' || g * 5 % 907, 'text 0'), g, g from generate_series(1, 7000) g;
	insert into z select 44, repeat('wide ', 40), g, g from generate_series(1, 300) g;
	create table w as select * from x union all select k, t, -n, v from z;
	alter table w colview`

// pressureFuzz makes queries of tables of pressureTables.
type pressureFuzz struct{ r *rand.Rand }

func (f pressureFuzz) pick(list ...string) string { return list[f.r.IntN(len(list))] }

func (f pressureFuzz) table() string { return f.pick("x", "y", "z", "w") }

// on is a condition between two tables.
func (f pressureFuzz) on(a, b string) string {
	key := f.pick("k", "k", "t", "n")
	cond := fmt.Sprintf("%s.%s = %s.%s", a, key, b, key)
	switch f.r.IntN(5) {
	case 0:
		cond += fmt.Sprintf(" and %s.n %% 3 <> %s.n %% 3", a, b)
	case 1:
		cond += fmt.Sprintf(" and %s.t = %s.t", a, b)
	}
	return cond
}

// query returns a query of one row.
func (f pressureFuzz) query() string {
	kinds := []string{"join", "left join", "right join", "full join"}
	from := fmt.Sprintf("%s a %s %s b on %s", f.table(), f.pick(kinds...), f.table(), f.on("a", "b"))
	if f.r.IntN(2) == 0 {
		// Few rows find a third table, so that results stay small.
		from += fmt.Sprintf(" %s %s c on %s and c.n %% 5 = 0", f.pick("join", "left join"), f.table(), f.on(f.pick("a", "b"), "c"))
	}
	where := "a.n % 11 < 4"
	switch f.r.IntN(6) {
	case 0:
		where += fmt.Sprintf(" and exists (select from %s d where %s)", f.table(), f.on("a", "d"))
	case 1:
		where += fmt.Sprintf(" and not exists (select from %s d where %s)", f.table(), f.on("b", "d"))
	case 2:
		where += fmt.Sprintf(" and a.t in (select t from %s where n %% 2 = 0)", f.table())
	case 3:
		where += fmt.Sprintf(" and b.k not in (select k from %s where k is not null)", f.table())
	case 4:
		where = fmt.Sprintf("(a.k in (select k from %s) or a.n %% 7 = 1)", f.table())
	}
	sums := "count(*), count(a.k), count(b.k), sum(a.n), sum(b.n), sum(length(b.t)), sum(a.v), max(b.t)"
	switch f.r.IntN(4) {
	case 0:
		return fmt.Sprintf("select count(*), sum(c), sum(s) from (select a.k, count(*) c, sum(b.n) s from %s where %s group by a.k) g", from, where)
	case 1:
		return fmt.Sprintf("select count(*), sum(n) from (select distinct a.t, b.n from %s where %s) g", from, where)
	}
	return fmt.Sprintf("select %s from %s where %s", sums, from, where)
}

// TestRandomPressure runs random joins while others have taken almost all memory, with several sessions at a time that
// share what is left: each gets the rows that it gets with enough memory, or 53200 where its plan has sorts or groups.
func TestRandomPressure(t *testing.T) {
	seed := *pressureSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	f := pressureFuzz{rand.New(rand.NewPCG(seed, 1))}
	dir := t.TempDir()
	db, err := weft.Open(context.Background(), dir, weft.Options{MemoryLimitBytes: 256 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var sessions []*weft.Session
	for range 3 {
		s := db.Session()
		defer s.Close()
		sessions = append(sessions, s)
	}
	mustExec(t, sessions[0], pressureTables)
	if f.r.IntN(3) > 0 {
		mustExec(t, sessions[0], "analyze")
	}
	queries := *pressures
	if testing.Short() {
		queries = min(queries, 10)
	}
	failed, spilled := 0, 0
	for range queries {
		query := f.query()
		mustExec(t, sessions[0], "set memory_limit = '256MB'; set work_mem = '128MB'; set threads = 1; set enable_runtime_filter = off; set htap_router_mode = row")
		want := outcome(sessions[0], query)
		if !strings.Contains(want, "|") { // an error
			t.Fatalf("%s: %s with enough memory", query, want)
		}
		mustExec(t, sessions[0], "set memory_limit = '16MB'")
		release, err := db.LeaveMemory(int64(f.r.IntN(1 << 20 << f.r.IntN(2))))
		if err != nil {
			t.Fatal(err)
		}
		var wait sync.WaitGroup
		got := make([]string, 1+f.r.IntN(len(sessions)))
		var settings []string
		for i := range got {
			setting := fmt.Sprintf("set threads = %d; set work_mem = '%dkB'; set enable_runtime_filter = %s; set htap_router_mode = %s; set enable_partitionwise_join = %s; set enable_partitionwise_aggregate = %s",
				1+f.r.IntN(3), 64<<f.r.IntN(4), f.pick("on", "off"), f.pick("row", "column", "auto"), f.pick("on", "off"), f.pick("on", "off"))
			settings = append(settings, setting)
			wait.Go(func() {
				mustExec(t, sessions[i], setting)
				got[i] = outcome(sessions[i], query)
			})
		}
		wait.Wait()
		for i, g := range got {
			switch {
			case g == "53200":
				failed++
			case g != want:
				t.Errorf("seed %d: %s; %s\n got %s\nwant %s", seed, settings[i], query, g, want)
			}
		}
		if strings.Contains(outcome(sessions[0], "explain analyze "+query), "Spill: ") {
			spilled++
		}
		release()
		if used := db.Stats().QueryBytes; used != 0 {
			t.Errorf("seed %d: %s: %d bytes are still reserved", seed, query, used)
		}
		wantNoTempFiles(t, dir)
	}
	t.Logf("%d queries, %d spilled, %d runs failed for want of memory", queries, spilled, failed)
	if spilled < queries/6 {
		t.Errorf("%d of %d queries spilled", spilled, queries)
	}
}
