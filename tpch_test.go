package weft_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/weftdb/weft"
)

// sharedData returns a folder of the shared test data, or skips the test loudly.
func sharedData(t testing.TB, folder string) string {
	t.Helper()
	dir := filepath.Join("..", "shared", "data", folder)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("SKIPPED: test data folder %s is absent", dir)
	}
	return dir
}

var tpchTables = []string{"region", "nation", "part", "supplier", "partsupp", "customer", "orders", "lineitem"}

// loadTPCH creates the benchmark's tables in s and loads the small data set.
func loadTPCH(t testing.TB, s *weft.Session) {
	t.Helper()
	schema, err := os.ReadFile(filepath.Join(sharedData(t, "tpch-queries"), "schema.sql"))
	if err != nil {
		t.Fatal(err)
	}
	mustExec(t, s, string(schema))
	dir := sharedData(t, "tpch-small")
	for _, table := range tpchTables {
		file, err := filepath.Abs(filepath.Join(dir, table+".parquet"))
		if err != nil {
			t.Fatal(err)
		}
		mustExec(t, s, fmt.Sprintf("copy %s from '%s' (format parquet)", table, file))
	}
}

// skipSequential skips, in the short runs that the race detector takes, a test whose statements come one
// after the other: it takes ten times as long there and would find nothing more.
func skipSequential(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("one statement at a time: nothing for the race detector")
	}
}

func mustExec(t testing.TB, s *weft.Session, query string, args ...any) weft.Result {
	t.Helper()
	r, err := s.Exec(context.Background(), query, args...)
	if err != nil {
		t.Fatalf("%s: %v", shorten(query), err)
	}
	return r
}

func shorten(query string) string {
	if len(query) > 200 {
		return query[:200] + "…"
	}
	return query
}

// answer is a query's expected result.
type answer struct {
	types []string
	rows  [][]string
}

// readAnswers reads the recorded answers of a data set, by query name.
func readAnswers(t testing.TB, dir string) map[string]*answer {
	t.Helper()
	answers := map[string]*answer{}
	types, err := os.ReadFile(filepath.Join(dir, "types.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(types)), "\n") {
		f := strings.Split(line, "\t")
		name := strings.TrimSuffix(f[0], ".csv")
		if answers[name] == nil {
			answers[name] = &answer{}
		}
		answers[name].types = append(answers[name].types, f[len(f)-1])
	}
	files, _ := filepath.Glob(filepath.Join(dir, "q*.csv"))
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".csv")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r := csv.NewReader(bytes.NewReader(text))
		r.FieldsPerRecord = -1
		rows, err := r.ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if answers[name] == nil {
			answers[name] = &answer{}
		}
		answers[name].rows = rows[1:]
	}
	return answers
}

