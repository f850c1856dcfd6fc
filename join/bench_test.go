package join

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weftdb/weft/vector"
)

// gatherer reads the payload of what a joiner finds, as an operator above it would.
type gatherer struct {
	joiner  *Joiner
	rows    int
	payload vector.Vector
}

func (g *gatherer) Once(_ vector.Sel, build []uint32) error {
	g.rows += len(build)
	vector.Pick(&g.payload, g.joiner.Stored(0), build)
	return nil
}

func (g *gatherer) Pairs(_, build []uint32) error { return g.Once(nil, build) }

func (g *gatherer) Marks(_ vector.Sel, marks []uint8) error { g.rows += len(marks); return nil }

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

func buildTable(b *testing.B, keys []int64, unique bool) *Table {
	t := NewTable(Spec{Keys: []Key{{Kind: vector.I64}}, Columns: []vector.Kind{vector.I64}, Payload: true, Unique: unique})
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

// pushAll probes with all keys and reads the payload; it returns the number of rows found.
func pushAll(b *testing.B, t *Table, probes []int64) int {
	out := &gatherer{}
	j := t.NewJoiner(Inner, false, nil, out)
	out.joiner = j
	vecs := []*vector.Vector{{}}
	all := vector.FromSlice(vector.I64, probes)
	for from := 0; from < len(probes); from += BlockRows {
		n := min(BlockRows, len(probes)-from)
		vector.Slice(vecs[0], all, from, n)
		if err := j.Push(vecs, n, nil); err != nil {
			b.Fatal(err)
		}
	}
	return out.rows
}

// reportRate reports rows per second of processor time, in millions.
func reportRate(b *testing.B, rows int, since float64, unit string) {
	b.ReportMetric(float64(rows)/(cpuSeconds()-since)/1e6, unit)
}

func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{4 << 10, 1 << 20, 16 << 20} {
		for _, sparse := range []bool{false, true} {
			b.Run(fmt.Sprintf("rows=%d/sparse=%v", n, sparse), func(b *testing.B) {
				keys := benchKeys(n, sparse)
				start, rows := cpuSeconds(), 0
				for b.Loop() {
					buildTable(b, keys, true)
					rows += n
				}
				reportRate(b, rows, start, "Mrows/s")
			})
		}
	}
}

func BenchmarkProbe(b *testing.B) {
	for _, n := range []int{4 << 10, 1 << 20, 4 << 20, 16 << 20} {
		for _, sparse := range []bool{false, true} {
			for _, hit := range []int{100, 10} {
				if hit == 10 && n > 1<<20 {
					continue
				}
				b.Run(fmt.Sprintf("build=%d/sparse=%v/hit=%d", n, sparse, hit), func(b *testing.B) {
					keys := benchKeys(n*100/hit, sparse)
					table := buildTable(b, keys[:n], true)
					b.Log(table.Form())
					probes := make([]int64, 4<<20)
					for i := range probes {
						probes[i] = keys[rand.IntN(len(keys))]
					}
					b.ReportAllocs()
					start, rows := cpuSeconds(), 0
					for b.Loop() {
						pushAll(b, table, probes)
						rows += len(probes)
					}
					reportRate(b, rows, start, "Mprobes/s")
				})
			}
		}
	}
}

// BenchmarkBuildAndProbe joins as many probe rows as build rows, each with one partner.
func BenchmarkBuildAndProbe(b *testing.B) {
	for _, n := range []int{4 << 10, 1 << 20, 16 << 20} {
		b.Run(fmt.Sprintf("rows=%d", n), func(b *testing.B) {
			keys := benchKeys(n, true)
			probes := make([]int64, n)
			for i := range probes {
				probes[i] = keys[rand.IntN(n)]
			}
			start, rows := cpuSeconds(), 0
			for b.Loop() {
				pushAll(b, buildTable(b, keys, true), probes)
				rows += 2 * n
			}
			reportRate(b, rows, start, "Mtuples/s")
		})
	}
}

// BenchmarkPairs joins keys that have several rows on the build side.
func BenchmarkPairs(b *testing.B) {
	for _, sparse := range []bool{false, true} {
		for _, same := range []int{2, 10, 100} {
			b.Run(fmt.Sprintf("sparse=%v/same=%d", sparse, same), func(b *testing.B) {
				distinct := benchKeys(1<<20/same, sparse)
				keys := make([]int64, 1<<20)
				for i := range keys {
					keys[i] = distinct[rand.IntN(len(distinct))]
				}
				table := buildTable(b, keys, false)
				probes := make([]int64, 4<<20/same)
				for i := range probes {
					probes[i] = distinct[rand.IntN(len(distinct))]
				}
				b.Log(table.Form())
				start, rows := cpuSeconds(), 0
				for b.Loop() {
					rows += pushAll(b, table, probes)
				}
				reportRate(b, rows, start, "Mrows/s")
			})
		}
	}
}
