package weft_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weftdb/weft"
)

var distributions = flag.Int("distributions", 16, "random tables over data nodes that TestDataNodesRandom makes")

// distributedTypes are types of distribution keys: values of theirs, some of which are equal though written
// differently, and values of other types to compare them with.
var distributedTypes = []struct {
	typ           string
	values, other []string
}{
	{"smallint", []string{"-32768", "-1", "0", "1", "2", "7", "32767"}, []string{"1::bigint", "2::int", "1.0", "1.5", "7::float8", "70000"}},
	{"int", []string{"-5", "0", "1", "2", "7", "2147483647"}, []string{"1::bigint", "2::smallint", "1.0", "1.5", "7::float8", "3000000000"}},
	{"bigint", []string{"-3", "0", "1", "5", "9007199254740992", "9007199254740993"}, []string{"1::smallint", "9007199254740992::float8", "9007199254740993::numeric", "1.5", "1e30::numeric"}},
	{"text", []string{"''", "'a'", "'a '", "'ab'", "'zz'"}, []string{"'a'::varchar", "'a'::char(3)"}},
	{"varchar(5)", []string{"''", "'a'", "'a '", "'ab'"}, []string{"'ab'::text", "'a'::char(3)"}},
	{"char(4)", []string{"''", "'a'", "'a  '", "'ab'"}, []string{"'a'::text", "'a '::varchar", "'ab'::char(2)", "'a '::text"}},
	{"bytea", []string{"''", `'\x00'`, `'\x0001'`}, nil},
	{"numeric", []string{"0", "0.00", "1", "1.0", "1.50", "1e20", "'nan'"}, []string{"1::int", "1.5::float8", "1.50::numeric(10,2)", "'nan'::float8"}},
	{"numeric(10,2)", []string{"0", "1", "1.5", "-2.25"}, []string{"1", "1.005", "1.5::float8", "1.500::numeric"}},
	{"numeric(30,4)", []string{"0", "1", "1.5", "100000000000000000000"}, []string{"1", "1.00005", "1e20::float8"}},
	{"float8", []string{"0", "'-0'", "'nan'", "1.5", "'infinity'", "0.1"}, []string{"0.1::real", "1.5::numeric", "0", "'-0'::real"}},
	{"real", []string{"0", "'-0'", "'nan'", "1.5", "0.1"}, []string{"0.1::float8", "0.1", "1.5", "'-0'::float8"}},
	{"date", []string{"'2000-01-01'", "'2024-02-29'", "'infinity'", "'-infinity'"}, []string{"timestamp '2000-01-01'", "timestamp '2000-01-01 12:00'", "timestamptz '2000-01-01 00:00'"}},
	{"timestamp", []string{"'2000-01-01'", "'2024-02-29 10:00'", "'infinity'"}, []string{"date '2000-01-01'", "timestamptz '2000-01-01'"}},
	{"timestamptz", []string{"'2000-01-01 00:00+00'", "'2000-01-01 02:00+02'", "'2024-03-31 01:30+00'", "'-infinity'"}, []string{"date '2000-01-01'", "timestamp '2024-03-31 02:30'"}},
	{"boolean", []string{"true", "false"}, nil},
	{"interval", []string{"'1 month'", "'30 days'", "'720 hours'", "'1 day'"}, nil},
}

// nodeFuzz compares a random table that is spread over three data nodes with one of the same rows on one.
type nodeFuzz struct {
	t         *testing.T
	r         *rand.Rand
	many, one *weft.Session
	keys      []int // types of the key's columns k0, k1, …
	made      int   // prepared statements
	// Where data nodes were left out: by planning, when a query started, and by joins.
	planned, started, joined int
	found                    int // queries with rows
}

func (f *nodeFuzz) pick(list ...string) string { return list[f.r.IntN(len(list))] }

// value is a value of a key's column, of its type.
func (f *nodeFuzz) value(k int) string {
	typ := distributedTypes[f.keys[k]]
	return "(" + typ.values[f.r.IntN(len(typ.values))] + ")::" + typ.typ
}

// any is a value that the column may be compared with.
func (f *nodeFuzz) any(k int) string {
	if other := distributedTypes[f.keys[k]].other; len(other) > 0 && f.r.IntN(3) == 0 {
		return other[f.r.IntN(len(other))]
	}
	return f.value(k)
}

func (f *nodeFuzz) both(statement string) {
	f.t.Helper()
	got, want := outcome(f.many, statement), outcome(f.one, statement)
	if got != want {
		f.t.Fatalf("%s\non three data nodes %s\non one %s", statement, got, want)
	}
}

// run is both for what has to succeed.
func (f *nodeFuzz) run(statement string) {
	f.t.Helper()
	mustExec(f.t, f.many, statement)
	mustExec(f.t, f.one, statement)
}

// columns lists the columns of the table, or of what it is joined with.
func (f *nodeFuzz) columns() string {
	list := []string{"id int", "v int"}
	for k, at := range f.keys {
		list = append(list, fmt.Sprintf("k%d %s", k, distributedTypes[at].typ))
	}
	f.r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return strings.Join(list, ", ")
}

