package tpch

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"
)

const (
	checksumFile = "testdata/checksums.txt"
	sliceFile    = "testdata/slices.txt"
)

// chunkRows is how many rows tests generate at once.
const chunkRows = 8192

var whole = flag.Bool("whole", false, "compare all data of scale factors 0.1 and 1, not slices only")

// TestChecksums compares the checksums of whole tables with the recorded ones. The data of scale
// factor 0.01 are dbgen's, those of 1 equal the ones of the generator in bench/oracle. Without
// -whole, larger scale factors are left to TestSlices.
func TestChecksums(t *testing.T) {
	var all strings.Builder
	small := newTestGenerator(t, 0.01)
	for _, scale := range []float64{0.01, 0.1, 1} {
		if scale > 0.01 && !*whole {
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
	compareRecorded(t, checksumFile, all.String(), *whole)
}

// TestSlices compares some rows of scale factor 1, generated alone, with the recorded checksums of
// the same rows.
func TestSlices(t *testing.T) {
	var all strings.Builder
	g := newTestGenerator(t, 1)
	for _, table := range Tables() {
		f, units := g.Filler(table), g.Units(table)
		for _, from := range []int64{0, units / 3, units / 2, units * 9 / 10, units - min(units, 1000)} {
			to := min(from+1000, units)
			b, err := f.Fill(from, to)
			if err != nil {
				t.Fatal(err)
			}
			sum := NewChecksum(table)
			sum.Add(b)
			hash := xxh3.New()
			for _, s := range sum.Sums() {
				fmt.Fprintln(hash, s)
			}
			fmt.Fprintf(&all, "%v %d %d %d %016x\n", table, from, to, sum.Rows, hash.Sum64())
		}
	}
	compareRecorded(t, sliceFile, all.String(), true)
}

// compareRecorded compares lines with the first lines of a file, which -rewrite writes if the lines
// are complete.
func compareRecorded(t *testing.T, file, have string, complete bool) {
	if *rewrite && complete {
		if err := os.WriteFile(file, []byte(have), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(string(text), "\n")
	for i, line := range strings.Split(strings.TrimSpace(have), "\n") {
		if i >= len(want) || line != want[i] {
			t.Errorf("%s, line %d: %s, want %s", file, i+1, line, want[min(i, len(want)-1)])
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
