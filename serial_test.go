package weft_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weftdb/weft"
)

// serialSchedule runs steps of transactions at SERIALIZABLE after a set-up.
type serialSchedule struct {
	name, setup, router, steps string
}

// ledger has rows enough for ranges of its indexes to be worth reading.
const ledger = `create table ledger (id int primary key, bucket int, value int, code int unique);
	insert into ledger select g, g / 100, 0, g from generate_series(1, 2000) g; create index on ledger (bucket); analyze ledger`

var serialSchedules = []serialSchedule{
	// The example of PostgreSQL's wiki: a report of a closed batch must be final.
	{name: "receipts", setup: `create table control (deposit int); insert into control values (1);
			create table receipt (deposit int, amount int)`, steps: `
		1: select deposit from control => 1
		2: update control set deposit = 2
		2: commit
		3: select deposit from control => 2
		3: select * from receipt where deposit = 1 =>
		3: commit
		1: insert into receipt values (1, 100) => 40001
		1: rollback`},
	{name: "receipts without a report", setup: `create table control (deposit int); insert into control values (1);
			create table receipt (deposit int, amount int)`, steps: `
		1: select deposit from control => 1
		2: update control set deposit = 2
		2: commit
		1: insert into receipt values (1, 100)
		1: commit`},
	{name: "ranges of an index apart", setup: ledger, router: "row", steps: `
		1: select sum(value) from ledger where bucket = 3 => 0
		2: select sum(value) from ledger where bucket = 5 => 0
		1: update ledger set value = 1 where bucket = 3 => 100
		2: update ledger set value = 1 where bucket = 5 => 100
		1: insert into ledger values (3001, 3, 7, 3001)
		2: insert into ledger values (3002, 5, 7, 3002)
		1: commit
		2: commit`},
	{name: "ranges of an index crosswise", setup: ledger, router: "row", steps: `
		1: select sum(value) from ledger where bucket = 3 => 0
		2: select sum(value) from ledger where bucket = 5 => 0
		1: update ledger set value = 1 where bucket = 5 => 100
		2: update ledger set value = 1 where bucket = 3 => 100
		1: commit
		2: commit => 40001`},
	{name: "phantoms by an index", setup: ledger, router: "row", steps: `
		1: select count(*) from ledger where bucket between 50 and 60 => 0
		2: select count(*) from ledger where bucket between 50 and 60 => 0
		1: insert into ledger values (3001, 55, 0, 3001)
		2: insert into ledger values (3002, 56, 0, 3002)
		1: commit
		2: commit => 40001`},
	{name: "rows move into ranges", setup: ledger, router: "row", steps: `
		1: select count(*) from ledger where bucket = 50 => 0
		2: select count(*) from ledger where bucket = 60 => 0
		1: update ledger set bucket = 60 where id = 5
		2: update ledger set bucket = 50 where id = 1995
		1: commit
		2: commit => 40001`},
	{name: "rows move out of ranges", setup: ledger, router: "row", steps: `
		1: select count(*) from ledger where bucket = 3 => 100
		2: select count(*) from ledger where bucket = 5 => 100
		1: update ledger set bucket = 70 where id = 505
		2: update ledger set bucket = 80 where id = 305
		1: commit
		2: commit => 40001`},
	{name: "deletes from ranges", setup: ledger, router: "row", steps: `
		1: select count(*) from ledger where bucket = 3 => 100
		2: select count(*) from ledger where bucket = 5 => 100
		1: delete from ledger where id = 505
		2: delete from ledger where id = 305
		1: commit
		2: commit => 40001`},
	{name: "keys that are not there", setup: ledger, router: "row", steps: `
		1: select * from ledger where id = 5001 =>
		2: select * from ledger where id = 5002 =>
		1: insert into ledger values (5002, 1, 1, 5002)
		2: insert into ledger values (5001, 1, 1, 5001)
		1: commit
		2: commit => 40001`},
	{name: "other keys that are not there", setup: ledger, router: "row", steps: `
		1: select * from ledger where id = 5001 =>
		2: select * from ledger where id = 5002 =>
		1: insert into ledger values (5001, 1, 1, 5001)
		2: insert into ledger values (5002, 1, 1, 5002)
		1: commit
		2: commit`},
	{name: "index joins", setup: ledger + "; create table pick (n int, ref int); insert into pick values (1, 10), (2, 20)", router: "row", steps: `
		1: select sum(l.value) from pick p join ledger l on l.id = p.ref where p.n = 1 => 0
		2: select sum(l.value) from pick p join ledger l on l.id = p.ref where p.n = 2 => 0
		1: update ledger set value = 5 where id = 20
		2: update ledger set value = 5 where id = 10
		1: commit
		2: commit => 40001`},
	{name: "columns", setup: ledger + "; alter table ledger colview; select * from gs_imcv_flush('ledger')", router: "column", steps: `
		1: select count(*) from ledger where value > 1000 => 0
		2: select count(*) from ledger where value > 1000 => 0
		1: update ledger set value = 2000 where id = 1
		2: update ledger set value = 2000 where id = 2
		1: commit
		2: commit => 40001`},
	{name: "columns and rows", setup: ledger + "; alter table ledger colview(value); select * from gs_imcv_flush('ledger')", router: "column", steps: `
		1: select id from ledger where value > 1000 =>
		2: select id from ledger where value > 1000 =>
		1: insert into ledger values (5001, 1, 2000, 5001)
		2: insert into ledger values (5002, 1, 2000, 5002)
		1: commit
		2: commit => 40001`},
	{name: "an empty table", setup: "create table a (x int); create table b (x int)", steps: `
		1: select count(*) from a => 0
		2: select count(*) from b => 0
		1: insert into b values (1)
		2: insert into a values (1)
		1: commit
		2: commit => 40001`},
	{name: "subqueries and init plans", setup: "create table a (x int); create table b (x int)", steps: `
		1: insert into b select 1 where not exists (select * from a)
		2: insert into a select 1 where (select count(*) from b) = 0
		1: commit
		2: commit => 40001`},
	{name: "a view", setup: "create table a (x int); create table b (x int); create view va as select * from a; create view vb as select * from b", steps: `
		1: select count(*) from va => 0
		2: select count(*) from vb => 0
		1: insert into b values (1)
		2: insert into a values (1)
		1: commit
		2: commit => 40001`},
	{name: "what a savepoint took back was read", setup: "create table a (x int); create table b (x int)", steps: `
		1: savepoint s
		1: select count(*) from a => 0
		1: rollback to s
		2: select count(*) from b => 0
		1: insert into b values (1)
		2: insert into a values (1)
		1: commit
		2: commit => 40001`},
	{name: "an upsert reads its key", setup: ledger, router: "row", steps: `
		1: insert into ledger values (5001, 1, 1, 5001) on conflict (id) do nothing
		2: select * from ledger where id = 5001 =>
		1: select * from ledger where id = 5002 =>
		2: insert into ledger values (5002, 1, 1, 5002)
		1: commit
		2: commit => 40001`},
	{name: "a key looked for and then taken", setup: ledger, router: "row", steps: `
		1: select * from ledger where id = 5001 =>
		2: select * from ledger where id = 5001 =>
		1: insert into ledger values (5001, 1, 1, 5001)
		1: commit
		2: insert into ledger values (5001, 1, 1, 5002) => 40001
		2: rollback`},
	{name: "a key taken unseen", setup: ledger, router: "row", steps: `
		2: select 1 => 1
		1: insert into ledger values (5001, 1, 1, 5001)
		1: commit
		2: insert into ledger values (5001, 1, 1, 5002) => 23505
		2: rollback`},
	{name: "a key freed and taken again", setup: ledger, router: "row", steps: `
		1: select code from ledger where id = 7 => 7
		2: delete from ledger where id = 7
		2: commit
		1: insert into ledger values (7, 0, 0, 7) => 40001
		1: rollback`},
	{name: "a key freed by a cascade and taken again", setup: `create table par (p int primary key); insert into par values (1), (2);
			create table kid (k int primary key, p int references par on delete cascade); insert into kid values (7, 1)`, steps: `
		1: select p from kid where k = 7 => 1
		2: delete from par where p = 1
		2: commit
		1: insert into kid values (7, 2) => 40001
		1: rollback`},
	{name: "a row that is again what it was", setup: "create table a (x int, y int); insert into a values (1, 1), (2, 2)", steps: `
		1: select sum(y) from a => 3
		2: update a set y = 5
		2: commit
		3: update a set y = 1 where x = 1
		3: commit
		1: update a set y = 9 where x = 1 => 40001
		1: rollback`},
	{name: "other levels take no part", setup: "create table a (x int); create table b (x int)", steps: `
		1: select count(*) from a => 0
		1: insert into b values (1)
		2: rollback
		2: begin isolation level repeatable read
		2: select count(*) from b => 0
		2: insert into a values (1)
		2: commit
		1: commit`},
	{name: "truncation is a write", setup: "create table a (x int); create table b (x int); insert into a values (1); insert into b values (1)", steps: `
		3: select 1 => 1
		1: select count(*) from b => 1
		1: truncate a
		1: commit
		3: select count(*) from a => 1
		3: insert into b values (2) => 40001
		3: rollback`},
	{name: "one edge is allowed", setup: "create table a (x int); create table b (x int)", steps: `
		1: select count(*) from a => 0
		2: insert into a values (1)
		2: commit
		1: insert into b values (1)
		1: commit`},
	{name: "the second out is not the first to commit", setup: "create table a (x int); create table b (x int); create table c (x int)", steps: `
		1: select count(*) from a => 0
		2: select count(*) from b => 0
		2: insert into a values (1)
		1: insert into c values (1)
		1: commit
		3: insert into b values (1)
		3: commit
		2: commit`},
	{name: "in commits last", setup: "create table a (x int); create table b (x int); create table c (x int)", steps: `
		1: select count(*) from a => 0
		2: select count(*) from b => 0
		3: insert into b values (1)
		3: commit
		2: insert into a values (1)
		2: commit
		1: insert into c values (1) => 40001
		1: rollback`},
	{name: "in only reads and began before out ended", setup: "create table a (x int); create table b (x int)", steps: `
		1: select count(*) from a => 0
		2: select count(*) from b => 0
		3: insert into b values (1)
		3: commit
		2: insert into a values (1)
		2: commit
		1: select count(*) from b => 0
		1: commit`},
}

