package weft_test

import (
	"context"
	"strings"
	"testing"
)

// TestLoopBeyondMemory joins without equalities, by every kind of join SQL has, with more rows than memory_limit
// or work_mem take, and compares with what comes of it in memory. No temporary file is left, also of a join that
// was cancelled. Merge joins whose groups of equal keys are as large do the same.
func TestLoopBeyondMemory(t *testing.T) {
	dir, s := openOnDisk(t)
	mustExec(t, s, `create table b (k bigint, n int, s text);
		insert into b select nullif(i % 700, 13), i, repeat('some text that takes memory ', 8) || i from generate_series(1, 15000) i;
		create table a (k bigint, v int);
		insert into a select nullif(i * 100, 1700), i from generate_series(1, 90) i;
		create table g (k int, v int);
		insert into g select i % 3, i from generate_series(1, 3000) i; analyze`)
	loops := []string{
		`select count(*), sum(v), sum(length(s)), sum(n) from a join b on a.k < b.n`,
		`select count(*), count(s), sum(length(s)), sum(v) from a left join b on a.k + 10000 < b.n`,
		`select count(*), count(v), sum(length(s)), sum(v) from a right join b on b.n between a.k and a.k + 5`,
		`select count(*), count(v), count(s), sum(length(s)), sum(v) from a full join b on a.k > b.n + 2000 or a.k < b.n - 13000`,
		`select count(*), sum(v) from a where exists (select from b where b.n > a.k + 9000 and length(s) > 5)`,
		`select count(*), sum(v) from a where not exists (select from b where b.n > a.k + 9000 and length(s) > 5)`,
		`select count(*), sum(n) from b where not exists (select from a where b.n < a.k + 1000 and v > length(s) - 200)`,
		`select count(*), sum(v) from a where v + 14950 > all (select n from b where length(s) > 20)`,
		`select count(*), sum(case when a.k + 9000 < any (select n from b where length(s) > 9) then v else 1 end) from a`,
		`select count(*), sum(a.k), sum(v), sum(length(s)) from a cross join b`,
	}
	groups := []string{
		`select count(*), sum(x.v), sum(y.v) from g x join g y on x.k = y.k`,
		`select count(*), sum(x.v), sum(y.v) from g x full join g y on x.k = y.k and x.v < y.v`,
		`select count(*), sum(x.v) from g x where not exists (select from g y where x.k = y.k and x.v < y.v)`,
	}
	if testing.Short() {
		loops = loops[:4]
	}
	want := map[string]string{}
	for _, q := range append(loops[:len(loops):len(loops)], groups...) {
		want[q] = strings.Join(joinAnswer(t, s, q), "\n")
	}
	spilled := 0
	all := len(loops) + 2*len(groups) + 1
	for _, settings := range []string{"set work_mem = '1kB'; set threads = 2", "set memory_limit = '16MB'"} {
		mustExec(t, s, "reset all; "+settings)
		if strings.Contains(settings, "memory_limit") {
			mustExec(t, s, "insert into b select k, n, s from b, generate_series(1, 5)")
			loops, want[loops[1]] = loops[1:2], ""
		}
		for _, q := range append(loops[:len(loops):len(loops)], groups...) {
			if q == groups[0] {
				mustExec(t, s, "set enable_hashjoin = off; set enable_nestloop = off; set work_mem = '1kB'")
			}
			if got := strings.Join(joinAnswer(t, s, q), "\n"); got != want[q] && want[q] != "" {
				t.Errorf("%s, %s: %s, in memory %s", settings, q, got, want[q])
			}
			plan := strings.Join(joinAnswer(t, s, "explain analyze "+q), "\n")
			if strings.Contains(plan, "Spill: ") {
				if spilled++; !strings.Contains(plan, " 0 left") {
					t.Errorf("files are left:\n%s", plan)
				}
			}
		}
		wantNoTempFiles(t, dir)
	}
	if spilled < all {
		t.Errorf("%d of %d joins went to disk", spilled, all)
	}
	mustExec(t, s, "reset all; set work_mem = '64kB'")
	for _, q := range []string{"select x.v from g x join b y on x.v <> y.n", "select x.v from g x join g y on x.k = y.k"} {
		ctx, cancel := context.WithCancel(context.Background())
		rows, err := s.Query(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		rows.Next()
		cancel()
		_ = rows.Close() // the error is the cancellation
		wantNoTempFiles(t, dir)
		mustExec(t, s, "set enable_hashjoin = off; set enable_nestloop = off; set work_mem = '1kB'")
	}
}
