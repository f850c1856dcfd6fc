package weft_test

import (
	"slices"
	"strings"
	"testing"
)

// TestScanHints checks which tables are read by columns when hints and settings disagree.
func TestScanHints(t *testing.T) {
	db := openMemory(t)
	s := db.Session()
	defer s.Close()
	mustExec(t, s, `create table t (a int primary key, b int, c text);
		insert into t select g, g, 'x' from generate_series(1, 1000) g;
		alter table t colview(a, b);
		create table u (a int, b int);
		insert into u select g, g from generate_series(1, 1000) g;
		alter table u colview;
		create table bare (a int)`)
	mustExec(t, s, "select * from gs_imcv_flush('t'); select * from gs_imcv_flush('u')")
	var notices []string
	s.OnNotice(func(text string) { notices = append(notices, text) })
	for _, c := range []struct {
		set, query string
		columns    string // tables read by columns, sorted
		notice     string
	}{
		{"", "select /*+ imcvscan(t) */ sum(b) from t", "t", ""},
		{"set htap_router_mode = 'row'", "select sum(b) from t", "", ""},
		{"set htap_router_mode = 'row'", "select /*+ imcvscan(t) */ sum(b) from t", "t", ""},
		{"set htap_router_mode = 'row'", "select /*+ IMCVSCAN(x) */ sum(b) from t x", "x", ""},
		{"set htap_router_mode = 'row'", "select /*+ imcvscan(t) */ sum(b) from t x", "", "hint imcvscan(t) has no effect: the query has no table of that name"},
		{"set enable_imcvscan = off", "select /*+ imcvscan(t) */ sum(b) from t", "t", ""},
		{"set htap_router_mode = 'column'", "select /*+ no imcvscan(t) */ sum(b) from t", "", ""},
		{"set htap_router_mode = 'column'", "select /*+ no imcvscan(t) */ sum(t.b + u.b) from t, u where t.b = u.b", "u", ""},
		{"set htap_router_mode = 'column'", "select /*+ no imcvscan(t u) */ sum(t.b + u.b) from t, u where t.b = u.b", "", ""},
		{"set htap_router_mode = 'row'", "select /*+ imcvscan(t, u) */ 1 from t left join u on t.b = u.b", "tu", ""},
		{"set htap_router_mode = 'row'", "select /*+ imcvscan(t) */ 1 from (select /*+ imcvscan(u) */ b from u where a > 3 group by b) q", "u", "hint imcvscan(t) has no effect: the query has no table of that name"},
		{"set htap_router_mode = 'row'", "select /*+ imcvscan(t) */ c from t where b < 5", "t", ""},  // hybrid
		{"set htap_router_mode = 'row'", "select /*+ imcvscan(t) */ a from t where c = 'x'", "", ""}, // not covered
		{"set htap_router_mode = 'row'", "select /*+ imcvscan(bare) */ a from bare", "", ""},         // no view
		{"set htap_router_mode = 'row'", "select /*+ imcvscan(t) */ b from t where a = 5", "t", ""},  // instead of a look-up
		{"set htap_router_mode = 'row'", "select /*+ seqscan(t) */ b from t", "", `hint "seqscan" is not known and has no effect`},
		{"set htap_router_mode = 'row'", "update /*+ imcvscan(t) */ t set b = b + 1 where b > 990", "t", ""},
		{"set htap_router_mode = 'row'", "delete /*+ imcvscan(u) imcvscan(t) */ from t using u where t.b = u.b and u.a > 990", "tu", ""},
		{"set htap_router_mode = 'row'", "insert into u select /*+ imcvscan(t) */ a, b from t where b > 990", "t", ""},
	} {
		mustExec(t, s, "reset all")
		notices = nil
		if c.set != "" {
			mustExec(t, s, c.set)
		}
		plan, err := queryText(s, "explain (costs off) "+c.query)
		if err != nil {
			t.Errorf("%s: %v", c.query, err)
			continue
		}
		var found []string
		for _, line := range plan {
			if _, scan, ok := strings.Cut(line[0], "Imcv Scan on "); ok {
				words := strings.Fields(scan)
				found = append(found, words[len(words)-1])
			}
		}
		slices.Sort(found)
		if strings.Join(found, "") != c.columns {
			t.Errorf("%s; %s: by columns %q, want %q\n%v", c.set, c.query, found, c.columns, plan)
		}
		if got := strings.Join(notices, "; "); got != c.notice {
			t.Errorf("%s: notices %q, want %q", c.query, got, c.notice)
		}
	}
}
