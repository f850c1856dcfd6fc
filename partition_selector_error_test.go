package weft_test

import (
	"fmt"
	"testing"
)

// TestSelectorsKeepErrors: what the build side of a join has for the other conditions of a join, or for the key
// itself, is computed for the rows for which the join computes it; a partition selector adds no error.
func TestSelectorsKeepErrors(t *testing.T) {
	skipSequential(t)
	for _, nodes := range []int{1, 4} {
		db := openNodes(t, nodes)
		s := db.Session()
		mustExec(t, s, `create table p (a int, v int) partition by range (a);
			create table p1 partition of p for values from (0) to (10000); create table p2 partition of p for values from (10000) to (20000); create table p3 partition of p for values from (20000) to (30000);
			insert into p select g % 30000, g from generate_series(1, 60000) g;
			create table d (a int, v int); insert into d select g, g from generate_series(1, 20000) g;
			create table e (k int, kind text, txt text); insert into e values (1, 'n', '5'), (2, 's', 'hello'), (29999, 's', '');
			create table u (k int, x int); insert into u values (1, 1), (2, 2), (30001, 0); analyze`)
		for _, probe := range []string{"p", "d"} {
			for _, query := range []string{
				"select k from e where not exists (select from %s p where p.a = e.k and e.kind = 'n' and p.v < e.txt::int)",
				"select k from e where exists (select from %s p where p.a = e.k and e.kind = 'n' and p.v <= e.txt::int)",
				"select e.k, p.v from e left join %s p on p.a = e.k and e.kind = 'n' and p.v <= e.txt::int",
				"select u.k, p.v from %s p right join u on p.a = u.k and u.x <> 0 and p.v < 10 / u.x",
				"select u.k, p.v from %s p join u on u.x <> 0 and p.a < 10 / u.x and p.v = u.k",
				"select u.k, p.v from %s p right join u on p.v = u.k and p.a = case when u.x > 0 then 2 / u.x else 1 end",
			} {
				query = fmt.Sprintf(query, probe) + " order by 1"
				mustExec(t, s, "set enable_partition_pruning = off")
				want := outcome(s, query)
				mustExec(t, s, "set enable_partition_pruning = on")
				if got := outcome(s, query); got != want {
					t.Errorf("%d data nodes: %s: got %s, want %s", nodes, query, got, want)
				}
			}
		}
		s.Close()
	}
}
