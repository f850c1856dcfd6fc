package weft_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weftdb/weft"
)

var (
	histories   = flag.Int("histories", 24, "random histories that TestHistories checks")
	historySeed = flag.Uint64("history-seed", 0, "seed of the first history; 0 = from the clock")
)

// historyRun makes one history: sessions run random transactions over a few lists at the same time.
type historyRun struct {
	level string
	// rows keeps lists as one row per element, numbered by the transaction; else they are texts.
	rows bool
	// route is how lists are read: rows, index, column or hybrid.
	route string
	// modify makes appends of a read, whose list is written back with one more element.
	modify   bool
	crash    bool
	seed     uint64
	sessions int
	txns     int // per session

	clock atomic.Int64
	value atomic.Int64
	down  atomic.Bool // the crash has happened: what is answered from now on was not heard

	mu   sync.Mutex // guards done
	done []*historyTxn
}

const (
	listKeys   = 6
	listGroups = 3 // key k is in group k % listGroups
)

func (r *historyRun) String() string {
	layout := "texts"
	if r.rows {
		layout = "rows"
	}
	return fmt.Sprintf("%s, %s by %s, modify %v, crash %v, seed %d", r.level, layout, r.route, r.modify, r.crash, r.seed)
}

func (r *historyRun) setup(t *testing.T, db *weft.DB) {
	s := db.Session()
	defer s.Close()
	mustExec(t, s, `create table texts (k int primary key, grp int, vals text); create index on texts (grp);
		create table items (k int, n int, grp int, v int, primary key (k, n)); create index on items (grp)`)
	switch r.route {
	case "column":
		mustExec(t, s, "alter table texts colview; alter table items colview")
	case "hybrid":
		mustExec(t, s, "alter table texts colview(grp); alter table items colview(grp)")
	}
	mustExec(t, s, "set htap_flush_pagenum = 1; set htap_flush_interval = 1")
}

// listSession is a session of a history.
type listSession struct {
	*weft.Session
	run   *historyRun
	r     *rand.Rand
	level string
	route string
}

func (r *historyRun) session(db *weft.DB, n uint64) (*listSession, error) {
	s := &listSession{Session: db.Session(), run: r, r: rand.New(rand.NewPCG(r.seed, n)), level: r.level, route: r.route}
	settings := map[string]string{
		"rows":   "set htap_router_mode = 'row'; set enable_indexscan = off",
		"index":  "set htap_router_mode = 'row'",
		"column": "set htap_router_mode = 'column'",
		"hybrid": "set htap_router_mode = 'column'",
	}
	_, err := s.Exec(context.Background(), settings[r.route])
	return s, err
}

