package weft_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weftdb/weft"
)

// indexFuzz runs random statements on a table with random indexes, and reads it in every way.
type indexFuzz struct {
	t     *testing.T
	r     *rand.Rand
	db    *weft.DB
	s     *weft.Session
	next  int            // next id
	ways  map[string]int // plans seen, by what reads the table
	made  int
	ahead int // rows about to be loaded
	fails int // changes that broke a unique index
}

// accessPaths are settings that force a way of reading a table; the first one uses no index.
var accessPaths = []string{
	"set enable_seqscan = on; set enable_indexscan = off; set enable_indexonlyscan = off; set enable_bitmapscan = off",
	"set enable_seqscan = off; set enable_indexscan = on; set enable_indexonlyscan = off; set enable_bitmapscan = off",
	"set enable_seqscan = off; set enable_indexscan = off; set enable_indexonlyscan = on; set enable_bitmapscan = off",
	"set enable_seqscan = off; set enable_indexscan = off; set enable_indexonlyscan = off; set enable_bitmapscan = on",
	"set enable_seqscan = on; set enable_indexscan = on; set enable_indexonlyscan = on; set enable_bitmapscan = on",
}

func (f *indexFuzz) pick(list ...string) string { return list[f.r.IntN(len(list))] }

func (f *indexFuzz) maybe(format string, v any) string {
	if f.r.IntN(6) == 0 {
		return "null"
	}
	return fmt.Sprintf(format, v)
}

func (f *indexFuzz) number() string { return fmt.Sprint(f.r.IntN(24) - 12) }

func (f *indexFuzz) text() string {
	return "'" + f.pick("a", "A", "b", "Bb", "") + f.pick("", "x", "X") + fmt.Sprint(f.r.IntN(5)) + "'"
}

func (f *indexFuzz) row(id int) string {
	return fmt.Sprintf("(%d, %s, %s, %s, %s, %s)", id, f.maybe("%s", f.number()), f.maybe("%s", f.number()), f.maybe("%s", f.text()),
		f.maybe("%s", f.number()+f.pick("", ".5", ".50")), f.maybe("%s", f.pick("true", "false")))
}

// key returns a column or expression to index or to sort by.
func (f *indexFuzz) key() string {
	return f.pick("id", "a", "a", "b", "b", "c", "d", "f", "(a + b)", "lower(c)", "abs(a)", "coalesce(b, -1)", "(a is null)", "(d * 2)")
}

func (f *indexFuzz) condition(depth int) string {
	switch n := f.r.IntN(12); {
	case depth > 0 && n < 2:
		return "(" + f.condition(depth-1) + " or " + f.condition(depth-1) + ")"
	case depth > 0 && n == 2:
		return "(" + f.condition(depth-1) + " and " + f.condition(depth-1) + ")"
	case n == 3:
		return f.pick("a", "b", "c", "d", "f") + f.pick(" is null", " is not null")
	case n == 4:
		return f.pick("f", "not f")
	case n == 5:
		return "lower(c) = lower(" + f.text() + ")"
	case n == 6:
		return f.pick("c ", "lower(c) ") + f.pick("<", "<=", ">", ">=", "=") + " " + f.text()
	case n == 7:
		return f.pick("a", "b", "abs(a)", "a + b", "coalesce(b, -1)") + " in (" + f.number() + ", " + f.number() + ", " + f.number() + ")"
	case n == 8:
		return "id between " + fmt.Sprint(f.r.IntN(f.next)) + " and " + fmt.Sprint(f.r.IntN(f.next))
	}
	return f.pick("a", "b", "d", "abs(a)", "a + b", "coalesce(b, -1)", "d * 2") + " " + f.pick("=", "=", "=", "<", "<=", ">", ">=") + " " + f.number()
}

// filter is a condition of one to three parts.
func (f *indexFuzz) filter() string {
	conds := []string{f.condition(2)}
	for f.r.IntN(2) == 0 && len(conds) < 3 {
		conds = append(conds, f.condition(1))
	}
	return strings.Join(conds, " and ")
}

