package weft_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftdb/weft"
)

func checkNothing(t *testing.T, db *weft.DB) {
	t.Helper()
	_, err := db.Check(context.Background(), weft.CheckOptions{Report: func(x weft.Finding) { t.Errorf("check: %s", x) }})
	if err != nil {
		t.Fatal(err)
	}
}

// TestConcurrentIndexUnderWriters builds and drops indexes of every kind while others write, and
// checks the entries when all is quiet.
func TestConcurrentIndexUnderWriters(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	db, err := weft.Open(context.Background(), "", weft.Options{DataNodes: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := db.Session()
	defer s.Close()
	mustExec(t, s, "create table t (id int primary key, u int, a int, b text); insert into t select g, g, g % 100, 'text ' || g from generate_series(1, 3000) g")
	stop := make(chan struct{})
	var writers sync.WaitGroup
	var written atomic.Int64
	var once sync.Once
	halt := func() {
		once.Do(func() { close(stop) })
		writers.Wait()
	}
	defer halt()
	for w := range 4 {
		writers.Add(1)
		go func() {
			defer writers.Done()
			r := rand.New(rand.NewPCG(seed, uint64(w)))
			s := db.Session()
			defer s.Close()
			fresh := 10_000 * (w + 1)
			for {
				select {
				case <-stop:
					return
				default:
				}
				isolation := []string{"read committed", "repeatable read"}[r.IntN(2)]
				statements := []string{"begin isolation level " + isolation}
				for range 1 + r.IntN(4) {
					fresh++
					statements = append(statements, []string{
						fmt.Sprintf("insert into t values (%d, %d, %d, 'new')", fresh, fresh, r.IntN(100)),
						fmt.Sprintf("update t set u = %d, a = a + 1 where id = %d", -fresh, r.IntN(3000)),
						fmt.Sprintf("update t set u = u where id = %d", r.IntN(3000)),
						fmt.Sprintf("update t set b = b || 'x' where id between %d and %d", fresh-9, fresh),
						fmt.Sprintf("update t set id = id + 1000000 where id = %d", r.IntN(3000)),
						fmt.Sprintf("delete from t where id = %d", r.IntN(3000)),
						// Keys go from one row to another.
						fmt.Sprintf("delete from t where u = %d", fresh-3),
						fmt.Sprintf("insert into t values (%d, %d, 5, null) on conflict (id) do update set a = 7, b = excluded.b", fresh-2, fresh-3),
					}[r.IntN(8)])
				}
				statements = append(statements, []string{"commit", "commit", "rollback"}[r.IntN(3)])
				for _, statement := range statements {
					_, err := s.Exec(context.Background(), statement)
					if code := codeOf(err); err != nil && code != "40001" && code != "40P01" && code != "23505" {
						t.Errorf("%s: %v", statement, err)
						return
					}
					if err != nil {
						mustExec(t, s, "rollback")
						break
					}
				}
				written.Add(1)
			}
		}()
	}
	builder := db.Session()
	defer builder.Close()
	ready := 0
	deadline := time.Now().Add(4 * time.Second)
	if testing.Short() {
		deadline = time.Now().Add(time.Second)
	}
	for round := 0; time.Now().Before(deadline); round++ {
		for i, on := range []string{"index % on t (a)", "unique index % on t (u)", "index % on t (lower(b)) include (a) where a > 20", "unique index % on t ((u * 2), a) include (b)"} {
			statement := "create " + strings.ReplaceAll(on, "index %", fmt.Sprintf("index concurrently i%d_%d", round, i))
			before := written.Load()
			_, err := builder.Exec(context.Background(), statement)
			if code := codeOf(err); err != nil && code != "23505" && code != "40P01" {
				t.Fatalf("%s: %+v", statement, err)
			}
			if err == nil {
				ready++
			}
			if i == 0 && round == 0 && written.Load() == before {
				t.Log("nobody wrote meanwhile")
			}
		}
		if round%2 == 0 {
			for i := range 4 {
				if _, err := builder.Exec(context.Background(), fmt.Sprintf("drop index concurrently i%d_%d", round, i)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	halt()
	if ready == 0 {
		t.Error("no index was built")
	}
	checkNothing(t, db)
	for _, query := range []string{"select count(*) from t", "select count(*) from t where a between 10 and 90", "select max(u) from t", "select count(*) from t where lower(b) = 'new' and a > 20"} {
		mustExec(t, s, "set enable_seqscan = on; set enable_indexscan = off; set enable_indexonlyscan = off; set enable_bitmapscan = off")
		want, err := queryText(s, query)
		if err != nil {
			t.Fatal(err)
		}
		mustExec(t, s, "set enable_seqscan = off; set enable_indexscan = on; set enable_indexonlyscan = on")
		got, err := queryText(s, query)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	t.Logf("%d indexes built, %d transactions", ready, written.Load())
}

// TestConcurrentIndexWaits builds an index while a transaction that wrote before is open: others go on
// writing, and the index has all rows.
func TestConcurrentIndexWaits(t *testing.T) {
	db := openMemory(t)
	s, early, late := db.Session(), db.Session(), db.Session()
	for _, s := range []*weft.Session{s, early, late} {
		defer s.Close()
	}
	ctx := context.Background()
	mustExec(t, s, "create table t (id int primary key, a int); insert into t select g, g from generate_series(1, 100) g")
	mustExec(t, early, "begin; insert into t values (1000, 1000); update t set a = 5000 where id = 5; delete from t where id = 6")
	built := make(chan error)
	go func() {
		_, err := s.Exec(ctx, "create unique index concurrently ta on t (a)")
		built <- err
	}()
	waitForIndex(t, db) // for writers, before the early one ends
	mustExec(t, late, "insert into t values (2000, 2000); update t set a = 7000 where id = 7")
	mustExec(t, early, "update t set a = 5001 where id = 5")
	select {
	case err := <-built:
		t.Fatalf("did not wait: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	mustExec(t, early, "commit")
	if err := <-built; err != nil {
		t.Fatal(err)
	}
	mustExec(t, s, "set enable_seqscan = off")
	for query, want := range map[string]string{"select id from t where a = 1000": "1000", "select id from t where a = 5001": "5", "select id from t where a = 7000": "7", "select id from t where a = 2000": "2000"} {
		rows, err := queryText(s, query)
		if err != nil || len(rows) != 1 || rows[0][0] != want {
			t.Errorf("%s: %v %v, want %s", query, rows, err, want)
		}
	}
	checkNothing(t, db)
}

// TestConcurrentIndexFails has CREATE INDEX CONCURRENTLY meet equal keys, a wrong expression and the
// end of its time: the index is left INVALID, nobody reads or writes it, and it can be dropped.
func TestConcurrentIndexFails(t *testing.T) {
	db := openMemory(t)
	s, writer := db.Session(), db.Session()
	defer s.Close()
	defer writer.Close()
	mustExec(t, s, "create table t (id int primary key, a int); insert into t select g, g % 50 from generate_series(1, 100) g")
	for i, step := range []struct{ statement, code string }{
		{"create unique index concurrently x on t (a)", "23505"},
		{"create index concurrently x on t ((100 / (a - 7)))", "22012"},
	} {
		if _, err := s.Exec(context.Background(), step.statement); codeOf(err) != step.code {
			t.Errorf("%s: %v", step.statement, err)
		}
		if text := fmt.Sprint(weft.DescribeIndexes(s.Catalog().Lookup("public", "t"))); !strings.Contains(text, `"x"`) || !strings.Contains(text, "INVALID") {
			t.Errorf("%s: %s", step.statement, text)
		}
		mustExec(t, s, fmt.Sprintf("insert into t values (%d, 7), (%d, 7)", 1000+2*i, 1001+2*i))
		mustExec(t, s, "set enable_seqscan = off")
		if rows, err := queryText(s, "select count(*) from t where a = 7"); err != nil || rows[0][0] != fmt.Sprint(4+2*i) {
			t.Errorf("%v %v", rows, err)
		}
		checkNothing(t, db)
		mustExec(t, s, "drop index x")
	}
	mustExec(t, writer, "begin; insert into t values (5000, 1)")
	mustExec(t, s, "set statement_timeout = 100")
	if _, err := s.Exec(context.Background(), "create index concurrently x on t (a)"); codeOf(err) != "57014" {
		t.Errorf("timed out: %v", err)
	}
	mustExec(t, s, "reset statement_timeout; set lock_timeout = 50")
	if _, err := s.Exec(context.Background(), "drop index concurrently x"); codeOf(err) != "55P03" {
		t.Errorf("waits for the writer: %v", err)
	}
	mustExec(t, writer, "commit")
	mustExec(t, s, "drop index concurrently x")
	mustExec(t, s, "create index concurrently x on t (a)")
	checkNothing(t, db)
	mustExec(t, s, "begin")
	for _, statement := range []string{"create index concurrently y on t (a)", "drop index concurrently x"} {
		if _, err := s.Exec(context.Background(), statement); codeOf(err) != "25001" {
			t.Errorf("%s: %v", statement, err)
		}
		mustExec(t, s, "rollback; begin")
	}
}

// TestConcurrentIndexInterrupted opens a copy made while an index was being built: what a crash then
// leaves. Nobody reads the index, and everything else works.
func TestConcurrentIndexInterrupted(t *testing.T) {
	ctx := context.Background()
	db := openMemory(t)
	s, writer := db.Session(), db.Session()
	defer s.Close()
	defer writer.Close()
	mustExec(t, s, "create table t (id int primary key, a int); insert into t select g, g from generate_series(1, 100) g")
	mustExec(t, writer, "begin; insert into t values (1000, 1)")
	built := make(chan error)
	go func() {
		_, err := s.Exec(ctx, "create unique index concurrently x on t (a) include (id)")
		built <- err
	}()
	waitForIndex(t, db)
	dir := filepath.Join(t.TempDir(), "copy")
	if err := db.Backup(ctx, dir); err != nil {
		t.Fatal(err)
	}
	mustExec(t, writer, "commit")
	if err := <-built; codeOf(err) != "23505" {
		t.Errorf("equal keys: %v", err)
	}
	again, err := weft.Open(ctx, dir, weft.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	late := again.Session()
	defer late.Close()
	if text := fmt.Sprint(weft.DescribeIndexes(late.Catalog().Lookup("public", "t"))); !strings.Contains(text, "INVALID") {
		t.Error(text)
	}
	mustExec(t, late, "insert into t values (2000, 2); update t set a = 3 where id = 50; delete from t where id = 60; set enable_seqscan = off")
	plan, err := queryText(late, "explain select id from t where a = 2")
	if err != nil || strings.Contains(fmt.Sprint(plan), "using x") {
		t.Errorf("%v %v", plan, err)
	}
	if rows, err := queryText(late, "select count(*) from t where a = 2"); err != nil || rows[0][0] != "2" {
		t.Errorf("%v %v", rows, err)
	}
	if _, err := late.Exec(ctx, "insert into t values (3000, 2) on conflict (a) do nothing"); codeOf(err) != "42P10" {
		t.Errorf("on conflict: %v", err)
	}
	checkNothing(t, again)
	mustExec(t, late, "drop index x; create index x on t (a)")
	checkNothing(t, again)
}

// waitForIndex waits until an index of t is being built.
func waitForIndex(t *testing.T, db *weft.DB) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		s := db.Session()
		text := fmt.Sprint(weft.DescribeIndexes(s.Catalog().Lookup("public", "t")))
		s.Close()
		if strings.Contains(text, "INVALID") {
			return
		}
	}
	t.Fatal("no index is being built")
}

// TestConcurrentIndexDeadlock has a writer, for which the build waits, want the table for itself.
func TestConcurrentIndexDeadlock(t *testing.T) {
	db := openMemory(t)
	s, writer := db.Session(), db.Session()
	defer s.Close()
	defer writer.Close()
	ctx := context.Background()
	mustExec(t, s, "create table t (id int primary key, a int); insert into t values (1, 1)")
	mustExec(t, writer, "begin; insert into t values (2, 2)")
	built := make(chan error, 1)
	go func() {
		_, err := s.Exec(ctx, "create index concurrently x on t (a)")
		built <- err
	}()
	waitForIndex(t, db)
	time.Sleep(20 * time.Millisecond) // the builder is about to wait
	_, err := writer.Exec(ctx, "alter table t add column b int")
	mustExec(t, writer, "rollback")
	berr := <-built
	if (codeOf(err) == "40P01") == (codeOf(berr) == "40P01") {
		t.Errorf("writer: %v, builder: %v", err, berr)
	}
	checkNothing(t, db)
}

// TestConcurrentIndexFailingRows deletes and changes rows for which the expression of an index that is
// being built fails: they are none of its rows, and when all are gone the build succeeds.
func TestConcurrentIndexFailingRows(t *testing.T) {
	db := openMemory(t)
	s, writer, late := db.Session(), db.Session(), db.Session()
	for _, s := range []*weft.Session{s, writer, late} {
		defer s.Close()
	}
	mustExec(t, s, "create table t (id int primary key, a int); insert into t select g, g % 20 from generate_series(1, 200) g")
	mustExec(t, writer, "begin; insert into t values (1000, 1)")
	built := make(chan error)
	go func() {
		_, err := s.Exec(context.Background(), "create index concurrently x on t ((100 / (a - 7)))")
		built <- err
	}()
	waitForIndex(t, db)
	if _, err := late.Exec(context.Background(), "insert into t values (2000, 7)"); codeOf(err) != "22012" {
		t.Errorf("a new row: %v", err)
	}
	mustExec(t, late, "delete from t where a = 7 and id < 50; update t set a = 8 where a = 7")
	mustExec(t, writer, "commit")
	if err := <-built; err != nil {
		t.Error(err)
	}
	mustExec(t, s, "set enable_seqscan = off")
	if rows, err := queryText(s, "select count(*) from t where 100 / (a - 7) = 100"); err != nil || rows[0][0] != "17" {
		t.Errorf("%v %v", rows, err)
	}
	checkNothing(t, db)
}
