package weft_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftdb/weft"
)

// A schedule is a list of steps "session: statement => outcome". The outcome is the rows as
// "a,b a,b", a command tag's count, an SQLSTATE, or "blocks"; a step "session: => outcome" tells how
// the blocked statement of the session ends. Without outcome the statement must succeed.
//
// The schedules and the anomalies they look for are those of Martin Kleppmann's Hermitage: what
// each isolation level permits, as PostgreSQL behaves.
type schedule struct {
	name           string
	readCommitted  string
	repeatableRead string // "=" = as at READ COMMITTED, "" = not run
	serializable   string // "=" = as at REPEATABLE READ, "" = not run
}

var schedules = []schedule{
	{name: "G0: write cycles", readCommitted: `
		1: update test set value = 11 where id = 1
		2: update test set value = 12 where id = 1 => blocks
		1: update test set value = 21 where id = 2
		1: commit
		2: => 1
		1: select * from test order by id => 1,11 2,21
		2: update test set value = 22 where id = 2
		2: commit
		1: select * from test order by id => 1,12 2,22`, repeatableRead: `
		1: update test set value = 11 where id = 1
		2: update test set value = 12 where id = 1 => blocks
		1: update test set value = 21 where id = 2
		1: commit
		2: => 40001
		1: select * from test order by id => 1,11 2,21
		2: rollback`, serializable: "="},
	{name: "G1a: aborted reads", readCommitted: `
		1: update test set value = 101 where id = 1
		2: select * from test order by id => 1,10 2,20
		1: rollback
		2: select * from test order by id => 1,10 2,20
		2: commit`, repeatableRead: "=", serializable: "="},
	{name: "G1b: intermediate reads", readCommitted: `
		1: update test set value = 101 where id = 1
		2: select * from test order by id => 1,10 2,20
		1: update test set value = 11 where id = 1
		1: commit
		2: select * from test order by id => 1,11 2,20
		2: commit`, repeatableRead: `
		1: update test set value = 101 where id = 1
		2: select * from test order by id => 1,10 2,20
		1: update test set value = 11 where id = 1
		1: commit
		2: select * from test order by id => 1,10 2,20
		2: commit`, serializable: "="},
	{name: "G1c: circular information flow", readCommitted: `
		1: update test set value = 11 where id = 1
		2: update test set value = 22 where id = 2
		1: select * from test where id = 2 => 2,20
		2: select * from test where id = 1 => 1,10
		1: commit
		2: commit`, repeatableRead: "=", serializable: `
		1: update test set value = 11 where id = 1
		2: update test set value = 22 where id = 2
		1: select * from test where id = 2 => 2,20
		2: select * from test where id = 1 => 1,10
		1: commit
		2: commit => 40001
		1: select * from test order by id => 1,11 2,20`},
	{name: "OTV: observed transaction vanishes", readCommitted: `
		1: update test set value = 11 where id = 1
		1: update test set value = 19 where id = 2
		2: update test set value = 12 where id = 1 => blocks
		1: commit
		2: => 1
		3: select * from test where id = 1 => 1,11
		2: update test set value = 18 where id = 2
		3: select * from test where id = 2 => 2,19
		2: commit
		3: select * from test where id = 2 => 2,18
		3: select * from test where id = 1 => 1,12
		3: commit`, repeatableRead: `
		1: update test set value = 11 where id = 1
		1: update test set value = 19 where id = 2
		2: update test set value = 12 where id = 1 => blocks
		1: commit
		2: => 40001
		3: select * from test where id = 1 => 1,11
		2: rollback
		3: select * from test where id = 2 => 2,19
		3: commit`, serializable: "="},
	{name: "PMP: predicate-many-preceders", readCommitted: `
		1: select * from test where value = 30 =>
		2: insert into test values (3, 30)
		2: commit
		1: select * from test where value % 3 = 0 => 3,30
		1: commit`, repeatableRead: `
		1: select * from test where value = 30 =>
		2: insert into test values (3, 30)
		2: commit
		1: select * from test where value % 3 = 0 =>
		1: commit`, serializable: "="},
	{name: "PMP for write predicates", readCommitted: `
		1: update test set value = value + 10 => 2
		2: delete from test where value = 20 => blocks
		1: commit
		2: => 0
		2: select * from test order by id => 1,20 2,30
		2: commit`, repeatableRead: `
		1: update test set value = value + 10 => 2
		2: delete from test where value = 20 => blocks
		1: commit
		2: => 40001
		2: rollback`, serializable: "="},
	{name: "P4: lost update", readCommitted: `
		1: select * from test where id = 1 => 1,10
		2: select * from test where id = 1 => 1,10
		1: update test set value = 11 where id = 1
		2: update test set value = 11 where id = 1 => blocks
		1: commit
		2: => 1
		2: commit`, repeatableRead: `
		1: select * from test where id = 1 => 1,10
		2: select * from test where id = 1 => 1,10
		1: update test set value = 11 where id = 1
		2: update test set value = 11 where id = 1 => blocks
		1: commit
		2: => 40001
		2: rollback`, serializable: "="},
	{name: "G-single: read skew", readCommitted: `
		1: select * from test where id = 1 => 1,10
		2: select * from test where id = 1 => 1,10
		2: select * from test where id = 2 => 2,20
		2: update test set value = 12 where id = 1
		2: update test set value = 18 where id = 2
		2: commit
		1: select * from test where id = 2 => 2,18
		1: commit`, repeatableRead: `
		1: select * from test where id = 1 => 1,10
		2: select * from test where id = 1 => 1,10
		2: select * from test where id = 2 => 2,20
		2: update test set value = 12 where id = 1
		2: update test set value = 18 where id = 2
		2: commit
		1: select * from test where id = 2 => 2,20
		1: commit`, serializable: "="},
	{name: "G-single with predicates", readCommitted: `
		1: select * from test where value % 5 = 0 order by id => 1,10 2,20
		2: update test set value = 12 where value = 10
		2: commit
		1: select * from test where value % 3 = 0 => 1,12
		1: commit`, repeatableRead: `
		1: select * from test where value % 5 = 0 order by id => 1,10 2,20
		2: update test set value = 12 where value = 10
		2: commit
		1: select * from test where value % 3 = 0 =>
		1: commit`, serializable: "="},
	{name: "G-single with a write predicate", readCommitted: `
		1: select * from test where id = 1 => 1,10
		2: select * from test order by id => 1,10 2,20
		2: update test set value = 12 where id = 1
		2: update test set value = 18 where id = 2
		2: commit
		1: delete from test where value = 20 => 0
		1: commit`, repeatableRead: `
		1: select * from test where id = 1 => 1,10
		2: select * from test order by id => 1,10 2,20
		2: update test set value = 12 where id = 1
		2: update test set value = 18 where id = 2
		2: commit
		1: delete from test where value = 20 => 40001
		1: rollback`, serializable: "="},
	{name: "G2-item: write skew", readCommitted: `
		1: select * from test where id in (1, 2) order by id => 1,10 2,20
		2: select * from test where id in (1, 2) order by id => 1,10 2,20
		1: update test set value = 11 where id = 1
		2: update test set value = 21 where id = 2
		1: commit
		2: commit`, repeatableRead: "=", serializable: `
		1: select * from test where id in (1, 2) order by id => 1,10 2,20
		2: select * from test where id in (1, 2) order by id => 1,10 2,20
		1: update test set value = 11 where id = 1
		2: update test set value = 21 where id = 2
		1: commit
		2: commit => 40001
		1: select * from test order by id => 1,11 2,20`},
	{name: "G2: anti-dependency cycles", readCommitted: `
		1: select * from test where value % 3 = 0 =>
		2: select * from test where value % 3 = 0 =>
		1: insert into test values (3, 30)
		2: insert into test values (4, 42)
		1: commit
		2: commit
		1: select * from test where value % 3 = 0 order by id => 3,30 4,42`, repeatableRead: "=", serializable: `
		1: select * from test where value % 3 = 0 =>
		2: select * from test where value % 3 = 0 =>
		1: insert into test values (3, 30)
		2: insert into test values (4, 42)
		1: commit
		2: commit => 40001
		1: select * from test where value % 3 = 0 order by id => 3,30`},
	{name: "G2 with two anti-dependency edges", readCommitted: `
		1: select * from test order by id => 1,10 2,20
		2: update test set value = value + 5 where id = 2
		2: commit
		3: select * from test order by id => 1,10 2,25
		3: commit
		1: update test set value = 0 where id = 1
		1: commit
		1: select * from test order by id => 1,0 2,25`, repeatableRead: "=", serializable: `
		1: select * from test order by id => 1,10 2,20
		2: update test set value = value + 5 where id = 2
		2: commit
		3: select * from test order by id => 1,10 2,25
		3: commit
		1: update test set value = 0 where id = 1 => 40001
		1: rollback
		1: select * from test order by id => 1,10 2,25`},
}

