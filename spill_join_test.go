package weft_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftdb/weft"
)

// openOnDisk returns a session of a new database, and its directory.
func openOnDisk(t *testing.T) (dir string, s *weft.Session) {
	t.Helper()
	dir = t.TempDir()
	db, err := weft.Open(context.Background(), dir, weft.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s = db.Session()
	t.Cleanup(func() {
		if err := errors.Join(s.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	return dir, s
}

// wantNoTempFiles checks that a database has no temporary file.
func wantNoTempFiles(t *testing.T, dir string) {
	t.Helper()
	if left, err := os.ReadDir(filepath.Join(dir, "tmp")); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
}

// TestJoinBeyondMemory joins tables that memory_limit does not take, with every kind of join SQL has, and
// compares with what comes of it in memory. No temporary file is left.
func TestJoinBeyondMemory(t *testing.T) {
	dir, s := openOnDisk(t)
	mustExec(t, s, `create table b (k bigint, n int, s text);
		insert into b select nullif(i % 70000, 13), i, 'some text that takes memory ' || i from generate_series(1, 120000) i;
		create table a (k bigint, v int);
		insert into a select nullif(i % 90000, 17), i from generate_series(1, 100000) i`)
	queries := []string{
		`select count(*), sum(v), sum(length(s)), sum(n) from a join b using (k)`,
		`select count(*), count(s), sum(length(s)), sum(v) from a left join b using (k)`,
		`select count(*), count(v), sum(length(s)), sum(v) from a right join b using (k)`,
		`select count(*), count(v), count(s), sum(length(s)), sum(v) from a full join b using (k)`,
		`select count(*), sum(v) from a where exists (select from b where b.k = a.k and length(b.s) + a.v > 50000)`,
		`select count(*), sum(v) from a where not exists (select from b where b.k = a.k)`,
		`select count(*), sum(v) from a where v not in (select n from b where n % 3 = 0)`,
		`select count(*), sum(v) from a where k not in (select k from b)`,
		`select count(*), sum(case when k in (select k from b) then v else 1 end) from a`,
		`select count(*), sum(v) from a join b on a.k = b.k and a.v <> b.n`,
	}
	want := map[string]string{}
	answer := func(q string) string {
		t.Helper()
		return strings.Join(joinAnswer(t, s, q), "\n")
	}
	for _, q := range queries {
		want[q] = answer(q)
	}
	mustExec(t, s, `set memory_limit = '16MB'`)
	for _, q := range queries {
		if got := answer(q); got != want[q] {
			t.Errorf("%s: %s, in memory %s", q, got, want[q])
		}
	}
	plan := answer(`explain analyze ` + queries[0])
	if !strings.Contains(plan, "Spill: build ") || !strings.Contains(plan, " 0 left") {
		t.Errorf("nothing went to disk:\n%s", plan)
	}
	wantNoTempFiles(t, dir)
}
