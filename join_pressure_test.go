package weft_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/weftdb/weft"
)

// pressedDB returns a session of a database with a large build side b, whose last keys only have matches in
// the probe side a, and its directory.
func pressedDB(t *testing.T) (dir string, s *weft.Session) {
	t.Helper()
	dir, s = openOnDisk(t)
	pressed(t, s)
	return dir, s
}

func pressed(t *testing.T, s *weft.Session) {
	t.Helper()
	mustExec(t, s, `create table b (k bigint, n int, t text);
		insert into b select i * 7919, i, 'build row ' || i from generate_series(1, 60000) i;
		create table a (k bigint, n int, t text);
		insert into a select (58000 + i % 4000) * 7919, i, 'build row ' || i % 70000 from generate_series(1, 30000) i;
		alter table a colview`)
}

// TestFiltersComplete joins with filters that are right only with the keys of every worker and of every part
// of the build, in memory, on disk and partly on disk: a filter that lacks some loses rows.
func TestFiltersComplete(t *testing.T) {
	dir, s := pressedDB(t)
	queries := []string{
		"select count(*), sum(a.n), sum(b.n) from a join b on a.k = b.k",
		"select count(*), sum(a.n), sum(b.n) from a join b on a.k = b.k and a.t <> b.t",
		"select count(*), sum(a.n), sum(b.n) from a join b on a.t = b.t",
		"select count(*), sum(n) from a where exists (select from b where b.k = a.k and b.t > 'build row 5')",
		"select count(*), sum(b.n), count(a.n) from a right join b on a.k = b.k and b.n > 59000",
		"select count(*), sum(g.n), sum(b.n) from (select k, sum(n) as n from a group by k) g join b on g.k = b.k",
		"select count(*) from (select a.n from a join b on a.k = b.k and b.n <> a.n limit 9000) x",
	}
	mustExec(t, s, "set enable_runtime_filter = off; set threads = 1; set htap_router_mode = row")
	want := map[string]string{}
	for _, q := range queries {
		want[q] = outcome(s, q)
	}
	filtered, spilled := 0, 0
	memories := []string{"0", "'100kB'", "'250kB'", "'2MB'"}
	if testing.Short() {
		memories = memories[1:2]
	}
	for i, memory := range memories {
		mustExec(t, s, fmt.Sprintf("set enable_runtime_filter = on; set work_mem = %s; set threads = %d; set htap_router_mode = %s", memory, 4-i%2, []string{"row", "column"}[i/2]))
		for _, q := range queries {
			if got := outcome(s, q); got != want[q] {
				t.Errorf("work_mem %s: %s: got %s, want %s", memory, q, got, want[q])
			}
		}
		plan := outcome(s, "explain analyze "+queries[0])
		if strings.Contains(plan, "Runtime Filter RF1: ") {
			filtered++
		}
		if strings.Contains(plan, "Spill: build ") {
			spilled++
		}
	}
	if filtered < len(memories) || spilled < (len(memories)+1)/2 {
		t.Errorf("%d of %d joins have filters, %d went to disk", filtered, len(memories), spilled)
	}
	wantNoTempFiles(t, dir)
}

// fiveTables is the join of TPC-H's query 5: a chain of six tables with a second condition that closes a circle.
const fiveTables = `select n.name, sum(l.price * (100 - l.discount)), count(*)
	from customer c, orders o, lineitem l, supplier s, nation n, region r
	where c.id = o.customer and l.orders = o.id and l.supplier = s.id and c.nation = s.nation and s.nation = n.id
	and n.region = r.id and r.name = 'region 2' and o.day >= date '2024-01-11' and o.day < date '2025-11-11'
	group by n.name order by 2 desc`

// TestMemorySweep joins six tables under every power of two of memory from 32 kB to 64 MB.
func TestMemorySweep(t *testing.T) {
	skipSequential(t)
	dir, s := openOnDisk(t)
	mustExec(t, s, `create table region (id int, name text); insert into region select i, 'region ' || i from generate_series(0, 4) i;
		create table nation (id int, region int, name text); insert into nation select i, i % 5, 'nation ' || i from generate_series(0, 24) i;
		create table supplier (id int, nation int); insert into supplier select i, i * 7 % 25 from generate_series(1, 300) i;
		create table customer (id int, nation int); insert into customer select i, i * 11 % 25 from generate_series(1, 9000) i;
		create table orders (id bigint, customer int, day date); insert into orders select i, i::bigint * 1664525001 % 2147483647 % 9000 + 1, date '2024-01-01' + i % 700 from generate_series(1, 15000) i;
		create table lineitem (orders bigint, supplier int, price int, discount int); insert into lineitem select i / 4 + 1, i::bigint * 1103515245 % 2147483647 % 300 + 1, i % 1000, i % 10 from generate_series(1, 45000) i;
		analyze`)
	want, spilled := outcome(s, fiveTables), 0
	if len(strings.Fields(want)) != 10 {
		t.Fatalf("the join gives %s", want)
	}
	for kb, i := 32, 0; kb <= 64<<10; kb, i = kb*2, i+1 {
		mustExec(t, s, fmt.Sprintf("set work_mem = '%dkB'; set threads = %d; set enable_runtime_filter = %v", kb, 1+i%3, i%2 == 0))
		if got := outcome(s, fiveTables); got != want {
			t.Errorf("with %d kB: %s, want %s", kb, got, want)
		}
		if strings.Contains(outcome(s, "explain analyze "+fiveTables), "Spill: build ") {
			spilled++
		}
	}
	if spilled < 2 || spilled == 12 {
		t.Errorf("%d of 12 sizes went to disk", spilled)
	}
	wantNoTempFiles(t, dir)
}

