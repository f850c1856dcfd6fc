package weft_test

import (
	"testing"
	"time"

	"github.com/weftdb/weft"
)

// TestDefinitionsWithOpenRows changes what the session itself is still reading outside of a transaction:
// waiting for that would be for ever.
func TestDefinitionsWithOpenRows(t *testing.T) {
	db := openMemory(t)
	s, other := db.Session(), db.Session()
	defer s.Close()
	defer other.Close()
	mustExec(t, s, "create table t (id int primary key, a int); insert into t select g, g from generate_series(1, 30000) g; create view v as select * from t")
	for _, c := range []struct{ statement, message string }{
		{"alter table t add column z int", `cannot ALTER TABLE "t" because it is being used by active queries in this session`},
		{"drop table t cascade", `cannot DROP TABLE "t" because it is being used by active queries in this session`},
		{"truncate t", `cannot TRUNCATE "t" because it is being used by active queries in this session`},
		{"begin; lock table t", "cannot lock relation 1 because it is being used by active queries in this session"},
		{"create index on t (a)", ""},
		{"update t set a = 1 where id = 1", ""},
		{"alter table t colview", ""},
	} {
		rows, err := s.Query(t.Context(), "select * from v")
		if err != nil {
			t.Fatal(err)
		}
		rows.Next()
		_, err = s.Exec(t.Context(), c.statement)
		if c.message == "" && err != nil || c.message != "" && (codeOf(err) != "55006" || err.(*weft.Error).Message != c.message) {
			t.Errorf("%s: %v, want %q", c.statement, err, c.message)
		}
		n := 1
		for rows.Next() {
			n++
		}
		if err := rows.Close(); n != 30000 || err != nil {
			t.Errorf("%s: %d rows, %v", c.statement, n, err)
		}
		mustExec(t, s, "rollback")
	}

	// A wait for another session that waits for this one's rows is a deadlock.
	rows, err := s.Query(t.Context(), "select * from t")
	if err != nil {
		t.Fatal(err)
	}
	rows.Next()
	mustExec(t, other, "create table u (a int); begin; lock table u")
	done := make(chan error)
	go func() {
		_, err := other.Exec(t.Context(), "truncate t")
		done <- err
	}()
	time.Sleep(50 * time.Millisecond)
	if _, err := s.Exec(t.Context(), "insert into u values (1)"); codeOf(err) != "40P01" {
		t.Errorf("waiting for who waits for the session's rows: %v", err)
	}
	rows.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestCloseWithOpenTemporaryRows closes a session, and a database, while rows of a temporary table are open.
func TestCloseWithOpenTemporaryRows(t *testing.T) {
	for _, what := range []string{"session", "database", "discard"} {
		db, err := weft.Open(t.Context(), weft.InMemory, weft.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := db.Session()
		mustExec(t, s, "create temp table t (a int); insert into t select g from generate_series(1, 30000) g")
		rows, err := s.Query(t.Context(), "select * from t")
		if err != nil {
			t.Fatal(err)
		}
		rows.Next()
		done := make(chan error)
		go func() {
			switch what {
			case "session":
				done <- s.Close()
			case "database":
				done <- db.Close()
			case "discard":
				if _, err := s.Exec(t.Context(), "discard temp"); codeOf(err) != "55006" {
					t.Errorf("discard temp: %v", err)
				}
				done <- rows.Close()
			}
		}()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: closing waits for rows that nobody will close", what)
		}
		for rows.Next() {
		}
		if code := codeOf(rows.Err()); (code == "57P01") != (what != "discard") {
			t.Errorf("%s: rows end with %v", what, rows.Err())
		}
		rows.Close()
		if what != "database" {
			checkSound(t, db)
		}
		db.Close()
	}
}
