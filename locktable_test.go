package weft_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weftdb/weft"
)

var tableLockModes = []string{"access share", "row share", "row exclusive", "share update exclusive", "share", "share row exclusive", "exclusive", "access exclusive"}

// conflictingModes lists, by mode, the modes that PostgreSQL's manual says it conflicts with: a bit for each
// mode in the order above.
var conflictingModes = []string{"00000001", "00000011", "00001111", "00011111", "00110111", "00111111", "01111111", "11111111"}

// TestTableLockModes holds each mode and asks for each.
func TestTableLockModes(t *testing.T) {
	db := openMemory(t)
	holder, other := db.Session(), db.Session()
	defer holder.Close()
	defer other.Close()
	mustExec(t, holder, "create table t (a int)")
	for i, held := range tableLockModes {
		for j, asked := range tableLockModes {
			mustExec(t, holder, "begin; lock table t in "+held+" mode")
			mustExec(t, other, "begin")
			_, err := other.Exec(t.Context(), "lock t in "+asked+" mode nowait")
			want := ""
			if conflictingModes[i][j] == '1' {
				want = "55P03"
			}
			if codeOf(err) != want || err != nil && !strings.Contains(err.Error(), `could not obtain lock on relation "t"`) {
				t.Errorf("%s held, %s asked for: %v, want %q", held, asked, err, want)
			}
			mustExec(t, other, "rollback")
			mustExec(t, holder, "rollback")
		}
	}
}

// TestTableLocksOfStatements finds out which modes go with each statement, which tells its own.
func TestTableLocksOfStatements(t *testing.T) {
	for _, c := range []struct{ statement, mode string }{
		{"select * from t", "access share"},
		{"select * from v", "access share"},
		{"select * from t where id = 1", "access share"},
		{"select 1 from t where false", "access share"},
		{"with x as (select * from t) select 1", "access share"},
		{"insert into u select id, id from t", "access share"},
		{"create table w as select * from t", "access share"},
		{"create view v2 as select * from t", "access share"},
		{"copy t to '/dev/null'", "access share"},
		{"explain select * from t", "access share"},
		{"select * from t for update", "row share"},
		{"select * from t where false for key share", "row share"},
		{"insert into t values (9, 9)", "row exclusive"},
		{"insert into t select 9, 9 where false", "row exclusive"},
		{"update t set a = 2 where id = 1", "row exclusive"},
		{"update t set a = 2 where false", "row exclusive"},
		{"delete from t where id = 1", "row exclusive"},
		{"insert into t values (1, 1) on conflict do nothing", "row exclusive"},
		{"insert into child values (1)", "row share"}, // the referenced table
		{"analyze t", "share update exclusive"},
		{"alter table t colview", "share update exclusive"},
		{"create index on t (a)", "share"},
		{"create unique index on t (a)", "share"},
		{"alter table t add foreign key (a) references p", "share row exclusive"},
		{"create table child2 (a int references t)", "share row exclusive"},
		{"alter table t add column b int", "access exclusive"},
		{"alter table t alter a set not null", "access exclusive"},
		{"alter table t add unique (a)", "access exclusive"},
		{"drop index t_a", "access exclusive"},
		{"drop table t cascade", "access exclusive"},
		{"truncate t cascade", "access exclusive"},
	} {
		at := 0
		for tableLockModes[at] != c.mode {
			at++
		}
		db := openMemory(t)
		s, other := db.Session(), db.Session()
		mustExec(t, s, `create table t (id int primary key, a int); insert into t values (1, 1); create index t_a on t (a); create view v as select * from t;
			create table u (id int, a int); create table p (id int primary key); insert into p values (1); create table child (a int references t)`)
		mustExec(t, s, "begin")
		if _, err := s.Exec(t.Context(), c.statement); err != nil {
			t.Errorf("%s: %v", c.statement, err)
		}
		got := ""
		for _, asked := range tableLockModes {
			mustExec(t, other, "begin")
			_, err := other.Exec(t.Context(), "lock table only t in "+asked+" mode nowait")
			mustExec(t, other, "rollback")
			if err != nil {
				got += "1"
			} else {
				got += "0"
			}
		}
		if got != conflictingModes[at] {
			t.Errorf("%s conflicts with %s, but %s mode with %s", c.statement, got, c.mode, conflictingModes[at])
		}
		s.Close()
		other.Close()
	}
}

