package sql

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sharedData is the folder of workload texts beside the repository's checkout.
const sharedData = "../../shared/data"

// corpus returns the workload files by name. It skips the test when they are absent.
func corpus(tb testing.TB) map[string]string {
	tb.Helper()
	var files []string
	for _, pattern := range []string{"tpch-queries/*.sql", "tpcds-queries/*.sql"} {
		m, _ := filepath.Glob(filepath.Join(sharedData, pattern))
		files = append(files, m...)
	}
	if len(files) == 0 {
		tb.Skipf("SKIPPED: no workload texts in the folder %s (tpch-queries, tpcds-queries)", sharedData)
	}
	texts := make(map[string]string)
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(f), ".sql")
		texts[filepath.Base(filepath.Dir(f))+"/"+name] = string(b)
	}
	return texts
}

func TestCorpusParses(t *testing.T) {
	for name, text := range corpus(t) {
		if _, err := Parse(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSeedSession parses every statement typed in the recorded session the column-view syntax is
// modelled on.
func TestSeedSession(t *testing.T) {
	const dir = "../../shared/seeds"
	files, _ := filepath.Glob(filepath.Join(dir, "003_*.txt"))
	if len(files) == 0 {
		t.Skipf("SKIPPED: no recorded session in the folder %s", dir)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, part := range strings.Split(string(b), "htapdb=# ")[1:] {
		end, complete := NextStatement(part)
		if !complete {
			t.Errorf("no end found: %.60q", part)
			continue
		}
		n++
		if _, err := ParseOne(part[:end]); err != nil {
			t.Errorf("%v\n%s", err, part[:end])
		}
	}
	if n < 10 {
		t.Errorf("only %d statements found", n)
	}
}
