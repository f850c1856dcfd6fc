package weft_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftdb/weft"
)

// keySchedules are about tables p (id, v), referenced by c (id, a) as its setup says. The outcomes are
// PostgreSQL's.
var keySchedules = []struct {
	schedule
	action string
}{
	{schedule{name: "insert, then delete", readCommitted: `
		1: insert into c values (1, 1)
		2: delete from p where id = 1 => blocks
		1: commit
		2: => 23503
		2: rollback`, repeatableRead: `
		2: select count(*) from p => 3
		1: insert into c values (1, 1)
		2: delete from p where id = 1 => blocks
		1: commit
		2: => 23503
		2: rollback`}, ""},
	{schedule{name: "insert rolled back, then delete", readCommitted: `
		1: insert into c values (1, 1)
		2: delete from p where id = 1 => blocks
		1: rollback
		2: => 1
		2: commit`, repeatableRead: "="}, ""},
	{schedule{name: "delete, then insert", readCommitted: `
		1: delete from p where id = 1 => 1
		2: insert into c values (1, 1) => blocks
		1: commit
		2: => 23503
		2: rollback`, repeatableRead: `
		2: select count(*) from p => 3
		1: delete from p where id = 1 => 1
		2: insert into c values (1, 1) => blocks
		1: commit
		2: => 23503
		2: rollback`}, ""},
	{schedule{name: "delete rolled back, then insert", readCommitted: `
		1: delete from p where id = 1 => 1
		2: insert into c values (1, 1) => blocks
		1: rollback
		2: => 1
		2: commit`, repeatableRead: "="}, ""},
	{schedule{name: "insert committed before a delete whose snapshot is older", readCommitted: `
		1: select count(*) from p => 3
		2: insert into c values (1, 1)
		2: commit
		1: delete from p where id = 1 => 23503
		1: rollback`, repeatableRead: "="}, ""},
	{schedule{name: "cascade meets a row that the snapshot does not have", readCommitted: `
		1: select count(*) from p => 3
		2: insert into c values (1, 1)
		2: commit
		1: delete from p where id = 1 => 1
		1: select count(*) from c => 0
		1: commit`, repeatableRead: `
		1: select count(*) from p => 3
		2: insert into c values (1, 1)
		2: commit
		1: delete from p where id = 1 => 40001
		1: rollback`}, "on delete cascade"},
	{schedule{name: "cascade waits for a row's writer", readCommitted: `
		0: alter table c add column n int
		0: insert into c values (1, 1), (2, 1)
		0: commit
		1: update c set n = 11 where id = 1
		2: delete from p where id = 1 => blocks
		1: commit
		2: => 1
		2: commit
		3: select count(*) from c => 0`, repeatableRead: `
		0: alter table c add column n int
		0: insert into c values (1, 1), (2, 1)
		0: commit
		1: update c set n = 11 where id = 1
		2: delete from p where id = 1 => blocks
		1: commit
		2: => 40001
		2: rollback`}, "on delete cascade"},
	{schedule{name: "reference moved away while the key goes", readCommitted: `
		0: insert into c values (1, 1)
		0: commit
		1: update c set a = 2 where id = 1
		2: delete from p where id = 1 => 23503
		2: rollback
		1: commit
		3: delete from p where id = 1 => 1
		3: delete from p where id = 2 => 23503
		3: rollback`, repeatableRead: "="}, ""},
	{schedule{name: "reference deleted while the key goes", readCommitted: `
		0: insert into c values (1, 1)
		0: commit
		1: delete from c where id = 1
		2: delete from p where id = 1 => blocks
		1: commit
		2: => 1
		2: commit`}, ""},
	{schedule{name: "new key seen by nobody yet", readCommitted: `
		1: insert into p values (9, 9)
		2: insert into c values (1, 9) => blocks
		1: commit
		2: => 1
		2: commit`}, ""},
	{schedule{name: "new key committed after the snapshot", readCommitted: `
		2: select count(*) from p => 3
		1: insert into p values (9, 9)
		1: commit
		2: insert into c values (1, 9) => 1
		2: commit`, repeatableRead: `
		2: select count(*) from p => 3
		1: insert into p values (9, 9)
		1: commit
		2: insert into c values (1, 9) => 23503
		2: rollback`}, ""},
	{schedule{name: "other columns of the referenced row may change", readCommitted: `
		1: insert into c values (1, 1)
		2: update p set v = v + 1 where id = 1 => 1
		3: insert into c values (3, 1) => 1
		2: commit
		1: commit
		3: commit`, repeatableRead: "="}, ""},
	{schedule{name: "a row locked FOR UPDATE gets no new references", readCommitted: `
		1: select v from p where id = 1 for update => 1
		2: insert into c values (1, 1) => blocks
		1: commit
		2: => 1
		3: select v from p where id = 1 for no key update => 1
		2: commit
		3: commit`, repeatableRead: "="}, ""},
	{schedule{name: "key changed while it gets a reference", readCommitted: `
		1: update p set id = 10 where id = 1 => 1
		2: insert into c values (1, 1) => blocks
		1: commit
		2: => 23503
		2: rollback
		3: insert into c values (1, 10) => 1
		4: update p set id = 1 where id = 10 => blocks
		3: commit
		4: => 23503
		4: rollback`, repeatableRead: `
		1: update p set id = 10 where id = 1 => 1
		2: insert into c values (1, 1) => blocks
		1: commit
		2: => 23503
		2: rollback`}, ""},
	{schedule{name: "deferred: both sides at commit", readCommitted: `
		1: insert into c values (1, 1)
		2: delete from p where id = 1 => 1
		2: commit => 0
		1: commit => 23503
		3: select count(*) from c => 0`}, "deferrable initially deferred"},
	{schedule{name: "deferred: the key goes while the reference is checked", readCommitted: `
		1: insert into c values (1, 1)
		2: delete from p where id = 1 => 1
		1: commit => blocks
		2: commit => 0
		1: => 23503
		3: select count(*) from c => 0`}, "deferrable initially deferred"},
	{schedule{name: "deferred: the reference is committed first", readCommitted: `
		2: delete from p where id = 2 => 1
		1: insert into c values (1, 1)
		1: commit => 0
		2: delete from p where id = 1 => 1
		2: commit => 23503
		3: select count(*) from p => 3`, repeatableRead: "="}, "deferrable initially deferred"},
	{schedule{name: "definition waits for writers, and they for it", readCommitted: `
		1: delete from p where id = 1 => 1
		2: create table d (a int references p) => blocks
		1: commit
		2: => 0
		3: delete from p where id = 2 => blocks
		2: insert into d values (2)
		2: commit
		3: => 23503
		3: rollback
		4: delete from p where id = 2 => 23503
		4: rollback`}, ""},
	{schedule{name: "two definitions at once", readCommitted: `
		1: create table d1 (a int references p) => 0
		2: create table d2 (a int references p) => blocks
		1: insert into d1 values (1) => 1
		1: commit
		2: => 0
		2: insert into d2 values (2) => 1
		2: commit
		3: delete from p where id = 1 => 23503
		3: rollback
		4: delete from p where id = 2 => 23503
		4: rollback`, repeatableRead: "="}, ""},
	{schedule{name: "definition against rows on their way", readCommitted: `
		0: create table e (a int)
		0: commit
		1: insert into e values (99) => 1
		2: alter table e add foreign key (a) references p => blocks
		1: commit
		2: => 23503
		2: rollback
		3: alter table e add foreign key (a) references p not valid => 0
		4: insert into e values (98) => blocks
		3: commit
		4: => 23503
		4: rollback
		5: insert into e values (98) => 23503
		5: rollback
		6: insert into e values (3) => 1
		6: commit`, repeatableRead: `
		0: create table e (a int)
		0: commit
		1: insert into e values (99) => 1
		2: alter table e add foreign key (a) references p => blocks
		1: commit
		2: => 23503
		2: rollback
		3: alter table e add foreign key (a) references p not valid => 0
		4: insert into e values (98) => blocks
		3: commit
		4: => 40001
		4: rollback
		5: insert into e values (98) => 23503
		5: rollback
		6: insert into e values (3) => 1
		6: commit`}, ""},
	{schedule{name: "definition against the end of the referenced table", readCommitted: `
		1: drop table p cascade => 0
		2: create table d (a int references p) => blocks
		1: commit
		2: => 42P01
		2: rollback
		3: create table p (id int primary key)
		3: commit
		3: create table d (a int references p)`}, ""},
	{schedule{name: "referenced table dropped while it gets references", readCommitted: `
		1: insert into c values (1, 1) => 1
		2: drop table p cascade => blocks
		1: commit
		2: => 0
		2: commit
		3: create table p (id int primary key)
		3: insert into p values (1)
		3: commit`}, ""},
	{schedule{name: "dropped constraint", readCommitted: `
		0: insert into c values (1, 1)
		0: commit
		1: alter table c drop constraint c_a_fkey
		2: delete from p where id = 1 => blocks
		1: rollback
		2: => 23503
		2: rollback`}, ""},
	{schedule{name: "truncate waits", readCommitted: `
		1: insert into c values (1, 1)
		2: truncate p, c => blocks
		1: commit
		2: => 0
		2: commit
		3: select count(*) from c => 0`}, ""},
}