var tableLockSchedules = []schedule{
	{name: "readers wait for whoever excludes them", readCommitted: `
		1: lock table test
		2: select * from test where id = 1 => blocks
		1: update test set value = 11 where id = 1
		1: commit
		2: => 1,11
		2: commit`},
	{name: "a repeatable reader keeps its snapshot", repeatableRead: `
		2: select * from other where k = 2 => 2,200
		1: lock table test
		1: update test set value = 11 where id = 1
		2: select * from test where id = 1 => blocks
		1: commit
		2: => 1,10
		2: commit`},
	{name: "locking first and then looking", readCommitted: `
		1: lock table test
		1: update test set value = 11 where id = 1
		2: lock table test in share mode => blocks
		1: commit
		2: => 0
		2: select * from test where id = 1 => 1,11
		2: commit`, repeatableRead: "=", serializable: "="},
	{name: "writers go on with what others defined", readCommitted: `
		1: alter table test add column extra int default 7
		2: update test set value = 12 where id = 1 => blocks
		3: insert into test select id + 2, value from test => blocks
		1: commit
		2: => 1
		2: select id, value, extra from test where id = 2 => 2,20,7
		3: => 2
		3: rollback
		2: select id, value, extra from test where id = 1 => 1,12,7
		2: commit`},
	{name: "a reader of a table that is dropped", readCommitted: `
		1: drop table test
		2: select * from test => blocks
		1: commit
		2: => 42P01
		2: rollback`},
	{name: "a table that is dropped while it is waited for", readCommitted: `
		1: drop table test
		2: lock table test => blocks
		1: commit
		2: => 42P01
		2: rollback`},
	{name: "whoever drops waits for readers", readCommitted: `
		1: select count(*) from test => 2
		2: drop table test => blocks
		3: select count(*) from test => blocks
		1: commit
		2: => 0
		2: rollback
		3: => 2
		3: commit`},
	{name: "a deadlock of tables and rows", readCommitted: `
		1: update test set value = 11 where id = 1
		2: lock table other
		1: select count(*) from other => blocks
		2: update test set value = 12 where id = 1 => 40P01
		1: => 2
		1: commit
		2: rollback`},
	{name: "a deadlock of two that strengthen their locks", readCommitted: `
		1: lock table test in share mode
		2: lock table test in share mode
		1: update test set value = 11 where id = 1 => blocks
		2: update test set value = 12 where id = 2 => 40P01
		1: => 1
		1: commit
		2: rollback`},
	{name: "a lock is weakened by no one", readCommitted: `
		1: lock table test in exclusive mode
		1: lock table test in access share mode
		2: select count(*) from test => 2
		2: select id from test for update => blocks
		1: commit
		2: => 1 2
		2: commit`},
	{name: "no waiting", readCommitted: `
		1: lock table test in row exclusive mode
		2: lock table other, test in share mode nowait => 55P03
		2: rollback
		2: begin
		2: lock table test in row exclusive mode nowait
		1: commit
		2: commit`},
	{name: "indexes are added one after the other", readCommitted: `
		1: create index on test (value)
		2: create index on test (value, id) => blocks
		3: select count(*) from test where value = 10 => 1
		3: commit
		1: insert into test values (3, 30)
		1: commit
		2: => 0
		2: commit
		3: select count(*) from test where value = 30 => 1`},
	{name: "an index is added beside a reader with SHARE", readCommitted: `
		1: lock table test in share mode
		2: create index on test (value) => 0
		2: commit
		1: commit`},
}

// TestTableLockSchedules lets transactions meet over tables.
func TestTableLockSchedules(t *testing.T) {
	for _, s := range tableLockSchedules {
		if s.repeatableRead == "=" {
			s.repeatableRead = s.readCommitted
		}
		if s.serializable == "=" {
			s.serializable = s.repeatableRead
		}
		for level, steps := range map[string]string{"read committed": s.readCommitted, "repeatable read": s.repeatableRead, "serializable": s.serializable} {
			if steps != "" {
				t.Run(level+"/"+s.name, func(t *testing.T) { runSchedule(t, "row", level, steps) })
			}
		}
	}
}

