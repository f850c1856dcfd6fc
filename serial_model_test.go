package weft_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weftdb/weft"
)

var interleavings = flag.Int("interleavings", 400, "random interleavings that TestSerialOrder makes")

// modelRow is a row of the table that the transactions below work on: its other columns by its key.
type modelRow struct{ grp, v int }

type modelTable map[int]modelRow

// modelStep is a statement with what it does to the table and tells of it.
type modelStep struct {
	sql string
	run func(modelTable) string
}

const modelKeys = 5

func (m modelTable) keys(in func(k int, row modelRow) bool) []int {
	keys := slices.Sorted(maps.Keys(m))
	return slices.DeleteFunc(keys, func(k int) bool { return !in(k, m[k]) })
}

// randomStep returns a statement, which names its rows in one of several ways.
func randomStep(r *rand.Rand) modelStep {
	k, g, c := r.IntN(modelKeys), r.IntN(3), 1+r.IntN(9)
	where, in := "true", func(int, modelRow) bool { return true }
	switch r.IntN(6) {
	case 0, 1:
		where, in = fmt.Sprintf("k = %d", k), func(at int, _ modelRow) bool { return at == k }
	case 2:
		where, in = fmt.Sprintf("grp = %d", g), func(_ int, row modelRow) bool { return row.grp == g }
	case 3:
		where, in = fmt.Sprintf("k between %d and %d", k, k+1), func(at int, _ modelRow) bool { return at == k || at == k+1 }
	case 4:
		where, in = fmt.Sprintf("v %% 3 = %d", g), func(_ int, row modelRow) bool { return row.v%3 == g }
	}
	change := func(m modelTable, f func(modelRow) modelRow) string {
		keys := m.keys(in)
		for _, k := range keys {
			m[k] = f(m[k])
		}
		return fmt.Sprint(len(keys))
	}
	switch r.IntN(8) {
	case 0, 1, 2:
		return modelStep{"select k, grp, v from m where " + where + " order by k", func(m modelTable) string {
			var lines []string
			for _, k := range m.keys(in) {
				lines = append(lines, fmt.Sprintf("%d,%d,%d", k, m[k].grp, m[k].v))
			}
			return strings.Join(lines, " ")
		}}
	case 3:
		return modelStep{fmt.Sprintf("update m set v = v + %d where %s", c, where), func(m modelTable) string {
			return change(m, func(row modelRow) modelRow { return modelRow{row.grp, row.v + c} })
		}}
	case 4:
		return modelStep{fmt.Sprintf("update m set grp = %d where %s", g, where), func(m modelTable) string {
			return change(m, func(row modelRow) modelRow { return modelRow{g, row.v} })
		}}
	case 5:
		return modelStep{"delete from m where " + where, func(m modelTable) string {
			keys := m.keys(in)
			for _, k := range keys {
				delete(m, k)
			}
			return fmt.Sprint(len(keys))
		}}
	case 6:
		return modelStep{fmt.Sprintf("insert into m select %d, %d, coalesce(sum(v), 0) + 1 from m where %s on conflict (k) do update set v = m.v + 100", k, g, where), func(m modelTable) string {
			sum := 1
			for _, k := range m.keys(in) {
				sum += m[k].v
			}
			if row, ok := m[k]; ok {
				m[k] = modelRow{row.grp, row.v + 100}
			} else {
				m[k] = modelRow{g, sum}
			}
			return "1"
		}}
	}
	return modelStep{fmt.Sprintf("insert into m values (%d, %d, %d) on conflict do nothing", k, g, c), func(m modelTable) string {
		if _, ok := m[k]; ok {
			return "0"
		}
		m[k] = modelRow{g, c}
		return "1"
	}}
}

// modelTxn is a transaction with what the database answered.
type modelTxn struct {
	*scheduled
	mode      string
	steps     []modelStep
	answers   []string
	committed bool
	failed    bool
}

func (x *modelTxn) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "committed %v", x.committed)
	for i, s := range x.steps {
		if i < len(x.answers) {
			fmt.Fprintf(&b, "\n    %s => %s", s.sql, x.answers[i])
		}
	}
	return b.String()
}

// step runs the next statement; one that would wait gives up and ends its transaction.
func (x *modelTxn) step() (over bool) {
	n := len(x.answers)
	if n == len(x.steps) {
		_, err := x.Exec(context.Background(), "commit")
		x.committed = err == nil
		return true
	}
	got := x.run(x.steps[n].sql)
	x.answers = append(x.answers, got)
	switch got {
	case "40001", "40P01", "55P03":
		_, err := x.Exec(context.Background(), "rollback")
		x.failed = err != nil
		return true
	}
	return false
}

