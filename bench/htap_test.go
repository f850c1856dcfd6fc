package bench

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"
)

// TestHTAP runs all parts on little data: results are right, every figure is there, and nothing is left
// behind. Of the goals, only those for memory do not depend on the machine.
func TestHTAP(t *testing.T) {
	var out bytes.Buffer
	dir := t.TempDir()
	figures, err := HTAP(context.Background(), HTAPOptions{Rows: 70_000, WideRows: 70_000, FilterRows: 70_000, Runs: 1, Scale: 0.01, Seconds: 0.3, Idle: 300 * time.Millisecond, Dir: dir, Out: &out})
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	have := map[string]bool{}
	for _, f := range figures {
		have[strings.Split(f.Name, ":")[0]] = true
		if (strings.Contains(f.Name, "memory taken") || strings.Contains(f.Name, "all tables") || strings.Contains(f.Name, "four bitmaps")) && !f.Met() {
			t.Errorf("%s: %.2f times what it is compared with", f.Name, f.Value)
		}
		if strings.Contains(f.Name, "freshness") && f.Value != 0 {
			t.Errorf("%s: %.3f ms", f.Name, f.Value)
		}
	}
	for _, name := range []string{"filter of a packed integer, 50 % of the rows found", "hybrid against rows, 20 columns, at most 0.1 % of rows", "SELECT * of 50 columns as Arrow, 1 % of rows", "ORDER BY LIMIT 100",
		"4 writers, 3 readers", "2 order writers, 1 readers", "orders, low stock", "UPDATE by key with a column view", "50 % of rows changed", "after a rebuild", "a snapshot idle for 300ms", "all tables", "open"} {
		if !have[name] {
			t.Errorf("no figure %q in\n%s", name, &out)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	for _, o := range []HTAPOptions{{Rows: -1}, {Steps: []string{"nothing"}}} {
		if _, err := HTAP(context.Background(), o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}
