package weft_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weftdb/weft"
)

// explainDB has a partitioned table s, with a default partition and an empty one, and tables to join it with.
func explainDB(t *testing.T) *weft.Session {
	t.Helper()
	s := openMemory(t).Session()
	t.Cleanup(func() { s.Close() })
	mustExec(t, s, `set threads = 1;
		create table s (day int, region text, v int) partition by range (day);
		create table s1 partition of s for values from (0) to (10); create table s2 partition of s for values from (10) to (20);
		create table s3 partition of s for values from (20) to (30); create table s4 partition of s for values from (100) to (200);
		create table s5 partition of s default;
		insert into s select g % 40, 'r' || g % 3, g from generate_series(1, 4000) g;
		create table d (day int primary key, w text, x int); insert into d select g, 'w' || g, g from generate_series(1, 50) g;
		create table e (day int, x int); insert into e select nullif(g, 3), g from generate_series(1, 12) g; insert into e select 5, 100 from generate_series(1, 3);
		create table byword (w text) partition by list (w); create table byword1 partition of byword for values in ('w1'); insert into byword values ('w1');
		create table hot (k int, pad text); insert into hot select case when g % 4 = 0 then g else 7 end, repeat('p', 40) from generate_series(1, 3000) g; analyze`)
	return s
}

// varying are the figures of lines that differ from run to run.
var varying = regexp.MustCompile(`\d+\.\d+ ms|[1-9]\d* allocs|of [\d.]+ GB|peak \S+ \S+ of \S+ \S+,`)

