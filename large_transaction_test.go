package weft_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftdb/weft"
)

var largeRows = flag.Int("largerows", 120_000, "rows that TestLargeTransaction writes, about 300 bytes each")

// peakHeap follows the largest live heap until stop is called, which returns it.
func peakHeap() (stop func() uint64) {
	var peak atomic.Uint64
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		for {
			metrics.Read(sample)
			peak.Store(max(peak.Load(), sample[0].Value.Uint64()))
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	return func() uint64 {
		close(done)
		<-ended
		return peak.Load()
	}
}

// TestLargeTransaction writes many times what it may keep in memory in one transaction.
func TestLargeTransaction(t *testing.T) {
	skipSequential(t)
	const limit = 64 << 20
	dir := filepath.Join(t.TempDir(), "db")
	db, err := weft.Open(context.Background(), dir, weft.Options{MemoryLimitBytes: limit, CacheBytes: 8 << 20, LimitRuntime: true})
	if err != nil {
		t.Fatal(err)
	}
	s := db.Session()
	mustExec(t, s, "create table t (a int primary key, b int, c text)")
	mustExec(t, s, "create index t_b on t (b) include (a)")
	mustExec(t, s, "insert into t values (-1, -1, 'before'), (-2, -2, 'before')")
	stop := peakHeap()
	n := *largeRows
	mustExec(t, s, "begin")
	mustExec(t, s, fmt.Sprintf("insert into t select g, g %% 1000, repeat('x', 230) || g from generate_series(1, %d) g", n))
	wantRow(t, s, "select count(*), sum(a), count(distinct b) from t where a > 0", int64(n), int64(n)*int64(n+1)/2, int64(1000))
	mustExec(t, s, "savepoint a")
	mustExec(t, s, "update t set b = b + 1, c = c || 'u'")
	mustExec(t, s, "delete from t where a % 2 = 0")
	kept := int64((n+1)/2 + 1)
	wantRow(t, s, "select count(*), count(*) filter (where c like '%u') from t", kept, kept)
	mustExec(t, s, "savepoint b")
	mustExec(t, s, "delete from t where a % 3 = 0")
	mustExec(t, s, "rollback to b")
	if _, err := s.Exec(context.Background(), "savepoint c; insert into t values (9999, 0, 'twice')"); codeOf(err) != "23505" {
		t.Errorf("a key twice: %v", err)
	}
	mustExec(t, s, "rollback to c")
	wantRow(t, s, "select count(*), min(b), max(b) from t", kept, int64(0), int64(1000))
	wantRow(t, s, "select a, b from t where a = 99", int64(99), int64(100))
	wantRow(t, s, "select min(a), max(a) from t where b = 100", int64(99), int64(n-1000+99))
	wantRow(t, s, "select count(*) from (select * from t where b = 100 order by b, a) x", int64(n)/1000)
	mustExec(t, s, "commit")
	peak := stop()
	t.Logf("%d rows, peak of the live heap %d MB", n, peak>>20)
	if peak > limit+limit/5 {
		t.Errorf("live heap grew to %d MB with a limit of %d MB", peak>>20, limit>>20)
	}
	wantRow(t, s, "select count(*), min(b), max(b) from t", kept, int64(0), int64(1000))
	if db.Stats().SpilledBytes == 0 {
		t.Error("nothing was spilled")
	}
	if used := db.Stats().QueryBytes; used != 0 {
		t.Errorf("%d bytes are still reserved", used)
	}
	s.Close()
	checkClean(t, db)
	if list, err := os.ReadDir(filepath.Join(dir, "tmp")); err != nil || len(list) > 0 {
		t.Errorf("temporary files: %v %v", list, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db, err = weft.Open(context.Background(), dir, weft.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if got := count(t, db, "select count(*) from t"); got != kept {
		t.Errorf("%d rows after opening again, want %d", got, kept)
	}
	checkClean(t, db)
}

// checkClean checks the whole database.
func checkClean(t *testing.T, db *weft.DB) {
	t.Helper()
	_, err := db.Check(context.Background(), weft.CheckOptions{Report: func(f weft.Finding) { t.Error(f) }})
	if err != nil {
		t.Error(err)
	}
}

// wantRow runs a query of one row.
func wantRow(t *testing.T, s *weft.Session, query string, want ...any) {
	t.Helper()
	rows, err := s.Query(context.Background(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	if !rows.Next() {
		t.Fatalf("%s: no row: %v", query, rows.Err())
	}
	values := make([]any, len(want))
	for i := range values {
		values[i] = new(any)
	}
	if err := rows.Scan(values...); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range values {
		got = append(got, fmt.Sprint(*v.(*any)))
	}
	if text := strings.Trim(fmt.Sprint(want...), "[]"); strings.Join(got, " ") != text {
		t.Errorf("%s: %s, want %s", query, strings.Join(got, " "), text)
	}
}
