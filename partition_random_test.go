package weft_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weftdb/weft"
)

var partitionings = flag.Int("partitionings", 6, "random partitioned tables that TestPartitionsRandom makes")

// partitionFuzz compares a random partitioned table with an ordinary one of the same rows.
type partitionFuzz struct {
	t      *testing.T
	r      *rand.Rand
	s      *weft.Session
	next   int // number of the next partition
	rows   int
	leaves []string
	keys   []string // of all levels
	pruned int      // queries that left partitions out
}

// fuzzColumns are the columns with values in ascending order.
var fuzzColumns = []struct {
	name, typ string
	values    []string
}{
	{"a", "int", []string{"-2147483648", "-5", "-1", "0", "1", "2", "3", "7", "10", "2147483647"}},
	{"b", "bigint", []string{"-9223372036854775808", "-3", "0", "1", "5", "3000000000", "9223372036854775807"}},
	{"c", "text", []string{"''", "'A'", "'Ab'", "'a'", "'ab'", "'b'", "'bb'", "'zz'"}},
	{"d", "date", []string{"'-infinity'", "'1999-12-31'", "'2000-01-01'", "'2000-01-02'", "'2024-02-29'", "'infinity'"}},
	{"e", "numeric(6,2)", []string{"-99.50", "-0.01", "0", "0.50", "1", "1.01", "2.50", "9999.99"}},
	{"f", "boolean", []string{"false", "true"}},
	{"g", "char(4)", []string{"''", "'A'", "'a'", "'a b'", "'ab'", "'b'"}},
	{"h", "timestamp", []string{"'-infinity'", "'1999-12-31 23:59:59'", "'2000-01-01'", "'2000-01-01 12:00'", "'2024-02-29'", "'infinity'"}},
	{"i", "float8", []string{"'-infinity'", "-1.5", "0", "0.5", "1", "2.5", "1e300", "'infinity'", "'nan'"}},
	{"k", "numeric", []string{"-1", "0", "0.5", "1", "1.50", "100000000000000000000"}},
	{"l", "varchar(5)", []string{"''", "'A'", "'a'", "'ab'", "'b'"}},
	{"m", "smallint", []string{"-32768", "-1", "0", "1", "5", "32767"}},
}

// fuzzExpressions are keys that are computed, with values in order.
var fuzzExpressions = []struct {
	name   string
	values []string
}{
	{"lower(c)", []string{"''", "'a'", "'ab'", "'b'", "'zz'"}},
	{"(m % 3)", []string{"-2", "-1", "0", "1", "2"}},
	{"(a is null)", []string{"false", "true"}},
	{"coalesce(e, -1)", []string{"-99.50", "-1", "0", "0.5", "2.5"}},
}

func (f *partitionFuzz) pick(list ...string) string { return list[f.r.IntN(len(list))] }

// key returns a key with the values it may have.
func (f *partitionFuzz) key() (string, []string) {
	if f.r.IntN(4) == 0 {
		e := fuzzExpressions[f.r.IntN(len(fuzzExpressions))]
		f.keys = append(f.keys, e.name)
		return e.name, e.values
	}
	c := fuzzColumns[f.r.IntN(len(fuzzColumns))]
	f.keys = append(f.keys, c.name)
	return c.name, c.values
}

// partitionBy returns PARTITION BY with what its partitions' bounds are.
func (f *partitionFuzz) partitionBy() (clause string, bounds []string) {
	name, values := f.key()
	switch f.r.IntN(3) {
	case 0:
		var lists [4][]string
		for _, v := range append(slices.Clone(values), "null") {
			if n := f.r.IntN(5); n < 4 {
				lists[n] = append(lists[n], v)
			}
		}
		for _, list := range lists {
			if len(list) > 0 {
				bounds = append(bounds, "for values in ("+strings.Join(list, ", ")+")")
			}
		}
		if f.r.IntN(3) > 0 {
			bounds = append(bounds, "default")
		}
		return "partition by list (" + name + ")", bounds
	case 1:
		names := []string{name}
		for f.r.IntN(2) == 0 && len(names) < 3 {
			more, _ := f.key()
			names = append(names, more)
		}
		for r := range 4 {
			switch f.r.IntN(6) {
			case 0: // missing
			case 1:
				bounds = append(bounds, fmt.Sprintf("for values with (modulus 8, remainder %d)", r), fmt.Sprintf("for values with (modulus 8, remainder %d)", r+4))
			default:
				bounds = append(bounds, fmt.Sprintf("for values with (modulus 4, remainder %d)", r))
			}
		}
		return "partition by hash (" + strings.Join(names, ", ") + ")", bounds
	}
	return f.byRange(name, values)
}