// queryText runs a query and returns its rows as text, NULL as \N.
func queryText(s *weft.Session, query string, args ...any) ([][]string, error) {
	rows, err := s.Query(context.Background(), query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out [][]string
	for rows.Next() {
		row := make([]string, len(rows.Columns()))
		for i := range row {
			text, ok := rows.Text(i)
			if !ok {
				text = `\N`
			}
			row[i] = text
		}
		out = append(out, row)
	}
	return out, rows.Err()
}

// sameAnswer compares a result with an answer: floats within a relative tolerance of 1e-9, since
// averages and quotients were recorded as such, everything else exactly, apart from the blanks that
// pad char(n).
func sameAnswer(got [][]string, want *answer) error {
	if len(got) != len(want.rows) {
		return fmt.Errorf("%d rows, want %d", len(got), len(want.rows))
	}
	for r := range got {
		if len(got[r]) != len(want.rows[r]) {
			return fmt.Errorf("%d columns, want %d", len(got[r]), len(want.rows[r]))
		}
		for c := range got[r] {
			g, w := strings.TrimRight(got[r][c], " "), strings.TrimRight(want.rows[r][c], " ")
			if g == w {
				continue
			}
			if c < len(want.types) && strings.HasPrefix(want.types[c], "DOUBLE") && closeNumbers(g, w) {
				continue
			}
			if sameNumber(g, w) {
				continue
			}
			return fmt.Errorf("row %d column %d: %q, want %q", r+1, c+1, g, w)
		}
	}
	return nil
}

func closeNumbers(a, b string) bool {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return err1 == nil && err2 == nil && math.Abs(x-y) <= 1e-9*math.Max(math.Abs(x), math.Abs(y))
}

// sameNumber reports whether two decimals are equal apart from trailing zeros.
func sameNumber(a, b string) bool {
	trim := func(s string) string {
		if strings.Contains(s, ".") {
			s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
		}
		return s
	}
	_, err1 := strconv.ParseFloat(a, 64)
	_, err2 := strconv.ParseFloat(b, 64)
	return err1 == nil && err2 == nil && trim(a) == trim(b)
}

// coverage is a set of column views for the benchmark's tables.
var coverage = map[string][]string{
	"none": nil,
	"all": {"region colview", "nation colview", "part colview", "supplier colview", "partsupp colview",
		"customer colview", "orders colview", "lineitem colview"},
	// Filters find their columns here, outputs do not: hybrid scans.
	"partial": {"lineitem colview(l_shipdate, l_discount, l_quantity, l_orderkey, l_returnflag)", "orders colview(o_orderdate, o_orderkey)",
		"part colview(p_type, p_size, p_brand, p_container, p_name)", "customer colview(c_mktsegment)", "nation colview(n_name)", "region colview(r_name)"},
}

// TestTPCHSmall runs the 22 queries on the small data set by rows, by columns, by cost, and with
// views on a few columns only, and compares each answer with the recorded one.
func TestTPCHSmall(t *testing.T) {
	answers := readAnswers(t, filepath.Join(sharedData(t, "tpch-small"), "answers"))
	for _, c := range []struct{ views, mode string }{{"none", "row"}, {"all", "row"}, {"all", "column"}, {"all", "auto"}, {"partial", "column"}, {"partial", "auto"}} {
		if testing.Short() && (c.views != "partial" || c.mode != "column") {
			continue
		}
		t.Run(c.views+"/"+c.mode, func(t *testing.T) {
			db, err := weft.Open(context.Background(), "", weft.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			s := db.Session()
			defer s.Close()
			loadTPCH(t, s)
			for _, v := range coverage[c.views] {
				mustExec(t, s, "alter table "+v)
			}
			if c.views != "none" {
				mustExec(t, s, "select * from gs_imcv_flush('lineitem')")
			}
			mustExec(t, s, "set htap_router_mode = '"+c.mode+"'")
			runTPCH(t, s, answers)
		})
	}
}

// TestTPCHOnDisk runs the queries with hash tables of every size that goes to disk.
func TestTPCHOnDisk(t *testing.T) {
	answers := readAnswers(t, filepath.Join(sharedData(t, "tpch-small"), "answers"))
	db := openMemory(t)
	s := db.Session()
	defer s.Close()
	loadTPCH(t, s)
	for _, v := range coverage["all"] {
		mustExec(t, s, "alter table "+v)
	}
	memories := []string{"8kB", "32kB", "128kB", "512kB", "2MB", "8MB"}
	if testing.Short() {
		memories = []string{"32kB"}
	}
	for i, memory := range memories {
		mustExec(t, s, fmt.Sprintf("set work_mem = '%s'; set threads = %d; set enable_runtime_filter = %v", memory, 1+i%3, i%2 == 0))
		t.Run(memory, func(t *testing.T) { runTPCH(t, s, answers) })
	}
}

func runTPCH(t *testing.T, s *weft.Session, answers map[string]*answer) {
	files, _ := filepath.Glob(filepath.Join(sharedData(t, "tpch-queries"), "q*.sql"))
	if len(files) != 22 {
		t.Fatalf("%d queries, want 22", len(files))
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".sql")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := queryText(s, string(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := sameAnswer(got, answers[name]); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
