package weft_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weftdb/weft"
)

// temporaryRelations counts the temporary relations of all sessions.
func temporaryRelations(db *weft.DB) (n int) {
	s := db.Session()
	defer s.Close()
	for _, r := range s.Catalog().Relations() {
		if r.Temp {
			n++
		}
	}
	return n
}

func TestTemporaryTablesOfSessions(t *testing.T) {
	for _, nodes := range []int{1, 2} {
		db, err := weft.Open(context.Background(), "", weft.Options{DataNodes: nodes})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		one, two := db.Session(), db.Session()
		defer two.Close()
		for i, s := range []*weft.Session{one, two} {
			mustExec(t, s, fmt.Sprintf("create temp table t (id serial primary key, v int) colview; insert into t (v) select %d from generate_series(1, 100)", i+1))
			mustExec(t, s, "create temp view tv as select v from t where v > 0")
		}
		for i, s := range []*weft.Session{one, two} {
			for _, query := range []string{"select sum(v) from t", "select sum(v) from pg_temp.t", "select sum(v) from t where v > $1"} {
				args := []any{}
				if strings.Contains(query, "$1") {
					args = append(args, 0)
				}
				rows, err := s.Query(context.Background(), query, args...)
				if err != nil {
					t.Fatal(err)
				}
				var sum int64
				if !rows.Next() || rows.Scan(&sum) != nil || sum != int64(i+1)*100 {
					t.Errorf("session %d: %s = %d", i+1, query, sum)
				}
				rows.Close()
			}
		}
		var schema string
		for _, r := range one.Catalog().Tables() {
			if one.Sees(r) {
				schema = r.Schema
			}
		}
		for _, query := range []string{"select * from " + schema + ".t", "drop table " + schema + ".t", "create table " + schema + ".x (a int)", "create schema " + schema,
			"select nextval('" + schema + ".t_id_seq')", "alter schema " + schema + " rename to mine", "drop schema " + schema + " cascade"} {
			if _, err := two.Exec(context.Background(), query); err == nil {
				t.Errorf("another session may say %s", query)
			}
		}
		checkSound(t, db)
		if err := one.Close(); err != nil {
			t.Fatal(err)
		}
		if n := temporaryRelations(db); n != 3 { // table, sequence and view of the other one
			t.Errorf("%d temporary relations are left", n)
		}
		if got := oneRow(t, two, "select count(*) from t"); got != "100" {
			t.Error(got)
		}
		mustExec(t, two, "begin; drop table t cascade")
		if err := two.Close(); err != nil {
			t.Fatal(err)
		}
		if n := temporaryRelations(db); n != 0 {
			t.Errorf("%d temporary relations are left", n)
		}
		checkSound(t, db)
	}
}

// makeTemporaries makes temporary tables for ever.
func makeTemporaries(ctx context.Context, db *weft.DB, acknowledge func(n int)) error {
	s := db.Session()
	defer s.Close()
	for n := 1; ctx.Err() == nil; n++ {
		_, err := s.Exec(ctx, fmt.Sprintf("create temp table t%d (a serial primary key, b text unique); insert into t%[1]d (b) select g::text from generate_series(1, 2000) g; insert into perm values (%[1]d)", n))
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		acknowledge(n)
	}
	return nil
}

// TestTemporaryTablesKilled kills a process that has temporary tables: nothing of them is left when the
// database is opened again, and nothing is in a copy.
func TestTemporaryTablesKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	ctx := context.Background()
	dir, copied := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	db, err := weft.Open(ctx, dir, weft.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := db.Session()
	mustExec(t, s, "create table perm (a int); create temp table mine (a int); insert into mine select g from generate_series(1, 100) g")
	if err := db.Backup(ctx, copied); err != nil {
		t.Fatal(err)
	}
	if n := temporaryRelations(sound(t, copied)); n != 0 {
		t.Errorf("%d temporary relations in a copy", n)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	c := startChild(t, "temporary", dir)
	for c.acked[0].Load() < 3 {
		select {
		case err := <-c.done:
			t.Fatalf("the process ended: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	c.kill(t)
	db = sound(t, dir)
	if n := temporaryRelations(db); n != 0 {
		t.Errorf("%d temporary relations are left", n)
	}
	if n := count(t, db, "select count(*) from perm"); n < 3 {
		t.Errorf("%d rows of the permanent table", n)
	}
	s = db.Session()
	defer s.Close()
	mustExec(t, s, "create temp table t1 (a serial primary key); insert into t1 default values")
	if got := oneRow(t, s, "select a from t1"); got != "1" {
		t.Errorf("a new temporary table starts at %s", got)
	}
}
