package weft_test

import (
	"strings"
	"testing"
)

// TestUniqueIsProven: that statistics make a join's rows seem to have a key, as they did before a row was
// added, does not make the join above stop at the first match.
func TestUniqueIsProven(t *testing.T) {
	s := openMemory(t).Session()
	defer s.Close()
	mustExec(t, s, `create table a (id bigint primary key, b int); create table b (x int, y int); create table c (id bigint);
		insert into a select i::bigint * 1000003, 5 from generate_series(1, 1000) i; insert into b select i, i from generate_series(1, 1000) i;
		insert into c select (i % 1000 + 1)::bigint * 1000003 from generate_series(1, 100000) i;
		analyze a; analyze b; analyze c; insert into b values (5, 0)`)
	const query = "select count(*), sum(s.y) from c join (select a.id, b.y from a join b on a.b = b.x) s on c.id = s.id"
	if got := strings.TrimSpace(outcome(s, query)); got != "200000|500000" {
		t.Errorf("got %s\n%s", got, analyzed(t, s, query))
	}
	// A unique key says nothing of NULLs where they match each other, unless it says that they are not distinct.
	mustExec(t, s, "create table u (k int unique, n int unique nulls not distinct); insert into u values (null, 1), (null, 2), (7, null)")
	mustExec(t, s, "create table v (x int); insert into v select case when i % 2 = 0 then 7 end from generate_series(1, 1000) i; analyze v; analyze u")
	for on, want := range map[string][2]string{
		"v.x is not distinct from u.k": {"1500", "false"}, "v.x is not distinct from u.n": {"500", "true"}, "v.x = u.k": {"500", "true"},
	} {
		query := "select count(*) from v join u on " + on
		if got := strings.TrimSpace(outcome(s, query)); got != want[0] {
			t.Errorf("%s: got %s, want %s", query, got, want[0])
		}
		if plan := outcome(s, "explain (format json) "+query); !strings.Contains(plan, `"Inner Unique": `+want[1]) {
			t.Errorf("%s: want unique %s in\n%s", query, want[1], plan)
		}
	}
}