// explainLines returns the lines of a plan without indentation and varying figures.
func explainLines(t *testing.T, s *weft.Session, query string) (lines []string) {
	t.Helper()
	rows, err := queryText(s, query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	for _, row := range rows {
		lines = append(lines, varying.ReplaceAllString(strings.TrimSpace(row[0]), "~"))
	}
	return lines
}

// TestExplainLines has a case for each line that weft adds to the plans of joins and partitions.
func TestExplainLines(t *testing.T) {
	skipSequential(t)
	s := explainDB(t)
	const analyze, verbose = "explain (analyze, costs off, timing off, summary off) ", "explain (analyze, verbose, costs off, timing off, summary off) "
	const byDay = "select count(*) from s join e on s.day = e.day where e.x < 100"
	for _, c := range []struct {
		settings, query string
		want            []string
	}{
		{"", analyze + byDay, []string{"Build: e", "Runtime Filters: PS1[leaf] e.day -> s, RF1[in] e.day -> s.day",
			"Hash Table: direct-array, rows 11, keys 11, max dup 1, 92 B", "Memory: ~ estimated 384 B, bound 480 B",
			"Partition Key: RANGE (day)", "Partitions: 5 of 5 after planning (Subplans Removed: 0); run time: PS1",
			"Partitions selected: 2 out of 5 (PS1 2, default no)", "Partitions scanned: 2 (opened 2, empty 0), rows 1100; not opened: 3",
			"Runtime Filter RF1: keys 11, range [1, 12], bitmap 8 B; tested 2000, passed 1100 (55.0%), row groups skipped 0, disabled no",
			"Route: level 1 = (e.day)", "Selector: rows 12, NULL keys 1, routed 2, to default 0, early stop no, time ~"}},
		{"", "explain " + byDay, []string{"Runtime Filters: PS1[leaf] e.day -> s"}},
		{"", analyze + "select count(*) from s join e on s.day = e.x", []string{"Hash Table: direct-ranges, rows 15, keys 13, max dup 3, 520 B"}},
		{"", analyze + "select count(*) from s join d on s.day = d.x", []string{"Partitions selected: 4 out of 5 (PS1 4, default yes)", "Selector: rows 50, NULL keys 0, routed 4, to default 1, early stop no, time ~"}},
		{"", analyze + "select count(*) from s join d on s.day = d.day - 100 + 200", []string{"Partitions selected: 1 out of 5 (PS1 1, default no)", "Partitions scanned: 1 (opened 0, empty 1), rows 0; not opened: 4"}},
		{"", analyze + "select count(*) from s join e on s.day = e.day where e.x < 0", []string{"Hash Table: direct-array, rows 0, keys 0, 4 B", "Partitions selected: 0 out of 5 (PS1 0, default no)",
			"Partitions scanned: 0 (opened 0, empty 0), rows 0; not opened: 5", "Selector: rows 0, NULL keys 0, routed 0, to default 0, early stop no, time ~"}},
		{"", verbose + "select count(*) from s join e on s.day = e.day where e.x < 8", []string{"Build: e, bound 15 rows / 480 B ~", "Leaves:", "s1  (rows 600)", "s2  (never opened)", "s5  (never opened)"}},
		{"", verbose + "select count(*) from s", []string{"Partitions selected: 5 out of 5", "Partitions scanned: 5 (opened 4, empty 1), rows 4000; not opened: 0", "s1  (rows 1000)", "s4  (empty)"}},
		{"", analyze + "select count(*) from s left join d on s.day = d.day", []string{"Build: d, unique (pk)", "Partitions: 5 of 5 after planning (Subplans Removed: 0); run time: off, reason: probe preserved by left join",
			"Partitions selected: 5 out of 5 (run time: off, reason: probe preserved by left join)"}},
		{"", "explain select count(*) from hot join s on hot.k + 0 = s.v and s.day between 0 and 19", []string{"Partitions: 2 of 5 after planning (Subplans Removed: 3); run time: off, reason: build side"}},
		{"", analyze + "select count(*) from s where s.day not in (select x from e)", []string{"Partitions selected: 5 out of 5 (run time: off, reason: null-aware join)"}},
		{"", analyze + "select count(*) from s join e on s.v = e.x", []string{"Partitions selected: 5 out of 5 (run time: off, reason: no key in condition)"}},
		{"", analyze + "select count(*) from s join e on s.day::real = e.x::real", []string{"Partitions selected: 5 out of 5 (run time: off, reason: inexact cast)"}},
		{"", analyze + "select count(*) from (select s.day::text, region from s) s join d on s.region like d.w", []string{"Partitions selected: 5 out of 5 (run time: off, reason: no key in condition)"}},
		{"", analyze + "select count(*) from byword b where exists (select from d where b.w like d.w)", []string{"Partitions selected: 1 out of 1 (run time: off, reason: operator)"}},
		{"", analyze + "select count(*) from s join d on s.day = d.x + (random() * 0)::int", []string{"Partitions selected: 5 out of 5 (run time: off, reason: volatile)"}},
		{"", analyze + "with q as materialized (select * from s) select count(*) from q join d on q.day = d.x", []string{"Partitions selected: 5 out of 5 (run time: off, reason: shared subplan)"}},
		{"", analyze + "select count(*) from (select * from s limit 3000) s join e on s.day = e.x", []string{"Partitions selected: 5 out of 5 (run time: off, reason: limit below join)"}},
		{"enable_partition_pruning = off", analyze + byDay, []string{"Partitions selected: 5 out of 5 (run time: off, reason: disabled)"}},
		{"", analyze + "select d.x, (select sum(s.v) from s join e on s.day = e.day where e.x > d.x limit 1 offset d.x - 1) from d where d.x < 5",
			[]string{"Partitions selected: avg 2.0, max 2 out of 5 over 4 rescans", "Partitions scanned: 2 (opened 2, empty 0), rows 3600; not opened: 3", "Selector: rows 12, NULL keys 0, routed 3, to default 0, early stop no, time ~"}},
		{"work_mem = '16kB'", analyze + "select count(*) from hot a join hot b on a.k = b.k and a.pad <> b.pad", []string{"Build: a, partitions 16",
			"Hash Table: direct-array, rows 112, keys 112, max dup 1, 17 kB", "Spill: build 13 of 16 partitions 142 kB, probe 136 kB, levels 1, skew keys 1, passes 4", "Temp Files: 45 created, 0 left"}},
		{"work_mem = '16kB'", analyze + "select count(*) from e left join hot b on e.x < length(b.pad) - 40", []string{"Spill: build 129 kB, passes 1", "Temp Files: 1 created, 0 left"}},
	} {
		if c.settings != "" {
			mustExec(t, s, "set "+c.settings)
		}
		lines := explainLines(t, s, c.query)
		for _, want := range c.want {
			if !slices.Contains(lines, want) {
				t.Errorf("%s %s: no line %q in\n%s", c.settings, c.query, want, strings.Join(lines, "\n"))
			}
		}
		if c.settings != "" {
			mustExec(t, s, "reset "+strings.Fields(c.settings)[0])
		}
	}
}

// TestExplainSpilledLines: what went to disk, by hash with a key that memory does not take, and by partitions.
func TestExplainSpilledLines(t *testing.T) {
	skipSequential(t)
	s := explainDB(t)
	mustExec(t, s, "set work_mem = '16kB'")
	line := func(query, key string) string {
		t.Helper()
		for _, line := range explainLines(t, s, "explain (analyze, costs off) "+query) {
			if strings.HasPrefix(line, key+": ") {
				return line
			}
		}
		t.Fatalf("%s: no line of %s", query, key)
		return ""
	}
	hot := "select count(*) from hot b join hot c on b.k = c.k and c.pad < b.pad"
	if got := line(hot, "Spill"); !regexp.MustCompile(`^Spill: build \d+ of 16 partitions [\d.]+ [kM]B, probe [\d.]+ k?B, levels \d+, skew keys 1, passes \d+$`).MatchString(got) {
		t.Error(got)
	}
	w := wiseDB(t, 6000)
	mustExec(t, w, "set work_mem = '20kB'; set threads = 1")
	s = w
	const wise = "select count(*), sum(x.v), max(x.s) from f left join d x on f.k = x.k"
	if got := line(wise, "Partition-wise Join"); !strings.HasPrefix(got, "Partition-wise Join: groups 13 (spilled), unmatched probe leaves 2, rounds ") {
		t.Error(got)
	}
	if got := line(wise, "Spill"); !regexp.MustCompile(`^Spill: build 11 of \d+ partitions \d+ kB, probe 0 B \(partition-wise\), levels 1, skew keys 0, passes 1$`).MatchString(got) {
		t.Error(got)
	}
}

// TestExplainWorkers: several workers bring together what they have selected.
func TestExplainWorkers(t *testing.T) {
	s := explainDB(t)
	mustExec(t, s, `set threads = 2; create table m (day int, x int) partition by list (x);
		create table m1 partition of m for values in (1); create table m2 partition of m for values in (2);
		insert into m select g % 3, 1 + g % 2 from generate_series(1, 100) g; analyze`)
	lines := explainLines(t, s, "explain (analyze, costs off) select count(*) from s join m on s.day = m.day")
	if !slices.Contains(lines, "Selector Workers: 2 merged") {
		t.Errorf("no two workers in\n%s", strings.Join(lines, "\n"))
	}
}

// TestExplainNames tells relations apart that a statement calls by one name.
func TestExplainNames(t *testing.T) {
	s := explainDB(t)
	mustExec(t, s, "set enable_nestloop = off")
	lines := explainLines(t, s, "explain (analyze, costs off, timing off, summary off) select count(*) from s, (select * from s where v < 50) q, (select * from d) x, (select * from d where x < 5) y where s.day = x.day and q.day = y.day and x.x = y.day")
	names := map[string]bool{}
	for _, line := range lines {
		if at := strings.Index(line, " on "); at > 0 {
			names[strings.Split(line[at+4:], " (")[0]] = true
		}
		if list, ok := strings.CutPrefix(line, "Runtime Filters: "); ok {
			for _, name := range []string{"s", "s_1"} {
				names["filtered "+name] = names["filtered "+name] || strings.Contains(list, "-> "+name+",") && strings.Contains(list, "-> "+name+".day")
			}
		}
	}
	for _, want := range []string{"s", "s s_1", "d", "d d_1", "filtered s_1"} {
		if !names[want] {
			t.Errorf("no scan of %q in\n%s", want, strings.Join(lines, "\n"))
		}
	}
}

// TestExplainPlanning: the time of planning is divided among its parts, with the search for the order of joins.
func TestExplainPlanning(t *testing.T) {
	s := explainDB(t)
	const query = "select count(*) from s, e, d where s.day = e.day and e.x = d.x"
	lines := explainLines(t, s, "explain (summary) "+query)
	if want := "Planning: ~ (bind ~, rules ~, join order ~ [dynamic, pairs 10], access ~, ~)"; !slices.Contains(lines, want) {
		t.Errorf("no %q in\n%s", want, strings.Join(lines, "\n"))
	}
	if !strings.HasPrefix(lines[len(lines)-1], "Planning Time: ~") {
		t.Errorf("the last line is %q", lines[len(lines)-1])
	}
	if lines := explainLines(t, s, "explain "+query); slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "Planning") }) {
		t.Errorf("without SUMMARY:\n%s", strings.Join(lines, "\n"))
	}
	many := "select count(*) from d d0"
	for i := 1; i < 12; i++ {
		many += fmt.Sprintf(" join d d%d on d%d.day = d%d.x", i, i-1, i)
	}
	plan := explainJSON(t, s, "explain (summary, format json) "+many)
	planning := plan["planning"].(map[string]any)
	sum := planning["bind"].(float64) + planning["rules"].(float64) + planning["join_order"].(float64) + planning["access"].(float64)
	if planning["search"] != "greedy" || planning["pairs"].(float64) < 60 || planning["pairs"].(float64) > 3*12*12 || planning["join_order"].(float64) <= 0 || planning["allocations"].(float64) < 100 || sum > plan["Planning Time"].(float64)+0.01 {
		t.Errorf("planning is %v, in all %v", planning, plan["Planning Time"])
	}
}

