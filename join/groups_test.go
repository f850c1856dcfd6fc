package join

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/weftdb/weft/vector"
)

func TestGroups(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	long := keyShape{"long", []vector.Kind{vector.Bytes, vector.Bytes}, func(r *rand.Rand, col int) vector.Datum {
		if col == 0 && r.IntN(500) == 0 {
			return vector.StringDatum("not a short string")
		}
		return vector.StringDatum(fmt.Sprint(r.IntN(20)))
	}, []bool{true, true}}
	words := keyShape{"words", []vector.Kind{vector.Bytes, vector.Bytes}, func(r *rand.Rand, _ int) vector.Datum {
		return vector.StringDatum(fmt.Sprint("word ", r.IntN(4+r.IntN(40))))
	}, []bool{true, true}}
	many := keyShape{"many words", []vector.Kind{vector.Bytes}, func(r *rand.Rand, _ int) vector.Datum {
		return vector.StringDatum(fmt.Sprint("word ", r.IntN(6000)))
	}, []bool{true}}
	far := keyShape{"far", []vector.Kind{vector.I64}, func(r *rand.Rand, _ int) vector.Datum {
		base := []int64{math.MinInt64, math.MaxInt64 - 1000, 0}[r.IntN(1+r.IntN(3))]
		return vector.IntDatum(vector.I64, base+r.Int64N(1000))
	}, []bool{false}}
	spread := keyShape{"spread", []vector.Kind{vector.I32}, intKey(vector.I32, -3_000_000, 6_000_000), []bool{false}}
	forms := map[string]bool{}
	for _, shape := range append(append([]keyShape(nil), shapes...), long, words, many, far, spread) {
		for c := range 8 {
			r := rand.New(rand.NewPCG(seed, uint64(c)))
			rel := makeRelation(r, shape, []int{0, 10, 1000, 6500}[c%4], c&4 != 0, false)
			g := NewGroups(shape.kinds, []vector.Kind{vector.I64}, nil)
			want := map[string]uint32{}
			var dst [BlockRows]uint32
			keys := len(shape.kinds)
			rel.batches(r, func(b *vector.Batch) {
				if err := g.Assign(dst[:], b.Vecs[:keys], b.Vecs[keys:keys+1], b.N, b.Sel); err != nil {
					t.Fatal(err)
				}
				for k := range b.Live() {
					i := k
					if b.Sel != nil {
						i = int(b.Sel[k])
					}
					key := ""
					for _, v := range b.Vecs[:keys] {
						key += fmt.Sprint(vector.DatumAt(v, i), "|")
					}
					group, ok := want[key]
					if !ok {
						group = uint32(len(want))
						want[key] = group
						if id := vector.DatumAt(g.Store().Column(keys), int(group)); id != vector.DatumAt(b.Vecs[keys], i) {
							t.Fatalf("%s: group %d keeps row %v, want %v", shape.name, group, id, vector.DatumAt(b.Vecs[keys], i))
						}
					}
					if dst[i] != group {
						t.Fatalf("%s (%s): key %s is group %d, want %d", shape.name, g.Form(), key, dst[i], group)
					}
				}
			})
			if g.Len() != len(want) {
				t.Fatalf("%s: %d groups, want %d", shape.name, g.Len(), len(want))
			}
			forms[g.Form()] = true
		}
	}
	for _, f := range []string{"dictionary", "direct", "packed", "hashed"} {
		if !forms[f] {
			t.Errorf("index %q was never used", f)
		}
	}
}

func TestGroupsSteadyState(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, shape := range shapes {
		rel := makeRelation(r, shape, 500, false, false)
		g := NewGroups(shape.kinds, nil, nil)
		var batches []*vector.Batch
		rel.batches(r, func(b *vector.Batch) { batches = append(batches, b) })
		var dst [BlockRows]uint32
		pass := func() {
			for _, b := range batches {
				if err := g.Assign(dst[:], b.Vecs[:len(shape.kinds)], nil, b.N, b.Sel); err != nil {
					t.Fatal(err)
				}
			}
		}
		pass()
		if n := testing.AllocsPerRun(10, pass); n != 0 {
			t.Errorf("%s: %v allocations", shape.name, n)
		}
	}
}

func BenchmarkGroups(b *testing.B) {
	const rows = 1 << 20
	ints := func(groups int64) []*vector.Vector {
		v := make([]int64, rows)
		for i := range v {
			v[i] = rand.Int64N(groups)
		}
		return []*vector.Vector{vector.FromSlice(vector.I64, v)}
	}
	dict := func(words int) *vector.Vector {
		list := vector.New(vector.Bytes, 0)
		for i := range words {
			list.AppendString(fmt.Sprint("word ", i))
		}
		codes := make([]uint32, rows)
		for i := range codes {
			codes[i] = rand.Uint32N(uint32(words))
		}
		v := &vector.Vector{}
		v.SetDict(codes, list, nil)
		return v
	}
	flat := func(words int) *vector.Vector { return vector.Flatten(&vector.Vector{}, dict(words), rows) }
	for _, c := range []struct {
		name string
		keys []*vector.Vector
	}{
		{"int64/groups=1000", ints(1000)},
		{"int64/groups=1000000", ints(1000000)},
		{"2int64/groups=1000", append(ints(10), ints(100)...)},
		{"3int64/groups=1000", append(append(ints(10), ints(10)...), ints(10)...)},
		{"2dict/groups=6", []*vector.Vector{dict(3), dict(2)}},
		{"2strings/groups=6", []*vector.Vector{flat(3), flat(2)}},
		{"string/groups=1000", []*vector.Vector{flat(1000)}},
	} {
		b.Run(c.name, func(b *testing.B) {
			var kinds []vector.Kind
			vecs := NewBlock(len(c.keys))
			for _, k := range c.keys {
				kinds = append(kinds, k.Kind)
			}
			g := NewGroups(kinds, nil, nil)
			var dst [BlockRows]uint32
			b.ReportAllocs()
			for b.Loop() {
				for from := 0; from < rows; from += BlockRows {
					for i := range vecs {
						vector.Slice(vecs[i], c.keys[i], from, BlockRows)
					}
					if err := g.Assign(dst[:], vecs, nil, BlockRows, nil); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
			b.Log(g.Form())
		})
	}
}