// TestCancelWhileSpilling cancels a join at many points on its way to disk and back: no file is left, and the
// next join has all rows.
func TestCancelWhileSpilling(t *testing.T) {
	skipSequential(t)
	dir, s := pressedDB(t)
	const query = "select a.n, b.n from a full join b on a.k = b.k and a.n <> b.n"
	counted := "select count(*), count(x.n), sum(x.m) from (" + strings.Replace(query, "b.n from", "b.n as m from", 1) + ") x"
	want := outcome(s, counted)
	mustExec(t, s, "set work_mem = '200kB'; set threads = 3")
	for after := 0; after < 60000; after += 1 + after*3 {
		ctx, cancel := context.WithCancel(context.Background())
		rows, err := s.Query(ctx, query)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < after && rows.Next(); i++ {
		}
		cancel()
		for rows.Next() { // what had been made before
		}
		if rows.Err() == nil && after < 10000 {
			t.Errorf("after %d rows: not cancelled", after)
		}
		_ = rows.Close() // the error is the cancellation
		wantNoTempFiles(t, dir)
		if got := outcome(s, counted); got != want {
			t.Errorf("after a cancelled join: %s, want %s", got, want)
		}
	}
	wantNoTempFiles(t, dir)
}

// limitedDB is pressedDB with a limit of memory and with statistics.
func limitedDB(t *testing.T) (dir string, db *weft.DB, s *weft.Session) {
	t.Helper()
	dir = t.TempDir()
	db, err := weft.Open(context.Background(), dir, weft.Options{MemoryLimitBytes: 256 << 20})
	if err != nil {
		t.Fatal(err)
	}
	s = db.Session()
	t.Cleanup(func() {
		s.Close()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	pressed(t, s)
	mustExec(t, s, "analyze")
	return dir, db, s
}

// TestSpillShortOfMemory joins with a share of memory of which others have taken so much that tables do not fit when
// they are read back from disk: they are read in smaller parts, with no row missing.
func TestSpillShortOfMemory(t *testing.T) {
	skipSequential(t)
	dir, db, s := limitedDB(t)
	for _, query := range []string{
		"select count(*), sum(a.n), sum(b.n), sum(length(b.t)) from a join b on a.k = b.k join b c on c.t = a.t",
		"select count(*), sum(a.n), sum(b.n), sum(length(b.t)) from b full join a on a.k = b.k and a.n <> b.n",
	} {
		mustExec(t, s, "set memory_limit = '256MB'; set work_mem = '256MB'; set threads = 1; set enable_runtime_filter = off")
		want := outcome(s, query)
		mustExec(t, s, "set memory_limit = '16MB'; set work_mem = '1MB'")
		for left := int64(0); left < 4<<20; left += 64 << 10 {
			release, err := db.LeaveMemory(left)
			if err != nil {
				t.Fatal(err)
			}
			if got := outcome(s, query); got != want {
				t.Errorf("%s with %d bytes left by others: %s, want %s", query, left, got, want)
			}
			release()
		}
		wantNoTempFiles(t, dir)
	}
}

// TestSpillTogether joins in several sessions at a time that share too little memory: each finds what it needs
// to write what it holds, and none waits for ever.
func TestSpillTogether(t *testing.T) {
	dir, db, s := limitedDB(t)
	const query = "select count(*), sum(a.n), sum(b.n), sum(length(b.t)) from a join b on a.k = b.k join b c on c.t = a.t"
	want := outcome(s, query)
	mustExec(t, s, "set memory_limit = '16MB'")
	sessions, rounds := 4, 2
	if testing.Short() {
		sessions, rounds = 2, 1
	}
	var wait sync.WaitGroup
	for range sessions {
		wait.Go(func() {
			own := db.Session()
			defer own.Close()
			if _, err := own.Exec(context.Background(), "set threads = 3"); err != nil {
				t.Error(err)
			}
			for range rounds {
				if got := outcome(own, query); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			}
		})
	}
	wait.Wait()
	wantNoTempFiles(t, dir)
}