// TestSerializable runs the schedules.
func TestSerializable(t *testing.T) {
	for _, s := range serialSchedules {
		t.Run(s.name, func(t *testing.T) {
			db := openMemory(t)
			setup := db.Session()
			defer setup.Close()
			mustExec(t, setup, s.setup)
			router := s.router
			if router == "" {
				router = "auto"
			}
			runSteps(t, db, router, "serializable", s.steps)
			if left := db.Stats().SerializableKept; left != 0 {
				t.Errorf("%d transactions are kept after all have ended", left)
			}
		})
	}
}

// TestSerializablePromotion reads and writes more keys than are kept one by one.
func TestSerializablePromotion(t *testing.T) {
	db := openMemory(t)
	s := db.Session()
	defer s.Close()
	mustExec(t, s, "create table big (id int primary key, v int); insert into big select g, 0 from generate_series(1, 10000) g; analyze big")
	a, b := db.Session(), db.Session()
	defer a.Close()
	defer b.Close()
	for _, c := range []*weft.Session{a, b} {
		mustExec(t, c, "set htap_router_mode = 'row'; begin isolation level serializable")
	}
	for i := range 5000 {
		if _, err := a.Exec(t.Context(), "select v from big where id = $1", i); err != nil {
			t.Fatal(err)
		}
	}
	mustExec(t, b, "select v from big where id = 9000; update big set v = 1 where id = 1")
	mustExec(t, a, "update big set v = 1 where id = 9000; commit")
	if _, err := b.Exec(t.Context(), "commit"); codeOf(err) != "40001" {
		t.Errorf("write skew over many keys: %v", err)
	}
	mustExec(t, a, "begin isolation level serializable; select v from big where id = 9999; update big set v = 2 where id <= 6000")
	mustExec(t, b, "begin isolation level serializable; select v from big where id = 42; update big set v = 3 where id = 9999")
	mustExec(t, b, "commit")
	if _, err := a.Exec(t.Context(), "commit"); codeOf(err) != "40001" {
		t.Errorf("write skew over many written keys: %v", err)
	}
}

