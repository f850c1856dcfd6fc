package weft_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/weftdb/weft"
)

// wiseDB returns a session with a table f of 24,000 rows in 12 partitions by day and tables to join it
// with: g partitioned alike, h with other bounds, d not partitioned.
func wiseDB(t *testing.T) *weft.Session {
	t.Helper()
	db, err := weft.Open(context.Background(), "", weft.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	s := db.Session()
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
	mustExec(t, s, "insert into f select i % 1230, i, 'f' || i from generate_series(1, 24000) i")
	for _, table := range []string{"g", "h", "d"} {
		mustExec(t, s, fmt.Sprintf("insert into %s select case when i %% 50 = 0 then null else i %% 1000 + 150 end, i, '%[1]s' || i from generate_series(1, 9000) i", table))
	}
	return s
}

// TestPartitionWise: joins in the ways that there are have the same rows, and EXPLAIN ANALYZE tells the way.
func TestPartitionWise(t *testing.T) {
	s := wiseDB(t)
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
