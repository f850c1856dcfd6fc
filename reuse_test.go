package weft_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/weftdb/weft"
)

// TestResultsOutlive keeps the results of statements that write while others run in their session.
func TestResultsOutlive(t *testing.T) {
	ctx := context.Background()
	db, err := weft.Open(ctx, ":memory:", weft.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := db.Session()
	defer s.Close()
	if _, err := s.Exec(ctx, "create table t (id int primary key, v text)"); err != nil {
		t.Fatal(err)
	}
	two, err := s.Query(ctx, "insert into t values ($1, 'a'), (2, 'b')", 1)
	if err != nil {
		t.Fatal(err)
	}
	returned, err := s.Query(ctx, "update t set v = v || $1 returning id, v", "x")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		r, err := s.Exec(ctx, "insert into t values ($1, 'c')", 10+i)
		if err != nil || r.Tag != "INSERT 0 1" || r.RowsAffected != 1 {
			t.Fatal(r, err)
		}
		if r, err = s.Exec(ctx, "delete from t where id > $1 - 0", 100); err != nil || r.Tag != "DELETE 0" || r.RowsAffected != 0 {
			t.Fatal(r, err)
		}
	}
	if _, err := s.Exec(ctx, "insert into t values ($1, 'again')", 1); !weft.IsUniqueViolation(err) {
		t.Fatal(err)
	}
	if r := two.Result(); r.Tag != "INSERT 0 2" || r.RowsAffected != 2 || two.Next() || two.Err() != nil {
		t.Error(r, two.Err())
	}
	n := 0
	for returned.Next() {
		n++
		if v := returned.Value(1); v != "ax" && v != "bx" {
			t.Error(v)
		}
	}
	if r := returned.Result(); n != 2 || r.Tag != "UPDATE 2" || r.RowsAffected != 2 {
		t.Error(n, r)
	}
	for _, rows := range []*weft.Rows{two, returned} {
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestArgumentsOutlive reads rows that depend on arguments while later statements of the connection have
// others.
func TestArgumentsOutlive(t *testing.T) {
	db, err := sql.Open("weft", filepath.Join(t.TempDir(), "db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("create table t (id int primary key, v text)"); err != nil {
		t.Fatal(err)
	}
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	insert, err := tx.Prepare("insert into t values ($1, $2)")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := tx.Query("select g, $2::text from generate_series(1, $1) g", 5000, "kept")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		var g int
		var text string
		if err := rows.Scan(&g, &text); err != nil {
			t.Fatal(err)
		}
		if n++; g != n || text != "kept" {
			t.Fatal(g, text)
		}
		if n%100 == 0 {
			r, err := insert.Exec(n, "other")
			if err != nil {
				t.Fatal(err)
			}
			if affected, err := r.RowsAffected(); affected != 1 || err != nil {
				t.Fatal(affected, err)
			}
		}
	}
	if err := rows.Err(); err != nil || n != 5000 {
		t.Fatal(n, err)
	}
	var count int
	if err := tx.QueryRow("select count(*) from t where v = $1", "other").Scan(&count); err != nil || count != 50 {
		t.Error(count, err)
	}
	if r, err := tx.Exec("select * from t"); err != nil {
		t.Error(err)
	} else if n, err := r.RowsAffected(); n != 50 || err != nil {
		t.Error(n, err)
	}
}