// More schedules, of what READ COMMITTED does with rows that changed under a statement.
var rereads = []schedule{
	{name: "new values come from the newest row", readCommitted: `
		1: update test set value = value + 1 where id = 1
		2: update test set value = value * 2 => blocks
		1: commit
		2: => 2
		2: select * from test order by id => 1,22 2,40
		2: commit`},
	{name: "a deleted row is left alone", readCommitted: `
		1: delete from test where id = 1
		2: update test set value = value * 2 => blocks
		1: commit
		2: => 1
		2: select * from test order by id => 2,40
		2: commit`},
	{name: "a row rolled back is as before", readCommitted: `
		1: update test set value = 15 where id = 1
		2: update test set value = value * 2 where value = 10 => blocks
		1: rollback
		2: => 1
		2: select * from test order by id => 1,20 2,20
		2: commit`},
	{name: "a row that comes to qualify is not found", readCommitted: `
		1: update test set value = 20 where id = 1
		2: delete from test where value = 20 => 1
		1: commit
		2: select * from test order by id => 1,20
		2: commit`},
	{name: "a changed primary key", readCommitted: `
		1: update test set id = 5 where id = 1
		2: update test set value = value + 1 where id = 1 => blocks
		1: commit
		2: => 0
		2: update test set id = 6, value = value + 1 where id = 5 => 1
		2: commit
		1: select * from test order by id => 2,20 6,11`},
	{name: "a join is taken again", readCommitted: `
		1: update test set value = 2 where id = 1
		2: update test set value = test.value + o.v from other o where o.k = test.value => blocks
		1: commit
		2: => 1
		2: select * from test order by id => 1,202 2,20
		2: commit`},
	{name: "a subquery sees the statement's snapshot", readCommitted: `
		1: update test set value = 11 where id = 1
		2: update test set value = (select sum(value) from test) + value where id = 1 => blocks
		1: commit
		2: => 1
		2: select * from test order by id => 1,41 2,20
		2: commit`},
	{name: "RETURNING yields what was written", readCommitted: `
		1: update test set value = 11 where id = 1
		2: update test set value = value + 1 returning id, value => blocks
		1: commit
		2: => 2,21 1,12
		2: commit`},
	{name: "a check is made on the newest row", readCommitted: `
		1: update test set value = 1000 where id = 1
		2: update test set value = value + 500 where id = 1 => blocks
		1: commit
		2: => 23514
		2: rollback`},
	{name: "correlated subquery on both sides of the change", readCommitted: `
		1: update test set value = 2 where id = 1
		2: update test set value = (select coalesce(sum(o.v), 0) / 10 from other o where o.k < test.value or o.k = test.id and o.v > test.value) => blocks
		1: commit
		2: => 2
		2: select * from test order by id => 1,0 2,120
		2: commit`},
	{name: "a locked row is read in its newest version", readCommitted: `
		1: update test set value = 11 where id = 1
		2: select value + 1, id from test order by value for update => blocks
		1: commit
		2: => 12,1 21,2
		1: select * from test where id = 1 for share nowait => 55P03
		1: rollback
		2: commit`},
	{name: "a locked row that does not qualify any more", readCommitted: `
		1: update test set value = 11 where id = 1
		2: select id from test where value = 10 for update => blocks
		1: commit
		2: =>
		2: commit`},
	{name: "a locked row of a join", readCommitted: `
		1: update test set value = 2 where id = 1
		2: select t.id, o.v from test t join other o on o.k = t.value for update of t => blocks
		1: commit
		2: => 1,200
		1: select * from other where k = 2 for update nowait => 2,200
		1: commit
		2: commit`},
	{name: "share locks go together", readCommitted: `
		1: select * from test where id = 1 for share => 1,10
		2: select * from test where id = 1 for key share => 1,10
		2: select * from test where id = 1 for share => 1,10
		3: select * from test where id = 1 for no key update nowait => 55P03
		3: rollback
		1: commit
		2: commit
		3: begin
		3: select * from test where id = 1 for no key update nowait => 1,10
		1: select * from test where id = 1 for key share => 1,10
		1: select * from test where id = 1 for share nowait => 55P03
		1: rollback
		3: commit`},
	{name: "a queue", readCommitted: `
		1: select id from test order by id limit 1 for update skip locked => 1
		2: select id from test order by id limit 1 for update skip locked => 2
		3: select id from test order by id limit 1 for update skip locked =>
		1: rollback
		3: select id from test order by id limit 1 for update skip locked => 1
		2: delete from test where id = 2 => 1
		2: commit
		3: commit`},
	{name: "no more rows are locked than LIMIT takes", readCommitted: `
		1: select id from test order by id limit 1 for update => 1
		2: select id from test where id = 2 for update nowait => 2
		2: select id from test where id = 1 for update nowait => 55P03
		2: rollback
		1: commit`},
	{name: "an upsert waits for the insert of its key", readCommitted: `
		1: insert into test values (3, 30)
		2: insert into test values (3, 33) on conflict (id) do update set value = test.value + excluded.value returning value => blocks
		1: commit
		2: => 63
		2: commit`, repeatableRead: `
		2: select * from test order by id => 1,10 2,20
		1: insert into test values (3, 30)
		2: insert into test values (3, 33) on conflict (id) do update set value = test.value + excluded.value => blocks
		1: commit
		2: => 40001
		2: rollback`, serializable: "="},
	{name: "an upsert inserts when the other insert goes", readCommitted: `
		1: insert into test values (3, 30)
		2: insert into test values (3, 33) on conflict (id) do update set value = test.value + excluded.value returning value => blocks
		1: rollback
		2: => 33
		2: commit`, repeatableRead: "=", serializable: "="},
	{name: "an upsert takes the newest row", readCommitted: `
		1: update test set value = 11 where id = 1
		2: insert into test values (1, 5) on conflict (id) do update set value = test.value + excluded.value where test.value > 10 returning value => blocks
		1: commit
		2: => 16
		2: commit`},
	{name: "an upsert after a delete", readCommitted: `
		1: delete from test where id = 1
		2: insert into test values (1, 5) on conflict (id) do update set value = test.value + excluded.value returning value => blocks
		1: commit
		2: => 5
		2: commit`},
	{name: "do nothing", readCommitted: `
		1: insert into test values (3, 30)
		2: insert into test values (3, 33), (4, 44) on conflict do nothing => blocks
		1: commit
		2: => 1
		2: commit`, repeatableRead: `
		2: select * from test order by id => 1,10 2,20
		1: insert into test values (3, 30)
		1: commit
		2: insert into test values (3, 33), (4, 44) on conflict do nothing => 40001
		2: rollback`, serializable: "="},
	{name: "a deadlock's victim gives its locks back at once", readCommitted: `
		1: update test set value = 11 where id = 1
		2: update test set value = 22 where id = 2
		1: update test set value = 12 where id = 2 => blocks
		2: update test set value = 21 where id = 1 => 40P01
		1: => 1
		2: select 1 => 25P02
		2: rollback
		1: commit
		2: select * from test order by id => 1,11 2,12`},
}