// lists runs a query of key and value columns, and adds the lists of the keys it is about to a
// transaction.
func (s *listSession) lists(x *historyTxn, keys []int, query string, args ...any) error {
	at := s.run.clock.Add(1)
	rows, err := s.Query(context.Background(), query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	found := map[int][]int{}
	for rows.Next() {
		var k int
		var text string
		if err := rows.Scan(&k, &text); err != nil {
			return err
		}
		for _, word := range strings.Split(text, ",") {
			v, err := strconv.Atoi(word)
			if err != nil {
				return err
			}
			found[k] = append(found[k], v)
		}
	}
	if err := rows.Close(); err != nil {
		return err
	}
	for _, k := range keys {
		x.ops = append(x.ops, historyOp{key: k, list: append([]int{}, found[k]...), at: at})
	}
	return nil
}

func allKeys(in func(k int) bool) (keys []int) {
	for k := range listKeys {
		if in(k) {
			keys = append(keys, k)
		}
	}
	return keys
}

// read reads one list, those of a group, or all.
func (s *listSession) read(x *historyTxn) error {
	table := "select k, vals from texts"
	order := ""
	if s.run.rows {
		table, order = "select k, v::text from items", " order by k, n"
	}
	switch s.r.IntN(4) {
	case 0:
		return s.lists(x, allKeys(func(int) bool { return true }), table+order)
	case 1:
		g := s.r.IntN(listGroups)
		return s.lists(x, allKeys(func(k int) bool { return k%listGroups == g }), fmt.Sprintf("%s where grp = %d%s", table, g, order))
	case 2:
		from := s.r.IntN(listKeys)
		return s.lists(x, allKeys(func(k int) bool { return k >= from }), fmt.Sprintf("%s where k >= %d%s", table, from, order))
	}
	k := s.r.IntN(listKeys)
	return s.lists(x, []int{k}, table+" where k = $1"+order, k)
}

// add appends a new value to a list.
func (s *listSession) add(x *historyTxn) error {
	k, v := s.r.IntN(listKeys), int(s.run.value.Add(1))
	x.ops = append(x.ops, historyOp{key: k, value: v, at: s.run.clock.Add(1)})
	switch {
	case s.run.rows:
		_, err := s.Exec(context.Background(), "insert into items select $1::int, coalesce(max(n), 0) + 1, $2::int, $3::int from items where k = $1::int", k, k%listGroups, v)
		return err
	case s.r.IntN(3) == 0:
		r, err := s.Exec(context.Background(), "update texts set vals = vals || ',' || $2::text where k = $1", k, strconv.Itoa(v))
		if err != nil || r.RowsAffected > 0 {
			return err
		}
	}
	_, err := s.Exec(context.Background(), "insert into texts values ($1, $2, $3) on conflict (k) do update set vals = texts.vals || ',' || excluded.vals", k, k%listGroups, strconv.Itoa(v))
	return err
}

// modify reads a list and writes it back with one value more. At READ COMMITTED others may have
// appended in between.
func (s *listSession) modify(x *historyTxn) error {
	k, v := s.r.IntN(listKeys), int(s.run.value.Add(1))
	if err := s.lists(x, []int{k}, "select k, vals from texts where k = $1", k); err != nil {
		return err
	}
	s.pause()
	var words []string
	for _, have := range append(x.ops[len(x.ops)-1].list, v) {
		words = append(words, strconv.Itoa(have))
	}
	x.ops = append(x.ops, historyOp{key: k, value: v, at: s.run.clock.Add(1)})
	r, err := s.Exec(context.Background(), "update texts set vals = $2 where k = $1", k, strings.Join(words, ","))
	if err != nil || r.RowsAffected > 0 {
		return err
	}
	_, err = s.Exec(context.Background(), "insert into texts values ($1, $2, $3)", k, k%listGroups, strings.Join(words, ","))
	return err
}

// pause lets other sessions run in between.
func (s *listSession) pause() {
	if s.r.IntN(2) == 0 {
		time.Sleep(time.Duration(s.r.IntN(400)) * time.Microsecond)
	}
}

// transaction runs one random transaction. An error other than those of conflicts is returned.
func (s *listSession) transaction() error {
	x := &historyTxn{outcome: unknown, begin: s.run.clock.Add(1)}
	err := s.attempt(x)
	var e *weft.Error
	switch {
	case s.run.down.Load(): // the answer came too late
		x.outcome, err = unknown, nil
	case err == nil:
		x.outcome = committed
	case errors.As(err, &e) && (e.Code == "40001" || e.Code == "40P01" || e.Code == "23505"):
		x.outcome, err = aborted, nil
		if _, failed := s.Exec(context.Background(), "rollback"); failed != nil {
			return failed
		}
	}
	x.end = s.run.clock.Add(1)
	s.run.mu.Lock()
	s.run.done = append(s.run.done, x)
	s.run.mu.Unlock()
	return err
}

func (s *listSession) attempt(x *historyTxn) error {
	mode := ""
	writes := s.r.IntN(4) > 0
	if !writes {
		mode = []string{"", " read only", " read only, deferrable"}[s.r.IntN(3)]
	}
	if _, err := s.Exec(context.Background(), "begin isolation level "+s.level+mode); err != nil {
		return err
	}
	for range 1 + s.r.IntN(4) {
		var err error
		switch n := s.r.IntN(4); {
		case !writes || n < 2:
			err = s.read(x)
		case s.run.modify:
			err = s.modify(x)
		default:
			err = s.add(x)
		}
		if err != nil {
			return err
		}
		s.pause()
	}
	if writes && s.r.IntN(12) == 0 {
		if _, err := s.Exec(context.Background(), "rollback"); err != nil {
			return err
		}
		return &weft.Error{Code: "40001"} // counts as aborted
	}
	_, err := s.Exec(context.Background(), "commit")
	return err
}

// workload runs sessions at the same time. After a crash their errors are those of a database that is
// gone.
func (r *historyRun) workload(t *testing.T, db *weft.DB, part uint64) (wait func()) {
	var wg sync.WaitGroup
	for n := range r.sessions {
		wg.Go(func() {
			s, err := r.session(db, part<<32|uint64(n))
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			for i := 0; i < r.txns && !r.down.Load(); i++ {
				if err := s.transaction(); err != nil && !r.down.Load() {
					t.Error(err)
					return
				}
				if s.r.IntN(8) == 0 && (r.route == "column" || r.route == "hybrid") {
					if _, err := s.Exec(context.Background(), "select * from gs_imcv_flush('texts'); select * from gs_imcv_flush('items')"); err != nil && !r.down.Load() {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	return wg.Wait
}

// history makes the history.
func (r *historyRun) history(t *testing.T) *history {
	disk := vfs.NewCrashableMem()
	db, err := weft.OpenOn(disk, "db")
	if err != nil {
		t.Fatal(err)
	}
	r.setup(t, db)
	wait := r.workload(t, db, 1)
	if r.crash {
		random := rand.New(rand.NewPCG(r.seed, 99))
		time.Sleep(time.Duration(2+random.IntN(25)) * time.Millisecond)
		r.down.Store(true)
		disk = disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: random.IntN(101), RNG: random})
	}
	wait()
	if r.crash {
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if db, err = weft.OpenOn(disk, "db"); err != nil {
			t.Fatal(err)
		}
		r.down.Store(false)
		r.workload(t, db, 2)()
	}
	h := &history{txns: r.done, final: r.finalLists(t, db)}
	if n := db.Stats().SerializableKept; n != 0 {
		t.Errorf("%d serializable transactions are kept", n)
	}
	if _, err := db.Check(t.Context(), weft.CheckOptions{Report: func(f weft.Finding) { t.Errorf("check: %v", f) }}); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	return h
}

// finalLists reads all lists in each way there is, which must agree.
func (r *historyRun) finalLists(t *testing.T, db *weft.DB) map[int][]int {
	var first map[int][]int
	for _, settings := range []string{"set htap_router_mode = 'row'; set enable_indexscan = off", "set htap_router_mode = 'row'; set enable_indexscan = on",
		"set htap_router_mode = 'column'"} {
		s, err := r.session(db, 0)
		if err != nil {
			t.Fatal(err)
		}
		mustExec(t, s.Session, settings)
		lists := map[int][]int{}
		for _, query := range []string{"select k, vals from texts where grp in (0, 1, 2)", "select k, v::text from items where grp in (0, 1, 2) order by k, n"} {
			x := &historyTxn{}
			if err := s.lists(x, allKeys(func(int) bool { return true }), query); err != nil {
				t.Fatal(err)
			}
			for _, op := range x.ops {
				lists[op.key] = append(lists[op.key], op.list...)
			}
		}
		s.Close()
		if first == nil {
			first = lists
		}
		for k := range listKeys {
			if !slices.Equal(first[k], lists[k]) {
				t.Errorf("list %d is %v and, after %s, %v", k, first[k], settings, lists[k])
			}
		}
	}
	return first
}

func firstSeed(t *testing.T) uint64 {
	seed := *historySeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed of the first history %d", seed)
	return seed
}

// TestHistories lets sessions append to lists and read them, at each level, by rows, indexes, columns
// and both, in some histories with a crash in the middle, and looks for what the level excludes.
func TestHistories(t *testing.T) {
	seed := firstSeed(t)
	n := *histories
	if testing.Short() {
		n = min(n, 12)
	}
	levels, routes := []string{"serializable", "repeatable read", "serializable", "read committed"}, []string{"rows", "index", "column", "hybrid"}
	transactions, aborts, crashes := 0, 0, 0
	for i := range n {
		r := &historyRun{level: levels[i%len(levels)], route: routes[i/len(levels)%len(routes)], rows: i%3 == 1, crash: i%5 == 2,
			seed: seed + uint64(i), sessions: 3 + i%4, txns: 25}
		r.modify = !r.rows && i%7 == 3 && r.level != "read committed"
		h := r.history(t)
		wantNone(t, anomalies(h, r.level), r.level)
		for _, x := range h.txns {
			if transactions++; x.outcome == aborted {
				aborts++
			}
		}
		if r.crash {
			crashes++
		}
		if t.Failed() {
			t.Fatalf("history %d: %s", i, r)
		}
	}
	t.Logf("%d histories, %d with a crash; %d transactions, %d of them aborted", n, crashes, transactions, aborts)
}

// TestHistoriesShowAnomalies looks for what weaker levels allow, which the checker must find in real
// histories: else it could find nothing at SERIALIZABLE either.
func TestHistoriesShowAnomalies(t *testing.T) {
	for _, c := range []struct {
		level  string
		modify bool
		want   []anomaly
	}{
		{"repeatable read", false, []anomaly{gItem}},
		{"read committed", false, []anomaly{unrepeatable, gSingle}},
		{"read committed", true, []anomaly{lostUpdate}},
	} {
		missing := slices.Clone(c.want)
		seed := firstSeed(t)
		for i := range uint64(60) {
			r := &historyRun{level: c.level, route: "index", modify: c.modify, seed: seed + i, sessions: 5, txns: 40}
			found := anomalies(r.history(t), r.level)
			missing = slices.DeleteFunc(missing, func(a anomaly) bool { return found[a] != "" })
			if len(missing) == 0 {
				break
			}
		}
		if len(missing) > 0 {
			t.Errorf("%s, modify %v: no history shows %v", c.level, c.modify, missing)
		}
	}
}