func (f *nodeFuzz) key() string {
	var names []string
	for k := range f.keys {
		names = append(names, fmt.Sprintf("k%d", k))
	}
	return strings.Join(names, ", ")
}

func (f *nodeFuzz) create() {
	f.keys = nil
	for len(f.keys) == 0 || f.r.IntN(3) == 0 && len(f.keys) < 3 {
		f.keys = append(f.keys, f.r.IntN(len(distributedTypes)))
	}
	by := f.pick("", "", "partition by range (v)", "partition by hash (k0)")
	f.run("drop table if exists t, u")
	f.run("create table t (" + f.columns() + ") " + by + " distribute by hash (" + f.key() + ")")
	switch {
	case strings.Contains(by, "range"):
		f.run("create table t0 partition of t for values from (0) to (5); create table t1 partition of t default")
	case strings.Contains(by, "hash"):
		f.run("create table t0 partition of t for values with (modulus 2, remainder 0); create table t1 partition of t for values with (modulus 2, remainder 1)")
	}
	f.run("create table u (" + f.columns() + ") distribute by hash (id)")
	f.fill("t", 150)
	f.fill("u", 10)
	if view := f.pick("none", "", "("+f.key()+")"); view != "none" {
		f.run("alter table t colview " + view)
		outcome(f.many, "select total from gs_imcv_flush('t')")
	}
	f.run("update t set v = v + 1 where id % 20 = 0")
	f.run("analyze")
}

func (f *nodeFuzz) fill(table string, rows int) {
	var list []string
	for id := range rows {
		row := fmt.Sprintf("(%d, %d", id, f.r.IntN(10))
		for k := range f.keys {
			value := f.value(k)
			if f.r.IntN(8) == 0 {
				value = "null"
			}
			row += ", " + value
		}
		list = append(list, row+")")
	}
	f.run("insert into " + table + " (id, v, " + f.key() + ") values " + strings.Join(list, ", "))
}

// fixed is a condition that leaves one value for each column of the key, so that one data node is left.
func (f *nodeFuzz) fixed() string {
	var conds []string
	for k := range f.keys {
		switch name := fmt.Sprintf("k%d", k); f.r.IntN(6) {
		case 0:
			conds = append(conds, name+" is null")
		case 1:
			conds = append(conds, name+" is not distinct from "+f.value(k))
		case 2:
			conds = append(conds, name+" in ("+f.value(k)+", null)")
		case 3:
			conds = append(conds, f.value(k)+" = "+name)
		default:
			conds = append(conds, name+" = "+f.value(k))
		}
	}
	if f.r.IntN(3) == 0 {
		conds = append(conds, "v < 8")
	}
	return strings.Join(conds, " and ")
}

// loose is a condition of any kind.
func (f *nodeFuzz) loose(depth int) string {
	k := f.r.IntN(len(f.keys))
	name := fmt.Sprintf("k%d", k)
	switch n := f.r.IntN(10); {
	case depth > 0 && n < 3:
		return "(" + f.loose(depth-1) + " or " + f.loose(depth-1) + ")"
	case depth > 0 && n == 3:
		return "not (" + f.loose(depth-1) + ")"
	case n == 4:
		return name + " in (" + f.any(k) + ", " + f.value(k) + ")"
	case n == 5:
		return name + f.pick(" is null", " is not null")
	case n == 6:
		return name + f.pick(" <> ", " > ", " is distinct from ") + f.any(k)
	case n == 7:
		return name + " = (select " + f.any(k) + ")"
	case n == 8:
		return f.fixed()
	}
	return name + " = " + f.any(k)
}

func (f *nodeFuzz) rows(s *weft.Session, query string) string {
	f.t.Helper()
	rows, err := queryText(s, query)
	if err != nil {
		f.t.Fatalf("%s: %v", query, err)
	}
	var lines []string
	for _, row := range rows {
		lines = append(lines, strings.Join(row, "|"))
	}
	return strings.Join(lines, " ")
}

// same requires one result of all ways to run a query.
func (f *nodeFuzz) same(query string) {
	f.t.Helper()
	want := f.rows(f.one, query)
	if want != "" {
		f.found++
	}
	for _, pruning := range []string{"on", "off"} {
		f.run("set enable_partition_pruning = " + pruning)
		if got := f.rows(f.many, query); got != want {
			f.t.Errorf("pruning %s: %s\non three data nodes %s\non one %s\n%s", pruning, query, got, want, outcome(f.many, "explain "+query))
		}
	}
	f.run("set enable_partition_pruning = on")
}

var (
	nodesPlanned  = regexp.MustCompile(`Data Nodes: [01] of 3`)
	nodesSelected = regexp.MustCompile(`Data Nodes selected: [01] out of `)
)

// analyzed is what EXPLAIN ANALYZE prints.
func (f *nodeFuzz) analyzed(query string, args ...any) string {
	f.t.Helper()
	return planText(f.t, f.many, "explain (analyze, costs off, timing off) "+query, args...)
}

