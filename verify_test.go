package weft_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/weftdb/weft"
)

// TestVerifyMode checks what htap_verify compares, what it leaves out and says so, and that it returns
// the query's rows.
func TestVerifyMode(t *testing.T) {
	skipSequential(t)
	s := viewedTable(t)
	var notices []string
	s.OnNotice(func(text string) { notices = append(notices, text) })
	mustExec(t, s, "alter table t add column f double precision; update t set f = r / 7.0 where id < 5000; set enable_async_populate = off; alter table t colview (k, r, f); set htap_verify = on")
	for _, c := range []struct{ query, want, counts, notice string }{
		{"select count(*), count(u), count(v) from t where k < 500", "999|999|999", "1|0|0|0", ""},
		{"select u from t where k = 5", "10;11", "2|0|0|0", ""},
		{"select avg(f) > 0 from t where k < 3000", "t", "3|0|0|0", ""},
		{"select sum(f) > 0 from t", "t", "4|0|0|0", ""},
		{"select id from t order by k limit 1", "1", "4|1|0|0", "only the number of rows is compared: LIMIT may choose among equal rows"},
		{"select count(*) from (select u from t where r < 1000 limit 5) q", "5", "4|1|1|0", "results are not compared: LIMIT in a subquery may choose among rows"},
		{"select count(*) from t where random() > 2", "0", "4|1|2|0", "results are not compared: it calls volatile functions"},
		{"select count(*) from generate_series(1, 3) g", "3", "4|1|2|1", ""},
		{"select v from t where id = 3", "v3", "4|1|2|1", ""}, // a single row by key has one way
		{"set htap_router_mode = 'row'; select count(*) from t where k < 50", "99", "5|1|2|1", ""},
		{"select /*+ imcvscan(t) */ count(*) from t where k < 50", "99", "6|1|2|1", ""},
		{"begin; update t set u = -1 where k < 2; select sum(u) from t where k < 3", "6", "7|1|2|1", ""},
		{"rollback; select sum(u) from t where k < 3", "15", "8|1|2|1", ""},
	} {
		parts := strings.Split(c.query, "; ")
		for _, p := range parts[:len(parts)-1] {
			mustExec(t, s, p)
		}
		notices = nil
		if got := oneLine(t, s, parts[len(parts)-1]); got != c.want {
			t.Errorf("%s: %s, want %s", c.query, got, c.want)
		}
		told := strings.TrimPrefix(strings.Join(notices, "; "), "htap_verify: ")
		if told != c.notice {
			t.Errorf("%s: notice %q, want %q", c.query, told, c.notice)
		}
		mustExec(t, s, "set htap_verify = off")
		if got := oneLine(t, s, "select * from gs_htap_verify_status"); got != c.counts {
			t.Errorf("%s: compared, counted, skipped, one way: %s, want %s", c.query, got, c.counts)
		}
		mustExec(t, s, "set htap_verify = on")
	}
}

// TestVerifyUnderWrites lets writers change a table while readers ask random questions in verify
// mode.
func TestVerifyUnderWrites(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	h := newHTAP(t, seed, weft.Options{})
	defer h.db.Close()
	ctx := t.Context()
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for i, work := range []func(*rand.Rand) error{
		func(r *rand.Rand) error { return h.write(ctx, r) },
		func(r *rand.Rand) error { return h.rebuild(ctx, r) },
	} {
		writers.Add(1)
		go func() {
			defer writers.Done()
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := work(r); err != nil {
					t.Error(err)
					return
				}
			}
		}()
	}
	s := h.db.Session()
	defer s.Close()
	mustExec(t, s, "set htap_verify = on")
	r := rand.New(rand.NewPCG(seed, 99))
	questions := 25
	if testing.Short() {
		questions = 10
	}
	for range questions {
		for _, mode := range []string{"row", "auto"} {
			mustExec(t, s, "set htap_router_mode = '"+mode+"'")
			query := question(r)
			if _, err := queryText(s, query); err != nil {
				t.Errorf("%s: %v", query, err)
			}
		}
	}
	close(stop)
	writers.Wait()
	if got := oneLine(t, s, fmt.Sprintf("select compared > %d from gs_htap_verify_status", questions)); got != "t" {
		t.Error("hardly any query was compared")
	}
}
