package weft_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weftdb/weft"
)

// variantScripts are scripts of testdata/sql about changing rows and definitions. That they answer as
// PostgreSQL does is tested with the shell; here each runs in several kinds of database.
var variantScripts = []string{"indexes_altered", "indexes_kinds", "generated", "merge", "alter_type", "alter_objects", "temporary"}

// placeDependent are statements whose answer depends on where rows lie.
var placeDependent = regexp.MustCompile(`(?i)^\s*(explain|\\)`)

// TestScriptVariants runs scripts with one and with two data nodes, and with column views on every
// table, read whenever that is possible. Rows are compared without their order, which statements
// with RETURNING leave open, and every database must be sound at the end.
func TestScriptVariants(t *testing.T) {
	for _, name := range variantScripts {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata", "sql", name+".sql"))
			if err != nil {
				t.Fatal(err)
			}
			script := statementsOf(string(text))
			want := scriptOutcomes(t, script, 1, false, "")
			for _, nodes := range []int{1, 2} {
				got := scriptOutcomes(t, script, nodes, true, "")
				for i := range script {
					if got[i] != want[i] && !placeDependent.MatchString(script[i]) {
						t.Errorf("with column views and %d data nodes:\n%s\n got %s\nwant %s", nodes, strings.TrimSpace(script[i]), got[i], want[i])
					}
				}
			}
		})
	}
}

// joinScripts are scripts of testdata/sql about joins. That they answer as PostgreSQL does is tested with
// the shell.
var joinScripts = []string{"joins", "join_cases", "subqueries", "queries", "partition_join_cases", "merge_join"}

// joinSettings change how a join is carried out, and nothing else.
var joinSettings = []string{
	"set work_mem = '2kB'; set threads = 1",
	"set work_mem = '20kB'; set threads = 3",
	"set enable_runtime_filter = off; set threads = 3",
	"set enable_runtime_filter = off; set work_mem = '2kB'",
	"set enable_hashjoin = off",
	"set enable_hashjoin = off; set enable_nestloop = off; set threads = 3",
	"set enable_hashjoin = off; set enable_mergejoin = off; set work_mem = '1kB'; set threads = 3",
	"set enable_nestloop = off; set enable_partition_pruning = off; set work_mem = '4kB'",
	"set disabled_rules = 'select_partitions'; set threads = 3",
}

// TestJoinVariants runs the scripts about joins with builds in memory and on disk, with and without
// filters, on one worker and several, by rows and by columns: the answers are the same.
func TestJoinVariants(t *testing.T) {
	for _, name := range joinScripts {
		text, err := os.ReadFile(filepath.Join("testdata", "sql", name+".sql"))
		if err != nil {
			t.Fatal(err)
		}
		script := statementsOf(string(text))
		want := scriptOutcomes(t, script, 1, false, "")
		for k, settings := range joinSettings {
			if testing.Short() && k > 1 {
				break
			}
			views, nodes := k%2 == 0, 1+k/2%2
			if strings.HasPrefix(name, "partition") {
				nodes = 1 // it attaches tables that are distributed by other columns
			}
			got := scriptOutcomes(t, script, nodes, views, settings)
			for i := range script {
				if got[i] != want[i] && !placeDependent.MatchString(script[i]) {
					t.Errorf("%s, %s, column views %v, %d data nodes:\n%s\n got %s\nwant %s", name, settings, views, nodes, strings.TrimSpace(script[i]), got[i], want[i])
				}
			}
		}
	}
}

func statementsOf(text string) (script []string) {
	for {
		end, complete := weft.NextStatement(text)
		if !complete {
			return script
		}
		script = append(script, text[:end])
		text = text[end:]
	}
}

func scriptOutcomes(t *testing.T, script []string, nodes int, views bool, settings string) []string {
	t.Helper()
	db, err := weft.Open(context.Background(), "", weft.Options{DataNodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := db.Session()
	defer s.Close()
	if settings != "" {
		mustExec(t, s, settings)
	}
	if views {
		mustExec(t, s, "set htap_router_mode = 'column'")
	}
	var out []string
	covered := map[string]bool{}
	for _, statement := range script {
		lines := strings.Split(outcome(s, statement), " ")
		slices.Sort(lines)
		out = append(out, strings.Join(lines, " "))
		if open, _ := s.InTransaction(); !views || open {
			continue
		}
		for _, r := range s.Catalog().Tables() {
			name := `"` + r.Schema + `"."` + r.Name + `"`
			if !r.HasView && !covered[name] {
				mustExec(t, s, "alter table "+name+" colview")
				covered[name] = true
			}
		}
	}
	checkSound(t, db)
	return out
}
