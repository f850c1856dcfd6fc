package weft_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weftdb/weft"
)

// wiseDB returns a session with a table f of so many rows in 13 partitions by k and tables to join it
// with: g partitioned alike, h with other bounds, d not partitioned.
func wiseDB(t *testing.T, rows int) *weft.Session {
	t.Helper()
	s := openMemory(t).Session()
	t.Cleanup(func() { s.Close() })
	for _, table := range []string{"f", "g", "h"} {
		mustExec(t, s, fmt.Sprintf("create table %s (k int, v int, s text) partition by range (k)", table))
		step := map[string]int{"f": 100, "g": 100, "h": 150}[table]
		for i := 0; i*step < 1200; i++ {
			mustExec(t, s, fmt.Sprintf("create table %s_%d partition of %s for values from (%d) to (%d)", table, i, table, i*step, (i+1)*step))
		}
		mustExec(t, s, fmt.Sprintf("create table %s_other partition of %s default", table, table))
	}
	mustExec(t, s, "create table d (k int, v int, s text)")
	mustExec(t, s, fmt.Sprintf("insert into f select i %% 1230, i, 'f' || i from generate_series(1, %d) i", rows))
	for _, table := range []string{"g", "h", "d"} {
		mustExec(t, s, fmt.Sprintf("insert into %[1]s select case when i %% 50 = 0 then null else i %% 1000 + 150 end, i, '%[1]s' || i from generate_series(1, %[2]d) i", table, rows*3/8))
	}
	return s
}

// TestPartitionWise: joins in the ways that there are have the same rows, and EXPLAIN ANALYZE tells the way.
func TestPartitionWise(t *testing.T) {
	s := wiseDB(t, 6000)
	queries := []string{
		"select count(*), sum(f.v), sum(x.v), count(x.s) from f %s join %s x on f.k = x.k",
		"select count(*), sum(f.v), sum(x.v) from f %s join %s x on f.k = x.k and f.v > 2 * x.v",
		"select count(*), sum(f.v), sum(x.v) from (select k + 0 as o, k, v from f where v %% 3 = 0) f %s join %s x on f.k = x.k",
		"select f.k, count(*), max(x.s) from f %s join %s x on f.k is not distinct from x.k group by 1 order by 1 nulls first limit 30",
	}
	for _, q := range queries {
		for _, kind := range []string{"", "left", "right", "full"} {
			for _, table := range []string{"d", "g", "h"} {
				if kind == "full" && strings.Contains(q, ">") {
					continue
				}
				wiseEqual(t, s, fmt.Sprintf(q, kind, table))
			}
		}
	}
	for _, table := range []string{"d", "g", "h"} {
		for _, q := range []string{
			"select count(*), sum(v) from f where exists (select from %s x where x.k = f.k and x.v %% 7 = 0)",
			"select count(*), sum(v) from f where not exists (select from %s x where x.k = f.k)",
			"select count(*), sum(v) from %s x where exists (select from f where x.k = f.k)",
			"select count(*), sum(v) from %s x where not exists (select from f where x.k = f.k)",
			"select count(*), sum(v) from f where k not in (select k from %s x where k is not null)",
			"select sum(v), count(*) filter (where exists (select from %s x where x.k = f.k and x.k > 500)) from f",
		} {
			wiseEqual(t, s, fmt.Sprintf(q, table))
		}
	}
}

// wiseEqual compares a join with and without partitions, by one worker and three, with memory and without.
func wiseEqual(t *testing.T, s *weft.Session, query string) {
	t.Helper()
	mustExec(t, s, "set enable_partitionwise_join = off; set work_mem = 0; set threads = 1")
	want := outcome(s, query)
	for _, setting := range []string{"set enable_partitionwise_join = on", "set work_mem = '20kB'", "set threads = 3; set work_mem = '100kB'", "set enable_partition_pruning = off"} {
		mustExec(t, s, setting)
		if got := outcome(s, query); got != want {
			t.Fatalf("%s: %s:\n got %s\nwant %s\n%s", query, setting, got, want, outcome(s, "explain analyze "+query))
		}
	}
	mustExec(t, s, "set enable_partition_pruning = on")
}

// analyzed returns EXPLAIN ANALYZE of a query.
func analyzed(t *testing.T, s *weft.Session, query string) string {
	t.Helper()
	return outcome(s, "explain analyze "+query)
}

