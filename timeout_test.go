package weft_test

import (
	"context"
	"testing"
	"time"
)

// TestLockTimeout checks that a wait for a row, a key or a table ends with 55P03 in time, and that
// the transaction can go on from a savepoint.
func TestLockTimeout(t *testing.T) {
	ctx := context.Background()
	db := openMemory(t)
	a, b := db.Session(), db.Session()
	defer a.Close()
	defer b.Close()
	mustExec(t, a, "create table t (id int primary key, n int); insert into t values (1, 1), (2, 2)")
	mustExec(t, a, "begin; update t set n = 5 where id = 1; insert into t values (3, 3)")
	mustExec(t, b, "set lock_timeout = 50; begin; savepoint s")
	for _, statement := range []string{"update t set n = 6 where id = 1", "insert into t values (3, 4)", "select * from t where id = 1 for update", "alter table t add column x int", "truncate t"} {
		started := time.Now()
		if _, err := b.Exec(ctx, statement); codeOf(err) != "55P03" {
			t.Errorf("%s: %v", statement, err)
		}
		if late := time.Since(started); late > 5*time.Second {
			t.Errorf("%s: waited %v", statement, late)
		}
		mustExec(t, b, "rollback to s")
	}
	mustExec(t, b, "update t set n = 7 where id = 2; commit")
	mustExec(t, a, "commit")
	if n := count(t, db, "select sum(n) from t"); n != 15 {
		t.Errorf("sum %d, want 15", n)
	}
}

// TestIdleInTransaction checks that a session that leaves its transaction alone is ended, that its
// locks go, and that a session at work, or outside of a transaction, is not.
func TestIdleInTransaction(t *testing.T) {
	ctx := context.Background()
	db := openMemory(t)
	a, b := db.Session(), db.Session()
	defer a.Close()
	defer b.Close()
	mustExec(t, a, "create table t (id int primary key, n int); insert into t select g, g from generate_series(1, 100) g")
	mustExec(t, a, "set idle_in_transaction_session_timeout = '100ms'")
	time.Sleep(250 * time.Millisecond) // idle, but in no transaction
	mustExec(t, a, "begin; update t set n = 0 where id = 1")
	if _, err := a.Exec(ctx, "select count(*) from generate_series(1, 30000000)"); err != nil {
		t.Fatalf("a long statement was ended: %v", err)
	}
	mustExec(t, b, "update t set n = 9 where id = 1") // waits until a is ended
	if _, err := a.Exec(ctx, "select 1"); codeOf(err) != "25P03" {
		t.Errorf("after the timeout: %v", err)
	}
	if n := count(t, db, "select n from t where id = 1"); n != 9 {
		t.Errorf("n = %d, want 9", n)
	}
	mustExec(t, b, "set idle_in_transaction_session_timeout = '100ms'; begin; update t set n = 10 where id = 1; commit")
	time.Sleep(250 * time.Millisecond)
	mustExec(t, b, "select 1")
}

// TestStatementTimeoutOfDefinitions ends statements that wait, or work long, with 57014 in time.
func TestStatementTimeoutOfDefinitions(t *testing.T) {
	db := openMemory(t)
	a, b := db.Session(), db.Session()
	defer a.Close()
	defer b.Close()
	mustExec(t, a, "create table t (id int); insert into t values (1); begin; select * from t")
	mustExec(t, b, "set statement_timeout = 50")
	for _, statement := range []string{"alter table t add column x int", "truncate t", "drop table t", "create index concurrently on t (id)",
		"create table u as select count(*) from generate_series(1, 1000000) x, generate_series(1, 1000000) y where x + y = 7"} {
		if statement[:8] == "create i" {
			mustExec(t, a, "insert into t values (2)") // readers alone do not hold it up
		}
		started := time.Now()
		if _, err := b.Exec(context.Background(), statement); codeOf(err) != "57014" {
			t.Errorf("%s: %v", statement, err)
		}
		if late := time.Since(started); late > 5*time.Second {
			t.Errorf("%s: took %v", statement, late)
		}
	}
	mustExec(t, a, "commit")
	mustExec(t, b, "drop table t")
}