// TestExplainCreateTableAs: ANALYZE would have to create the table.
func TestExplainCreateTableAs(t *testing.T) {
	s := explainDB(t)
	if lines := explainLines(t, s, "explain (costs off) create table c as select day from s"); len(lines) == 0 {
		t.Error("no plan")
	}
	if got := outcome(s, "explain analyze create table c as select day from s"); !strings.Contains(got, "0A000") {
		t.Errorf("ANALYZE: %s", got)
	}
}

// TestExplainExecute: a prepared statement is explained with its general plan, and run with its arguments.
func TestExplainExecute(t *testing.T) {
	s := explainDB(t)
	mustExec(t, s, "prepare p(int) as select count(*) from s where day < $1; prepare w as insert into e values ($1, 7)")
	if lines := explainLines(t, s, "explain (costs off) execute p(5)"); !slices.Contains(lines, "Filter: (day < $1)") ||
		!slices.Contains(lines, "Partitions: 5 of 5 after planning (Subplans Removed: 0); run time: at start") {
		t.Errorf("the plan is\n%s", strings.Join(lines, "\n"))
	}
	if lines := explainLines(t, s, "explain (analyze, costs off, timing off, summary off) execute p(5)"); !slices.Contains(lines, "Partitions selected: 2 out of 5 (Subplans Removed: 3)") {
		t.Errorf("the plan is\n%s", strings.Join(lines, "\n"))
	}
	scan := explainJSON(t, s, "explain (analyze, format json) execute p(15)")["Plan"].(map[string]any)["Plans"].([]any)[0].(map[string]any)
	if scan["Subplans Removed"] != 2.0 {
		t.Errorf("the scan is %v", scan)
	}
	mustExec(t, s, "explain execute w(900); explain analyze execute w(901)")
	if got := oneLine(t, s, "select count(*) from e where day >= 900"); got != "1" {
		t.Errorf("%s rows are there", got)
	}
	mustExec(t, s, "create table f as select 1 as one; prepare q as select one from f")
	for statement, want := range map[string]string{
		"explain execute p": "42601", "explain execute nothing(1)": "26000",
		"explain execute p('x')": "22P02", "explain analyze execute w('x', 1)": "42601",
	} {
		if got := outcome(s, statement); got != want {
			t.Errorf("%s: %s", statement, got)
		}
	}
	mustExec(t, s, "begin read only")
	if got := outcome(s, "explain analyze execute w(1)"); got != "25006" {
		t.Errorf("in a transaction that only reads: %s", got)
	}
	mustExec(t, s, "rollback; drop table f")
	if got := outcome(s, "explain execute q"); got != "42P01" {
		t.Errorf("without its table: %s", got)
	}
}