func (f *indexFuzz) createIndex() {
	f.made++
	var keys []string
	unique := f.r.IntN(5) == 0
	for range 1 + f.r.IntN(3) {
		key := f.key()
		keys = append(keys, key+f.pick("", " desc")+f.pick("", "", " nulls first", " nulls last"))
	}
	statement := fmt.Sprintf("index i%d on t (", f.made)
	where := ""
	if f.r.IntN(3) == 0 {
		where = " where " + f.pick("a > 0", "b is not null", "f", "c >= 'b'", "a = 3 or b = 4", "a + b > 2", "a in (1, 2, 3)", "lower(c) < 'b'", f.filter())
	}
	if unique { // one that rows can obey, or that some to come will not
		if f.r.IntN(2) == 0 {
			keys = append(keys, f.pick("id", "(id + 1)", "(id * 2)"))
		} else {
			where = fmt.Sprintf(" where id > %d", f.next+f.ahead+f.r.IntN(100))
		}
		statement = "unique " + statement
	}
	statement = "create " + statement + strings.Join(keys, ", ") + ")"
	if f.r.IntN(3) == 0 {
		var include []string
		for range 1 + f.r.IntN(3) {
			include = append(include, f.pick("id", "a", "b", "c", "d", "f"))
		}
		statement += " include (" + strings.Join(include, ", ") + ")"
	}
	if unique && f.r.IntN(2) == 0 {
		statement += " nulls not distinct"
	}
	f.exec(statement + where)
}

// exec runs a statement, which may fail for what the data are.
func (f *indexFuzz) exec(statement string) bool {
	f.t.Helper()
	_, err := f.s.Exec(context.Background(), statement)
	if err != nil && !slices.Contains([]string{"23505", "42703"}, codeOf(err)) {
		f.t.Fatalf("%s: %v", statement, err)
	}
	if err != nil {
		f.fails++
	}
	return err == nil
}

// change runs a random statement that writes; false means that it failed.
func (f *indexFuzz) change() bool {
	switch f.r.IntN(7) {
	case 0, 1:
		var rows []string
		for range 1 + f.r.IntN(20) {
			rows = append(rows, f.row(f.next))
			f.next++
		}
		return f.exec("insert into t values " + strings.Join(rows, ", "))
	case 2:
		return f.exec("delete from t where " + f.filter() + " and id % 5 = " + fmt.Sprint(f.r.IntN(5)))
	case 3:
		return f.exec("update t set " + f.pick("a = a + 1", "a = null", "b = a, a = b", "c = upper(c)", "d = d + 0.5", "f = not f", "b = "+f.number()) + " where " + f.filter())
	case 4:
		return f.exec("update t set id = id + 100000, b = " + f.number() + " where id = " + fmt.Sprint(f.r.IntN(f.next)))
	case 5:
		return f.exec("insert into t values " + f.row(f.r.IntN(f.next)) + " on conflict (id) do update set a = excluded.a, c = excluded.c")
	}
	f.next++
	return f.exec("insert into t values " + f.row(f.r.IntN(f.next)) + ", " + f.row(f.next-1) + " on conflict do nothing")
}

// query returns a query whose result does not depend on the order in which rows are met.
func (f *indexFuzz) query() (text string, ordered bool) {
	where := ""
	if f.r.IntN(8) > 0 {
		where = " where " + f.filter()
	}
	shown := func(key string) string {
		if strings.Contains(key, "d") && key != "id" {
			return "trim_scale(" + key + ")"
		}
		return key
	}
	switch f.r.IntN(5) {
	case 0:
		return "select min(a), max(a), max(b), min(lower(c)), max(abs(a)), trim_scale(max(d)), min(id) from t" + where, true
	case 1:
		key := f.pick("id", "a", "b", "c", "lower(c)", "a + b")
		return "select " + strings.ReplaceAll(f.pick("min(%), max(%)", "min(%)", "max(%)"), "%", key) + " from t" + where, true
	case 2, 3:
		var keys, list []string
		for range 1 + f.r.IntN(3) {
			key := f.key()
			keys = append(keys, key+f.pick("", " desc")+f.pick("", "", " nulls first", " nulls last"))
			list = append(list, shown(key))
		}
		text = "select " + strings.Join(list, ", ") + " from t" + where + " order by " + strings.Join(keys, ", ")
		if f.r.IntN(3) > 0 {
			text += fmt.Sprintf(" limit %d offset %d", f.r.IntN(40), f.r.IntN(3)*f.r.IntN(5))
		}
		return text, true
	}
	var list []string
	for range 1 + f.r.IntN(3) {
		list = append(list, f.pick("id", "a", "b", "c", "d", "f"))
	}
	if f.r.IntN(4) == 0 {
		list = []string{"*"}
	}
	return "select " + strings.Join(list, ", ") + " from t" + where, false
}

