package weft_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestExplainBuild: EXPLAIN says of a hash join what it is built from and what makes its keys unique, with VERBOSE
// how many rows these are at most, and whether they are scattered; ANALYZE what they took.
func TestExplainBuild(t *testing.T) {
	db := openMemory(t)
	s, other := db.Session(), db.Session()
	defer s.Close()
	defer other.Close()
	mustExec(t, s, `create table d (day int primary key, w text, u int unique); insert into d select i, 'w' || i, i from generate_series(1, 1000) i;
		create table f (k int, u int); insert into f select i % 2000, i from generate_series(1, 20000) i; analyze d; analyze f`)
	for _, c := range []struct{ options, query, want string }{
		{"", "select * from f join d on f.k = d.day", " Build: d, unique (pk) "},
		{"", "select * from f join d on f.k = d.u", " Build: d, unique (d_u_key) "},
		{"", "select count(*) from f x join f y on x.u = y.k", " Build: "},
		{"", "select count(*) from f join (select u, count(*) from d group by u) g on f.u = g.u", " Build: d, unique (group) "},
		{"verbose, ", "select * from f join d on f.k = d.day", " Build: d, bound 1000 rows / "},
		{"verbose, ", "select * from f join (select day from d limit 10) d on f.k = d.day", " Build: d, bound 10 rows / "},
		{"verbose, ", "select count(*) from f join (select * from d where day = 7) d on f.k = d.day + 0", " Build: d, bound 1 rows / "},
		{"verbose, ", "select count(*) from f join (select a.day from d a join d b on a.day = b.u) d on f.k = d.day", " Build: b, a, bound 1000 rows / "},
		{"analyze, ", "select * from f join d on f.k = d.day", ", bound 36 kB"},
	} {
		plan := outcome(s, "explain ("+c.options+"costs off) "+c.query)
		if !strings.Contains(plan, c.want) {
			t.Errorf("%s: no %q in\n%s", c.query, c.want, plan)
		}
	}
	mustExec(t, s, "set work_mem = '16kB'")
	const query = "select sum(d.u) from f join d on f.k = d.day"
	if plan := outcome(s, "explain verbose "+query); !strings.Contains(plan, " of 16 kB, partitions 16, unique (pk)") {
		t.Errorf("a small budget:\n%s", plan)
	}
	if plan := outcome(s, "explain analyze "+query); !strings.Contains(plan, " Memory: peak ") || !strings.Contains(plan, " of 16 kB, estimated ") {
		t.Errorf("a small budget:\n%s", plan)
	}
	mustExec(t, s, "set work_mem = 0")
	if plan := outcome(s, "explain verbose "+query); strings.Contains(plan, ", partitions ") {
		t.Errorf("the build fits for certain:\n%s", plan)
	}

	// The bound is that of the statement's snapshot, whatever was committed since, and counts own rows.
	bound := func() float64 {
		t.Helper()
		var plans []struct{ Plan map[string]any }
		if err := json.Unmarshal([]byte(outcome(s, "explain (verbose, format json) select * from d")), &plans); err != nil {
			t.Fatal(err)
		}
		return plans[0].Plan["Plan Rows Bound"].(float64)
	}
	mustExec(t, s, "begin isolation level repeatable read; select count(*) from f")
	mustExec(t, other, "delete from d where day > 10")
	if got := bound(); got < 1000 {
		t.Errorf("an older snapshot of 1000 rows: bound %v", got)
	}
	mustExec(t, s, "commit")
	if got := bound(); got != 10 {
		t.Errorf("after a delete: bound %v, want 10", got)
	}
	mustExec(t, s, "begin; insert into d select i, 'w', i from generate_series(2000, 2099) i")
	if got := bound(); got < 110 {
		t.Errorf("with 100 rows of its own: bound %v", got)
	}
	mustExec(t, s, "commit")
	if got := bound(); got != 110 {
		t.Errorf("after an insert: bound %v, want 110", got)
	}
}

// TestExplainJSONIsValid: the JSON of plans with selectors and runtime filters can be read.
func TestExplainJSONIsValid(t *testing.T) {
	s := wiseDB(t, 6000)
	mustExec(t, s, "analyze f; analyze d; set work_mem = '20kB'")
	text := outcome(s, "explain (analyze, verbose, format json) select f.k, count(*) from f join d on f.k = d.k where d.v < 40 group by f.k")
	if !json.Valid([]byte(text)) || !strings.Contains(text, `"early_stop": `) || !strings.Contains(text, `"peak": `) {
		t.Error(text)
	}
}