func TestForeignKeySchedules(t *testing.T) {
	for _, s := range keySchedules {
		for _, nodes := range []int{1, 2} {
			for _, indexed := range []bool{false, true} {
				run := func(level, steps string) {
					t.Run(fmt.Sprintf("%d nodes, indexed %v/%s/%s", nodes, indexed, level, s.name), func(t *testing.T) {
						db, err := weft.Open(context.Background(), "", weft.Options{DataNodes: nodes})
						if err != nil {
							t.Fatal(err)
						}
						defer db.Close()
						execute(t, db, `create table p (id int primary key, v int); insert into p values (1, 1), (2, 2), (3, 3);
							create table c (id int, a int references p `+s.action+`)`)
						if indexed {
							execute(t, db, "create index on c (a)")
						}
						runSteps(t, db, "row", level, steps)
						if n := count(t, db, "select count(*) from c where a is not null and not exists (select 1 from p where p.id = c.a)"); n != 0 {
							t.Errorf("%d rows reference nothing", n)
						}
					})
				}
				run("read committed", s.readCommitted)
				if s.repeatableRead == "=" {
					run("repeatable read", s.readCommitted)
				} else if s.repeatableRead != "" {
					run("repeatable read", s.repeatableRead)
				}
			}
		}
	}
}

func execute(t *testing.T, db *weft.DB, query string) {
	t.Helper()
	if _, err := db.Exec(context.Background(), query); err != nil {
		t.Fatal(err)
	}
}