func (f *partitionFuzz) byRange(name string, values []string) (clause string, bounds []string) {
	names, pools := []string{name}, [][]string{values}
	for f.r.IntN(2) == 0 && len(names) < 3 {
		more, values := f.key()
		names, pools = append(names, more), append(pools, values)
	}
	var ends [][]int
	for range 2 + f.r.IntN(5) {
		end := make([]int, len(names))
		for i, pool := range pools {
			end[i] = f.r.IntN(len(pool)+2) - 1 // −1 is MINVALUE, one behind the last MAXVALUE
			if i > 0 && (end[i-1] < 0 || end[i-1] == len(pools[i-1])) {
				end[i] = len(pool)
				if end[i-1] < 0 {
					end[i] = -1
				}
			}
		}
		ends = append(ends, end)
	}
	slices.SortFunc(ends, slices.Compare[[]int])
	ends = slices.CompactFunc(ends, slices.Equal[[]int])
	text := func(end []int) string {
		parts := make([]string, len(end))
		for i, n := range end {
			switch {
			case n < 0:
				parts[i] = "minvalue"
			case n == len(pools[i]):
				parts[i] = "maxvalue"
			default:
				parts[i] = pools[i][n]
			}
		}
		return "(" + strings.Join(parts, ", ") + ")"
	}
	for i := 1; i < len(ends); i++ {
		if f.r.IntN(5) > 0 {
			bounds = append(bounds, "for values from "+text(ends[i-1])+" to "+text(ends[i]))
		}
	}
	if f.r.IntN(3) > 0 || len(bounds) == 0 {
		bounds = append(bounds, "default")
	}
	return "partition by range (" + strings.Join(names, ", ") + ")", bounds
}

func (f *partitionFuzz) exec(statement string) error {
	_, err := f.s.Exec(context.Background(), statement)
	return err
}

func (f *partitionFuzz) must(statement string) {
	f.t.Helper()
	if err := f.exec(statement); err != nil {
		f.t.Fatalf("%s: %v", statement, err)
	}
}

// grow adds partitions to a table, some of them partitioned again, some of them attached with their
// columns in another order.
func (f *partitionFuzz) grow(table string, bounds []string, depth int) {
	for _, bound := range bounds {
		f.next++
		name := fmt.Sprintf("p%d", f.next)
		var by string
		var below []string
		if depth > 0 && f.r.IntN(3) == 0 {
			by, below = f.partitionBy()
		}
		if f.r.IntN(4) == 0 {
			f.must("create table " + name + " (gone int, " + f.columns(true) + ") " + by)
			f.must("alter table " + name + " drop column gone")
			f.must("alter table " + table + " attach partition " + name + " " + bound)
		} else {
			f.must("create table " + name + " partition of " + table + " " + bound + " " + by)
		}
		if by != "" {
			f.grow(name, below, depth-1)
		} else {
			f.leaves = append(f.leaves, name)
		}
	}
}