// TestExplainJSONHasAll: JSON has each line of text under the same key, or that in snake_case for what consists of
// several figures, and every figure of it.
func TestExplainJSONHasAll(t *testing.T) {
	skipSequential(t)
	s := explainDB(t)
	w := wiseDB(t, 6000)
	mustExec(t, w, "set work_mem = '20kB'; set threads = 1")
	for _, c := range []struct {
		s     *weft.Session
		query string
	}{
		{s, "select count(*) from s join e on s.day = e.day join d on d.day = s.day where e.x < 100"},
		{s, "select count(*) from s left join d on s.day = d.day"},
		{s, "select d.x, (select sum(s.v) from s join e on s.day = e.day where e.x > d.x limit 1 offset d.x - 1) from d where d.x < 5"},
		{s, "select region, count(*) from s where day < 30 - length(now()::text) * 0 group by region"},
		{w, "select count(*), sum(x.v), max(x.s) from f left join d x on f.k = x.k"},
		{w, "select count(*) from f join g on f.k = g.k"},
		{w, "select k, count(*) from f group by k"},
	} {
		text := explainLines(t, c.s, "explain (analyze, verbose, costs off) "+c.query)
		plan := explainJSON(t, c.s, "explain (analyze, verbose, costs off, format json) "+c.query)
		var values []string // "key: figures"
		collect(plan, &values)
		for _, line := range text {
			key, figures, isFact := strings.Cut(line, ": ")
			if !isFact || strings.HasPrefix(line, "->") || strings.Contains(key, "(") {
				continue
			}
			if strings.HasPrefix(key, "Runtime Filter RF") {
				key = "Runtime Filters Applied"
			}
			snake := strings.ToLower(strings.NewReplacer(" ", "_", "-", "_").Replace(key))
			numbers := regexp.MustCompile(`\b\d+\b`).FindAllString(regexp.MustCompile(`~.*|[\d.]+ [kMG]?B|\d+\.\d+%?|[A-Z]+\d+|of \d+ [kM]B`).ReplaceAllString(figures, ""), -1)
			if !slices.ContainsFunc(values, func(v string) bool {
				have, rest, _ := strings.Cut(v, ": ")
				if have != key && have != snake {
					return false
				}
				for _, n := range numbers {
					if !regexp.MustCompile(`\b` + n + `\b`).MatchString(rest) {
						return false
					}
				}
				return true
			}) {
				t.Errorf("%s: JSON does not say %q:\n%s", c.query, line, strings.Join(values, "\n"))
			}
		}
		uniqueKeys(t, oneLine(t, c.s, "explain (analyze, verbose, format json) "+c.query))
	}
}