// TestForeignKeyLoads loads tables that reference others by COPY and BulkLoad, into empty tables and
// behind rows, with the referenced table free and being written.
func TestForeignKeyLoads(t *testing.T) {
	ctx := context.Background()
	for _, filled := range []bool{false, true} {
		for _, writer := range []string{"nobody", "the session", "another"} {
			t.Run(fmt.Sprintf("filled %v, %s writes", filled, writer), func(t *testing.T) {
				written := writer == "the session"
				db := openMemory(t)
				s := db.Session()
				defer s.Close()
				mustExec(t, s, `create table p (id int primary key); insert into p select g from generate_series(1, 2000) g;
					create table t (id int primary key, a int references p, up int references t deferrable initially deferred)`)
				if filled {
					mustExec(t, s, "insert into t values (-1, 1, null)")
				}
				if written {
					mustExec(t, s, "begin; insert into p values (5000)")
				}
				if writer == "another" {
					other := db.Session()
					defer other.Close()
					mustExec(t, other, "begin; insert into p values (7000)")
				}
				load := func(from, to, wrong int) error {
					var text strings.Builder
					for i := from; i < to; i++ {
						fmt.Fprintf(&text, "%d\t%d\t%d\n", i, i%2000+1, i)
					}
					if wrong != 0 {
						fmt.Fprintf(&text, "%d\t%d\t\\N\n", to, wrong)
					}
					return copyInto(t, s, text.String(), "")
				}
				if written {
					mustExec(t, s, "savepoint s")
				}
				if code := codeOf(load(1, 5000, 4000)); code != "23503" {
					t.Fatalf("wrong key: %s, want 23503", code)
				}
				if written {
					mustExec(t, s, "rollback to s")
				}
				if err := load(1, 5000, 0); err != nil {
					t.Fatal(err)
				}
				if written {
					mustExec(t, s, "commit")
				}
				n, err := s.BulkLoad(ctx, "t", 2, func(seq uint64, b *weft.LoadBatch) (int, error) {
					if seq > 0 {
						return 0, nil
					}
					b.Int32(0, []int32{10001, 10002})
					b.Int32(1, []int32{1, 6000})
					b.Int32(2, []int32{10001, 10002})
					return 2, nil
				})
				if code := codeOf(err); code != "23503" {
					t.Fatalf("bulk load of %d rows: %q, want 23503", n, code)
				}
				if got := oneRow(t, s, "select count(*) from t where id > 0"); got != "4999" {
					t.Errorf("%s rows, want 4999", got)
				}
				if _, err := s.Exec(ctx, "delete from p where id = 7"); codeOf(err) != "23503" {
					t.Errorf("delete: %v, want 23503", err)
				}
			})
		}
	}
}

