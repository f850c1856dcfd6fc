package weft_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weftdb/weft"
)

// explainJSON runs an EXPLAIN (FORMAT JSON) and returns its only element.
func explainJSON(t *testing.T, s *weft.Session, query string) map[string]any {
	t.Helper()
	rows, err := queryText(s, query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return decodePlan(t, rows[0][0])
}

func decodePlan(t *testing.T, text string) map[string]any {
	t.Helper()
	var list []map[string]any
	if err := json.Unmarshal([]byte(text), &list); err != nil || len(list) != 1 {
		t.Fatalf("not a plan: %v\n%s", err, text)
	}
	return list[0]
}

// TestExplainJSONLikePostgreSQL compares plans with what PostgreSQL 15 printed for the same
// statements: every key of its plans must be there with a value of the same JSON type, and what
// names things must be equal. The .json files come from
//
//	psql -qAtX -f NAME.sql
//
// after setup.sql, with max_parallel_workers_per_gather = 0.
func TestExplainJSONLikePostgreSQL(t *testing.T) {
	dir := filepath.Join("testdata", "explain")
	s := memorySession(t)
	setup, err := os.ReadFile(filepath.Join(dir, "setup.sql"))
	if err != nil {
		t.Fatal(err)
	}
	mustExec(t, s, string(setup))
	files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	if len(files) == 0 {
		t.Fatal("no plans in " + dir)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			query, err := os.ReadFile(strings.TrimSuffix(file, ".json") + ".sql")
			if err != nil {
				t.Fatal(err)
			}
			compareShape(t, "", decodePlan(t, string(want)), explainJSON(t, s, string(query)))
		})
	}
}

var (
	// notInWeft are keys of PostgreSQL for what weft's operators do not have.
	notInWeft = []string{"Sort Method", "Sort Space Used", "Sort Space Type", "Planned Partitions", "HashAgg Batches", "Peak Memory Usage",
		"Disk Usage", "Hash Buckets", "Original Hash Buckets", "Hash Batches", "Original Hash Batches"}
	// equalValues are keys whose values must be equal, too.
	equalValues = []string{"Node Type", "Parent Relationship", "Subplan Name", "Relation Name", "Schema", "Alias", "Join Type", "Strategy",
		"Partial Mode", "Operation", "Index Name", "Scan Direction", "CTE Name", "Function Name", "Hash Cond", "Merge Cond", "Index Cond", "Actual Loops",
		"Rows Removed by Filter", "Parallel Aware", "Async Capable", "Inner Unique", "Subplans Removed"}
)

// compareShape compares a value of PostgreSQL's plan with weft's.
func compareShape(t *testing.T, path string, want, got any) {
	t.Helper()
	if fmt.Sprintf("%T", want) != fmt.Sprintf("%T", got) {
		t.Errorf("%s is %T, want %T", path, got, want)
		return
	}
	switch want := want.(type) {
	case map[string]any:
		have := got.(map[string]any)
		for key, value := range want {
			if slices.Contains(notInWeft, key) {
				continue
			}
			if _, ok := have[key]; !ok {
				t.Errorf("%s has no %q", path, key)
				continue
			}
			compareShape(t, path+"/"+key, value, have[key])
			if slices.Contains(equalValues, key) && value != have[key] {
				t.Errorf("%s/%s is %v, want %v", path, key, have[key], value)
			}
		}
	case []any:
		have := got.([]any)
		for i := range min(len(want), len(have)) {
			compareShape(t, fmt.Sprintf("%s/%d", path, i), want[i], have[i])
		}
		if strings.HasSuffix(path, "/Plans") && len(want) != len(have) {
			t.Errorf("%s has %d plans, want %d", path, len(have), len(want))
		}
	}
}