// collect lists the members of all nodes of a plan.
func collect(node map[string]any, into *[]string) {
	for key, value := range node {
		switch kids := value.(type) {
		case map[string]any:
			if key == "Plan" {
				collect(kids, into)
				continue
			}
		case []any:
			if key == "Plans" {
				for _, kid := range kids {
					collect(kid.(map[string]any), into)
				}
				continue
			}
			if key == "Runtime Filters Applied" || key == "runtime_filters_applied" { // each a line of its own
				for _, kid := range kids {
					*into = append(*into, fmt.Sprint("Runtime Filters Applied: ", kid))
				}
			}
		}
		text, err := json.Marshal(value)
		if err != nil {
			panic(err)
		}
		*into = append(*into, key+": "+string(text))
	}
}

// TestExplainWrites has PostgreSQL's lines of what INSERT with ON CONFLICT and MERGE have done.
func TestExplainWrites(t *testing.T) {
	s := openMemory(t).Session()
	defer s.Close()
	mustExec(t, s, "create table a (id int primary key, x int); insert into a select g, g from generate_series(1, 9) g; create table p (id int primary key, x int) partition by range (id); create table p1 partition of p for values from (0) to (5); create table p2 partition of p for values from (5) to (100); insert into p select id, x from a")
	const analyze, asJSON = "explain (analyze, costs off, timing off, summary off) ", "explain (analyze, costs off, timing off, summary off, format json) "
	for _, c := range []struct {
		query string
		want  []string
	}{
		{analyze + "insert into a values (1, 2), (11, 3), (11, 4) on conflict do nothing", []string{"Conflict Resolution: NOTHING", "Tuples Inserted: 1", "Conflicting Tuples: 2"}},
		{analyze + "insert into a values (2, 2), (3, 3), (12, 3) on conflict (id) do update set x = 0 where a.x > 2",
			[]string{"Conflict Resolution: UPDATE", "Conflict Arbiter Indexes: a_pkey", "Conflict Filter: (x > 2)", "Tuples Inserted: 1", "Conflicting Tuples: 2"}},
		{analyze + "insert into p values (1, 1), (7, 7), (20, 1), (21, 1) on conflict (id) do update set x = 0", []string{"Tuples Inserted: 2", "Conflicting Tuples: 2"}},
		{analyze + "insert into a select 30, 1 where false on conflict do nothing", []string{"Tuples Inserted: 0", "Conflicting Tuples: 0"}},
		{asJSON + "insert into a values (1, 2), (13, 3) on conflict on constraint a_pkey do nothing",
			[]string{`"Conflict Resolution": "NOTHING",`, `"Conflict Arbiter Indexes": ["a_pkey"],`, `"Tuples Inserted": 1,`, `"Conflicting Tuples": 1,`}},
		{analyze + "merge into a using (values (1, 1), (40, 2), (2, 2), (3, 3), (4, 4)) v (id, x) on a.id = v.id when matched and v.x = 2 then delete when matched and v.x = 3 then do nothing when matched and v.x = 1 then update set x = 5 when not matched then insert values (v.id, v.x)",
			[]string{"Tuples: inserted=1 updated=1 deleted=1 skipped=2"}},
		{asJSON + "merge into p using (values (1, 1), (50, 2)) v (id, x) on p.id = v.id when matched then update set id = 60 when not matched then do nothing",
			[]string{`"Tuples Inserted": 0,`, `"Tuples Updated": 1,`, `"Tuples Deleted": 0,`, `"Tuples Skipped": 1,`}},
	} {
		lines := strings.Split(strings.Join(explainLines(t, s, c.query), "\n"), "\n")
		at := 0
		for _, line := range lines {
			if at < len(c.want) && strings.TrimSpace(line) == c.want[at] {
				at++
			}
		}
		if at < len(c.want) {
			t.Errorf("%s: no line %q in\n%s", c.query, c.want[at], strings.Join(lines, "\n"))
		}
	}
	for _, row := range explainLines(t, s, analyze+"merge into a using (select 1 where false) v on a.id = 1 when matched then delete") {
		if strings.HasPrefix(row, "Tuples:") {
			t.Errorf("a MERGE of no rows says %q", row)
		}
	}
	if lines := explainLines(t, s, "explain insert into a values (1, 1) on conflict do nothing"); slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, "Arbiter") || strings.Contains(l, "Tuples") }) {
		t.Errorf("without a target, and not run: %q", lines)
	}
}

