package weft_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestLateFetchIsolation fetches late at every isolation level, with rows of the transaction's own and
// others' changes in between: the result is that of a row scan in the same transaction.
func TestLateFetchIsolation(t *testing.T) {
	db, s := hybridTable(t, 70000)
	other := db.Session()
	defer other.Close()
	mustExec(t, s, "create table few (k integer); insert into few select g * 100 from generate_series(1, 50) g")
	queries := []string{
		"select * from t order by r, id limit 30", // id is not covered: by rows, or sorted before it is fetched
		"select * from t order by r, k limit 30",
		"select v, u, few.k from t join few on t.k = few.k where r < 90000",
		"select u, v from t where r > 50 order by k desc, r limit 20",
	}
	rounds := 3
	if testing.Short() {
		rounds = 1
	}
	for _, level := range []string{"read committed", "repeatable read", "serializable"} {
		mustExec(t, s, "begin isolation level "+level+"; select count(*) from few; update t set r = 0, v = 'own' where id in (600, 1200); insert into t values (-1, 300, 1, 5, 'new'); delete from t where id = 800")
		for round := range rounds {
			mustExec(t, other, fmt.Sprintf("update t set v = '%s %d', r = r / 2 where id %% 7 = %d and id not in (600, 800, 1200)", level, round, round))
			for i, query := range queries {
				mustExec(t, s, "set local htap_router_mode = 'row'")
				want := sortedRows(t, s, query)
				mustExec(t, s, "set local htap_router_mode = 'column'")
				if got := sortedRows(t, s, query); !slices.Equal(got, want) {
					t.Errorf("%s: %s: %d rows differ from %d", level, query, len(got), len(want))
				}
				if plan := strings.Join(sortedRows(t, s, "explain "+query), "\n"); i > 0 && !strings.Contains(plan, "Late Fetch") {
					t.Errorf("%s is not fetched late:\n%s", query, plan)
				}
			}
		}
		mustExec(t, s, "rollback")
		if _, err := s.Exec(context.Background(), "select * from gs_imcv_flush('t')"); err != nil {
			t.Fatal(err)
		}
	}
	// Locked rows may be read in newer versions than the scan's: they are not fetched late.
	if plan := strings.Join(sortedRows(t, s, "explain select * from t order by r limit 3 for update"), "\n"); strings.Contains(plan, "Late Fetch") {
		t.Errorf("locked rows are fetched late:\n%s", plan)
	}
	mustExec(t, s, "set disabled_rules = late_fetch")
	if plan := strings.Join(sortedRows(t, s, "explain "+queries[1]), "\n"); strings.Contains(plan, "Late Fetch") {
		t.Errorf("the rule cannot be switched off:\n%s", plan)
	}
}
