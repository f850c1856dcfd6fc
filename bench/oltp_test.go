package bench

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
)

// TestOLTP runs the benchmark on little data: every figure is there, and nothing is left behind.
// Of the goals only those that have nothing to do with the disk are looked at, ten times as wide.
func TestOLTP(t *testing.T) {
	var out bytes.Buffer
	dir := t.TempDir()
	figures, err := OLTP(context.Background(), OLTPOptions{Rows: 20_000, Commits: 64, Writers: 16, Scale: 0.01, Dir: dir, Out: &out})
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	if len(figures) != 20 {
		t.Errorf("%d figures:\n%s", len(figures), &out)
	}
	for _, f := range figures {
		if strings.Contains(f.Name, "autocommit") || f.AtLeast || f.Goal == 0 {
			continue
		}
		if f.Value > 10*f.Goal {
			t.Errorf("%s: %.1f %s, the goal is %.1f", f.Name, f.Value, f.Unit, f.Goal)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	if _, err := OLTP(context.Background(), OLTPOptions{Rows: -1}); err == nil {
		t.Error("a negative number of rows is taken")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := OLTP(ctx, OLTPOptions{Dir: dir}); err == nil {
		t.Error("a cancelled run succeeds")
	}
}
