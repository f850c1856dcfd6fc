package weft_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/weftdb/weft"
)

// mergeSchedules let MERGE wait for rows of tables test (id, value) = (1, 10), (2, 20) and other
// (k, v) = (2, 200), (10, 1000); the outcomes are PostgreSQL's.
var mergeSchedules = []schedule{
	{name: "the newest version still matches: conditions are judged by it", readCommitted: `
		1: update test set value = 100 where id = 2
		2: merge into test t using other o on t.id = o.k when matched and value < 50 then update set value = value + 1 when matched then update set value = value + v when not matched then insert values (k, v) => blocks
		1: commit
		2: => 2
		2: commit
		1: select * from test order by id => 1,10 2,300 10,1000`, repeatableRead: `
		1: update test set value = 100 where id = 2
		2: merge into test t using other o on t.id = o.k when matched then update set value = value + v when not matched then insert values (k, v) => blocks
		1: commit
		2: => 40001
		2: rollback
		1: select * from test order by id => 1,10 2,100`},
	{name: "the newest version does not match: inserted", readCommitted: `
		1: update test set id = 3 where id = 2
		2: merge into test t using other o on t.id = o.k when matched then update set value = value + v when not matched then insert values (k, v + 100) => blocks
		1: commit
		2: => 2
		2: commit
		1: select * from test order by id => 1,10 2,300 3,20 10,1100`},
	{name: "the newest version does not match and nothing is inserted", readCommitted: `
		1: update test set id = 3 where id = 2
		2: merge into test t using other o on t.id = o.k when matched then delete => blocks
		1: commit
		2: => 0
		2: commit
		1: select * from test order by id => 1,10 3,20`},
	{name: "the row is deleted: inserted", readCommitted: `
		1: delete from test where id = 2
		2: merge into test t using other o on t.id = o.k when matched then update set value = value + v when not matched and v < 500 then insert values (k, v) => blocks
		1: commit
		2: => 1
		2: commit
		1: select * from test order by id => 1,10 2,200`, repeatableRead: `
		1: delete from test where id = 2
		2: merge into test t using other o on t.id = o.k when matched then delete => blocks
		1: commit
		2: => 40001`},
	{name: "a rolled back change counts for nothing", readCommitted: `
		1: delete from test where id = 2
		2: merge into test t using other o on t.id = o.k when matched then update set value = value + v => blocks
		1: rollback
		2: => 1
		2: select * from test order by id => 1,10 2,220`, repeatableRead: "="},
	{name: "another clause fits the newest version: deleted", readCommitted: `
		1: update test set value = 1000 where id = 2
		2: merge into test t using other o on t.id = o.k when matched and value > 500 then delete when matched then update set value = 0 => blocks
		1: commit
		2: => 1
		2: commit
		1: select * from test order by id => 1,10`},
	{name: "no clause fits the newest version", readCommitted: `
		1: update test set value = 1000 where id = 2
		2: merge into test t using other o on t.id = o.k when matched and value < 500 then delete => blocks
		1: commit
		2: => 0
		2: select * from test order by id => 1,10 2,1000`},
	{name: "other rows of the batch are changed as they are", readCommitted: `
		1: update test set value = 11 where id = 1
		2: merge into test t using (select k - 1 as k from other union all select 2) o on t.id = o.k when matched then update set value = value * 2 when not matched then insert values (k, k) => blocks
		1: commit
		2: => 3
		2: select * from test order by id => 1,22 2,40 9,9`},
	{name: "two inserts of one key", readCommitted: `
		1: merge into test t using other o on t.id = o.k when matched then do nothing when not matched then insert values (k, v) => 1
		2: merge into test t using other o on t.id = o.k when matched then do nothing when not matched then insert values (k, v) => blocks
		1: commit
		2: => 23505`, repeatableRead: "="},
	{name: "a row that two source rows are joined with", readCommitted: `
		1: update test set id = 3 where id = 2
		2: merge into test t using (select k from other where k = 2 union all select 2) o on t.id = o.k when matched then update set value = 0 when not matched then do nothing => blocks
		1: commit
		2: => 0
		2: select * from test order by id => 1,10 3,20`},
}

func TestMergeSchedules(t *testing.T) {
	for _, view := range []string{"row", "column", "hybrid"} {
		for _, s := range mergeSchedules {
			t.Run(view+"/read committed/"+s.name, func(t *testing.T) { runSchedule(t, view, "read committed", s.readCommitted) })
			if s.repeatableRead == "=" {
				s.repeatableRead = s.readCommitted
			}
			if s.repeatableRead != "" {
				t.Run(view+"/repeatable read/"+s.name, func(t *testing.T) { runSchedule(t, view, "repeatable read", s.repeatableRead) })
			}
		}
	}
}

// TestMergeConcurrently lets sessions add to rows by MERGE, which inserts those that are missing while
// others delete them: no addition may be lost or made twice.
func TestMergeConcurrently(t *testing.T) {
	db := openMemory(t)
	const sessions, rounds, rows = 4, 15, 40
	s := db.Session()
	mustExec(t, s, "create table n (id int primary key, a bigint); create table done (id int, a bigint)")
	s.Close()
	failed := make(chan error, sessions)
	for k := range sessions {
		go func() {
			s := db.Session()
			defer s.Close()
			for round := range rounds {
				var err error
				for {
					_, err = s.Exec(context.Background(), fmt.Sprintf(`begin;
						insert into done select g, 1 from generate_series(1, %d) g;
						merge into n using (select g from generate_series(1, %[1]d) g order by g) s on n.id = s.g
							when matched and a %% 5 = %d then update set a = a + 1
							when matched then update set a = a + 1
							when not matched then insert values (g, 1);
						commit`, rows, (k+round)%5))
					if err == nil {
						break
					}
					mustExec(t, s, "rollback")
					var e *weft.Error
					if !errors.As(err, &e) || e.Code != "40P01" && e.Code != "23505" { // two inserted the same key
						failed <- err
						return
					}
				}
			}
			failed <- nil
		}()
	}
	for range sessions {
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
	}
	if n := count(t, db, "select count(*) from n join (select id, sum(a) as a from done group by id) d using (id) where n.a <> d.a"); n != 0 {
		t.Errorf("%d rows lost an addition", n)
	}
	if n := count(t, db, "select sum(a) from n"); n != sessions*rounds*rows {
		t.Errorf("%d additions", n)
	}
	checkSound(t, db)
}

func TestMergePlan(t *testing.T) {
	s := memorySession(t)
	mustExec(t, s, "create table t (a int primary key, b int, c text); create table u (a int, b int)")
	for query, want := range map[string][]string{
		"merge into t x using u on x.a = u.a when matched then delete":                                            {"Merge on t x", "Hash Join"},
		"merge into t using u on t.a = u.a when matched then delete when not matched then insert values (u.a, 1)": {"Merge on t", "Left Join"},
	} {
		text := strings.Join(column(t, s, "explain (verbose) "+query), "\n")
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s\n%s\nlacks %s", query, text, w)
			}
		}
		if strings.Contains(text, "c,") || strings.Contains(text, ", c") {
			t.Errorf("%s reads column c:\n%s", query, text)
		}
	}
}

// column returns the texts of a query's first column.
func column(t *testing.T, s *weft.Session, query string) []string {
	t.Helper()
	rows, err := s.Query(context.Background(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		text, _ := rows.Text(0)
		out = append(out, text)
	}
	return out
}
