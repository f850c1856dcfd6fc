package tpch

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// smallData is where a directory with dbgen's data at scale factor 0.01 may be.
const smallData = "../../../shared/data/tpch-small"

// TestSmallScale compares every value with dbgen's data at scale factor 0.01.
func TestSmallScale(t *testing.T) {
	if _, err := os.Stat(smallData); err != nil {
		t.Skipf("SKIPPED: no data to compare with: %v", err)
	}
	g := newTestGenerator(t, 0.01)
	for _, table := range Tables() {
		t.Run(table.String(), func(t *testing.T) {
			batch, err := g.Filler(table).Fill(0, g.Units(table))
			if err != nil {
				t.Fatal(err)
			}
			if n := g.Rows(table); n != int64(batch.Rows) {
				t.Errorf("Rows says %d, the batch has %d", n, batch.Rows)
			}
			compareParquet(t, table, batch)
		})
	}
}

func compareParquet(t *testing.T, table Table, batch *Batch) {
	f, err := os.Open(filepath.Join(smallData, table.String()+".parquet"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := parquet.NewReader(f)
	defer r.Close()
	specs, rows := table.Columns(), make([]parquet.Row, 100)
	row, wrong := 0, 0
	for {
		n, err := r.ReadRows(rows)
		for _, values := range rows[:n] {
			if row >= batch.Rows {
				t.Fatalf("more than %d rows", batch.Rows)
			}
			for i, v := range values {
				if want, have := parquetText(v, specs[i].Kind), valueText(&batch.Columns[i], row); want != have {
					t.Errorf("row %d, %s: %s, want %s", row, specs[i].Name, have, want)
					if wrong++; wrong > 10 {
						t.FailNow()
					}
				}
			}
			row++
		}
		if err != nil {
			break
		}
	}
	if row != batch.Rows {
		t.Errorf("%d rows, want %d", batch.Rows, row)
	}
}

func parquetText(v parquet.Value, kind Kind) string {
	switch v.Kind() {
	case parquet.Int32:
		return fmt.Sprint(v.Int32())
	case parquet.Int64:
		return fmt.Sprint(v.Int64())
	}
	return string(bytes.TrimRight(v.ByteArray(), "\x00"))
}

func valueText(c *Column, row int) string {
	switch c.Kind {
	case Int32, Date:
		return fmt.Sprint(c.Int32[row])
	case Int64, Decimal:
		return fmt.Sprint(c.Int64[row])
	}
	return string(c.Text(row))
}

func newTestGenerator(t testing.TB, scale float64) *Generator {
	g, err := New(scale)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func BenchmarkFill(b *testing.B) {
	g := newTestGenerator(b, 1)
	g.text()
	for _, table := range Tables()[Part:] {
		b.Run(table.String(), func(b *testing.B) {
			f := g.Filler(table)
			units := 8192 / table.MaxRows()
			from, rows := int64(0), 0
			b.ReportAllocs()
			for b.Loop() {
				if from+units > g.Units(table) {
					from = 0
				}
				batch, err := f.Fill(from, from+units)
				if err != nil {
					b.Fatal(err)
				}
				rows += batch.Rows
				from += units
			}
			b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rows), "ns/row")
		})
	}
}

// TestRanges compares random ranges with the same rows of a longer range, and the rows of a range
// at the end with the rows counted.
func TestRanges(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	one := newTestGenerator(t, 1)
	for _, scale := range []float64{0.001, 0.0314, 1, 3.7, 1000} {
		g, err := one.WithScale(scale)
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range Tables() {
			long, short := g.Filler(table), g.Filler(table)
			for range 20 {
				from := random.Int64N(g.Units(table))
				to := min(from+300, g.Units(table))
				a := from + random.Int64N(to-from)
				b := a + random.Int64N(to-a+1)
				whole, err := long.Fill(from, to)
				if err != nil {
					t.Fatal(err)
				}
				part, err := short.Fill(a, b)
				if err != nil {
					t.Fatal(err)
				}
				before, _ := g.Filler(table).Fill(from, a)
				for row := range part.Rows {
					for i := range part.Columns {
						have, want := valueText(&part.Columns[i], row), valueText(&whole.Columns[i], before.Rows+row)
						if have != want {
							t.Fatalf("scale %v, %v, units %d to %d, row %d, column %d: %s, want %s", scale, table, a, b, row, i, have, want)
						}
					}
				}
			}
		}
	}
}

func TestScales(t *testing.T) {
	for _, scale := range []float64{0, 0.0009, -1, 10001} {
		if _, err := New(scale); err == nil {
			t.Errorf("no error for scale factor %v", scale)
		}
	}
	for _, c := range []struct {
		scale, want   float64
		parts, orders int64
	}{{0.0015, 0.001, 200, 1500}, {0.29, 0.29, 58_000, 435_000}, {3.7, 3, 600_000, 4_500_000}} {
		g := newTestGenerator(t, c.scale)
		if g.Scale() != c.want || g.Units(Part) != c.parts || g.Units(Orders) != c.orders {
			t.Errorf("scale factor %v: %v with %d parts and %d orders", c.scale, g.Scale(), g.Units(Part), g.Units(Orders))
		}
	}
	g := newTestGenerator(t, 0.01)
	f := g.Filler(Part)
	for _, r := range [][2]int64{{-1, 2}, {2, 1}, {0, 2001}} {
		if _, err := f.Fill(r[0], r[1]); err == nil {
			t.Errorf("no error for units %v", r)
		}
	}
	if from, to := g.Chunk(Part, 1, 1000); from != 1000 || to != 2000 {
		t.Errorf("chunk 1: %d to %d", from, to)
	}
	for _, seq := range []uint64{2, 3, 1 << 60} {
		if from, to := g.Chunk(Part, seq, 1000); from != to {
			t.Errorf("chunk %d: %d to %d", seq, from, to)
		}
	}
}

func TestFillDoesNotAllocate(t *testing.T) {
	g := newTestGenerator(t, 0.01)
	for _, table := range Tables() {
		f := g.Filler(table)
		n := min(g.Units(table), 1000)
		if allocs := testing.AllocsPerRun(5, func() { f.Fill(0, n) }); allocs != 0 {
			t.Errorf("%v: %v allocations a batch", table, allocs)
		}
	}
}