// What REPEATABLE READ and SERIALIZABLE do with locking clauses.
var locks = []schedule{
	{name: "a row that changed cannot be locked", repeatableRead: `
		1: select * from test where id = 1 => 1,10
		2: update test set value = 11 where id = 1
		2: commit
		1: select * from test where id = 1 for update => 40001
		1: rollback`, serializable: "="},
	{name: "a row that did not change can", repeatableRead: `
		1: select * from test where id = 1 => 1,10
		2: update test set value = 21 where id = 2
		2: commit
		1: select * from test where id = 1 for update => 1,10
		1: commit`, serializable: "="},
}

// TestIsolation runs the schedules at each level, with the table read by rows, by columns and
// hybrid.
func TestIsolation(t *testing.T) {
	for _, view := range []string{"row", "column", "hybrid"} {
		for _, s := range slices.Concat(schedules, rereads, locks) {
			if s.readCommitted != "" {
				t.Run(view+"/read committed/"+s.name, func(t *testing.T) {
					runSchedule(t, view, "read committed", s.readCommitted)
				})
			}
			if s.repeatableRead == "=" {
				s.repeatableRead = s.readCommitted
			}
			if s.repeatableRead != "" {
				t.Run(view+"/repeatable read/"+s.name, func(t *testing.T) {
					runSchedule(t, view, "repeatable read", s.repeatableRead)
				})
			}
			if s.serializable == "=" {
				s.serializable = s.repeatableRead
			}
			if s.serializable != "" {
				t.Run(view+"/serializable/"+s.name, func(t *testing.T) {
					runSchedule(t, view, "serializable", s.serializable)
				})
			}
		}
	}
}

