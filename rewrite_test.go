package weft_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/weftdb/weft"
)

const rewrittenRows = 700

// rewriteSteps redefine table t in turn; the columns are those after each step. After the second one
// it has a row more.
var rewriteSteps = [4]struct{ statement, columns string }{
	{"alter table t alter v type text using v::text, add column g int generated always as (id * 2) stored", "id integer, v text, g integer"},
	{"insert into t (id, v) select max(id) + 1, (max(id) + 1)::text from t; alter table t alter v type bigint using v::bigint, drop column g", "id integer, v bigint"},
	{"alter table t alter v type text using v::text, add column s serial unique", "id integer, v text, s integer"},
	{"alter table t alter v type int using v::int, drop column s", "id integer, v integer"},
}

// rewriteTable goes through the steps for ever, from where the database is.
func rewriteTable(ctx context.Context, db *weft.DB, acknowledge func(n int)) error {
	s := db.Session()
	defer s.Close()
	from, err := number(s, "select n from step")
	if err != nil {
		return err
	}
	for n := int(from); ctx.Err() == nil; n++ {
		_, err := s.Exec(ctx, fmt.Sprintf("begin; %s; update step set n = %d; commit", rewriteSteps[n%4].statement, n+1))
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		acknowledge(n + 1)
	}
	return nil
}

// TestRewriteKilled kills a process that rewrites a table again and again: each rewrite must have
// happened with all of its transaction or not at all.
func TestRewriteKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	ctx := context.Background()
	for _, nodes := range []int{1, 2} {
		dir := t.TempDir()
		db, err := weft.Open(ctx, dir, weft.Options{DataNodes: nodes})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(ctx, fmt.Sprintf(`create table step (n int); insert into step values (0);
			create table t (id int primary key, v int, check (id > 0)) colview; create index on t (v);
			insert into t select g, g from generate_series(1, %d) g`, rewrittenRows)); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		for range 6 {
			c := startChild(t, "rewrite", dir)
			for c.acked[0].Load() == 0 {
				select {
				case err := <-c.done:
					t.Fatalf("the process ended: %v", err)
				case <-time.After(time.Millisecond):
				}
			}
			time.Sleep(time.Duration(rand.IntN(40)) * time.Millisecond)
			c.kill(t)
			checkRewritten(t, dir, c.acked[0].Load())
		}
	}
}

func checkRewritten(t *testing.T, dir string, acked int64) {
	t.Helper()
	db, err := weft.Open(context.Background(), dir, weft.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	checkSound(t, db)
	s := db.Session()
	defer s.Close()
	n, err := number(s, "select n from step")
	if err != nil {
		t.Fatal(err)
	}
	if n != acked && n != acked+1 {
		t.Errorf("step %d, acknowledged was %d", n, acked)
	}
	want := rewriteSteps[(n-1)%4].columns
	got := ""
	for i, c := range s.Catalog().Lookup("public", "t").Columns {
		if i > 0 {
			got += ", "
		}
		got += c.Name + " " + c.Type.String()
	}
	if got != want {
		t.Errorf("columns %s after step %d, want %s", got, n, want)
	}
	rows := fmt.Sprint(rewrittenRows + (n+2)/4)
	if got := oneRow(t, s, "select count(*), count(*) filter (where v::text = id::text), max(id) from t"); got != rows+"|"+rows+"|"+rows {
		t.Errorf("%s after step %d, want %s rows", got, n, rows)
	}
}

// TestRewriteSeesLatest rewrites tables in transactions whose snapshot is older than some of their
// rows, and while others wait to write.
func TestRewriteSeesLatest(t *testing.T) {
	db := openMemory(t)
	one, two := db.Session(), &scheduled{Session: db.Session(), outcome: make(chan string, 1)}
	defer one.Close()
	defer two.Close()
	mustExec(t, one, "create table t (a int, b int); insert into t select g, g from generate_series(1, 3) g; create table u (a int)")
	old := db.Session()
	defer old.Close()
	mustExec(t, old, "begin isolation level repeatable read; select count(*) from u") // no lock on t
	mustExec(t, one, "begin isolation level repeatable read; select count(*) from t")
	mustExec(t, two.Session, "insert into t values (4, 4)")
	mustExec(t, one, "alter table t add column c int generated always as (a * 10) stored, alter b type text")
	if got := two.start(db, "insert into t (a, b) values (5, 5)", true); got != "blocks" {
		t.Fatal(got)
	}
	mustExec(t, one, "commit")
	if got := two.end(); got != "40001" && got != "1" {
		t.Error(got)
	}
	if got := oneRow(t, one, "select count(*), sum(c) from t where a < 5"); got != "4|100" {
		t.Error(got)
	}
	if got := oneRow(t, old, "select count(*), sum(b) from t"); got != "3|6" {
		t.Errorf("an older snapshot sees %s", got)
	}
	if _, err := old.Exec(context.Background(), "insert into t (a, b) values (9, 9)"); codeOf(err) != "40001" {
		t.Errorf("a writer with an older snapshot: %v", err)
	}
	checkSound(t, db)
}

// TestVacuumPacks changes rows one by one and lets VACUUM pack them.
func TestVacuumPacks(t *testing.T) {
	s := openMemory(t).Session()
	defer s.Close()
	var notices []string
	s.OnNotice(func(text string) { notices = append(notices, text) })
	mustExec(t, s, "create table t (a int primary key, b int); insert into t select g, g from generate_series(1, 640) g")
	mustExec(t, s, "update t set b = b + 1; delete from t where a % 2 = 0; vacuum (verbose) t")
	if len(notices) != 1 || strings.Contains(notices[0], " 0 pages") || !strings.Contains(notices[0], "pages packed") {
		t.Errorf("%q", notices)
	}
	if got := oneRow(t, s, "select count(*), sum(b) from t"); got != "320|102720" {
		t.Error(got)
	}
	notices = nil
	mustExec(t, s, "vacuum verbose t")
	if len(notices) != 1 || !strings.Contains(notices[0], " 0 pages") {
		t.Errorf("a second time: %q", notices)
	}
}
