package weft_test

import (
	"strings"
	"testing"
)

// TestJournalFunctionsShowCommits looks at the journal while transactions are open: it has what they wrote once
// they commit, for every caller, and never what was rolled back; scans by columns see their own writes all
// the same.
func TestJournalFunctionsShowCommits(t *testing.T) {
	db, s := hybridTable(t, 3000)
	other := db.Session()
	defer other.Close()
	const changed, sum = "select sum(row_count) from gs_htap_tmu_chunk_meta(1)", "select sum(r) from t where k >= 0"
	mustExec(t, s, "set htap_router_mode = 'column'")
	expect := func(when, query, want string) {
		t.Helper()
		if got := oneLine(t, s, query); got != want {
			t.Errorf("%s: %s: %q, want %q", when, query, got, want)
		}
	}
	expect("at first", changed, "0")
	before := oneLine(t, s, sum)

	mustExec(t, s, "begin isolation level repeatable read; update t set r = r + 1 where id in (5, 6, 7)")
	expect("in the transaction", changed, "0")
	if oneLine(t, s, sum) == before {
		t.Error("a scan by columns does not see its transaction's own writes")
	}
	if plan := strings.Join(sortedRows(t, s, "explain (analyze, timing off, costs off) "+sum), "\n"); !strings.Contains(plan, "Changed Rows Merged: 3") {
		t.Errorf("the transaction's own rows do not come from the row store:\n%s", plan)
	}
	mustExec(t, other, "update t set r = r + 1 where id = 800")
	expect("after another's commit, which the snapshot does not see", changed, "1")
	expect("rows of it", "select count(*) from gs_htap_tmu_data(1)", "1")
	mustExec(t, s, "rollback")
	expect("rolled back", changed, "1")

	mustExec(t, other, "begin; update t set r = r + 1 where id in (800, 900)")
	expect("another open transaction", changed, "1")
	mustExec(t, other, "commit")
	expect("committed", changed, "2")
	mustExec(t, s, "select * from gs_imcv_flush('t')")
	expect("rebuilt", changed, "0")
}
