package join

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/weftdb/weft/vector"
)

// memoryFiles keeps temporary files in memory.
type memoryFiles struct{}

type memoryFile struct{ bytes.Buffer }

func (memoryFiles) Create() (File, error) { return &memoryFile{}, nil }

func (f *memoryFile) ReadAt(b []byte, at int64) (int, error) {
	return bytes.NewReader(f.Bytes()).ReadAt(b, at)
}

func (f *memoryFile) Close() error { return nil }

// TestSpilledFilter: the filter of a table that is on disk, wholly or in part, passes all of its keys and
// few others.
func TestSpilledFilter(t *testing.T) {
	const rows = 20_000
	for _, some := range []bool{false, true} {
		for _, kind := range []vector.Kind{vector.I64, vector.I32, vector.Bytes} {
			for _, sparse := range []bool{false, true} {
				key := func(i int) vector.Datum {
					if sparse {
						i *= 100_003
					}
					if kind == vector.Bytes {
						return vector.StringDatum(fmt.Sprint("key ", i))
					}
					return vector.IntDatum(kind, int64(int32(i)))
				}
				limit := int64(1)
				if some { // a little less than all rows take
					limit = rows*map[vector.Kind]int64{vector.I32: 4, vector.I64: 8, vector.Bytes: 12}[kind] - 1000
				}
				table := NewTable(Spec{Keys: []Key{{Kind: kind}}, Spill: &Spill{Files: memoryFiles{}, LimitBytes: limit}})
				b := table.NewBuilder(nil)
				for from := 0; from < rows; from += 1000 {
					v := vector.New(kind, 0)
					for i := from; i < from+1000; i++ {
						vector.AppendDatum(v, key(2*i))
					}
					if err := b.Append([]*vector.Vector{v}, nil, 1000, nil); err != nil {
						t.Fatal(err)
					}
				}
				if err := table.Finish(Finisher{}); err != nil {
					t.Fatal(err)
				}
				if !table.Spilled() || table.allRows() != rows {
					t.Fatalf("spilled %v, %d rows", table.Spilled(), table.allRows())
				}
				if inMemory := table.Rows() > 0; inMemory != some {
					t.Errorf("limit %d: %d rows in memory", limit, table.Rows())
				}
				filter, err := table.KeyFilter(0)
				if err != nil || filter == nil {
					t.Fatalf("filter %v, error %v", filter, err)
				}
				v := vector.New(kind, 0)
				for i := range 1000 {
					vector.AppendDatum(v, key(i*39)) // even keys are there
				}
				pass := map[int]bool{}
				for _, i := range filter.Probe().Select([]*vector.Vector{v}, 1000, nil, nil) {
					pass[int(i)] = true
				}
				wrong := 0
				for i := range 1000 {
					switch {
					case i*39%2 == 0 && i*39 < 2*rows && !pass[i]:
						t.Fatalf("%v, sparse %v: key %d does not pass", kind, sparse, i*39)
					case i*39%2 == 1 && pass[i]:
						wrong++
					}
				}
				if wrong > 50 {
					t.Errorf("%v, sparse %v: %d of 500 other keys pass", kind, sparse, wrong)
				}
			}
		}
	}
}

// BenchmarkSpool writes and reads rows of two integers and a string.
func BenchmarkSpool(b *testing.B) {
	kinds := []vector.Kind{vector.I64, vector.I64, vector.Bytes}
	vecs := NewBlock(3)
	for i, k := range kinds {
		vecs[i] = vector.New(k, 0)
		for r := range 1000 {
			if k == vector.Bytes {
				vecs[i].AppendString(fmt.Sprint("value ", r))
			} else {
				vector.Append(vecs[i], int64(r))
			}
		}
	}
	const batches = 200
	b.ReportAllocs()
	for b.Loop() {
		s := newScatter(newSpools(memoryFiles{}, kinds, fanOut), 0)
		for range batches {
			if err := s.Append(vecs[:1], vecs, 1000, nil); err != nil {
				b.Fatal(err)
			}
		}
		if err := s.Flush(); err != nil {
			b.Fatal(err)
		}
		rows := 0
		for _, w := range s.writers {
			for r := w.spool.NewReader(); ; {
				_, n, err := r.Next()
				if err != nil {
					b.Fatal(err)
				}
				if rows += n; n == 0 {
					break
				}
			}
		}
		if rows != 1000*batches {
			b.Fatalf("%d rows", rows)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(1000*batches), "ns/row")
}