// TestSerializableErrors checks the text of the error, and that the victim may try again at once.
func TestSerializableErrors(t *testing.T) {
	db := openMemory(t)
	a, b := db.Session(), db.Session()
	defer a.Close()
	defer b.Close()
	mustExec(t, a, "create table t (id int primary key, v int); insert into t values (1, 1), (2, 2); begin isolation level serializable; select sum(v) from t; update t set v = 3 where id = 1")
	mustExec(t, b, "begin isolation level serializable; select sum(v) from t; update t set v = 4 where id = 2")
	mustExec(t, a, "commit")
	_, err := b.Exec(t.Context(), "commit")
	var e *weft.Error
	if !errors.As(err, &e) || e.Code != "40001" || e.Message != "could not serialize access due to read/write dependencies among transactions" ||
		e.Detail != "Reason code: Canceled on identification as a pivot, during commit attempt." || e.Hint != "The transaction might succeed if retried." {
		t.Errorf("%+v", err)
	}
	mustExec(t, b, "begin isolation level serializable; select sum(v) from t; update t set v = 4 where id = 2; commit")
}

// TestSerializableDefault runs single statements that are transactions of their own.
func TestSerializableDefault(t *testing.T) {
	db := openMemory(t)
	a, b := db.Session(), db.Session()
	defer a.Close()
	defer b.Close()
	for _, s := range []*weft.Session{a, b} {
		mustExec(t, s, "set default_transaction_isolation = serializable; set htap_router_mode = 'row'")
	}
	mustExec(t, a, "create table t (id int primary key, v int); insert into t values (1, 10), (2, 20)")
	// The anomaly that only a reader sees: the single SELECT is the reader.
	for _, read := range []string{"select sum(v) from t", "select v from t where id = 2", "execute point(2)"} {
		mustExec(t, b, "deallocate all; prepare point(int) as select v from t where id = $1")
		mustExec(t, a, "update t set v = id * 10; begin; select * from t")
		mustExec(t, b, "update t set v = v + 5 where id = 1")
		mustExec(t, b, read)
		if _, err := a.Exec(t.Context(), "update t set v = 0 where id = 2"); codeOf(err) != "40001" {
			t.Errorf("%s: the writer that the reader did not see goes on: %v", read, err)
		}
		mustExec(t, a, "rollback")
	}
	// A reader that is the last of the three finds out itself, when its rows have been read.
	mustExec(t, a, "update t set v = id * 10; begin; select * from t")
	mustExec(t, b, "update t set v = v + 5 where id = 1")
	rows, err := db.Query(t.Context(), "select 1")
	if err != nil {
		t.Fatal(err)
	}
	rows.Close()
	reader := db.Session()
	defer reader.Close()
	mustExec(t, reader, "set default_transaction_isolation = serializable")
	if rows, err = reader.Query(t.Context(), "select id, v from t order by id"); err != nil {
		t.Fatal(err)
	}
	mustExec(t, a, "update t set v = 0 where id = 2; commit")
	n := 0
	for rows.Next() {
		n++
	}
	if codeOf(rows.Err()) != "40001" || n != 2 {
		t.Errorf("%d rows, %v", n, rows.Err())
	}
	rows.Close()
	if n := db.Stats().SerializableKept; n != 0 {
		t.Errorf("%d transactions are kept", n)
	}
}

