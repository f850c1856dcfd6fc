package weft_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/weftdb/weft"
)

// TestColumnViewClauses checks which columns the clauses of CREATE and ALTER TABLE cover, by their
// numbers, or the error of contradictory ones.
func TestColumnViewClauses(t *testing.T) {
	const nothing = `42P16 the column view of table "t" would cover no column`
	const conflict = `42601 conflicting COLVIEW/NOCOLVIEW declarations for table "t"`
	for _, test := range []struct{ define, want string }{
		{"create table t (a int, b int)", ""},
		{"create table t (a int, b int) colview", "1 2"},
		{"create table t (a int, b int) nocolview", ""},
		{"create table t (a int, b int colview)", "2"},
		{"create table t (a int, b int colview) nocolview", "2"},
		{"create table t (a int, b int colview) colview", "1 2"},
		{"create table t (a int, b int nocolview) colview", "1"},
		{"create table t (a int, b int nocolview) nocolview", ""},
		{"create table t (a int nocolview, b int colview)", "2"},
		{"create table t (a int colview colview, b int) nocolview nocolview", "1"},
		{"create table t (a int nocolview, b int nocolview) colview", nothing},
		{"create table t (a int, b int) colview nocolview", conflict},
		{"create table t (a int, b int) colview nocolview (a, b)", conflict},
		{"create table t as select 1 as a, 2 as b", ""},
		{"create table t colview as select 1 as a, 2 as b", "1 2"},
		{"create table t (a int, b int colview); alter table t colview", "1 2"},
		{"create table t (a int, b int colview); alter table t colview (a)", "1"},
		{"create table t (a int, b int colview); alter table t nocolview", ""},
		{"create table t (a int, b int colview); alter table t nocolview colview (a)", "1"},
		{"create table t (a int, b int); alter table t colview nocolview (a)", "2"},
		{"create table t (a int, b int); alter table t colview nocolview (a, b)", nothing},
		{"create table t (a int, b int); alter table t colview, nocolview", conflict},
		{"create table t (a int, b int); alter table t colview (a), colview (b)", conflict},
		{"create table t (a int, b int); alter table t colview, add c int", "1 2"},
		{"create table t (a int, b int); alter table t colview, add c int colview", "1 2 3"},
		{"create table t (a int, b int colview); alter table t drop b", ""},
		{"create table t (a int, b int colview); alter table t nocolview; alter table t nocolview", ""},
	} {
		s := memorySession(t)
		_, err := s.Exec(t.Context(), test.define)
		var known *weft.Error
		got := ""
		switch {
		case errors.As(err, &known):
			got = string(known.Code) + " " + known.Message
		case err != nil:
			got = err.Error()
		default:
			got = oneRow(t, s, "select coalesce(max(imcvkey::text), '') from gs_htap_imcv_info()")
		}
		if got != test.want {
			t.Errorf("%s:\n got %q\nwant %q", test.define, got, test.want)
		}
	}
}

// TestDefaultErrors checks the errors of defaults that ALTER TABLE sets, like those of CREATE TABLE.
func TestDefaultErrors(t *testing.T) {
	s := memorySession(t)
	mustExec(t, s, "create table t (a int, b date)")
	for statement, want := range map[string]string{
		"alter table t alter a set default 'y'":            `22P02 invalid input syntax for type integer: "y"`,
		"alter table t alter b set default 'today-x'":      `22007 invalid input syntax for type date: "today-x"`,
		"alter table t alter a set default b":              "0A000 cannot use column reference in DEFAULT expression",
		"alter table t add c int default a":                "0A000 cannot use column reference in DEFAULT expression",
		"alter table t add c int default 'q'":              `22P02 invalid input syntax for type integer: "q"`,
		"alter table t add c int default (select 1)":       "0A000 cannot use subquery in DEFAULT expression",
		"alter table t add c int default (1 in (table t))": "0A000 cannot use subquery in DEFAULT expression",
		"alter table t add c int default $1":               "42P02 there is no parameter $1",
		"alter table t add c int default true":             `42804 column "c" is of type integer but default expression is of type boolean`,
	} {
		_, err := s.Exec(t.Context(), statement)
		var known *weft.Error
		if !errors.As(err, &known) || string(known.Code)+" "+known.Message != want {
			t.Errorf("%s: error %v, want %s", statement, err, want)
			continue
		}
		if known.Position == 0 && !strings.Contains(want, "random") {
			t.Errorf("%s: no position", statement)
		}
	}
}
