package weft_test

import (
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/weftdb/weft"
)

type namedText string

type sayer struct{}

func (sayer) String() string { return "\xff" }

// TestArgumentsOutOfRange gives parameters that no value of their type stands for.
func TestArgumentsOutOfRange(t *testing.T) {
	ctx := t.Context()
	db := openMemory(t)
	if _, err := db.Exec(ctx, "create table a (ts timestamptz, u timestamp, s text)"); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		query string
		arg   any
		code  string
	}{
		{"insert into a (ts) values ($1)", time.Date(300000, 1, 1, 0, 0, 0, 0, time.UTC), "22008"},
		{"insert into a (u) values ($1)", time.Date(300000, 1, 1, 0, 0, 0, 0, time.UTC), "22008"},
		{"insert into a (s) values ($1)", "\xff", "22021"},
		{"insert into a (s) values ($1)", "a\x00b", "22021"},
		{"insert into a (s) values ($1)", []byte("\xff"), "22021"},
		{"insert into a (s) values ($1)", namedText("\xff"), "22021"},
		{"insert into a (s) values ($1)", new("\xff"), "22021"},
		{"insert into a (s) values ($1)", sql.NullString{String: "\xff", Valid: true}, "22021"},
		{"insert into a (s) values ($1)", sayer{}, "22021"},
		{"insert into a (ts) values ($1)", "\xff", "22021"},
		{"select $1::bytea", "\xff", "22021"},
		{"select 1 where $1 = 'x'", "\xff", "22021"},
	} {
		_, err := db.Exec(ctx, test.query, test.arg)
		var known *weft.Error
		if !errors.As(err, &known) || string(known.Code) != test.code {
			t.Errorf("%s with %v: error %v, want SQLSTATE %s", test.query, test.arg, err, test.code)
		}
	}
}

// TestLimitArguments gives LIMIT and OFFSET as parameters.
func TestLimitArguments(t *testing.T) {
	db, err := sql.Open("weft", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, test := range []struct {
		query string
		args  []any
		want  int // −1: an error
		code  string
	}{
		{"select count(*) from (select g from generate_series(1, 9) g limit $1) s", []any{4}, 4, ""},
		{"select count(*) from (select g from generate_series(1, 9) g limit $1) s", []any{nil}, 9, ""},
		{"select count(*) from (select g from generate_series(1, 9) g limit $1) s", []any{"3"}, 3, ""},
		{"select count(*) from (select g from generate_series(1, 9) g limit $1) s", []any{-1}, -1, "2201W"},
		{"select count(*) from (select g from generate_series(1, 9) g offset $1) s", []any{-1}, -1, "2201X"},
		{"select count(*) from (select g from generate_series(1, 9) g offset $1) s", []any{nil}, 9, ""},
		{"select count(*) from (select g from generate_series(1, 9) g limit $1 + 1 offset $2) s", []any{4, 6}, 3, ""},
		{"select count(*) from (select g from generate_series(1, 9) g limit (select $1::int * 2)) s", []any{2}, 4, ""},
		{"select count(*) from (select g / 4 k from generate_series(1, 9) g order by 1 fetch first $1 rows with ties) s", []any{1}, 3, ""},
	} {
		got := -1
		err := db.QueryRowContext(t.Context(), test.query, test.args...).Scan(&got)
		if got != test.want || codeOf(err) != test.code {
			t.Errorf("%s with %v: got %d, %v, want %d, %s", test.query, test.args, got, err, test.want, test.code)
		}
	}
}

// TestLowMemoryLimit sets a limit below the size of the cache the database was opened with.
func TestLowMemoryLimit(t *testing.T) {
	ctx := t.Context()
	db := openMemory(t)
	if _, err := db.Exec(ctx, "set memory_limit = '40MB'"); err != nil {
		t.Fatal(err)
	}
	_, err := db.Exec(ctx, "select count(*) from (select g, count(*) from generate_series(1, 2000000) g group by g) s")
	var known *weft.Error
	if !errors.As(err, &known) || string(known.Code) != "53200" {
		t.Errorf("error %v, want SQLSTATE 53200", err)
	}
}