type scheduled struct {
	*weft.Session
	outcome chan string // of the statement that is running
}

func runSchedule(t *testing.T, view, level, steps string) {
	db := openMemory(t)
	setup := db.Session()
	defer setup.Close()
	mustExec(t, setup, `create table test (id int primary key, value int check (value < 1200));
		insert into test values (1, 10), (2, 20);
		create table other (k int, v int); insert into other values (2, 200), (10, 1000)`)
	switch view {
	case "column":
		mustExec(t, setup, "alter table test colview; select * from gs_imcv_flush('test')")
	case "hybrid":
		mustExec(t, setup, "alter table test colview(value); select * from gs_imcv_flush('test')")
	}
	mode := "column"
	if view == "row" {
		mode = "row"
	}
	runSteps(t, db, mode, level, steps)
}

// runSteps runs the steps of a schedule in transactions of a level.
func runSteps(t *testing.T, db *weft.DB, router, level, steps string) {
	t.Helper()
	sessions := map[string]*scheduled{}
	for _, line := range strings.Split(strings.TrimSpace(steps), "\n") {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		statement, want, checked := strings.Cut(strings.TrimSpace(rest), "=>")
		statement, want = strings.TrimSpace(statement), strings.TrimSpace(want)
		s := sessions[name]
		if s == nil {
			s = &scheduled{Session: db.Session(), outcome: make(chan string, 1)}
			defer s.Close()
			sessions[name] = s
			mustExec(t, s.Session, "set htap_router_mode = '"+router+"'; begin isolation level "+level)
		}
		var got string
		if statement != "" {
			got = s.start(db, statement, want == "blocks")
		} else {
			got = s.end()
		}
		if checked && got != want || !checked && (len(got) == 5 || got == "blocks") {
			t.Fatalf("%s: %q, want %q", strings.TrimSpace(line), got, want)
		}
	}
}

