package weft_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftdb/weft"
)

var comparisons = flag.Int("comparisons", 100, "comparisons that TestRowsEqualColumns makes")

// htapRows is what the table starts with: three row groups on each of two data nodes, two under the
// race detector, where everything takes ten times as long.
func htapRows() int {
	if testing.Short() {
		return 170000
	}
	return 330000
}

// TestRowsEqualColumns lets writers insert, update, delete and roll back, with forced rebuilds of
// the column view and changes of its definition in between, while readers run each query by rows,
// by columns and hybrid in one REPEATABLE READ transaction, sometimes with writes of its own, and
// compare the results.
func TestRowsEqualColumns(t *testing.T) { testRowsEqualColumns(t, *comparisons, weft.Options{}) }

// TestRowsEqualColumnsSpilled lets all writers spill what they write.
func TestRowsEqualColumnsSpilled(t *testing.T) {
	comparisons := min(*comparisons, 30)
	if testing.Short() {
		comparisons = 4
	}
	testRowsEqualColumns(t, comparisons, weft.Options{}.Spilling(1))
}

func testRowsEqualColumns(t *testing.T, comparisons int, o weft.Options) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	if testing.Short() {
		comparisons = min(comparisons, 8)
	}
	h := newHTAP(t, seed, o)
	h.wanted = comparisons
	defer h.db.Close()
	ctx, stop := context.WithCancel(context.Background())
	var background sync.WaitGroup
	for i, work := range []func(context.Context, *rand.Rand) error{h.write, h.write, h.rebuild, h.redefine} {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		background.Add(1)
		go func() {
			defer background.Done()
			for ctx.Err() == nil {
				if err := work(ctx, r); err != nil && ctx.Err() == nil {
					t.Errorf("background work: %v", err)
					return
				}
			}
		}()
	}
	var readers sync.WaitGroup
	for i := range 2 {
		readers.Add(1)
		go func() {
			defer readers.Done()
			r := rand.New(rand.NewPCG(seed, uint64(1000+i)))
			for !h.enough() && !t.Failed() {
				if err := h.compare(r); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	readers.Wait()
	stop()
	background.Wait()
	s := h.db.Stats()
	t.Logf("%d comparisons; row groups from units %d, with changed rows merged %d, pruned %d, from rows %d; %d commits",
		h.done.Load(), s.GroupsFromUnits, s.GroupsWithTouched, s.GroupsPruned, s.GroupsFromRows, s.Commits)
	if !testing.Short() && !h.everyWay() {
		t.Error("some way of answering a row group was not exercised")
	}
}

// htap is the database under test.
type htap struct {
	t    *testing.T
	db   *weft.DB
	done atomic.Int64 // comparisons
	// wanted is the number of comparisons to make.
	wanted int
	next   atomic.Int64 // key to insert
}

func newHTAP(t *testing.T, seed uint64, o weft.Options) *htap {
	o.DataNodes = 2
	db, err := weft.Open(context.Background(), "", o)
	if err != nil {
		t.Fatal(err)
	}
	s := db.Session()
	defer s.Close()
	mustExec(t, s, `create table t (id bigint primary key, a integer, b bigint not null, c varchar(20), d numeric(12,2), e text, f double precision) distribute by hash(id)`)
	mustExec(t, s, fmt.Sprintf(`insert into t select g, case when g %% 7 = 0 then null else g %% 1000 end, g * 3, 'c' || g %% 50, (g %% 10000) * 0.25, 'text ' || g, g / 8.0 from generate_series(1, %d) g`, htapRows()))
	// A bulk load packs the rows into pages, as large tables have them.
	file := filepath.Join(t.TempDir(), "t.csv")
	mustExec(t, s, fmt.Sprintf("copy t to '%s' (format csv)", file))
	mustExec(t, s, "truncate t")
	mustExec(t, s, fmt.Sprintf("copy t from '%s' (format csv)", file))
	mustExec(t, s, `delete from t where id % 11 = 3`) // holes
	mustExec(t, s, `alter table t colview(a, b, c, d)`)
	mustExec(t, s, `select * from gs_imcv_flush('t')`)
	h := &htap{t: t, db: db}
	h.next.Store(int64(htapRows()) + 1)
	return h
}

// everyWay reports whether row groups have been answered from units, with changed rows merged, and
// from rows.
func (h *htap) everyWay() bool {
	s := h.db.Stats()
	return s.GroupsFromUnits > 0 && s.GroupsWithTouched > 0 && s.GroupsFromRows > 0
}

// enough reports whether all comparisons have been made. A few may by chance meet no row group without
// a unit: then more are made, up to ten times as many; a short run makes no more.
func (h *htap) enough() bool {
	done, wanted := h.done.Load(), int64(h.wanted)
	return done >= wanted && (testing.Short() || h.everyWay() || done >= 10*wanted)
}

// retryable reports whether a transaction lost against another one.
func retryable(err error) bool {
	var e *weft.Error
	return weft.IsSerializationFailure(err) || errors.As(err, &e) && e.Code == "55P03"
}

// write runs one writing transaction, which may roll back.
func (h *htap) write(ctx context.Context, r *rand.Rand) error {
	s := h.db.Session()
	defer s.Close()
	if _, err := s.Exec(ctx, "begin"); err != nil {
		return err
	}
	for range 1 + r.IntN(4) {
		if _, err := s.Exec(ctx, h.change(r)); err != nil {
			if retryable(err) {
				return nil
			}
			return err
		}
	}
	end := "commit"
	if r.IntN(4) == 0 {
		end = "rollback"
	}
	_, err := s.Exec(ctx, end)
	if err != nil && retryable(err) {
		err = nil
	}
	time.Sleep(time.Duration(r.IntN(8)) * time.Millisecond)
	return err
}

// newKeys is how many keys an insert may use, keptKeys how far behind the newest keys rows live.
const (
	newKeys  = 40
	keptKeys = 20_000
)

// change is a random DML statement that touches a few rows.
func (h *htap) change(r *rand.Rand) string {
	id := r.IntN(htapRows())
	switch r.IntN(5) {
	case 0:
		from := h.next.Add(newKeys) - newKeys
		many := []string{fmt.Sprintf("insert into t select g, g %% 1000, g, 'new', 1.5, null, null from generate_series(%d, %d) g", from, from+r.Int64N(newKeys))}
		// What was inserted long ago goes, so that the table keeps its size however long this runs.
		for old := from - keptKeys; old > int64(htapRows()) && len(many) <= newKeys; old++ {
			many = append(many, fmt.Sprintf("delete from t where id = %d", old))
		}
		return strings.Join(many, "; ")
	case 1:
		return fmt.Sprintf("update t set a = %d, d = d + 1, e = 'updated' where id = %d", r.IntN(1000), id)
	case 2:
		var many []string
		for i := range 1 + r.IntN(40) { // neighbours, so that whole pages change
			many = append(many, fmt.Sprintf("update t set b = b + 1, c = 'c%d' where id = %d", r.IntN(60), id+i))
		}
		return strings.Join(many, "; ")
	case 3:
		return fmt.Sprintf("delete from t where id = %d", id)
	}
	return fmt.Sprintf("update t set e = 'only a row column' where id = %d", id)
}

func (h *htap) rebuild(ctx context.Context, r *rand.Rand) error {
	time.Sleep(time.Duration(20+r.IntN(100)) * time.Millisecond)
	_, err := h.db.Exec(ctx, "select * from gs_imcv_flush('t')")
	return ignoreMissingView(err)
}

// redefine changes the view's columns while others read.
func (h *htap) redefine(ctx context.Context, r *rand.Rand) error {
	forms := []string{"colview(a, b, c, d)", "colview(a, b)", "colview", "colview(a, b, c, d, f)"}
	_, err := h.db.Exec(ctx, "alter table t "+forms[r.IntN(len(forms))])
	// Until units are there again, scans read rows.
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(2000+r.IntN(3000)) * time.Millisecond):
	}
	if err != nil && retryable(err) {
		err = nil
	}
	return err
}

