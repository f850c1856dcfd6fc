package join

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weftdb/weft/vector"
)

// discard drops what a joiner finds.
type discard struct{ rows int }

func (d *discard) Once(sel vector.Sel, build []uint32) error { d.rows += len(build); return nil }
func (d *discard) Pairs(probe, build []uint32) error         { d.rows += len(probe); return nil }
func (d *discard) Marks(sel vector.Sel, marks []uint8) error { d.rows += len(marks); return nil }

// benchKeys returns n distinct keys of a pattern in random order.
func benchKeys(n int, sparse bool) []int64 {
	keys := make([]int64, n)
	for i := range keys {
		keys[i] = int64(i)
		if sparse {
			keys[i] = int64(rand.Uint64())
		}
	}
	rand.Shuffle(n, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	return keys
}

func buildTable(b *testing.B, keys []int64) *Table {
	t := NewTable(Spec{Keys: []Key{{Kind: vector.I64}}, Columns: []vector.Kind{vector.I64}})
	builder := t.NewBuilder(nil)
	for from := 0; from < len(keys); from += BlockRows {
		n := min(BlockRows, len(keys)-from)
		v := []*vector.Vector{vector.FromSlice(vector.I64, keys[from:from+n])}
		if err := builder.Append(v, v, n, nil); err != nil {
			b.Fatal(err)
		}
	}
	if err := t.Finish(Finisher{}); err != nil {
		b.Fatal(err)
	}
	return t
}

func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{4 << 10, 1 << 20} {
		for _, sparse := range []bool{false, true} {
			keys := benchKeys(n, sparse)
			b.Run(fmt.Sprintf("rows=%d/sparse=%v", n, sparse), func(b *testing.B) {
				for b.Loop() {
					buildTable(b, keys)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/row")
			})
		}
	}
}

func BenchmarkProbe(b *testing.B) {
	for _, n := range []int{4 << 10, 1 << 20, 4 << 20} {
		for _, sparse := range []bool{false, true} {
			for _, hit := range []int{100, 10} {
				if sparse == false && hit == 10 && n > 1<<20 {
					continue
				}
				keys := benchKeys(n*100/hit, sparse)
				table := buildTable(b, keys[:n])
				b.Run(fmt.Sprintf("build=%d/sparse=%v/hit=%d/%s", n, sparse, hit, table.Form()), func(b *testing.B) {
					probes := make([]int64, 1<<20)
					for i := range probes {
						probes[i] = keys[rand.IntN(len(keys))]
					}
					j := table.NewJoiner(Inner, false, nil, &discard{})
					var payload vector.Vector
					vecs := []*vector.Vector{{}}
					all := vector.FromSlice(vector.I64, probes)
					rows := 0
					b.ReportAllocs()
					for b.Loop() {
						for from := 0; from < len(probes); from += BlockRows {
							vector.Slice(vecs[0], all, from, BlockRows)
							if err := j.Push(vecs, BlockRows, nil); err != nil {
								b.Fatal(err)
							}
							vector.Pick(&payload, table.Column(0), j.first[:len(j.rows)])
						}
						rows += len(probes)
					}
					b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mprobes/s")
				})
			}
		}
	}
}