// start runs a statement and returns its outcome, "blocks" when it waits for a lock. One that is not
// expected to block gets all the time it wants: a deadlock too is found in a wait.
func (s *scheduled) start(db *weft.DB, statement string, blocks bool) string {
	waits := db.Stats().LockWaits
	go func() { s.outcome <- s.run(statement) }()
	if !blocks {
		return s.end()
	}
	for seen := 0; seen < 3; {
		select {
		case got := <-s.outcome:
			return got
		case <-time.After(time.Millisecond):
			if db.Stats().LockWaits > waits {
				seen++
			}
		}
	}
	return "blocks"
}

// end waits for the outcome of a blocked statement.
func (s *scheduled) end() string {
	select {
	case got := <-s.outcome:
		return got
	case <-time.After(20 * time.Second):
		return "still blocks"
	}
}

func (s *scheduled) run(statement string) string {
	rows, err := s.Query(context.Background(), statement)
	if err == nil {
		var lines []string
		for rows.Next() {
			values := make([]any, len(rows.Columns()))
			for i := range values {
				values[i] = new(int)
			}
			if err = rows.Scan(values...); err != nil {
				break
			}
			var texts []string
			for _, v := range values {
				texts = append(texts, strconv.Itoa(*v.(*int)))
			}
			lines = append(lines, strings.Join(texts, ","))
		}
		if err == nil {
			err = rows.Close()
		}
		if err == nil && len(rows.Columns()) == 0 {
			return fmt.Sprint(rows.Result().RowsAffected)
		}
		if err == nil {
			return strings.Join(lines, " ")
		}
	}
	var e *weft.Error
	if errors.As(err, &e) {
		return string(e.Code)
	}
	return err.Error()
}

