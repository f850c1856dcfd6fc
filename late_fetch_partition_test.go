package weft_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestLateFetchPartitions fetches columns late from the leaves of a partitioned table, of which one has
// its columns in another order: by sorting and by a join, with rows of the transaction's own.
func TestLateFetchPartitions(t *testing.T) {
	s := openMemory(t).Session()
	defer s.Close()
	mustExec(t, s, "create table t (k int, r int, v text, u bigint) partition by range (k)")
	mustExec(t, s, "create table t_0 partition of t for values from (0) to (10000)")
	mustExec(t, s, "create table t_1 (gone int, u bigint, v text, k int, r int); alter table t_1 drop column gone; alter table t attach partition t_1 for values from (10000) to (20000)")
	mustExec(t, s, "create table t_2 partition of t default partition by hash (k)")
	for i := range 3 {
		mustExec(t, s, fmt.Sprintf("create table t_2_%d partition of t_2 for values with (modulus 3, remainder %[1]d)", i))
	}
	mustExec(t, s, "insert into t select i, i * 7919 % 100003, 'v' || i, -i from generate_series(0, 39999) i; insert into t values (null, 5, 'null', 0)")
	mustExec(t, s, "alter table t colview (k, r); analyze t")
	mustExec(t, s, "create table few (k int); insert into few select g * 1000 from generate_series(0, 30) g; analyze few")
	queries := []string{
		"select * from t order by r, k limit 30",
		"select v, u, few.k from t join few on t.k = few.k where r < 90000",
		"select u, v from t where r > 50 and k < 25000 order by k desc, r limit 20",
	}
	mustExec(t, s, "begin; update t set r = 0, v = 'own' where k in (600, 12000, 31000); insert into t values (11, 3, 'new', 5); delete from t where k = 8000; update t set k = k + 10000, v = 'moved' where k = 7000")
	for _, query := range queries {
		mustExec(t, s, "set local htap_router_mode = 'row'")
		want := sortedRows(t, s, query)
		mustExec(t, s, "set local htap_router_mode = 'column'")
		if got := sortedRows(t, s, query); !slices.Equal(got, want) {
			t.Errorf("%s:\n got %v\nwant %v", query, got, want)
		}
		if plan := strings.Join(sortedRows(t, s, "explain "+query), "\n"); !strings.Contains(plan, "Late Fetch on t") {
			t.Errorf("%s is not fetched late:\n%s", query, plan)
		}
	}
	mustExec(t, s, "rollback")
	// A leaf whose column view lacks what is needed early keeps the table from being fetched late.
	mustExec(t, s, "alter table t_1 nocolview; set htap_router_mode = 'column'")
	if plan := strings.Join(sortedRows(t, s, "explain "+queries[0]), "\n"); strings.Contains(plan, "Late Fetch") {
		t.Errorf("fetched late:\n%s", plan)
	}
}
