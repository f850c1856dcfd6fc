package weft_test

import (
	"context"
	"strings"
	"testing"

	"github.com/weftdb/weft"
)

// TestDataNodePlans looks at which data nodes EXPLAIN says are read: by what planning knows, by what only an
// execution knows, and by what a join finds.
func TestDataNodePlans(t *testing.T) {
	s := openNodes(t, 4).Session()
	defer s.Close()
	mustExec(t, s, `create table t (a int, b text, c int) distribute by hash (a); insert into t select g, 'v' || g, g % 10 from generate_series(1, 4000) g;
		create table m (a int, b text, c int) distribute by hash (a, b); insert into m select a, b, c from t;
		create table v (a int, b text, c int) distribute by hash (a); alter table v colview; insert into v select a, b, c from t;
		create table h (a int, b text, c int) distribute by hash (a); alter table h colview (a); insert into h select a, b, c from t;
		create table p (a int, b text, c int) partition by range (c) distribute by hash (a);
		create table p0 partition of p for values from (0) to (5); create table p1 partition of p default; insert into p select a, b, c from t;
		create table u (k int, n bigint, f float8, w text); insert into u select g, g, g, 'w' || g from generate_series(1, 100) g;
		analyze; select total from gs_imcv_flush('v'); select total from gs_imcv_flush('h')`)
	const analyze = "explain (analyze, costs off, timing off, summary off) "
	for _, c := range []struct {
		query string
		args  []any
		want  []string // a text behind ! must not be there
	}{
		{"explain select * from t where a = 5", nil, []string{"Data Nodes: 1 of 4\n", "!run time"}},
		{"explain select * from t where a = 5 and c = 3", nil, []string{"Data Nodes: 1 of 4\n"}},
		{"explain select * from t where a in (5, 6, 7, 8) and a < 6", nil, []string{"Data Nodes: 1 of 4\n", "Node/s: datanode"}},
		{"explain select * from t where a is null", nil, []string{"Data Nodes: 1 of 4\n"}},
		{"explain select * from t where a = 5 or a is null and c = 1 or a = 5", nil, []string{"Data Nodes: "}},
		{"explain select * from t where a = 5 and a = 6", nil, []string{"Data Nodes: 0 of 4\n", "Node/s: none\n"}},
		{"explain select * from t where a = 5::bigint", nil, []string{"Data Nodes: 1 of 4\n"}},
		{"explain select * from t where a::float8 = 5", nil, []string{"Data Nodes: 1 of 4\n"}}, // exact: every int4 is a float8
		{"explain select * from t where a > 5", nil, []string{"!Data Nodes", "Node/s: All datanodes"}},
		{"explain select * from t where a > $1", []any{5}, []string{"!Data Nodes"}},
		{"explain select * from t where a = 5 or c = 1", nil, []string{"!Data Nodes"}},
		{"explain select * from u where n::float8 = 5", nil, []string{"!Data Nodes"}},
		{"explain select * from m where a = 5 and b = 'v5'", nil, []string{"Data Nodes: 1 of 4\n"}},
		{"explain select * from m where a = 5", nil, []string{"!Data Nodes"}},
		{"explain select * from m where a = $1", []any{5}, []string{"!Data Nodes"}},
		{analyze + "select * from m where a = 5 and b = $1", []any{"v5"}, []string{"run time: at start", "Data Nodes selected: 1 out of 4", "rows=1 "}},
		{"explain update t set c = 0 where a = 5", nil, []string{"Data Nodes: 1 of 4\n"}},
		{"explain delete from t where a = 5", nil, []string{"Data Nodes: 1 of 4\n"}},
		{"explain select * from t where a = 5 for update", nil, []string{"Data Nodes: 1 of 4\n"}},
		{analyze + "select * from t where a = $1", []any{5}, []string{"Data Nodes: 4 of 4; run time: at start", "Data Nodes selected: 1 out of 4"}},
		{analyze + "select * from t where a = (select max(k) from u)", nil, []string{"Data Nodes: 4 of 4; run time: at start", "Data Nodes selected: 1 out of 4"}},
		{analyze + "select * from t where a = extract(year from now())::int", nil, []string{"Data Nodes selected: 1 out of 4"}},
		{analyze + "select (select b from t where a = k limit 1) from u where k < 4", nil, []string{"Data Nodes selected: avg 1.0, max 1 out of 4 over 3 rescans"}},
		{"explain select * from v where a = 5", nil, []string{"Imcv Scan", "Data Nodes: 1 of 4\n"}},
		{"explain select * from h where a = 5", nil, []string{"Imcv Scan", "Data Nodes: 1 of 4\n"}},
		{analyze + "select * from p where a = 5 and c = 5", nil, []string{"Partitions: 1 of 2 after planning", "Data Nodes: 1 of 4\n", "Row Groups: 1\n"}},
		{analyze + "select * from p where a = $1", []any{5}, []string{"Partitions: 2 of 2", "Data Nodes selected: 1 out of 4", "Row Groups: 2\n"}},
		{analyze + "select * from t join u on t.a = u.k where w = 'w5'", nil, []string{"Runtime Filters: PS1[data node] u.k -> t", "Data Node Selector PS1 (scan 1, t)",
			"Route: hash of (u.k)", "Data Nodes: 4 of 4; run time: PS1", "Data Nodes selected: 1 out of 4 (PS1 1)"}},
		{analyze + "select * from t join u on t.a = u.n where w = 'w5'", nil, []string{"Data Nodes selected: 1 out of 4 (PS1 1)"}},
		{analyze + "select * from p join u on p.a = u.k where w = 'w5'", nil, []string{"run time: off, reason: no key in condition", "Data Nodes selected: 1 out of 4 (PS1 1)"}},
		{analyze + "select * from t join u on t.a = u.k where w = 'none'", nil, []string{"Data Nodes selected: 0 out of 4"}},
		{"explain (verbose) select * from t x join t y on x.a = y.a", nil, []string{"run time: off, reason: cost (expected 4 of 4)"}},
		{"explain select * from t x join t y on x.a = y.a", nil, []string{"!Data Nodes"}},
		{"explain select * from m join u on m.a = u.k where w = 'w5'", nil, []string{"!Data Node"}},
	} {
		mustExec(t, s, "set htap_router_mode = "+map[bool]string{true: "column", false: "auto"}[strings.Contains(strings.Join(c.want, ""), "Imcv")])
		got := planText(t, s, c.query, c.args...) + "\n"
		for _, want := range c.want {
			if absent, isAbsent := strings.CutPrefix(want, "!"); isAbsent == strings.Contains(got, strings.TrimPrefix(want, "!")) {
				t.Errorf("%s: %q is there %v in\n%s", c.query, absent, isAbsent, got)
			}
		}
	}
	plan := explainJSON(t, s, "explain (format json) select * from t where a = 5")["Plan"].(map[string]any)["Plans"].([]any)[0].(map[string]any)
	if nodes, _ := plan["data_nodes"].(map[string]any); nodes["after_planning"] != 1.0 || nodes["total"] != 4.0 {
		t.Errorf("JSON: %v", plan)
	}
	mustExec(t, s, "set enable_partition_pruning = off")
	for _, query := range []string{"select * from t where a = 5", "select * from t join u on t.a = u.k where w = 'w5'"} {
		if got := planText(t, s, "explain "+query); strings.Contains(got, "Data Node") {
			t.Errorf("pruned although it is off:\n%s", got)
		}
	}
}

