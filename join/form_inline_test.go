package join

import (
	"math/rand/v2"
	"testing"

	"github.com/weftdb/weft/vector"
)

// TestUnevenKeys builds inline tables whose keys leave the parts empty from which their regions' size is
// taken, or whose rows nearly all have one key.
func TestUnevenKeys(t *testing.T) {
	defer func(a, b int) { wholeRows, inlinePartRows = a, b }(wholeRows, inlinePartRows)
	wholeRows, inlinePartRows = 64, 16
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	inverse := uint64(spread) // Newton's iteration doubles the bits that are right, three at first
	for range 5 {
		inverse *= 2 - spread*inverse
	}
	for name, key := range map[string]func(i int) int64{
		"upper half": func(int) int64 { return int64((1<<63 | r.Uint64()) * inverse) },
		"one part":   func(int) int64 { return int64((7<<60 | r.Uint64()>>8) * inverse) },
		"one key":    func(i int) int64 { return int64(r.Uint64()) * int64(b2i(i%50 == 0)) },
	} {
		keys := make([]int64, 5000)
		rows := map[int64]int{}
		for i := range keys {
			keys[i] = key(i)
			rows[keys[i]]++
		}
		table := NewTable(Spec{Keys: []Key{{Kind: vector.I64}}, Columns: []vector.Kind{vector.I64}})
		builder := table.NewBuilder(nil)
		for from := 0; from < len(keys); from += 1000 {
			v := []*vector.Vector{vector.FromSlice(vector.I64, keys[from:from+1000])}
			if err := builder.Append(v, v, 1000, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := table.Finish(Finisher{}); err != nil {
			t.Fatal(err)
		}
		p := table.NewProber()
		var probe, build [BlockRows]uint32
		for k, n := range rows {
			p.Lookup([]*vector.Vector{vector.FromSlice(vector.I64, []int64{k})}, 1, nil)
			found := 0
			for m := p.pairs(probe[:], build[:]); m > 0; m = p.pairs(probe[:], build[:]) {
				for _, row := range build[:m] {
					if keys[row] != k {
						t.Fatalf("%s: row %d has key %d, not %d", name, row, keys[row], k)
					}
				}
				found += m
			}
			if found != n {
				t.Fatalf("%s (%s): key %d has %d rows, found %d", name, table.Form(), k, n, found)
			}
		}
	}
}