func ignoreMissingView(err error) error {
	var e *weft.Error
	if errors.As(err, &e) && e.Code == "55000" {
		return nil
	}
	return err
}

// question is a random query whose result does not depend on row order.
func question(r *rand.Rand) string {
	from := r.IntN(3 * htapRows())
	cond := []string{
		fmt.Sprintf("a = %d", r.IntN(1000)),
		fmt.Sprintf("a > %d and b < %d", 990+r.IntN(10), r.IntN(3*htapRows())),
		fmt.Sprintf("b between %d and %d", from, from+r.IntN(9000)),
		fmt.Sprintf("a is null and b %% 1000 = %d", r.IntN(1000)),
		fmt.Sprintf("a in (%d, %d)", r.IntN(1000), r.IntN(1000)),
		"a < 5 or b > " + fmt.Sprint(3*htapRows()-r.IntN(5000)),
	}[r.IntN(6)]
	return []string{
		"select count(*), sum(b), min(a), max(a), count(a) from t where " + cond,
		"select * from t where " + cond,
		"select a, count(*), sum(b) from t where " + cond + " group by a",
		"select id, e, f from t where " + cond + " order by id limit 50",
	}[r.IntN(4)]
}

// compare runs one query in every mode under one view.
func (h *htap) compare(r *rand.Rand) error {
	s := h.db.Session()
	defer s.Close()
	ctx := context.Background()
	if _, err := s.Exec(ctx, "begin isolation level repeatable read"); err != nil {
		return err
	}
	if r.IntN(3) == 0 {
		if _, err := s.Exec(ctx, h.change(r)); err != nil {
			if retryable(err) {
				return nil
			}
			return err
		}
	}
	for range 1 + r.IntN(3) {
		query := question(r)
		var first []string
		for _, mode := range []string{"row", "column", "auto"} {
			if _, err := s.Exec(ctx, "set htap_router_mode = '"+mode+"'"); err != nil {
				return err
			}
			rows, err := queryText(s, query)
			if err != nil {
				return fmt.Errorf("%s by %s: %w", query, mode, err)
			}
			got := sortedLines(rows)
			if mode == "row" {
				first = got
				continue
			}
			if diff := firstDifference(first, got); diff != "" {
				return h.explainDifference(s, query, mode, diff, first)
			}
		}
		if done := h.done.Add(1); done%1000 == 0 {
			h.t.Logf("%d comparisons made", done)
		}
	}
	_, err := s.Exec(ctx, "rollback")
	return err
}

// explainDifference adds to an error how the query was run and whether it differs again.
func (h *htap) explainDifference(s *weft.Session, query, mode, diff string, want []string) error {
	plan, err := queryText(s, "explain (analyze, verbose) "+query)
	if err != nil {
		return err
	}
	again, err := queryText(s, query)
	if err != nil {
		return err
	}
	return fmt.Errorf("%s: by %s differs from by rows: %s\nagain: %q\n%s", query, mode, diff, firstDifference(want, sortedLines(again)), strings.Join(sortedLines(plan), "\n"))
}

func sortedLines(rows [][]string) []string {
	lines := make([]string, len(rows))
	for i, row := range rows {
		lines[i] = strings.Join(row, "|")
	}
	sort.Strings(lines)
	return lines
}

func firstDifference(want, got []string) string {
	if len(want) != len(got) {
		return fmt.Sprintf("%d rows, want %d", len(got), len(want))
	}
	for i := range want {
		if want[i] != got[i] {
			return fmt.Sprintf("%q, want %q", got[i], want[i])
		}
	}
	return ""
}