// TestExplainOuterColumns names the outer row's columns where a plan is run for each of them, and puts what an index
// is searched by behind what it is of.
func TestExplainOuterColumns(t *testing.T) {
	s := openMemory(t).Session()
	defer s.Close()
	mustExec(t, s, "create table a (id int primary key, x int); create table b (id int primary key, aid int, y int); create index on b (aid); insert into a select g, g % 10 from generate_series(1, 10) g; insert into b select g, g % 1000, g from generate_series(1, 50000) g; analyze")
	for query, want := range map[string]string{
		"select * from a join b on a.id = b.aid":                                                                "Index Cond: (b.aid = a.id)",
		"select * from a where exists (select 1 from b where a.id = b.aid and b.y > a.x)":                       "Filter: (b.y > a.x)",
		"select * from a, lateral (select * from b where b.aid = a.id + 1 limit 1) l":                           "Index Cond: (b.aid = (a.id + 1))",
		"select * from a a1 join a a2 on a1.x = a2.id + 1 join b on b.aid = a2.x where 3 > b.aid and a1.id = 1": "Index Cond: (b.aid = a2.x)",
		"select * from b where 5 < aid and aid < 8":                                                             "Index Cond: ((aid > 5) AND (aid < 8))",
		"select x, (select y from b where b.aid = a.x and b.id <> a.id order by y limit 1) from a":              "Index Cond: (b.aid = a.x)",
	} {
		if lines := explainLines(t, s, "explain (costs off) "+query); !slices.Contains(lines, want) {
			t.Errorf("%s: no line %q in\n%s", query, want, strings.Join(lines, "\n"))
		}
	}
	mustExec(t, s, "prepare q as select * from a join b on b.aid = a.id where a.x > $1 and b.y < $2")
	if lines := explainLines(t, s, "explain (costs off) execute q (3, 100)"); !slices.Contains(lines, "Index Cond: (b.aid = a.id)") {
		t.Errorf("a prepared statement:\n%s", strings.Join(lines, "\n"))
	}
}
