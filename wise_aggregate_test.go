package weft_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weftdb/weft"
)

var partitionGroupings = flag.Int("partition-groupings", 10, "random partitioned tables that TestPartitionGroupingsRandom makes")

// groupedFuzz asks random partitioned tables for groups.
type groupedFuzz struct {
	*partitionFuzz
	wise int // groupings carried out partition-wise
}

// grouping returns a query for groups, by the keys of partitions in the main. It shows no keys, of which any
// of several equal ones may stand for its group.
func (f *groupedFuzz) grouping() string {
	by := append([]string(nil), f.keys...)
	f.r.Shuffle(len(by), func(i, j int) { by[i], by[j] = by[j], by[i] })
	by = by[:1+f.r.IntN(len(by))]
	if f.r.IntN(3) > 0 {
		by = append([]string(nil), f.keys...)
	}
	for f.r.IntN(3) == 0 {
		by = append(by, f.pick("a", "b", "c", "d", "e", "f", "g", "h", "i", "k", "l", "m", "id", "m % 2", "c || l", "e::int"))
	}
	from, group := "@", strings.Join(by, ", ")
	if f.r.IntN(4) == 0 { // through projections and a filter
		var items, names []string
		for i, e := range by {
			items, names = append(items, fmt.Sprintf("%s as q%d", e, i)), append(names, fmt.Sprintf("q%d", i))
		}
		from, group = "(select *, "+strings.Join(items, ", ")+" from @ offset 0) s", strings.Join(names, ", ")
		if f.r.IntN(2) == 0 {
			from = strings.Replace(from, " offset 0", "", 1)
		}
	}
	query := "select " + f.pick("min(id), count(*), sum(id)", "min(id), count(distinct c), sum(distinct m)", "min(id), count(*) filter (where a > 0), count(e)", "max(id), length(string_agg(distinct l, ','))") +
		" from " + from
	if f.r.IntN(2) == 0 {
		query += " where " + f.condition(1)
	}
	query += " group by " + group + f.pick("", "", " having count(*) > 1", " having min(id) % 2 = 0")
	switch f.r.IntN(5) {
	case 0:
		query += fmt.Sprintf(" order by 1 limit %d", 1+f.r.IntN(20))
	case 1:
		query = "select count(*), sum(x) from (" + query + ") s (x)"
	case 2:
		return "select count(*) from (select distinct " + strings.Join(by, ", ") + " from @) s"
	default:
		query += " order by 1"
	}
	return query
}

func (f *groupedFuzz) compare() {
	f.t.Helper()
	query := f.grouping()
	want := outcome(f.s, strings.ReplaceAll(query, "@", "o"))
	query = strings.ReplaceAll(query, "@", "t")
	for _, way := range []string{"set enable_partitionwise_aggregate = off; set work_mem = 0", "set enable_partitionwise_aggregate = on; set work_mem = '1kB'; set threads = 1",
		"set threads = 3; set htap_router_mode = row", "set work_mem = '20kB'; set htap_router_mode = column", "set htap_router_mode = auto; set work_mem = '1kB'"} {
		for _, set := range strings.Split(way, ";") {
			f.must(set)
		}
		if got := outcome(f.s, query); got != want {
			f.t.Errorf("%s; %s\n got %s\nwant %s\n%s", way, query, got, want, outcome(f.s, "explain analyze "+query))
			return
		}
	}
	if strings.Contains(outcome(f.s, "explain analyze "+query), "Partition-wise Aggregate") {
		f.wise++
	}
}

func (f *groupedFuzz) run() {
	f.must("create table o (" + f.columns(false) + ")")
	by, bounds := f.partitionBy()
	f.must("create table t (" + f.columns(false) + ") " + by)
	f.grow("t", bounds, 2)
	for range 150 {
		f.insert()
	}
	// Values that are equal and not the same.
	for i, values := range []string{"-0.0", "'nan'", "0"} {
		f.both(fmt.Sprintf("insert into @ (id, i, k, e, g) values (%d, %s, %s, 0, 'a ')", 1000+i, values, f.pick("1.5", "1.50", "1.500", "0.0")))
	}
	if len(f.leaves) > 0 {
		f.must("alter table t colview " + f.pick("", "(id, a, b, c)", "(a, d, e, f, m)", "(c, e, g, h, i, k)"))
		f.ids("select total from gs_imcv_flush('t')")
	}
	for i := range 40 {
		if i%8 == 4 { // rows of the transaction's own
			f.must("begin")
			for _, table := range []string{"t", "o"} {
				f.must("insert into " + table + " select id + 5000, a, b, c, d, e, f, g, h, i, k, l, m from " + table + " where id % 3 = 0")
				f.must("delete from " + table + " where id % 7 = 0")
				f.must("update " + table + " set id = -id where id % 5 = 0")
			}
		}
		f.compare()
		if i%8 == 6 {
			f.must("rollback")
		}
	}
}