// TestExplainJSONNumbers checks that what weft adds to PostgreSQL's plans is of the right type.
func TestExplainJSONNumbers(t *testing.T) {
	s := memorySession(t)
	mustExec(t, s, `create table t (id bigint primary key, a int, b text); insert into t select g, g % 7, '<&>' || g from generate_series(1, 1000) g;
		alter table t colview (id, a); select * from gs_imcv_flush('t'); set htap_router_mode = 'column'`)
	adapter := explainJSON(t, s, `explain (format json, analyze, verbose) select * from t where id < 50`)["Plan"].(map[string]any)
	if adapter["Node Type"] != "Row Adapter" {
		t.Errorf("top node is %v, want a Row Adapter", adapter["Node Type"])
	}
	scan := adapter["Plans"].([]any)[0].(map[string]any)
	for key, want := range map[string]any{"Node Type": "Imcv Scan", "Relation Name": "t", "Schema": "public", "Alias": "t", "Row Groups": 1.0,
		"Row Groups from Units": 1.0, "Rows Fetched by Reference": 49.0, "Filter": "(id < 50)"} {
		if scan[key] != want {
			t.Errorf("%q is %#v, want %#v", key, scan[key], want)
		}
	}
	if got := fmt.Sprint(scan["Output"], scan["Fetched from Rows"]); got != "[id a b] [b]" {
		t.Errorf("columns are %s", got)
	}
	group := explainJSON(t, s, `explain (format json, analyze) select a, count(*) from t group by a`)["Plan"].(map[string]any)["Plans"].([]any)[0].(map[string]any)
	if got := fmt.Sprint(group["groups"]); got != "map[groups:7 parts:1 table:direct]" {
		t.Errorf("groups are %s", got)
	}
}

// TestActualTimes runs plans on several workers: the time of a node, its inputs included, is
// wall-clock time and so within the statement's.
func TestActualTimes(t *testing.T) {
	s := memorySession(t)
	rows := 250000 // four row groups
	if testing.Short() {
		rows = 70000
	}
	mustExec(t, s, fmt.Sprintf(`set threads = 4; create table t (id bigint primary key, a int, b text);
		insert into t select g, g %% 1000, 'text ' || g from generate_series(1, %d) g; analyze t`, rows))
	for _, query := range []string{
		`select a, count(*), max(b) from t group by a order by 2`,
		`select count(*) from t x join t y on x.id = y.a where length(x.b || y.b) > 3`,
		`select id, (select max(y.id) from t y where y.id < 5 and y.a > x.a) from t x where id % 30000 = 0`,
		`with q as materialized (select a, sum(id) s from t group by a) select * from q x join q y on x.a = y.s where x.a > (select min(id) from t)`,
		`select b, sqrt(id) from t`,
		`select id from t where a = 7 union all select id from t where a = 8`,
		`delete from t where id % 3 = 1`,
	} {
		plan := explainJSON(t, s, `explain (format json, analyze) `+query)
		execution := plan["Execution Time"].(float64)
		root := plan["Plan"].(map[string]any)
		total := checkTimes(t, query, root, execution)
		kids, _ := root["Plans"].([]any)
		for _, kid := range kids {
			if kid := kid.(map[string]any); kid["Parent Relationship"] == "InitPlan" {
				total += kid["Actual Total Time"].(float64)
			}
		}
		if total > execution+0.01 || total < execution/20 {
			t.Errorf("%s: the plan took %.3f of %.3f ms", query, total, execution)
		}
	}
}

// checkTimes checks a node and its inputs and returns the node's time in all loops. Rounding may
// cost half a microsecond a loop.
func checkTimes(t *testing.T, query string, node map[string]any, execution float64) float64 {
	t.Helper()
	loops := node["Actual Loops"].(float64)
	startup, total := node["Actual Startup Time"].(float64), node["Actual Total Time"].(float64)
	if startup > total || total*loops > execution+0.001*(loops+1) {
		t.Errorf("%s: %v took %.3f..%.3f ms in %.0f loops, the statement %.3f ms", query, node["Node Type"], startup, total, loops, execution)
	}
	kids, _ := node["Plans"].([]any)
	inputs := 0.0
	for _, kid := range kids {
		kid := kid.(map[string]any)
		spent := checkTimes(t, query, kid, execution)
		if kid["Parent Relationship"] != "InitPlan" {
			inputs += spent
		}
		loops += kid["Actual Loops"].(float64)
	}
	if total *= node["Actual Loops"].(float64); inputs > total+0.001*(loops+1) {
		t.Errorf("%s: the inputs of %v took %.3f ms, itself %.3f ms", query, node["Node Type"], inputs, total)
	}
	return total
}

