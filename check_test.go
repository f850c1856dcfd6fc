package weft_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weftdb/weft"
)

// churnStatements change data and definitions in every way there is. Some fail, for instance because
// a name is taken or a key is not unique; that must leave nothing behind either. {n}
// and {m} are random numbers, {csv} is a file.
var churnStatements = []string{
	"insert into c (a, b, k) select g, 'text ' || g % 100, g from generate_series({n}, {n} + 50) g",
	"insert into c (a, b, k) select g, repeat('long ', g % 300), g from generate_series({n}, {n} + 20) g on conflict do nothing",
	"update c set b = b || '.', a = a + 1 where k % 7 = {m}",
	"update c set k = -k where k % 11 = {m}",
	"delete from c where k % 13 = {m}",
	"begin; update c set a = 0; savepoint s; delete from c; rollback to s; insert into c (k) values (-{n} - 100000); commit",
	"begin; insert into c (k) select g from generate_series(100000, 100100) g; create table lost (id serial primary key); insert into lost select; rollback",
	"begin; truncate c; insert into c (a, b, k) select g, 'new', g from generate_series(1, 300) g; commit",
	"begin; truncate c; rollback",
	"alter table c add column x{m} int default {m}",
	"alter table c drop column x{m}",
	"alter table c add constraint positive{m} check (a > -1000000 - {m})",
	"create index c_b on c (b, a desc)",
	"drop index c_b",
	"create unique index c_k on c (k desc, b)",
	"drop index c_k",
	"alter table c colview (a, k)",
	"alter table c nocolview",
	"select nextval('s')",
	"create table d as select * from c; create index d_a on d (a)",
	"drop table d",
	"analyze c",
	"truncate c; copy c (a, b, k) from '{csv}'",
	"alter table c rename to e; alter table e rename to c",
}

// churn runs random statements of churnStatements until the context ends.
func churn(ctx context.Context, db *weft.DB, r *rand.Rand, steps int, csv string) error {
	s := db.Session()
	defer s.Close()
	for range steps {
		if ctx.Err() != nil {
			return nil
		}
		fill := strings.NewReplacer("{n}", strconv.Itoa(r.IntN(5000)), "{m}", strconv.Itoa(r.IntN(5)), "{csv}", csv)
		statement := fill.Replace(churnStatements[r.IntN(len(churnStatements))])
		if _, err := s.Exec(context.Background(), statement); err != nil {
			_, _ = s.Exec(context.Background(), "rollback")
			if hasState(err, "XX000") || hasState(err, "XX001") {
				return err
			}
		}
	}
	return nil
}

func hasState(err error, code string) bool {
	var e *weft.Error
	return errors.As(err, &e) && string(e.Code) == code
}

func makeChurn(t *testing.T, dir string) (csv string) {
	t.Helper()
	csv = filepath.Join(t.TempDir(), "c.csv")
	text := ""
	for i := range 500 {
		text += fmt.Sprintf("%d\tloaded %d\t%d\n", i*i%1000, i, 9000+i)
	}
	if err := os.WriteFile(csv, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	db, err := weft.Open(context.Background(), dir, weft.Options{DataNodes: 2})
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(context.Background(), `create table c (id bigserial primary key, a int, b text, k bigint unique check (k < 1000000), amount numeric default 1.50);
		create sequence s increment -3 maxvalue 100 minvalue -100 start 7 cycle`)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return csv
}

// TestCheckFindsNothing checks a database between random statements, and while more of them run.
func TestCheckFindsNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	csv := makeChurn(t, dir)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	rounds := 20
	if testing.Short() {
		rounds = 5
	}
	db, err := weft.Open(context.Background(), dir, weft.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range rounds {
		if err := churn(context.Background(), db, r, 30, csv); err != nil {
			t.Fatal(err)
		}
		checkSound(t, db)
	}
	if _, err := db.Exec(context.Background(), "insert into c (a) select g from generate_series(1, 100) g; alter table c colview (a); update c set a = a + 1"); err != nil {
		t.Fatal(err)
	}
	last := checkSound(t, db)
	t.Logf("%+v", last)
	if last.Units == 0 {
		t.Error("no column unit was checked")
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- churn(ctx, db, rand.New(rand.NewPCG(seed, 2)), 1<<30, csv) }()
	for range rounds / 2 {
		checkSound(t, db)
		time.Sleep(5 * time.Millisecond)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