func (f *partitionFuzz) columns(shuffled bool) string {
	list := []string{"id int"}
	for _, c := range fuzzColumns {
		list = append(list, c.name+" "+c.typ)
	}
	if shuffled {
		f.r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	return strings.Join(list, ", ")
}

func (f *partitionFuzz) value(column int) string {
	values := fuzzColumns[column].values
	if f.r.IntN(7) == 0 {
		return "null"
	}
	return values[f.r.IntN(len(values))]
}

func (f *partitionFuzz) insert() {
	f.rows++
	row := []string{fmt.Sprint(f.rows)}
	for i := range fuzzColumns {
		row = append(row, f.value(i))
	}
	f.both("insert into @ values (" + strings.Join(row, ", ") + ")")
}

// both changes both tables; where no partition is for a row, neither.
func (f *partitionFuzz) both(statement string) {
	f.t.Helper()
	err := f.exec(strings.Replace(statement, "@", "t", 1))
	if err != nil && strings.Contains(err.Error(), "no partition of relation") {
		return
	}
	if err == nil {
		err = f.exec(strings.Replace(statement, "@", "o", 1))
	}
	if err != nil {
		f.t.Fatalf("%s: %v", statement, err)
	}
}

func (f *partitionFuzz) comparison(depth int) string {
	n := f.r.IntN(16)
	i := f.r.IntN(len(fuzzColumns))
	name, value := fuzzColumns[i].name, f.value(i)
	if f.r.IntN(5) == 0 {
		e := fuzzExpressions[f.r.IntN(len(fuzzExpressions))]
		name, value = e.name, e.values[f.r.IntN(len(e.values))]
	}
	if f.r.IntN(3) > 0 { // of a key
		name = f.pick(f.keys...)
		for k := range fuzzColumns {
			if fuzzColumns[k].name == name {
				i, value = k, f.value(k)
			}
		}
		for _, e := range fuzzExpressions {
			if e.name == name {
				value = e.values[f.r.IntN(len(e.values))]
			}
		}
	}
	switch {
	case depth > 0 && n < 3:
		return "(" + f.condition(depth-1) + " or " + f.condition(depth-1) + ")"
	case depth > 0 && n == 3:
		return "not (" + f.condition(depth-1) + ")"
	case n == 4:
		return name + f.pick(" is null", " is not null")
	case n == 5:
		return name + " " + f.pick("is distinct from ", "is not distinct from ") + value
	case n == 6:
		return name + " " + f.pick("in", "in", "not in") + " (" + value + ", " + value + ", " + f.other(name, i) + ")"
	case n == 7:
		return name + " between " + value + " and " + f.other(name, i)
	case n == 8:
		return f.pick("f", "not f", "f is true", "f is not true", "f is false", "f is not false", "f is unknown", "f = (a > 0)")
	case n == 9: // of other types
		return f.pick("a = 2.5", "a < 2.5", "a >= 1.5", "a > 3000000000", "a < -3000000000", "a = 3000000000", "b = 1.0", "b > 1e30::numeric", "m < 40000", "m > 1.5",
			"e = 1", "e < 1.005", "e > 1.005", "d < timestamp '2000-01-01 12:00'", "d >= timestamp '2000-01-01 12:00'", "d = timestamp '2000-01-01 12:00'",
			"h < date '2000-01-01'", "i > 1", "k = 1.50", "k < 1", "l = 'a'::text", "g = 'a'", "g = 'a  '", "c > 'a'::varchar", "a = 1.0::float8", "a < 1.5::float8")
	case n == 10: // known when the query starts
		return name + " " + f.pick("=", "<", ">=") + " (select " + typed(name, value) + ")"
	}
	return name + " " + f.pick("=", "=", "=", "<>", "<", "<=", ">", ">=") + " " + value
}

// typed gives a value the type of what it is compared with.
func typed(name, value string) string {
	for _, c := range fuzzColumns {
		if c.name == name {
			return "(" + value + ")::" + c.typ
		}
	}
	return value
}

func (f *partitionFuzz) other(name string, column int) string {
	if fuzzColumns[column].name == name {
		return f.value(column)
	}
	for _, e := range fuzzExpressions {
		if e.name == name {
			return e.values[f.r.IntN(len(e.values))]
		}
	}
	return "null"
}

func (f *partitionFuzz) condition(depth int) string {
	conds := []string{f.comparison(depth)}
	for f.r.IntN(2) == 0 && len(conds) < 3 {
		conds = append(conds, f.comparison(depth))
	}
	return strings.Join(conds, " and ")
}

// ids lists what a query yields; an error is a result, too.
func (f *partitionFuzz) ids(query string) string {
	rows, err := f.s.Query(context.Background(), query)
	if err != nil {
		return "error"
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			f.t.Fatal(err)
		}
		out = append(out, fmt.Sprint(id))
	}
	if rows.Close() != nil {
		return "error"
	}
	return strings.Join(out, " ")
}