// TestPartitionWiseExplained: EXPLAIN ANALYZE says how a join was divided, that no probe row was written, and
// which leaves had no build rows.
func TestPartitionWiseExplained(t *testing.T) {
	s := wiseDB(t, 24000)
	const join = "select count(*), sum(f.v), max(x.s) from f %s join %s x on f.k = x.k"
	mustExec(t, s, "set work_mem = '100kB'")
	for _, c := range []struct {
		kind, table string
		want        []string
	}{
		{"", "d", []string{"Partition-wise Join: groups 13 (spilled), unmatched probe leaves 0", "probe 0 B (partition-wise)", " 0 left", "Partitions selected: 11 out of 13"}},
		{"left", "d", []string{"Partition-wise Join: groups 13 (spilled), unmatched probe leaves 2", "probe 0 B (partition-wise)", "Partitions selected: 13 out of 13"}},
		{"", "g", []string{"Partition-wise Join: groups 13 (full)"}},
		{"", "h", []string{"Partition-wise Join: groups 5 (full)"}},
	} {
		plan := analyzed(t, s, fmt.Sprintf(join, c.kind, c.table))
		for _, want := range c.want {
			if !strings.Contains(plan, want) {
				t.Errorf("%s join %s: no %q in\n%s", c.kind, c.table, want, plan)
			}
		}
	}
	// Other keys, values of other types, and joins that fit are not partition-wise.
	for _, query := range []string{
		"select count(*) from f join d x on f.v = x.k",
		"select count(*) from f join d x on f.k = x.v::bigint * 2",
		"set work_mem = 0; select count(*) from f join d x on f.k = x.k",
	} {
		if set, rest, ok := strings.Cut(query, "; "); ok {
			mustExec(t, s, set)
			query = rest
		}
		if plan := analyzed(t, s, query); strings.Contains(plan, "Partition-wise") {
			t.Errorf("%s:\n%s", query, plan)
		}
	}
	mustExec(t, s, "set work_mem = '100kB'; set enable_partitionwise_join = off")
	if plan := analyzed(t, s, fmt.Sprintf(join, "", "d")); strings.Contains(plan, "Partition-wise") || strings.Contains(plan, "probe 0 B") {
		t.Errorf("switched off:\n%s", plan)
	}
}

// TestPartitionWiseStops: a LIMIT above ends the rounds, and rows of the transaction's own take part.
func TestPartitionWiseStops(t *testing.T) {
	s := wiseDB(t, 24000)
	mustExec(t, s, "set work_mem = '20kB'")
	for table, rounds := range map[string]int{"d": 1, "g": 2} { // the first leaf of g is empty
		if plan := analyzed(t, s, fmt.Sprintf("select f.v from f join %s x on f.k = x.k limit 3", table)); !strings.Contains(plan, fmt.Sprintf(", rounds %d ", rounds)) {
			t.Errorf("all rounds run:\n%s", plan)
		}
		mustExec(t, s, fmt.Sprintf("begin; insert into f values (777, -1, 'own'); delete from %s where k < 500; update f set k = k + 300 where k between 100 and 110", table))
		wiseEqual(t, s, fmt.Sprintf("select count(*), sum(f.v), sum(x.v) from f left join %s x on f.k = x.k", table))
		mustExec(t, s, "rollback; set work_mem = '20kB'")
	}
}

// TestAntiJoinCovered: an anti join reads no leaf whose listed values are all among its build's, but those
// that take NULL or what is not listed, and none by another condition.
func TestAntiJoinCovered(t *testing.T) {
	s := wiseDB(t, 24000)
	mustExec(t, s, `create table p (k text, v int) partition by list (k);
		create table p_ab partition of p for values in ('a', 'b'); create table p_c partition of p for values in ('c');
		create table p_dn partition of p for values in ('d', null); create table p_ef partition of p for values in ('e', 'f');
		create table p_other partition of p default;
		insert into p select substr('abcdefxy', i % 9 + 1, 1), i from generate_series(0, 8999) i; insert into p values (null, 1);
		create table b (k text); insert into b select substr('abcdexx', i % 7 + 1, 1) from generate_series(1, 700) i; insert into b values (null)`)
	const anti = "select count(*), sum(v) from p where not exists (select from b where b.k = p.k%s)"
	for _, c := range []struct{ more, selected string }{{"", "3 out of 5"}, {" and p.v > 3", "5 out of 5"}, {" and b.k <> 'c'", "4 out of 5"}} {
		query := fmt.Sprintf(anti, c.more)
		mustExec(t, s, "set enable_partition_pruning = off; set threads = 1")
		want := outcome(s, query)
		mustExec(t, s, "set enable_partition_pruning = on")
		for _, setting := range []string{"set threads = 3", "set work_mem = '100kB'", "set enable_partitionwise_join = off", "set enable_partitionwise_join = on; set work_mem = 0"} {
			mustExec(t, s, setting)
			if got := outcome(s, query); got != want {
				t.Errorf("%s: %s: got %s, want %s", query, setting, got, want)
			}
		}
		if plan := analyzed(t, s, query); strings.Contains(plan, "Hash Anti Join") && !strings.Contains(plan, "Partitions selected: "+c.selected) {
			t.Errorf("%s:\n%s", query, plan)
		} else if !strings.Contains(plan, "Hash Anti Join") {
			t.Errorf("turned:\n%s", plan)
		}
	}
}