// explained reports whether the committed transactions, run one after the other in some order, give the
// answers that they got and the table that is left.
func explained(start, end modelTable, left []*modelTxn, log *[]int) bool {
	if len(left) == 0 {
		return maps.Equal(start, end)
	}
	for i, x := range left {
		m := maps.Clone(start)
		ok := true
		for n, s := range x.steps {
			if ok = s.run(m) == x.answers[n]; !ok {
				break
			}
		}
		rest := append(slices.Clone(left[:i]), left[i+1:]...)
		if ok && explained(m, end, rest, log) {
			*log = append(*log, i)
			return true
		}
	}
	return false
}

func tableOf(t *testing.T, s *scheduled) modelTable {
	m := modelTable{}
	for _, line := range strings.Fields(s.run("select k, grp, v from m")) {
		var k int
		var row modelRow
		if _, err := fmt.Sscanf(line, "%d,%d,%d", &k, &row.grp, &row.v); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		m[k] = row
	}
	return m
}

// TestSerialOrder interleaves the statements of a few random transactions at SERIALIZABLE: some order of
// those that commit must explain everything.
func TestSerialOrder(t *testing.T) {
	seed := firstSeed(t)
	n := *interleavings
	if testing.Short() {
		n = min(n, 100)
	}
	db := openMemory(t)
	setup := &scheduled{Session: db.Session()}
	defer setup.Close()
	done, failures := 0, 0
	for i := range n {
		if i%200 == 0 { // deleted rows make scans slow until they are packed
			mustExec(t, setup.Session, `drop table if exists m; create table m (k int primary key, grp int, v int);
				create index on m (grp); alter table m colview; select * from gs_imcv_flush('m')`)
		}
		r := rand.New(rand.NewPCG(seed+uint64(i), 7))
		mustExec(t, setup.Session, "delete from m")
		for k := range modelKeys {
			if r.IntN(3) > 0 {
				mustExec(t, setup.Session, fmt.Sprintf("insert into m values (%d, %d, %d)", k, r.IntN(3), r.IntN(10)))
			}
		}
		start := tableOf(t, setup)
		all := make([]*modelTxn, 2+r.IntN(5))
		for j := range all {
			all[j] = newModelTxn(t, db, r)
			defer all[j].Close()
		}
		for open := slices.Clone(all); len(open) > 0; {
			at := r.IntN(len(open))
			if open[at].step() {
				open = slices.Delete(open, at, at+1)
			}
		}
		end := tableOf(t, setup)
		var kept []*modelTxn
		for _, x := range all {
			if x.failed {
				t.Errorf("rollback failed")
			}
			if x.committed {
				kept = append(kept, x)
			} else {
				failures++
			}
		}
		done += len(all)
		var order []int
		if !explained(start, end, kept, &order) {
			var text []string
			for _, x := range all {
				text = append(text, x.String())
			}
			t.Fatalf("seed %d: no order explains, from %v to %v:\n%s", seed+uint64(i), start, end, strings.Join(text, "\n"))
		}
		for _, x := range all {
			x.Close()
		}
		if kept := db.Stats().SerializableKept; kept != 0 {
			t.Fatalf("seed %d: %d transactions are kept", seed+uint64(i), kept)
		}
	}
	t.Logf("%d interleavings of %d transactions, %d of which failed", n, done, failures)
	if failures == 0 || failures > done*3/4 {
		t.Errorf("%d of %d transactions failed: nothing was tested", failures, done)
	}
}

func newModelTxn(t *testing.T, db *weft.DB, r *rand.Rand) *modelTxn {
	x := &modelTxn{scheduled: &scheduled{Session: db.Session()}}
	writes := false
	for range 1 + r.IntN(4) {
		s := randomStep(r)
		writes = writes || !strings.HasPrefix(s.sql, "select")
		x.steps = append(x.steps, s)
	}
	if !writes && r.IntN(2) == 0 {
		x.mode = " read only"
	}
	route := []string{"row", "column", "auto"}[r.IntN(3)]
	index := []string{"on", "on", "off"}[r.IntN(3)]
	mustExec(t, x.Session, fmt.Sprintf("set htap_router_mode = '%s'; set enable_indexscan = %s; set lock_timeout = 1; begin isolation level serializable%s", route, index, x.mode))
	return x
}