// TestPartitionGroupingsRandom groups the rows of random partitioned tables, partition-wise and not, and
// those of ordinary tables.
func TestPartitionGroupingsRandom(t *testing.T) {
	first := firstSeed(t)
	wise := 0
	for i := range *partitionGroupings {
		seed := first + uint64(i)
		f := &groupedFuzz{partitionFuzz: &partitionFuzz{t: t, r: rand.New(rand.NewPCG(seed, 11))}}
		f.s = openMemory(t).Session()
		f.run()
		wise += f.wise
		if err := f.s.Close(); err != nil {
			t.Fatal(err)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if wise == 0 && *partitionGroupings > 5 {
		t.Error("nothing was ever grouped partition-wise")
	}
	t.Logf("%d tables; %d groupings were partition-wise", *partitionGroupings, wise)
}

// TestPartitionWiseAggregateExplained: EXPLAIN ANALYZE tells when groups are made partition-wise: by keys
// that include those of the partitions, where they do not fit.
func TestPartitionWiseAggregateExplained(t *testing.T) {
	s := wiseDB(t, 24000)
	mustExec(t, s, "create table e (k int, x numeric, c text) partition by list ((k % 4))")
	for i := range 4 {
		mustExec(t, s, fmt.Sprintf("create table e_%[1]d partition of e for values in (%[1]d)", i))
	}
	mustExec(t, s, "insert into e select i % 999, i % 7, i from generate_series(1, 8000) i")
	mustExec(t, s, "create table n (x numeric, v int) partition by list ((x * 10)); create table n_1 partition of n for values in (10, 20, 30); create table n_2 partition of n default")
	mustExec(t, s, "insert into n select i % 5, i from generate_series(1, 8000) i")
	mustExec(t, s, `create table m (a int, b int, v int) partition by range (a);
		create table m_1 partition of m for values from (0) to (50) partition by hash (b);
		create table m_1_0 partition of m_1 for values with (modulus 2, remainder 0); create table m_1_1 partition of m_1 for values with (modulus 2, remainder 1);
		create table m_2 partition of m for values from (50) to (100)`)
	mustExec(t, s, "insert into m select i % 100, i % 33, i from generate_series(1, 8000) i")
	mustExec(t, s, "set work_mem = '64kB'")
	for query, want := range map[string]string{
		"select k, count(*) from f group by k":                                                            "groups 13",
		"select distinct k, s from f where k < 250":                                                       "groups 4",
		"select x.q, x.v, sum(x.v) from (select k as q, v, s from f where s <> '') x group by 1, 2":       "groups 13",
		"select k, count(*) from f group by k having count(*) > 3 order by 2, 1 limit 2":                  "groups 13",
		"select k % 4, count(*) from e group by 1":                                                        "groups 4",
		"select k, count(*) from e group by k":                                                            "groups 4",
		"select x, count(*) from e group by x, k % 4":                                                     "groups 4",
		"select a, count(*) from m group by a":                                                            "groups 2",
		"select a, b, count(*) from m group by a, b":                                                      "groups 3",
		"select x * 10, count(*) from n group by 1":                                                       "groups 2",
		"select f.k, count(*), max(g.s) from f join g on f.k = g.k group by f.k":                          "groups 13",
		"select g.k, f.v, count(*) from f right join g on f.k = g.k group by 1, 2":                        "groups 13",
		"select f.k, f.v, count(*) from f left join h on f.k = h.k group by 1, 2":                         "groups 5",
		"select f.k, f.v, count(*) from f where not exists (select from g where f.k = g.k) group by 1, 2": "groups 13",
		// What only looks like the key does not do.
		"select v, count(*) from f group by v":                                    "",
		"select k::bigint, count(*) from f group by 1":                            "",
		"select k + 0, count(*) from f group by 1":                                "",
		"select v as k, count(*) from f group by 1":                               "",
		"select k, count(*) from (select v as k from f) f group by 1":             "",
		"select k % 5, count(*) from e group by 1":                                "",
		"select x, count(*) from n group by 1":                                    "", // 1.0 = 1.00
		"select b, count(*) from m group by b":                                    "",
		"select g.k, f.v, count(*) from f left join g on f.k = g.k group by 1, 2": "",
		"select f.k, f.v, count(*) from f full join g on f.k = g.k group by 1, 2": "",
		"select f.v, count(*) from f join g on f.k = g.k group by 1":              "",
		"select count(*) from f":                                                  "",
		"select k, count(*) from f where k between 0 and 99 group by k":           "", // one partition
	} {
		plan := analyzed(t, s, query)
		if want == "" && strings.Contains(plan, "Partition-wise Aggregate") || want != "" && !strings.Contains(plan, "Partition-wise Aggregate: "+want+", rounds ") {
			t.Errorf("%s: want %q in\n%s", query, want, plan)
		}
		groupedEqual(t, s, query)
	}
	mustExec(t, s, "set work_mem = 0")
	if plan := analyzed(t, s, "select k, v, count(*) from f group by k, v"); strings.Contains(plan, "Partition-wise") {
		t.Errorf("groups fit:\n%s", plan)
	}
}

// groupedEqual compares a grouping with the setting on and off, by one worker and three.
func groupedEqual(t *testing.T, s *weft.Session, query string) {
	t.Helper()
	sorted := "select * from (" + query + ") x order by 1"
	if !strings.Contains(query, "limit") {
		n := strings.Count(strings.SplitN(query, " from ", 2)[0], ",")
		for i := range n {
			sorted += fmt.Sprintf(", %d", i+2)
		}
	}
	mustExec(t, s, "set enable_partitionwise_aggregate = off")
	want := outcome(s, sorted)
	mustExec(t, s, "set enable_partitionwise_aggregate = on")
	for _, threads := range []int{1, 3} {
		mustExec(t, s, fmt.Sprintf("set threads = %d", threads))
		if got := outcome(s, sorted); got != want {
			t.Errorf("%s:\n got %s\nwant %s", query, got, want)
		}
	}
}

// TestPartitionWiseAggregateMemory: groups that memory does not take at a time are made partition-wise, those
// of a table and those of a join, and a query that keeps all groups fails.
func TestPartitionWiseAggregateMemory(t *testing.T) {
	s := openMemory(t).Session()
	defer s.Close()
	for _, table := range []string{"f", "g"} {
		mustExec(t, s, "create table "+table+" (k int, v int) partition by range (k)")
		for i := range 20 {
			mustExec(t, s, fmt.Sprintf("create table %[1]s_%[2]d partition of %[1]s for values from (%[3]d) to (%[4]d)", table, i, i*10000, (i+1)*10000))
		}
		mustExec(t, s, "insert into "+table+" select i, i from generate_series(0, 199999) i")
	}
	mustExec(t, s, "analyze f; analyze g; set memory_limit = '16MB'")
	defer mustExec(t, s, "reset memory_limit")
	for _, query := range []string{
		"select count(*), sum(n), sum(m) from (select k, count(*) n, min(v) m, count(distinct v) d from f group by k) x",
		"select count(*), sum(n), sum(m) from (select f.k, count(*) n, min(g.v) m, count(distinct f.v) d from f join g on f.k = g.k group by f.k) x",
	} {
		mustExec(t, s, "set enable_partitionwise_aggregate = on")
		for _, threads := range []int{1, 2} {
			mustExec(t, s, fmt.Sprintf("set threads = %d", threads))
			if got, want := outcome(s, query), "200000|200000|19999900000"; !strings.Contains(got, want) {
				t.Errorf("%s: got %s, want %s", query, got, want)
			}
		}
		if plan := analyzed(t, s, query); !strings.Contains(plan, "Partition-wise Aggregate: groups 20, rounds ") {
			t.Errorf("%s:\n%s", query, plan)
		}
		mustExec(t, s, "set enable_partitionwise_aggregate = off")
		if _, err := s.Exec(context.Background(), query); codeOf(err) != "53200" {
			t.Errorf("%s: got %v, want 53200", query, err)
		}
	}
}