// TestConcurrentIncrements lets sessions add to the same rows at READ COMMITTED, by ranges of rows
// in different orders of arrival: no addition may be lost.
func TestConcurrentIncrements(t *testing.T) {
	db := openMemory(t)
	const sessions, rounds = 6, 6
	rows := 3000 // several batches
	if testing.Short() {
		rows = 1100
	}
	s := db.Session()
	mustExec(t, s, fmt.Sprintf(`create table n (id int primary key, a bigint, b bigint, tag text);
		insert into n select g, 0, g %% 7, 'x' from generate_series(1, %d) g;
		alter table n colview(a, b); select * from gs_imcv_flush('n');
		create table d (b bigint, plus bigint); insert into d select g, 1 from generate_series(0, 6) g`, rows))
	s.Close()
	failed := make(chan error, sessions)
	var total atomic.Int64
	for k := range sessions {
		go func() {
			s := db.Session()
			defer s.Close()
			for range rounds {
				_, err := s.Exec(context.Background(), []string{
					"update n set a = a + 1",
					"set htap_router_mode = 'column'; update n set a = a + 1 where b >= 0",
					"update n set a = a + plus from d where d.b = n.b",
				}[k%3])
				var e *weft.Error
				if errors.As(err, &e) && e.Code == "40P01" { // the rows were met in other orders
					continue
				}
				if err != nil {
					failed <- err
					return
				}
				total.Add(1)
			}
			failed <- nil
		}()
	}
	for range sessions {
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
	}
	if n := count(t, db, "select count(*) from n where a <> $1", total.Load()); n != 0 {
		t.Errorf("%d rows lost an addition", n)
	}
}

// TestMovedRow lets a writer wait for a row that moves to another data node: it must not take the row
// for deleted.
func TestMovedRow(t *testing.T) {
	db, err := weft.Open(context.Background(), "", weft.Options{DataNodes: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range []string{"update t set b = 'hit' where a >= 10", "delete from t where a >= 10", "select id from t where a >= 10 order by id for update"} {
		s, other := db.Session(), &scheduled{Session: db.Session(), outcome: make(chan string, 1)}
		mustExec(t, s, `drop table if exists t; create table t (id int, a int, b text) distribute by hash(id);
			insert into t select g, g * 10, 'x' from generate_series(1, 5) g; begin; update t set id = id + 100`)
		mustExec(t, other.Session, "begin")
		if got := other.start(db, statement, true); got != "blocks" {
			t.Fatalf("%s: %s", statement, got)
		}
		mustExec(t, s, "commit")
		if got := other.end(); got != "40001" {
			t.Errorf("%s: %s, want 40001", statement, got)
		}
		mustExec(t, other.Session, "rollback")
		if n := count(t, db, "select count(*) from t where b = 'x' and id > 100"); n != 5 {
			t.Errorf("%s: %d rows left as they were, want 5", statement, n)
		}
		s.Close()
		other.Close()
	}
}
