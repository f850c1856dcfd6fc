package weft_test

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/weftdb/weft"
)

// TestFlushInTransaction loads a column view inside and outside of a transaction block.
func TestFlushInTransaction(t *testing.T) {
	const refused = `gs_imcv_flush cannot run inside a transaction block`
	s := memorySession(t)
	mustExec(t, s, "create table t (a int, b int) colview; insert into t select g, g from generate_series(1, 1000) g; create table n (total bigint)")
	for _, statement := range []string{
		"select * from gs_imcv_flush('t')",
		"select total + 1 from gs_imcv_flush('t') f, n",
		"select (select total from gs_imcv_flush('t'))",
		"with f as materialized (select * from gs_imcv_flush('t')) select * from f",
		"insert into n select * from gs_imcv_flush('t')",
		"create table c as select * from gs_imcv_flush('t')",
		"explain analyze select * from gs_imcv_flush('t')",
		"prepare p as select * from gs_imcv_flush('t'); execute p",
	} {
		for _, begin := range []string{"begin", "begin isolation level repeatable read", "begin; savepoint a"} {
			mustExec(t, s, begin)
			_, err := s.Exec(t.Context(), statement)
			var known *weft.Error
			if !errors.As(err, &known) || known.Code != "25001" || known.Message != refused || known.Position == 0 {
				t.Errorf("%s; %s: error %v, want 25001 with a position", begin, statement, err)
			}
			mustExec(t, s, "rollback; deallocate all")
		}
		if _, err := s.Exec(t.Context(), statement); err != nil {
			t.Errorf("%s alone: %v", statement, err)
		}
		mustExec(t, s, "deallocate all")
	}
	mustExec(t, s, "begin; select * from gs_htap_imcv_info(); select * from gs_global_imcv_info(); commit")
}

// TestFlushThroughDriver does so through database/sql.
func TestFlushThroughDriver(t *testing.T) {
	db, err := sql.Open("weft", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // a database in memory belongs to its connector
	for _, statement := range []string{"create table t (a int) colview", "insert into t select g from generate_series(1, 1000) g"} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	var groups int
	if err := db.QueryRowContext(t.Context(), "select total from gs_imcv_flush($1)", "t").Scan(&groups); err != nil {
		t.Error(err)
	}
	if _, err := db.ExecContext(t.Context(), "select * from gs_imcv_flush('t')"); err != nil {
		t.Error(err)
	}
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := tx.QueryRowContext(t.Context(), "select total from gs_imcv_flush('t')").Scan(&groups); codeOf(err) != "25001" {
		t.Errorf("in a transaction: error %v, want 25001", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
}