// TestSerializableCopy exports and imports in serializable transactions.
func TestSerializableCopy(t *testing.T) {
	db := openMemory(t)
	a, b := db.Session(), db.Session()
	defer a.Close()
	defer b.Close()
	out, in := filepath.Join(t.TempDir(), "out.csv"), filepath.Join(t.TempDir(), "in.csv")
	if err := os.WriteFile(in, []byte("1\n2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	mustExec(t, a, "create table x (v int); create table y (v int); insert into x values (0); begin isolation level serializable; copy x to '"+out+"' (format csv)")
	mustExec(t, b, "begin isolation level serializable; select count(*) from y; copy x from '"+in+"' (format csv); commit")
	if _, err := a.Exec(t.Context(), "copy y from '"+in+"' (format csv); commit"); codeOf(err) != "40001" {
		t.Errorf("write skew by COPY: %v", err)
	}
	mustExec(t, a, "rollback")
	// Into an empty table, in fresh stores.
	mustExec(t, a, "begin isolation level serializable; copy y from '"+in+"' (format csv)")
	mustExec(t, b, "begin isolation level serializable; select count(*) from y; insert into x values (9); commit")
	if _, err := a.Exec(t.Context(), "select count(*) from x; commit"); err != nil {
		t.Errorf("after the other one: %v", err)
	}
	if text, err := os.ReadFile(out); err != nil || strings.TrimSpace(string(text)) != "0" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestSerializableRowsOutliveCommit reads on in rows whose transaction has committed.
func TestSerializableRowsOutliveCommit(t *testing.T) {
	db := openMemory(t)
	s, other := db.Session(), db.Session()
	defer s.Close()
	defer other.Close()
	mustExec(t, s, "create table t (id int primary key, v int); insert into t select g, g from generate_series(1, 100000) g; begin isolation level serializable; insert into t values (0, 0)")
	mustExec(t, other, "begin isolation level serializable; select 1; select v from t where id = 5")
	rows, err := s.Query(t.Context(), "select sum(a.v) from t a where a.id < 10 union all select b.v from t b")
	if err != nil {
		t.Fatal(err)
	}
	mustExec(t, s, "commit")
	for rows.Next() {
	}
	if code := codeOf(rows.Err()); rows.Err() != nil && code != "25P01" {
		t.Errorf("%v", rows.Err())
	}
	rows.Close()
	mustExec(t, other, "commit")
	if n := db.Stats().SerializableKept; n != 0 {
		t.Errorf("%d transactions are kept", n)
	}
}

// TestDeferrable lets a reader wait for a safe snapshot.
func TestDeferrable(t *testing.T) {
	db := openMemory(t)
	a, b := db.Session(), db.Session()
	defer a.Close()
	defer b.Close()
	mustExec(t, a, "create table t (id int primary key, v int); insert into t values (1, 10), (2, 20)")
	reader := &scheduled{Session: db.Session(), outcome: make(chan string, 1)}
	defer reader.Close()
	begin := func() { mustExec(t, reader.Session, "begin isolation level serializable read only deferrable") }
	read := func() { go func() { reader.outcome <- reader.run("select * from t order by id") }() }
	waits := func() {
		t.Helper()
		select {
		case got := <-reader.outcome:
			t.Fatalf("the reader did not wait: %s", got)
		case <-time.After(20 * time.Millisecond):
		}
	}
	want := func(rows string) {
		t.Helper()
		if got := reader.end(); got != rows {
			t.Errorf("%s, want %s", got, rows)
		}
		mustExec(t, reader.Session, "rollback")
	}
	// Nobody writes.
	begin()
	read()
	want("1,10 2,20")
	// A writer without conflicts ends: the snapshot from before it is safe.
	mustExec(t, a, "begin isolation level serializable; update t set v = 11 where id = 1")
	begin()
	read()
	waits()
	mustExec(t, a, "commit")
	want("1,10 2,20")
	// One that ends with an edge to a transaction from before the snapshot: another is taken.
	mustExec(t, a, "begin isolation level serializable; select * from t")
	mustExec(t, b, "begin isolation level serializable; update t set v = 12 where id = 1; commit")
	begin()
	read()
	waits()
	mustExec(t, a, "update t set v = 0 where id = 2; commit")
	want("1,12 2,0")
	// A writer that gives up.
	mustExec(t, a, "begin isolation level serializable; update t set v = 1 where id = 2")
	begin()
	read()
	waits()
	mustExec(t, a, "rollback")
	want("1,12 2,0")
	// The wait is cut short by its context and by statement_timeout.
	mustExec(t, a, "begin isolation level serializable; update t set v = 1 where id = 2")
	begin()
	mustExec(t, reader.Session, "savepoint s")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := reader.Exec(ctx, "select * from t"); codeOf(err) != "57014" {
		t.Errorf("canceled: %v", err)
	}
	mustExec(t, reader.Session, "rollback to s; set statement_timeout = 10")
	if _, err := reader.Exec(t.Context(), "select * from t"); codeOf(err) != "57014" || !strings.Contains(err.Error(), "statement timeout") {
		t.Errorf("timed out: %v", err)
	}
	mustExec(t, reader.Session, "rollback to s; set statement_timeout = 0")
	read()
	waits()
	mustExec(t, a, "commit")
	want("1,12 2,0")
	// Not deferrable, or not read only: nobody waits.
	mustExec(t, a, "begin isolation level serializable; update t set v = 7 where id = 2")
	for _, modes := range []string{"serializable read only", "serializable deferrable", "repeatable read read only deferrable"} {
		mustExec(t, reader.Session, "begin isolation level "+modes)
		read()
		want("1,12 2,1")
	}
	mustExec(t, a, "rollback")
	if n := db.Stats().SerializableKept; n != 0 {
		t.Errorf("%d transactions are kept", n)
	}
}