// TestNeverExecuted shows an input that had nothing to do, and counts per loop where there are many.
func TestNeverExecuted(t *testing.T) {
	s := memorySession(t)
	mustExec(t, s, `create table t (id int primary key, a int); insert into t select g, g % 5 from generate_series(1, 100) g`)
	mustExec(t, s, "set enable_indexscan = off")
	query := `explain (analyze, costs off, timing off, summary off) select id, (select y.id from t y where y.a > x.id order by 1 limit 1) from t x where x.id < `
	for limit, want := range map[string]string{"0": "(never executed)", "4": "rows=1 loops=3"} {
		rows, err := queryText(s, query+limit)
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprint(rows)
		if !strings.Contains(text, want) {
			t.Errorf("%s: no %q in %s", limit, want, text)
		}
		if limit == "4" && !strings.Contains(text, "Rows Removed by Filter: 60") { // 40, 60 and 80
			t.Errorf("rows removed are not per loop: %s", text)
		}
	}
}

// TestExplainJSONKeys: no object has a key twice, however many filters and partitions a scan meets.
func TestExplainJSONKeys(t *testing.T) {
	s := openMemory(t).Session()
	mustExec(t, s, "create table s (a int, b int, v int) partition by range (a); create table s1 partition of s for values from (0) to (50); create table s2 partition of s default")
	mustExec(t, s, "insert into s select g % 100, g % 90, g from generate_series(1, 20000) g")
	mustExec(t, s, "create table d (a int primary key, x int); create table e (b int primary key, x int); insert into d select g, g from generate_series(1, 9) g; insert into e select g, g from generate_series(5, 20) g; analyze")
	text := oneLine(t, s, "explain (analyze, verbose, format json) select count(*) from s join d using (a) join e using (b)")
	if n := strings.Count(text, `"tested"`); n != 2 {
		t.Errorf("%d filters: %s", n, text)
	}
	uniqueKeys(t, text)
}

// uniqueKeys checks that no object of a JSON text has a key twice.
func uniqueKeys(t *testing.T, text string) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	var open []map[string]bool // by nesting; nil = a list
	key := false
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		switch delim, ok := token.(json.Delim); {
		case ok && (delim == '{' || delim == '['):
			open = append(open, map[json.Delim]map[string]bool{'{': {}}[delim])
			key = delim == '{'
			continue
		case ok:
			open = open[:len(open)-1]
		case key:
			name := token.(string)
			if open[len(open)-1][name] {
				t.Errorf("%q twice: %s", name, text)
			}
			open[len(open)-1][name] = true
			key = false
			continue
		}
		key = len(open) > 0 && open[len(open)-1] != nil
	}
}

// TestExplainUnreadPartitions: EXPLAIN ANALYZE says of partitions that nothing was to be read from.
func TestExplainUnreadPartitions(t *testing.T) {
	s := openMemory(t).Session()
	mustExec(t, s, `create table s (day int, region text, v int) partition by range (day);
		create table s1 partition of s for values from (0) to (10) partition by list (region);
		create table s1a partition of s1 for values in ('a'); create table s1b partition of s1 default; create table s2 partition of s default;
		insert into s select g % 20, case when g % 2 = 0 then 'a' else 'b' end, g from generate_series(1, 1000) g;
		create table r (region text, day int, x int); insert into r values ('a', 3, 1)`)
	for _, key := range []string{"region", "day", "day, region"} {
		if plan := outcome(s, "explain (analyze, costs off) select count(*) from s join r using ("+key+") where r.x < 0"); !strings.Contains(plan, "Partitions selected: 0 out of 3") {
			t.Errorf("joined by %s:\n%s", key, plan)
		}
	}
}
