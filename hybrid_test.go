package weft_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weftdb/weft"
)

// hybridTable makes a table of 2 data nodes and some row groups whose column view covers k and r:
// k ascends, r is spread, u and v are fetched.
func hybridTable(t *testing.T, rows int) (*weft.DB, *weft.Session) {
	t.Helper()
	db, err := weft.Open(context.Background(), "", weft.Options{DataNodes: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	s := db.Session()
	t.Cleanup(func() { s.Close() })
	mustExec(t, s, `create table t (id bigint primary key, k integer, r integer, u integer, v text) distribute by hash(id)`)
	file := t.TempDir() + "/t.csv"
	mustExec(t, s, fmt.Sprintf(`copy (select g, g / 2, g::bigint * 7919 %% 100003, case when g %% 5 = 0 then null else g end, case when g %% 3 = 0 then null else 'v' || g end from generate_series(1, %d) g) to '%s' (format csv)`, rows, file))
	mustExec(t, s, fmt.Sprintf(`copy t from '%s' (format csv); alter table t colview (k, r); select * from gs_imcv_flush('t')`, file))
	return db, s
}

// TestHybridScanWays meets every way in which a hybrid scan gets a row's other columns, alone, behind
// joins and LIMIT, with changed rows and the transaction's own, and compares the rows with those of
// a row scan.
func TestHybridScanWays(t *testing.T) {
	skipSequential(t)
	_, s := hybridTable(t, 300000)
	mustExec(t, s, "create table few (k integer, w text); insert into few select g * 1000, 'few ' || g from generate_series(1, 40) g")
	const byRef, byPage, byRows, late = "Rows Fetched by Reference", "Rows Fetched by Page", "Row Groups from Rows", "Late Fetch on t"
	queries := []struct{ query, fact string }{
		{"select * from t where r < 100", byRef},
		{"select * from t where k between 30000 and 30200", byRef},
		{"select * from t where k < 7500 and r < 40000", byPage}, // too few for a group that is dense from end to end
		{"select * from t where r < 60000", byRows},
		{"select v from t where r in (1, 5, 700, 90001) and k > 10", byRef},
		{"select few.w, t.v from t join few on t.k = few.k where t.r < 90000", late},
		{"select few.w, t.v from t join few on t.k = few.k where t.u is not null or few.w > ''", ""},
		{"select * from t order by k, r limit 25", late},
		{"select * from t where r < 50000 order by r + k desc, k limit 300", late},
		{"select v || '!', u + r, k from t where r < 50000 order by r, k offset 2500 limit 2000", late},
		{"select u from t order by r, k limit 10 offset 290000", late},
		{"select few.w, x.v, y.u from t x join few on x.k = few.k join t y on y.k = few.k + 1", "Late Fetch on t"},
		{"select few.w, x.v from t x left join few on x.k = few.k where x.r < 90000 order by few.w, x.r, x.k limit 40", late},
		{"select x.v from few left join t x on x.k = few.k and x.r < 60000", ""},
		{"select count(v), sum(u) from t where exists (select from few where few.k = t.k)", late},
		{"select v from t where not exists (select from few where few.k <> t.k + 1000) or k < 3", ""},
		{"select q.v, few.w from (select v, k from t order by r, k limit 1000) q join few on few.k = q.k", "Late Fetch on t"},
		{"select sum(u), max(v) from t where r between 500 and 700", byRef},
		{"select * from t where r < 0", ""},
	}
	compare := func(state string) {
		t.Helper()
		for _, q := range queries {
			mustExec(t, s, "set htap_router_mode = 'row'")
			want := sortedRows(t, s, q.query)
			mustExec(t, s, "set htap_router_mode = 'column'")
			if got := sortedRows(t, s, q.query); !slices.Equal(got, want) {
				t.Errorf("%s: %s: %d rows, by rows %d", state, q.query, len(got), len(want))
			}
			plan, err := queryText(s, "explain (analyze, costs off) "+q.query)
			if err != nil {
				t.Fatal(err)
			}
			if text := fmt.Sprint(plan); q.fact != "" && !strings.Contains(text, q.fact) {
				t.Errorf("%s: %s: no %q in\n%s", state, q.query, q.fact, strings.Join(slices.Concat(plan...), "\n"))
			}
		}
	}
	compare("unchanged")
	for _, limit := range []int{1, 7, 2000} {
		rows, err := queryText(s, fmt.Sprintf("select * from t where r < 2000 limit %d", limit))
		if err != nil || len(rows) != limit {
			t.Errorf("limit %d: %d rows, %v", limit, len(rows), err)
		}
	}
	mustExec(t, s, "update t set r = r + 1, v = 'changed' where id % 97 = 0; delete from t where id % 101 = 0")
	compare("changed")
	mustExec(t, s, "begin; update t set u = -u where id % 89 = 0; insert into t select g, g, g % 90, g, 'own' from generate_series(400001, 400100) g; delete from t where id % 83 = 0")
	compare("own writes")
	mustExec(t, s, "rollback")
	compare("rolled back")
}

// sortedRows runs a query and returns its rows in an order of their texts.
func sortedRows(t *testing.T, s *weft.Session, query string) []string {
	t.Helper()
	rows, err := queryText(s, query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	var out []string
	for _, row := range rows {
		out = append(out, strings.Join(row, "|"))
	}
	slices.Sort(out)
	return out
}

// TestHybridFetchSeesSnapshot changes all rows after a hybrid scan has filtered its row groups and
// before it has fetched the other columns of most survivors: those must be of the scan's snapshot.
func TestHybridFetchSeesSnapshot(t *testing.T) {
	skipSequential(t)
	db, s := hybridTable(t, 130000)
	mustExec(t, s, "set htap_router_mode = 'column'; set threads = 1")
	for _, c := range []struct{ name, query string }{
		{"by reference", "select r, u, v from t where r < 5000"},
		{"by page", "select r, u, v from t where k < 20000 and r < 90000"},
	} {
		want := sortedRows(t, s, c.query)
		rows, err := s.Query(context.Background(), c.query)
		if err != nil {
			t.Fatal(err)
		}
		if !rows.Next() {
			t.Fatal("no rows")
		}
		// The scan can be as far ahead as the cursor is deep; most rows are still to be fetched.
		other := db.Session()
		mustExec(t, other, "update t set r = r + 1, u = coalesce(u, 0) + 1000000, v = v || ' changed'")
		other.Close()
		var got []string
		for more := true; more; more = rows.Next() {
			var row []string
			for i := range 3 {
				text, ok := rows.Text(i)
				if !ok {
					text = `\N`
				}
				row = append(row, text)
			}
			got = append(got, strings.Join(row, "|"))
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: rows differ from those before the update", c.name)
		}
		mustExec(t, s, "select * from gs_imcv_flush('t')")
	}
}