// TestDataNodesSerializable: what a scan need not read counts as read. Two transactions look for rows on
// different nodes and each adds what the other has looked for.
func TestDataNodesSerializable(t *testing.T) {
	db := openNodes(t, 4)
	s, other := db.Session(), db.Session()
	defer s.Close()
	defer other.Close()
	mustExec(t, s, "create table t (a int, b int) distribute by hash (a); insert into t select g, 0 from generate_series(1, 100) g")
	for _, one := range []*weft.Session{s, other} {
		mustExec(t, one, "begin isolation level serializable")
	}
	for one, key := range map[*weft.Session]string{s: "1000", other: "1001"} {
		if got := outcome(one, "select count(*) from t where a = "+key); got != "0" {
			t.Fatalf("%s rows with key %s", got, key)
		}
	}
	mustExec(t, s, "insert into t values (1001, 1)")
	mustExec(t, other, "insert into t values (1000, 1)")
	mustExec(t, s, "commit")
	if _, err := other.Exec(context.Background(), "commit"); codeOf(err) != "40001" {
		t.Errorf("the second commit: %v", err)
	}
}

// BenchmarkDataNodeLookup looks rows up by the distribution key, without an index, on four data nodes: with
// pruning one is read.
func BenchmarkDataNodeLookup(b *testing.B) {
	db, err := weft.Open(b.Context(), weft.InMemory, weft.Options{DataNodes: 4})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	s := db.Session()
	defer s.Close()
	mustExec(b, s, `create table t (a int, b text, c int) distribute by hash (a); insert into t select g, 'v' || g, g % 10 from generate_series(1, 400000) g;
		create table v (a int, b text, c int) distribute by hash (a); alter table v colview; insert into v select * from t; select total from gs_imcv_flush('v'); analyze`)
	for _, table := range []string{"t", "v"} {
		for _, pruning := range []string{"on", "off"} {
			b.Run(table+"/"+pruning, func(b *testing.B) {
				mustExec(b, s, "set enable_partition_pruning = "+pruning)
				for i := range b.N {
					if got, err := queryText(s, "select c from "+table+" where a = $1", 1+i*7919%400000); err != nil || len(got) != 1 {
						b.Fatal(got, err)
					}
				}
			})
		}
	}
}