// partitionWays are settings under which the same rows must come out.
var partitionWays = []string{
	"set enable_partition_pruning = off; set htap_router_mode = row",
	"set enable_partition_pruning = on; set htap_router_mode = row",
	"set enable_partition_pruning = on; set htap_router_mode = column",
	"set enable_partition_pruning = on; set htap_router_mode = row; set enable_seqscan = off",
	"set enable_partition_pruning = on; set htap_router_mode = auto; set enable_seqscan = on",
}

func (f *partitionFuzz) compare() {
	f.t.Helper()
	where := f.condition(2)
	want := f.ids("select id from o where " + where + " order by id")
	for _, way := range partitionWays {
		for _, set := range strings.Split(way, ";") {
			f.must(set)
		}
		query := "select id from t where " + where + " order by id"
		if got := f.ids(query); got != want {
			f.t.Errorf("%s; %s\n got %s\nwant %s\n%s", way, query, got, want, f.explain(query))
			return
		}
	}
	f.must("set enable_seqscan = on")
	if !strings.Contains(f.explain("select id from t where "+where), "Removed: 0)") {
		f.pruned++
	}
}

func (f *partitionFuzz) explain(query string) string {
	rows, err := f.s.Query(context.Background(), "explain "+query)
	if err != nil {
		return err.Error()
	}
	defer rows.Close()
	text := ""
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			f.t.Fatal(err)
		}
		text += line + "\n"
	}
	return text
}

func (f *partitionFuzz) run() {
	f.must("create table o (" + f.columns(false) + ")")
	by, bounds := f.partitionBy()
	f.must("create table t (" + f.columns(false) + ") " + by)
	f.grow("t", bounds, 2)
	for range 150 {
		f.insert()
	}
	if len(f.leaves) > 0 {
		f.must("alter table t colview " + f.pick("", "(id, a, b, c)", "(a, d, e, f, m)", "(c, e, g, h, i, k)"))
		f.must("alter table t modify partition " + f.pick(f.leaves...) + " nocolview")
		f.ids("select total from gs_imcv_flush('t')")
	}
	f.must("create index on t (" + f.pick("a", "c", "b desc, a", "lower(c)", "e, f") + ")")
	for i := range 60 {
		switch {
		case i%6 == 1:
			f.both("delete from @ where " + f.condition(1) + " and id % 5 = 0")
		case i%6 == 2:
			c := f.r.IntN(len(fuzzColumns))
			f.both("update @ set " + fuzzColumns[c].name + " = " + f.value(c) + " where " + f.condition(1) + " and id % 4 = 0")
		case i%6 == 3:
			f.insert()
		}
		f.compare()
	}
	for _, table := range []string{"t", "o"} { // nothing is there twice, or in two places
		if got, want := f.ids("select count(*) from "+table), f.ids("select count(distinct id) from o"); got != want {
			f.t.Errorf("%s has %s rows, want %s", table, got, want)
		}
	}
}

// TestPartitionsRandom makes random partitioned tables, of all strategies and key types, up to three
// levels deep, and asks for rows with partitions pruned and not, by rows, columns and indexes.
func TestPartitionsRandom(t *testing.T) {
	first := firstSeed(t)
	pruned := 0
	for i := range *partitionings {
		seed := first + uint64(i)
		f := &partitionFuzz{t: t, r: rand.New(rand.NewPCG(seed, 7))}
		db := openMemory(t)
		f.s = db.Session()
		f.run()
		pruned += f.pruned
		if err := f.s.Close(); err != nil {
			t.Fatal(err)
		}
		summary, err := db.Check(context.Background(), weft.CheckOptions{Report: func(x weft.Finding) { t.Errorf("check: %+v", x) }})
		if err != nil || summary.Findings > 0 {
			t.Errorf("check: %d findings, %+v", summary.Findings, err)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if pruned == 0 && *partitionings > 5 {
		t.Error("no partition was ever left out")
	}
	t.Logf("%d tables; %d queries left partitions out", *partitionings, pruned)
}
