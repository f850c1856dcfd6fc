package bench

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
)

// TestDPE runs the benchmark on little data: every figure is there, planning stays flat, and nothing is
// left behind.
func TestDPE(t *testing.T) {
	var out bytes.Buffer
	dir := t.TempDir()
	figures, err := DPE(context.Background(), DPEOptions{Rows: 20_000, Partitions: 8, BuildRows: 5_000, Runs: 1, Dir: dir, Out: &out})
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	if len(figures) != 13 {
		t.Errorf("%d figures:\n%s", len(figures), &out)
	}
	for _, f := range figures {
		if strings.HasPrefix(f.Name, "planning") && f.Value > 10*f.Goal {
			t.Errorf("%s: %.1f ms", f.Name, f.Value)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	if _, err := DPE(context.Background(), DPEOptions{Rows: -1}); err == nil {
		t.Error("a negative number was taken")
	}
}
