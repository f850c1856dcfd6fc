package weft_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weftdb/weft"
)

// directShapes are statements that run on kept operators when they have parameters. $1 is a key, $2
// another number, $3 a text.
var directShapes = []string{
	"insert into t (id, n, s) values ($1, $2, $3) returning id, n, s, twice",
	"insert into t (id, n, s) values ($1, $2, $3), ($1::int + 1, $2, upper($3))",
	"insert into t (id, n) values ($1, $2) on conflict (id) do nothing returning id",
	"insert into t (id, n, s) values ($1, $2, $3) on conflict (id) do update set n = t.n + excluded.n, s = excluded.s where t.n < 900 returning id, n, s",
	"insert into t (id, n, s) values ($1, $2, $3), ($1, 1, 'again') on conflict (id) do update set n = excluded.n",
	"update t set n = n + $2, s = $3 where id = $1 returning *",
	"update t set id = $2 where id = $1",
	"update t set n = $2 where id = $1 and s > $3",
	"delete from t where id = $1 returning n, s",
	"insert into u (id, t) values ($2, $1)",
	"delete from u where id = $1",
	"update u set t = $2 where id = $1 returning id, t",
}

const directTables = `create table t (id int primary key, n int check (n > -5), s text default 'none', twice int generated always as (n * 2) stored);
	create index t_n on t (n);
	create table u (id int primary key, t int references t on delete cascade on update cascade)`

// TestDirect runs random statements twice: with parameters, on operators kept from run to run, and with
// constants in their place. Both give the same rows, the same errors and the same tables, in
// transactions too, on one data node and on two.
func TestDirect(t *testing.T) {
	for nodes := 1; nodes <= 2; nodes++ {
		seed := rand.Uint64()
		r := rand.New(rand.NewPCG(seed, 1))
		direct, plain := directSession(t, nodes), directSession(t, nodes)
		seen := map[string]int{}
		for step := range 3000 {
			if both := directFrame(r, step); both != "" {
				_, directErr := direct.Exec(context.Background(), both)
				_, plainErr := plain.Exec(context.Background(), both)
				if codeOf(directErr) != codeOf(plainErr) {
					t.Fatalf("seed %d, step %d: %s: %v, %v", seed, step, both, directErr, plainErr)
				}
				continue
			}
			shape := directShapes[r.IntN(len(directShapes))]
			args := []any{r.IntN(40), r.IntN(60) - 8, strings.Repeat(string(rune('a'+r.IntN(26))), r.IntN(4))}
			used := 3
			for !strings.Contains(shape, "$"+strconv.Itoa(used)) {
				used--
			}
			text := strings.NewReplacer("$1", fmt.Sprint(args[0]), "$2", fmt.Sprint(args[1]), "$3", "'"+args[2].(string)+"'").Replace(shape)
			want, wantErr := queryText(plain, text)
			got, gotErr := queryText(direct, shape, args[:used]...)
			if !slices.EqualFunc(got, want, slices.Equal[[]string]) || codeOf(gotErr) != codeOf(wantErr) {
				t.Fatalf("seed %d, %d nodes, step %d: %s %v\n got %q %v\nwant %q %v", seed, nodes, step, shape, args, got, gotErr, want, wantErr)
			}
			seen[codeOf(wantErr)]++
		}
		for _, s := range []*weft.Session{direct, plain} {
			mustExec(t, s, "rollback")
		}
		for _, q := range []string{"select * from t order by id", "select * from u order by id", "select id, n from t where n between 0 and 20 order by n, id"} {
			want, _ := queryText(plain, q)
			if got, err := queryText(direct, q); err != nil || !slices.EqualFunc(got, want, slices.Equal[[]string]) {
				t.Errorf("seed %d, %d nodes: %s\n got %q %v\nwant %q", seed, nodes, q, got, err, want)
			}
		}
		for _, code := range []string{"", "23505", "23503", "23514", "21000", "25P02"} {
			if seen[code] == 0 {
				t.Errorf("seed %d: no statement ended with %q: %v", seed, code, seen)
			}
		}
	}
}

func directSession(t *testing.T, nodes int) *weft.Session {
	db, err := weft.Open(context.Background(), weft.InMemory, weft.Options{DataNodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	s := db.Session()
	t.Cleanup(func() {
		_ = s.Close()
		checkSound(t, db)
		_ = db.Close()
	})
	mustExec(t, s, directTables)
	return s
}

// directFrame is what stands around the statements at some steps: transactions, savepoints, DDL.
func directFrame(r *rand.Rand, step int) string {
	switch step % 50 {
	case 10:
		return "begin"
	case 14:
		return "savepoint a"
	case 18:
		if r.IntN(2) == 0 {
			return "rollback to a"
		}
	case 22:
		return []string{"commit", "rollback"}[r.IntN(2)]
	case 45:
		if r.IntN(5) == 0 {
			return "alter table t add column x" + strconv.Itoa(step) + " int"
		}
	}
	return ""
}

// TestDirectRechecks lets a kept update wait for another transaction: it goes on from the newest row,
// or leaves a row alone that does not qualify any more, and the next run starts afresh.
func TestDirectRechecks(t *testing.T) {
	db := openMemory(t)
	s, other := db.Session(), db.Session()
	defer s.Close()
	defer other.Close()
	mustExec(t, s, "create table t (id int primary key, n int); insert into t values (1, 1), (2, 2)")
	const update = "update t set n = n + $2 where id = $1 and n < 100 returning n"
	for _, c := range []struct{ change, want string }{
		{"update t set n = 5 where id = 1", "[[15]] <nil>"},
		{"update t set n = 500 where id = 1", "[] <nil>"},
		{"delete from t where id = 1", "[] <nil>"},
	} {
		mustExec(t, s, "update t set n = 1 where id = 1")
		mustExec(t, other, "begin; "+c.change)
		waits := db.Stats().LockWaits
		got := make(chan string, 1)
		go func() {
			rows, err := queryText(s, update, 1, 10)
			got <- fmt.Sprint(rows, err)
		}()
		for db.Stats().LockWaits == waits && len(got) == 0 {
			time.Sleep(time.Millisecond)
		}
		if len(got) > 0 {
			t.Errorf("%s: not waited for", c.change)
		}
		mustExec(t, other, "commit")
		if text := <-got; text != c.want {
			t.Errorf("%s: %s, want %s", c.change, text, c.want)
		}
		if rows, err := queryText(s, update, 2, 0); fmt.Sprint(rows, err) != "[[2]] <nil>" {
			t.Errorf("after %s: %v %v", c.change, rows, err)
		}
	}
}
