package expr_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/weftdb/weft/expr"
)

const deparseGoldenPath = "testdata/deparse.txt"

// TestDeparse compares String with the Filter lines of PostgreSQL's EXPLAIN, for conditions over a
// table of the matrix's columns.
func TestDeparse(t *testing.T) {
	data, err := os.ReadFile(deparseGoldenPath)
	if err != nil {
		t.Fatal(err)
	}
	var conds, want []string
	for line := range strings.Lines(string(data)) {
		cond, filter, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		conds, want = append(conds, cond), append(want, filter)
	}
	if *rewrite {
		want = fetchFilters(t, conds)
	}
	columns = matrixColumns()
	defer func() { columns = nil }()
	for i, cond := range conds {
		e, err := bindText(strings.TrimPrefix(cond, "!"))
		if err != nil {
			t.Errorf("%s: %v", cond, err)
			continue
		}
		if e, err = expr.FoldConstants(e, &expr.Env{}); err != nil {
			t.Errorf("%s: %v", cond, err)
			continue
		}
		got := expr.String(e)
		if strings.HasPrefix(cond, "!") && *rewrite {
			want[i] = got
		}
		if got != want[i] {
			t.Errorf("%s:\n got %s\nwant %s", cond, got, want[i])
		}
	}
	if *rewrite {
		var out bytes.Buffer
		for i, cond := range conds {
			fmt.Fprintf(&out, "%s\t%s\n", cond, want[i])
		}
		if err := os.WriteFile(deparseGoldenPath, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func fetchFilters(t *testing.T, conds []string) []string {
	var script bytes.Buffer
	script.WriteString("SET TimeZone = 'UTC';\nCREATE TEMP TABLE m (")
	for i, mt := range matrixTypes {
		if i > 0 {
			script.WriteString(", ")
		}
		script.WriteString(mt.name + " " + mt.typ)
	}
	script.WriteString(");\n")
	for _, cond := range conds {
		fmt.Fprintf(&script, "\\echo COND\nEXPLAIN (COSTS OFF) SELECT 1 FROM m WHERE %s;\n", strings.TrimPrefix(cond, "!"))
	}
	cmd := exec.Command("psql", "-XqAt")
	cmd.Stdin = &script
	answers, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var filters []string
	for _, part := range strings.Split(string(answers), "COND\n")[1:] {
		_, filter, _ := strings.Cut(part, "Filter: ")
		filters = append(filters, strings.TrimSpace(filter))
	}
	return filters
}