// compare runs a query in every way.
func (f *indexFuzz) compare() {
	f.t.Helper()
	query, ordered := f.query()
	var want []string
	for i, path := range accessPaths {
		mustExec(f.t, f.s, path)
		plan, err := queryText(f.s, "explain (costs off) "+query)
		if err != nil {
			f.t.Fatalf("%s: %v", query, err)
		}
		for _, line := range plan {
			for _, way := range []string{"Seq Scan", "Imcv Scan", "Index Scan", "Index Only Scan", "Bitmap Heap Scan", "BitmapOr", "BitmapAnd", "Append", "Backward"} {
				if strings.Contains(line[0], way) {
					f.ways[way]++
				}
			}
		}
		rows, err := queryText(f.s, query)
		if err != nil {
			f.t.Fatalf("%s: %v", query, err)
		}
		got := make([]string, len(rows))
		for k, row := range rows {
			got[k] = strings.Join(row, "|")
		}
		if !ordered {
			slices.Sort(got)
		}
		if i == 0 {
			want = got
			continue
		}
		if diff := firstDifference(want, got); diff != "" {
			f.t.Fatalf("%s\n%s: %s\n%v", path, query, diff, plan)
		}
	}
}

func (f *indexFuzz) check() {
	f.t.Helper()
	summary, err := f.db.Check(context.Background(), weft.CheckOptions{Report: func(x weft.Finding) { f.t.Errorf("check: %s", x) }})
	if err != nil {
		f.t.Fatal(err)
	}
	if f.t.Failed() {
		f.t.FailNow()
	}
	if summary.Indexes < 2 {
		f.t.Fatalf("check looked at %d indexes", summary.Indexes)
	}
}

// load fills the empty table from a file, as COPY builds indexes while it loads.
func (f *indexFuzz) load(rows int) {
	var text strings.Builder
	for range rows {
		row := strings.Trim(f.row(f.next), "()")
		f.next++
		fields := strings.Split(row, ", ")
		for i := range fields {
			if fields[i] == "null" {
				fields[i] = `\N`
			}
			fields[i] = strings.Trim(fields[i], "'")
		}
		text.WriteString(strings.Join(fields, "\t") + "\n")
	}
	file := filepath.Join(f.t.TempDir(), "rows")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		f.t.Fatal(err)
	}
	mustExec(f.t, f.s, "copy t from '"+file+"'")
}

// TestRandomIndexes makes random indexes over a table, changes it at random, in transactions and
// outside, and compares the results of random queries read in every way with those of reading the
// whole table.
func TestRandomIndexes(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for nodes := 1; nodes <= 2; nodes++ {
		t.Run(fmt.Sprintf("nodes=%d", nodes), func(t *testing.T) {
			db, err := weft.Open(context.Background(), "", weft.Options{DataNodes: nodes})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			f := &indexFuzz{t: t, r: rand.New(rand.NewPCG(seed, uint64(nodes))), db: db, s: db.Session(), ways: map[string]int{}, next: 1}
			defer f.s.Close()
			f.run()
		})
	}
}

func (f *indexFuzz) run() {
	rounds, blocks := 4, 6
	if testing.Short() {
		rounds, blocks = 1, 2
	}
	// What chance has left out comes later: further rounds are made until there was everything.
	for round := 0; round < rounds || !testing.Short() && round < 5*rounds && f.unmet() != ""; round++ {
		mustExec(f.t, f.s, "drop table if exists t; create table t (id int primary key, a int, b int, c text, d numeric, f bool)"+f.pick("", " colview"))
		f.ahead = 900
		for range 3 {
			f.createIndex()
		}
		f.load(f.ahead)
		f.ahead = 0
		for range 5 {
			f.createIndex()
		}
		if round%2 == 0 {
			mustExec(f.t, f.s, "analyze t")
		}
		f.check()
		for range blocks {
			block := f.r.IntN(2) == 0
			if block {
				mustExec(f.t, f.s, "begin"+f.pick("", " isolation level repeatable read"))
			}
			for range 5 {
				if block {
					mustExec(f.t, f.s, "savepoint s")
				}
				ok := true
				for range 1 + f.r.IntN(3) {
					if ok = f.change(); block && !ok {
						break
					}
				}
				if block && (!ok || f.r.IntN(4) == 0) {
					mustExec(f.t, f.s, "rollback to s")
				}
				for range 5 {
					f.compare()
				}
			}
			if block {
				mustExec(f.t, f.s, f.pick("commit", "commit", "rollback"))
			}
		}
		f.check()
	}
	if testing.Short() {
		return
	}
	if unmet := f.unmet(); unmet != "" {
		f.t.Errorf("%s: %v", unmet, f.ways)
	}
}

// unmet is something that has not happened yet, "" if all has.
func (f *indexFuzz) unmet() string {
	if f.fails == 0 {
		return "no statement broke a unique index"
	}
	for _, way := range []string{"Seq Scan", "Index Scan", "Index Only Scan", "Bitmap Heap Scan", "BitmapOr", "BitmapAnd", "Append", "Backward"} {
		if f.ways[way] == 0 {
			return "no plan had " + way
		}
	}
	return ""
}
