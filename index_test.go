package weft_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftdb/weft"
)

// TestIndexScans runs random conditions on a table with indexes and on one without, which get the
// same random changes, and compares the results: committed, in a transaction with writes of its own,
// and under an older view.
func TestIndexScans(t *testing.T) {
	skipSequential(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	db, err := weft.Open(context.Background(), "", weft.Options{DataNodes: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s, old := db.Session(), db.Session()
	defer s.Close()
	defer old.Close()
	// The names of the two tables differ only in the last letter.
	both := func(statement string) {
		mustExec(t, s, strings.ReplaceAll(statement, "%t", "ti"))
		mustExec(t, s, strings.ReplaceAll(statement, "%t", "tp"))
	}
	both(`create table %t (id int, a int, b numeric(8,2), c varchar(10), d char(4), e date, f double precision, g numeric)`)
	row := func(id int) string {
		value := func(format string, v any) string {
			if r.IntN(6) == 0 {
				return "null"
			}
			return fmt.Sprintf(format, v)
		}
		return fmt.Sprintf("(%d, %s, %s, %s, %s, %s, %s, %s)", id, value("%d", r.IntN(40)-20), value("%.2f", float64(r.IntN(400)-200)/8),
			value("'%s'", strings.Repeat("ab", r.IntN(3))+fmt.Sprint(r.IntN(9))), value("'%s'", fmt.Sprint(r.IntN(30))), value("date '2020-01-01' + %d", r.IntN(60)),
			value("%g", float64(r.IntN(60)-30)/4), value("%s", fmt.Sprint(r.IntN(50)-25)+[]string{"", ".50", ".5"}[r.IntN(3)]))
	}
	var rows []string
	for id := range 4000 {
		rows = append(rows, row(id))
	}
	both("insert into %t values " + strings.Join(rows, ", "))
	for _, columns := range []string{"a, b desc", "b, c", "c desc, d", "d", "e desc, a, id", "f", "g desc"} {
		mustExec(t, s, "create index on ti ("+columns+")")
	}
	mustExec(t, s, "create unique index on ti (id); analyze ti; analyze tp")

	condition := func() string {
		var conds []string
		for range 1 + r.IntN(3) {
			column := []string{"id", "a", "b", "c", "d", "e", "f", "g"}[r.IntN(8)]
			literal := func() string {
				switch column {
				case "id":
					return fmt.Sprint(r.IntN(4200))
				case "a":
					return fmt.Sprint(r.IntN(44) - 22)
				case "b":
					return fmt.Sprintf("%.2f", float64(r.IntN(400)-200)/8)
				case "c":
					return "'" + strings.Repeat("ab", r.IntN(3)) + fmt.Sprint(r.IntN(9)) + "'"
				case "d":
					return "'" + fmt.Sprint(r.IntN(30)) + "'"
				case "e":
					return fmt.Sprintf("date '2020-01-%02d'", 1+r.IntN(31))
				case "f":
					return fmt.Sprintf("%g::float8", float64(r.IntN(60)-30)/4)
				}
				return fmt.Sprint(r.IntN(50)-25) + []string{"", ".50", ".5"}[r.IntN(3)]
			}
			switch r.IntN(6) {
			case 0:
				conds = append(conds, column+" in ("+literal()+", "+literal()+", "+literal()+")")
			case 1:
				conds = append(conds, column+" between "+literal()+" and "+literal())
			case 2:
				conds = append(conds, literal()+" "+[]string{"<", "<=", ">", ">="}[r.IntN(4)]+" "+column)
			default:
				conds = append(conds, column+" = "+literal())
			}
		}
		return strings.Join(conds, " and ")
	}
	indexed := 0
	compare := func(s *weft.Session, cond string) {
		t.Helper()
		query := "select * from %t where " + cond
		got, err := queryText(s, strings.ReplaceAll(query, "%t", "ti"))
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		want, err := queryText(s, strings.ReplaceAll(query, "%t", "tp"))
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		plan, err := queryText(s, "explain (costs off) "+strings.ReplaceAll(query, "%t", "ti"))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(fmt.Sprint(plan), "Index Scan") {
			indexed++
		}
		if diff := firstDifference(sortedLines(want), sortedLines(got)); diff != "" {
			t.Fatalf("%s: %s\n%v", query, diff, plan)
		}
	}
	inOrder := func(s *weft.Session, cond string) {
		t.Helper()
		order := []string{"id", "id desc", "e desc, a, id", "e, a desc, id desc", "a, b desc", "a desc, b", "d", "c desc, d", "g desc", "f"}[r.IntN(10)]
		query := fmt.Sprintf("select %s from %%t where %s order by %s limit %d offset %d", strings.ReplaceAll(strings.ReplaceAll(order, " desc", ""), "g", "trim_scale(g)"), cond, order, r.IntN(60), r.IntN(5)*r.IntN(5))
		got, err := queryText(s, strings.ReplaceAll(query, "%t", "ti"))
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		want, err := queryText(s, strings.ReplaceAll(query, "%t", "tp"))
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%s: %v, want %v", query, got, want)
		}
	}
	next, rounds, fewest := 4000, 8, 200
	if testing.Short() {
		rounds, fewest = 2, 50
	}
	for round := range rounds {
		if round%4 == 2 {
			mustExec(t, old, "begin isolation level repeatable read; select count(*) from ti")
		}
		if round%2 == 1 {
			mustExec(t, s, "begin")
		}
		for range 12 {
			switch r.IntN(4) {
			case 0:
				both("insert into %t values " + row(next))
				next++
			case 1:
				both(fmt.Sprintf("delete from %%t where a = %d and id %% 7 = %d", r.IntN(40)-20, r.IntN(7)))
			case 2:
				both(fmt.Sprintf("update %%t set a = %d, c = null, g = g + 1 where d = '%d'", r.IntN(40)-20, r.IntN(30)))
			case 3:
				both(fmt.Sprintf("update %%t set e = e + 1, b = -b where id between %d and %d", next-60, next-r.IntN(50)))
			}
			for range 6 {
				compare(s, condition())
				inOrder(s, []string{"true", condition()}[r.IntN(2)])
			}
		}
		if round%4 == 2 {
			for range 40 {
				compare(old, condition())
			}
			mustExec(t, old, "rollback")
		}
		if round%2 == 1 {
			mustExec(t, s, []string{"commit", "rollback"}[r.IntN(2)])
		}
	}
	if indexed < fewest {
		t.Errorf("only %d queries used an index", indexed)
	}
}

// TestIndexJoins compares joins that look rows up by an index with the same joins hashed.
func TestIndexJoins(t *testing.T) {
	skipSequential(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	s := openMemory(t).Session()
	defer s.Close()
	mustExec(t, s, `create table small (id int, a int, b numeric(8,2), c text);
		create table large (id int primary key, a int, b numeric(8,2), c text);
		create index on large (a, b); create index on large (c desc)`)
	for range 40 {
		mustExec(t, s, fmt.Sprintf("insert into small values (%d, nullif(%d, 3), %d.5, 'c%d')", r.IntN(6000), r.IntN(300), r.IntN(20), r.IntN(400)))
	}
	mustExec(t, s, `insert into large select g, nullif(g % 300, 7), g % 20 + 0.5, case when g % 11 > 0 then 'c' || g % 400 end from generate_series(1, 20000) g; analyze`)
	byIndex := 0
	for _, on := range []string{"l.id = s.id", "l.a = s.a", "l.a = s.a and l.b = s.b", "l.a = s.a and l.b > s.b", "l.c = s.c and l.id > s.id",
		"l.a = s.a and s.b > 9", "l.a = s.a and l.b < 5 and l.c <> s.c", "l.id = s.a + s.id"} {
		for _, query := range []string{"select * from small s join large l on %", "select * from large l join small s on %", "select * from small s left join large l on %",
			"select * from small s where exists (select 1 from large l where %)", "select * from small s where not exists (select 1 from large l where %)",
			"select s.id, (select max(l.b) from large l where %) from small s", "select s.id, q.n from small s, lateral (select l.id * 2 as n from large l where % limit 2000) q",
			"select count(*) from small s join large l on % join small z on z.a = l.a"} {
			query = strings.ReplaceAll(query, "%", on)
			mustExec(t, s, "set enable_nestloop = on")
			plan, err := queryText(s, "explain (costs off) "+query)
			if err != nil {
				t.Fatalf("%s: %v", query, err)
			}
			if text := fmt.Sprint(plan); strings.Contains(text, "Nested Loop") && strings.Contains(text, "Index Scan using large") {
				byIndex++
			}
			got, err := queryText(s, query)
			if err != nil {
				t.Fatalf("%s: %v", query, err)
			}
			mustExec(t, s, "set enable_nestloop = off; set enable_indexscan = off")
			want, err := queryText(s, query)
			if err != nil {
				t.Fatalf("%s: %v", query, err)
			}
			mustExec(t, s, "reset enable_indexscan")
			if diff := firstDifference(sortedLines(want), sortedLines(got)); diff != "" {
				t.Errorf("%s: %s\n%v", query, diff, plan)
			}
		}
	}
	if byIndex < 25 {
		t.Errorf("only %d queries joined by index", byIndex)
	}
}

// TestBuiltInTransaction uses what COPY, CREATE INDEX and ADD PRIMARY KEY have built later in the
// same transaction, which has read before and holds writes of its own.
func TestBuiltInTransaction(t *testing.T) {
	s := openMemory(t).Session()
	defer s.Close()
	file := filepath.Join(t.TempDir(), "t.csv")
	mustExec(t, s, fmt.Sprintf(`copy (select g, g %% 10 from generate_series(1, 5000) g) to '%s' (format csv)`, file))
	for _, level := range []string{"read committed", "repeatable read"} {
		mustExec(t, s, "drop table if exists t, d; create table t (a int, b int); insert into t select g, g % 10 from generate_series(1, 5000) g; create table d (a int primary key, b int)")
		steps := []struct{ statement, want string }{
			{"select count(*) from d", "0"},
			{fmt.Sprintf("copy d from '%s' (format csv)", file), ""},
			{"select count(*) from d where b = 3", "500"},
			{"update d set b = 100 where a = 77 returning b", "100"},
			{"delete from d where a = 78 returning a", "78"},
			{"select count(*) from d where a between 70 and 80", "10"},
			{"insert into t values (6000, 3)", ""},
			{"create index on t (b)", ""},
			{"select count(*) from t where b = 3", "501"},
			{"alter table t add primary key (a)", ""},
			{"update t set b = 200 where a = 6000 returning b", "200"},
			{"delete from t where a = 8 returning a", "8"},
			{"select count(*) from t where b = 3", "500"},
		}
		mustExec(t, s, "begin isolation level "+level)
		for i, step := range steps {
			if level == "repeatable read" && strings.Contains(step.statement, "create index") {
				if _, err := s.Exec(context.Background(), step.statement); codeOf(err) != "0A000" {
					t.Errorf("%s: %v", step.statement, err)
				}
				break
			}
			rows, err := queryText(s, step.statement)
			if err != nil {
				t.Fatalf("%s: %v", step.statement, err)
			}
			if step.want != "" && (len(rows) != 1 || rows[0][0] != step.want) {
				t.Errorf("%s, step %d, %s: %v, want %s", level, i, step.statement, rows, step.want)
			}
		}
		mustExec(t, s, "rollback")
	}
}