func (f *nodeFuzz) read() {
	where := f.fixed()
	f.same("select id from t where " + where + " order by id")
	if plan := f.analyzed("select id from t where " + where); nodesPlanned.MatchString(plan) {
		f.planned++
	} else if !strings.Contains(plan, "Result") {
		f.t.Errorf("where %s reads more than one node:\n%s", where, plan)
	}
	for range 4 {
		f.same("select id from t where " + f.loose(2) + " order by id")
	}
}

// start runs queries whose values are known when they start.
func (f *nodeFuzz) start() {
	var types, values, params, plans []string
	for k, at := range f.keys {
		types, values = append(types, distributedTypes[at].typ), append(values, f.value(k))
		params, plans = append(params, fmt.Sprintf("k%d = $%d", k, k+1)), append(plans, fmt.Sprintf("k%d = (select %s)", k, f.value(k)))
	}
	query := "select id from t where " + strings.Join(plans, " and ")
	f.same(query + " order by id")
	if plan := f.analyzed(query); nodesSelected.MatchString(plan) || nodesPlanned.MatchString(plan) {
		f.started++
	} else {
		f.t.Errorf("%s reads more than one node:\n%s", query, plan)
	}
	f.made++
	name := fmt.Sprintf("q%d", f.made)
	f.both("prepare " + name + " (" + strings.Join(types, ", ") + ") as select id from t where " + strings.Join(params, " and ") + " order by id")
	for range 3 {
		f.same("execute " + name + " (" + strings.Join(values, ", ") + ")")
		values[f.r.IntN(len(values))] = "null"
	}
}

// join runs queries whose values are other rows'.
func (f *nodeFuzz) join() {
	var on []string
	for k := range f.keys {
		on = append(on, fmt.Sprintf("t.k%d %s u.k%d", k, f.pick("=", "=", "=", "is not distinct from"), k))
	}
	conds := strings.Join(on, " and ")
	joined := fmt.Sprintf("select t.id, u.id from t join u on %s where u.id = %d", conds, f.r.IntN(10))
	if nodesSelected.MatchString(f.analyzed(joined)) {
		f.joined++
	}
	f.same(joined + " order by 1, 2")
	f.run("set disabled_rules = 'order_joins'") // t is the build of the lower join, and selected by that of the upper one
	f.same(fmt.Sprintf("select g, t.id, u.id from generate_series(1, 1000) g join t on g = t.v join u on %s where u.id < 2 order by 1, 2, 3", conds))
	f.run("reset disabled_rules")
	f.same("select x.id, (select count(*) from t join (select * from u w where w.id = x.id offset 0) u on " + conds + " limit 1) from u x order by 1")
	f.same("select t.id, u.id from u left join t on " + conds + " order by 1, 2")
	f.same(fmt.Sprintf("select id from t where exists (select 1 from u where %s and u.id < %d) order by id", conds, f.r.IntN(4)))
	f.same("select id, (select count(*) from t where " + conds + " limit 1) from u order by id")
	f.same("select u.id, x.id from u, lateral (select t.id from t where " + conds + " order by 1 limit 2) x order by 1, 2")
}

// change runs statements that write, and reads everything.
func (f *nodeFuzz) change() {
	k := f.r.IntN(len(f.keys))
	f.both("update t set v = (v + 3) % 10 where " + f.loose(1))
	f.both(fmt.Sprintf("update t set k%d = %s where id %% 3 = %d and %s", k, f.value(k), f.r.IntN(3), f.loose(1)))
	f.both(fmt.Sprintf("update t set k%d = u.k%d from u where u.id = %d and t.k0 = u.k0", k, k, f.r.IntN(10)))
	f.both(fmt.Sprintf("delete from t where id %% 4 = %d and %s", f.r.IntN(4), f.fixed()))
	f.both("select id from t where " + f.loose(1) + " order by id for update")
	f.both("select id, v, " + f.key() + " from t order by id")
}

// TestDataNodesRandom compares what random statements read and change on three data nodes, with pruning and
// without, and on one.
func TestDataNodesRandom(t *testing.T) {
	skipSequential(t)
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	t.Logf("seed %d", seed)
	many, one := openNodes(t, 3), openNodes(t, 1)
	f := &nodeFuzz{t: t, r: r, many: many.Session(), one: one.Session()}
	defer f.many.Close()
	defer f.one.Close()
	f.run("set timezone = 'Europe/Berlin'")
	for range *distributions {
		f.create()
		for round := range 4 {
			f.run("set htap_router_mode = " + f.pick("row", "column", "auto"))
			f.read()
			f.start()
			f.join()
			if round%2 == 1 {
				f.change()
			}
		}
		if t.Failed() {
			t.Fatalf("the table has the key %v: %s", f.keys, f.describe())
		}
	}
	checkSound(t, many)
	t.Logf("queries left data nodes out: %d while planning, %d at start, %d by joins; %d had rows", f.planned, f.started, f.joined, f.found)
	if f.planned == 0 || f.started == 0 || f.joined == 0 || f.found == 0 {
		t.Error("nothing was left out")
	}
}

func (f *nodeFuzz) describe() string {
	var types []string
	for _, at := range slices.Clone(f.keys) {
		types = append(types, distributedTypes[at].typ)
	}
	return strings.Join(types, ", ")
}
