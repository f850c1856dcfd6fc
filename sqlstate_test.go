package weft_test

import (
	"context"
	"testing"
)

// TestUnknownNames compares the SQLSTATEs of statements that name what does not exist, or come out of place, with
// those of PostgreSQL 15.
func TestUnknownNames(t *testing.T) {
	for statement, want := range map[string]string{
		"rollback to x": "25P01", "begin; rollback to x": "3B001", "begin; release x": "3B001", "savepoint x": "25P01", "release x": "25P01",
		"set nosuch = 1": "42704", "show nosuch": "42704", "create table no.t (a int)": "3F000", "drop schema nosuch": "3F000", "select nosuch()": "42883",
		"drop index nosuch": "42704", "drop table nosuch": "42P01", "drop view nosuch": "42P01", "drop sequence nosuch": "42P01", "alter table nosuch add a int": "42P01",
		"create table a (a int, a int)": "42701", "select a from (values (1)) x(b)": "42703", "select nextval('nosuch')": "42P01",
		"deallocate nosuch": "26000", "execute nosuch": "26000", "explain execute nosuch": "26000",
		"truncate nosuch": "42P01", "lock table nosuch": "25P01", "begin; lock table nosuch": "42P01", "create index on nosuch (a)": "42P01", "copy nosuch from '/nosuch'": "42P01",
		"prepare p as select $1; execute p": "42601", "vacuum nosuch": "42P01", "analyze nosuch": "42P01",
		"select 'a'::int": "22P02", "select 1/0": "22012", "select 2147483647 + 1": "22003", "select cast('2020-13-01' as date)": "22008",
		"select * from generate_series(1, 2) g limit -1": "2201W",
	} {
		s := openMemory(t).Session()
		if _, err := s.Exec(context.Background(), statement); codeOf(err) != want {
			t.Errorf("%s: %v, want %s", statement, err, want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
