package weft_test

import (
	"strings"
	"testing"
	"time"

	"github.com/weftdb/weft"
)

// TestFoundKeysAreNotLocked checks that a transaction which found a key taken, by ON CONFLICT or as a
// reference, does not keep others from finding it, from referencing its row, or from failing on it.
func TestFoundKeysAreNotLocked(t *testing.T) {
	holders := []string{
		"insert into p values (1, 5) on conflict do nothing",
		"insert into p values (1, 5) on conflict (id) do update set x = excluded.x",
		"insert into p values (1, 5) on conflict (id) do update set x = 1 where p.x = 1000",
		"insert into p values (3, 5, 1) on conflict (u) do update set x = excluded.x",
		"insert into c values (1, 1)",
		"insert into c values (1, 1); insert into p values (1, 5) on conflict do nothing",
	}
	others := []struct{ statement, code string }{
		{"insert into p values (1, 5) on conflict do nothing", ""},
		{"insert into p values (3, 5, 1) on conflict (u) do nothing", ""},
		{"insert into c values (2, 1)", ""},
		{"insert into p values (1, 5)", "23505"},
		{"insert into p values (3, 5, 1)", "23505"},
		{"insert into p values (2, 5) on conflict (id) do update set x = 9", ""},
	}
	for _, nodes := range []int{1, 2} {
		for _, holder := range holders {
			db := openNodes(t, nodes)
			a, b := db.Session(), db.Session()
			mustExec(t, a, `create table p (id int primary key, x int, u int unique);
				create table c (id int primary key, pid int references p);
				insert into p values (1, 1, 1), (2, 2, 2)`)
			mustExec(t, b, "set lock_timeout = '1s'")
			mustExec(t, a, "begin; "+holder)
			for _, o := range others {
				if _, err := b.Exec(t.Context(), o.statement); codeOf(err) != o.code {
					t.Errorf("%d nodes, after %s:\n%s: %v, want %q", nodes, holder, o.statement, err, o.code)
				}
			}
			mustExec(t, a, "commit")
			a.Close()
			b.Close()
		}
	}
}

// TestFoundRowGoes lets rows that ON CONFLICT found go, or get another key, while they are waited for.
func TestFoundRowGoes(t *testing.T) {
	for _, c := range []struct{ change, after string }{
		{"delete from p where id = 1", "1,5 2,12 3,5"},
		{"update p set id = 7 where id = 1", "1,5 2,12 3,5 7,1"},
		{"delete from p", "1,5 2,5 3,5"},
		{"delete from p; insert into p values (2, 30)", "1,5 2,40 3,5"},
		{"update p set x = 20", "1,30 2,30 3,5"},
	} {
		for _, nodes := range []int{1, 2} {
			db := openNodes(t, nodes)
			a, b := db.Session(), db.Session()
			mustExec(t, a, "create table p (id int primary key, x int); insert into p values (1, 1), (2, 2)")
			mustExec(t, a, "begin; "+c.change)
			done := make(chan error)
			go func() {
				_, err := b.Exec(t.Context(), "insert into p values (3, 5), (1, 5), (2, 5) on conflict (id) do update set x = p.x + 2 * excluded.x")
				done <- err
			}()
			select {
			case err := <-done:
				t.Fatalf("%s: did not wait: %v", c.change, err)
			case <-time.After(30 * time.Millisecond):
			}
			mustExec(t, a, "commit")
			if err := <-done; err != nil {
				t.Fatalf("%d nodes, %s: %v", nodes, c.change, err)
			}
			if got := strings.Join(column(t, a, "select id || ',' || x from p order by id"), " "); got != c.after {
				t.Errorf("%d nodes, %s: %s, want %s", nodes, c.change, got, c.after)
			}
			checkSound(t, db)
			a.Close()
			b.Close()
		}
	}
}

// openNodes opens a database in memory that is closed when the test ends.
func openNodes(t *testing.T, nodes int) *weft.DB {
	t.Helper()
	db, err := weft.Open(t.Context(), weft.InMemory, weft.Options{DataNodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}