// TestForeignKeyLoadLocks deletes keys while they are loaded into a referencing table.
func TestForeignKeyLoadLocks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rows")
	if err := os.WriteFile(file, []byte("1\t1\n2\t2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, steps := range []string{`
		1: copy c from 'FILE' => 2
		2: delete from p where id = 1 => blocks
		1: commit
		2: => 23503
		2: rollback`, `
		2: delete from p where id = 1 => 1
		1: copy c from 'FILE' => blocks
		2: commit
		1: => 23503
		1: rollback`, `
		2: delete from p where id = 1 => 1
		1: copy c from 'FILE' => blocks
		2: rollback
		1: => 2
		1: commit
		3: delete from p where id = 2 => 23503
		3: rollback`} {
		db := openMemory(t)
		execute(t, db, "create table p (id int primary key); insert into p values (1), (2), (3); create table c (id int, a int references p)")
		runSteps(t, db, "row", "read committed", strings.ReplaceAll(steps, "FILE", file))
	}
}

// TestForeignKeyErrors looks at the fields of errors.
func TestForeignKeyErrors(t *testing.T) {
	s := memorySession(t)
	mustExec(t, s, "create table p (id int primary key); create table c (a int constraint k references p); insert into p values (1); insert into c values (1)")
	for _, query := range []string{"insert into c values (2)", "delete from p"} {
		_, err := s.Exec(context.Background(), query)
		var e *weft.Error
		if !errors.As(err, &e) || e.Code != "23503" || e.ConstraintName != "k" || e.TableName != "c" || e.SchemaName != "public" {
			t.Errorf("%s: %#v", query, e)
		}
	}
}

// TestForeignKeyReopened finds foreign keys again in a database that was closed.
func TestForeignKeyReopened(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	for round := range 2 {
		db, err := weft.Open(context.Background(), dir, weft.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			execute(t, db, "create table p (id int primary key); create table c (a int references p on delete cascade); insert into p values (1), (2); insert into c values (1), (2)")
		} else {
			execute(t, db, "delete from p where id = 1")
			if n := count(t, db, "select count(*) from c"); n != 1 {
				t.Errorf("%d rows are left, want 1", n)
			}
			if _, err := db.Exec(context.Background(), "insert into c values (1)"); codeOf(err) != "23503" {
				t.Errorf("error %v, want 23503", err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestForeignKeyTimeout ends a wait for whoever removes a key.
func TestForeignKeyTimeout(t *testing.T) {
	db := openMemory(t)
	execute(t, db, "create table p (id int primary key); create table c (a int references p); insert into p values (1)")
	other := db.Session()
	defer other.Close()
	mustExec(t, other, "begin; delete from p")
	s := db.Session()
	defer s.Close()
	mustExec(t, s, "set statement_timeout = 30")
	if _, err := s.Exec(context.Background(), "insert into c values (1)"); codeOf(err) != "57014" || !strings.Contains(err.Error(), "statement timeout") {
		t.Errorf("error %v, want a statement timeout", err)
	}
}

// TestSetConstraintsOutsideBlock has no effect there, but tells what constraints there are not.
func TestSetConstraintsOutsideBlock(t *testing.T) {
	s := openMemory(t).Session()
	defer s.Close()
	mustExec(t, s, "create table p (id int primary key); create table c (id int constraint later references p deferrable)")
	for statement, code := range map[string]string{"set constraints nosuch deferred": "42704", "set constraints p_pkey deferred": "42809", "set constraints later deferred": "", "set constraints all immediate": ""} {
		if _, err := s.Exec(context.Background(), statement); codeOf(err) != code {
			t.Errorf("%s: %v", statement, err)
		}
	}
}
