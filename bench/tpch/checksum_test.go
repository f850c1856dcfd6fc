package tpch

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

const checksumFile = "testdata/checksums.txt"

// chunkRows is how many rows tests generate at once.
const chunkRows = 8192

// TestChecksums compares the checksums of whole tables with the recorded ones. Those of scale
// factor 0.01 are dbgen's own data, those of 1 equal the ones of the generator in bench/oracle.
func TestChecksums(t *testing.T) {
	var all strings.Builder
	small := newTestGenerator(t, 0.01)
	for _, scale := range []float64{0.01, 0.1, 1} {
		if testing.Short() && scale > 0.01 {
			break
		}
		g, err := small.WithScale(scale)
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range Tables() {
			sum := tableChecksum(t, g, table)
			for i, c := range table.Columns() {
				fmt.Fprintf(&all, "%v %v %s %d %016x\n", scale, table, c.Name, sum.Rows, sum.Sums()[i])
			}
		}
	}
	if *rewrite && !testing.Short() {
		if err := os.WriteFile(checksumFile, []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(checksumFile)
	if err != nil {
		t.Fatal(err)
	}
	wantLines := strings.Split(string(want), "\n")
	for i, line := range strings.Split(strings.TrimSpace(all.String()), "\n") {
		if i >= len(wantLines) || line != wantLines[i] {
			t.Errorf("line %d: %s, want %s", i+1, line, wantLines[min(i, len(wantLines)-1)])
		}
	}
}

func tableChecksum(t *testing.T, g *Generator, table Table) *Checksum {
	sum, f := NewChecksum(table), g.Filler(table)
	for seq := uint64(0); ; seq++ {
		from, to := g.Chunk(table, seq, chunkRows)
		if from == to {
			return sum
		}
		b, err := f.Fill(from, to)
		if err != nil {
			t.Fatal(err)
		}
		if b.Rows > chunkRows {
			t.Fatalf("%d rows in a chunk of %d", b.Rows, chunkRows)
		}
		sum.Add(b)
	}
}
