package weft_test

import (
	"strings"
	"testing"
)

// TestSelectedScanInApply: what a subquery reads of a partitioned table in each of its runs is not computed once
// for all of them where a join of the subquery selects the partitions.
func TestSelectedScanInApply(t *testing.T) {
	s := openMemory(t).Session()
	defer s.Close()
	mustExec(t, s, `create table o (k int); insert into o select i from generate_series(1, 50) i;
		create table p (k int primary key, a int) partition by range (k);
		create table p_a partition of p for values from (minvalue) to (20); create table p_b partition of p for values from (20) to (40); create table p_c partition of p default;
		insert into p select i, i % 8 from generate_series(1, 60) i;
		create table l (k int, a int) partition by list (k); create table l_1 partition of l for values in (1, 2); create table l_2 partition of l for values in (3, 4); create table l_x partition of l default;
		insert into l select i % 6, i from generate_series(1, 60) i`)
	for query, want := range map[string]string{
		"select count(*), count(z.k) from o x left join lateral (select y.k from (select k, a from p except select k, a from p where a = 3) y where x.k = y.k limit 2) z on true":                  "50|44",
		"select count(*), sum(z.n) from o x, lateral (select p.a as n from p join (select k from o where k > x.k order by k limit 3) y on p.k = y.k order by 1 limit 2) z":                         "97|260",
		"select count(*), sum(z.a) from o x, lateral (select l.a from l where not exists (select from (select k from o where k < x.k order by k limit 4) y where y.k = l.k) order by a limit 1) z": "50|240",
	} {
		if got := strings.TrimSpace(outcome(s, query)); got != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
}
