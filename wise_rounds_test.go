package weft_test

import (
	"strings"
	"testing"
)

// TestRoundsBelowDiscarded: the rounds of a partition-wise join run although its rows only mark the build rows
// of the join above.
func TestRoundsBelowDiscarded(t *testing.T) {
	s := wiseDB(t, 24000)
	mustExec(t, s, "create table few (v int); insert into few select i from generate_series(1, 50) i; analyze f; analyze g; analyze few; set work_mem = '64kB'")
	for join, not := range map[string]string{"Right Semi": "", "Right Anti": "not "} {
		query := "select count(*) from few where " + not + "exists (select from f join g on f.k = g.k where f.v = few.v + 400 and g.v % 2 = 0)"
		mustExec(t, s, "set enable_partitionwise_join = off")
		want := outcome(s, query)
		mustExec(t, s, "set enable_partitionwise_join = on")
		plan := analyzed(t, s, query)
		if got := outcome(s, query); got != want || want == "0" || want == "50" {
			t.Errorf("%s: got %s, want %s\n%s", query, got, want, plan)
		}
		if !strings.Contains(plan, join+" Join") || !strings.Contains(plan, "(full)") {
			t.Errorf("another plan:\n%s", plan)
		}
	}
}
