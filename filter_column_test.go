package weft_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/weftdb/weft"
)

// TestFilterOnlyColumns filters by columns of every kind that nothing else reads, so that their values need
// not be unpacked, and compares the rows with those of a row scan: with few and many rows found, with changed
// rows and the transaction's own, below joins, sorts and aggregates, fully covered and in hybrid scans.
func TestFilterOnlyColumns(t *testing.T) {
	db, err := weft.Open(context.Background(), "", weft.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	s := db.Session()
	t.Cleanup(func() { s.Close() })
	mustExec(t, s, `create table t (id bigint primary key, a integer, b bigint, c numeric(30,2), d double precision, e text, f boolean, g date, h interval, out text);
		insert into t select g, g % 1000, (g::bigint * 7919 % 100003) * 1000000007, g * 1.25, g / 7.0, 'text ' || g % 50, g % 3 = 0, date '2020-01-01' + g % 900,
			g % 40 * interval '1 day', case when g % 11 > 0 then 'out ' || g end from generate_series(1, 9000) g;
		update t set a = null, e = null where id % 500 = 0; create table few (id bigint, w text); insert into few select g * 150, 'few ' || g from generate_series(1, 60) g`)
	conditions := []string{"a < 3", "a < 500", "a is null", "b < 50000000000000", "b > 100000", "c < 900", "c > 900", "d < 10 or d > 1100", "e = 'text 7'", "e like 'text 1%'",
		"f", "not f", "g < date '2020-01-03'", "g > date '2020-02-01'", "h > interval '38 days'", "a + 1 < 4", "a < 3 and e = 'text 1'", "length(e) > 6 and f", "d * a > 100000 and b > c"}
	queries := []string{"select count(*) from t where %s", "select id from t where %s", "select sum(id), min(g), max(c) from t where %s", "select f, count(*) from t where %s group by f",
		"select few.w, t.id from few join t on t.id = few.id where %s", "select few.w from few where exists (select from t where t.id = few.id and %s)",
		"select id from t where %s order by id desc limit 20", "select 1 from t where %s limit 7", "select id from t where %[1]s union all select a from t where %[1]s",
		"select out from t where %s", "select id, out from t where %s order by id limit 30"}
	if testing.Short() {
		conditions = conditions[:6]
	}
	compare := func(state string) {
		t.Helper()
		for _, c := range conditions {
			for _, q := range queries {
				query := fmt.Sprintf(q, c)
				mustExec(t, s, "set htap_router_mode = 'row'")
				want := sortedRows(t, s, query)
				mustExec(t, s, "set htap_router_mode = 'column'")
				if got := sortedRows(t, s, query); !slices.Equal(got, want) {
					t.Errorf("%s: %s: %d rows differ from %d", state, query, len(got), len(want))
				}
			}
		}
	}
	covers := map[string]string{"covered": "colview", "hybrid": "colview nocolview (out)"}
	for _, state := range []string{"covered", "hybrid"} {
		mustExec(t, s, "alter table t "+covers[state]+"; select * from gs_imcv_flush('t')")
		compare(state)
		mustExec(t, s, "begin; update t set a = a + 1, e = 'text 7', f = not f where id % 300 = 1; delete from t where id % 300 = 2; insert into t (id, a, out) values (-1, 1, 'new')")
		compare(state + ", with changed rows")
		mustExec(t, s, "rollback")
	}
}