// TestLockTable checks what LOCK TABLE refuses and what it locks besides.
func TestLockTable(t *testing.T) {
	db := openMemory(t)
	s, other := db.Session(), db.Session()
	defer s.Close()
	defer other.Close()
	mustExec(t, s, `create table a (x int primary key); create table b (x int); create schema z; create table z.c (x int); create sequence q;
		create view v as select a.x from a join z.c on a.x = c.x; create view w as select * from v`)
	for _, c := range []struct{ statement, code, text string }{
		{"lock table a", "25P01", "LOCK TABLE can only be used in transaction blocks"},
		{"begin; lock table nope", "42P01", `relation "nope" does not exist`},
		{"begin; lock table z.nope", "42P01", `relation "z.nope" does not exist`},
		{"begin; lock table q", "42809", `cannot lock relation "q"`},
		{"begin; lock table a_pkey", "42809", `cannot lock relation "a_pkey"`},
		{"begin; lock table a in shared mode", "42601", ""},
		{"begin; set local lock_timeout = 5; lock table b", "55P03", "canceling statement due to lock timeout"},
		{"begin; set local statement_timeout = 5; lock table b", "57014", "statement timeout"},
	} {
		mustExec(t, other, "begin; lock table b in access share mode")
		_, err := s.Exec(t.Context(), c.statement)
		if codeOf(err) != c.code || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want %s %s", c.statement, err, c.code, c.text)
		}
		mustExec(t, s, "rollback")
		mustExec(t, other, "rollback")
	}
	for _, statement := range []string{"lock table a, only b", "lock a *", "lock table w in share mode nowait"} {
		mustExec(t, s, "begin read only; "+statement)
		for _, table := range []string{"a", "b", "z.c", "v", "w"} {
			mustExec(t, other, "begin")
			_, err := other.Exec(t.Context(), fmt.Sprintf("lock table %s in row exclusive mode nowait", table))
			locked := table == "b" // locking a view asks for its tables, too
			switch statement {
			case "lock a *":
				locked = table != "b" && table != "z.c"
			case "lock table a, only b":
				locked = table != "z.c"
			case "lock table w in share mode nowait":
				locked = table != "b"
			}
			if locked != (codeOf(err) == "55P03") {
				t.Errorf("%s, then %s: %v", statement, table, err)
			}
			mustExec(t, other, "rollback")
		}
		mustExec(t, s, "rollback")
	}
	mustExec(t, s, "begin; lock table a; set transaction isolation level serializable; select * from a; rollback")
}

// TestReadersLocks looks at the locks of statements outside of transaction blocks.
func TestReadersLocks(t *testing.T) {
	db := openMemory(t)
	s := db.Session()
	defer s.Close()
	mustExec(t, s, "create table t (id int primary key, v text); insert into t select g, repeat('x', 100) from generate_series(1, 50000) g")
	rows, err := db.Query(t.Context(), "select * from t")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Exec(t.Context(), "begin; lock table t nowait"); codeOf(err) != "55P03" {
		t.Errorf("while rows are read: %v", err)
	}
	mustExec(t, s, "rollback")
	rows.Close()
	mustExec(t, s, "begin; lock table t nowait")
	point, err := db.Query(t.Context(), "select 1")
	if err != nil {
		t.Fatal(err)
	}
	point.Close()
	for _, query := range []string{"select v from t where id = $1", "select count(*) from t where id > $1"} {
		reader := db.Session()
		mustExec(t, reader, "set lock_timeout = 5")
		if _, err := reader.Query(t.Context(), query, 1); codeOf(err) != "55P03" {
			t.Errorf("%s: %v", query, err)
		}
		reader.Close()
	}
	mustExec(t, s, "rollback")
	var known *weft.Rows
	if known, err = db.Query(t.Context(), "select v from t where id = $1", 1); err != nil || !known.Next() {
		t.Errorf("after the lock: %v", err)
	}
	known.Close()
}
