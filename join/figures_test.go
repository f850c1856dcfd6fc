package join

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weftdb/weft/vector"
)

// TestKeyFigures compares the figures of tables of all forms with those of a map.
func TestKeyFigures(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	forms := map[string]bool{}
	for c := range 200 {
		shape := shapes[c%len(shapes)]
		rel := makeRelation(r, shape, r.IntN(400), c%2 == 0, c%5 == 0)
		spec := Spec{Columns: []vector.Kind{vector.I64, vector.Bytes}, SetOnly: c%3 == 0, Unique: c%5 == 0 && c%2 > 0, KeepNulls: c%7 == 0, Payload: c%4 == 1}
		for i, k := range shape.kinds {
			spec.Keys = append(spec.Keys, Key{Kind: k, NullSafe: shape.nullSafe[i]})
		}
		table := NewTable(spec)
		b := table.NewBuilder(nil)
		rel.batches(r, func(batch *vector.Batch) {
			if err := b.Append(batch.Vecs[:len(spec.Keys)], batch.Vecs[len(spec.Keys):], batch.N, batch.Sel); err != nil {
				t.Fatal(err)
			}
		})
		if err := table.Finish(Finisher{}); err != nil {
			t.Fatal(err)
		}
		counts, most := map[string]int64{}, int64(0)
	rows:
		for _, row := range rel.rows {
			for i, k := range spec.Keys {
				if row[i].Null && !k.NullSafe {
					continue rows
				}
			}
			key := fmt.Sprint(row[:len(spec.Keys)])
			counts[key]++
			most = max(most, counts[key])
		}
		forms[table.Form()] = true
		f := table.KeyFigures()
		if f.Keys != int64(len(counts)) || f.Most != most && (f.Most != 0 || !spec.SetOnly) {
			t.Fatalf("%s, %s, %+v: %d keys, at most %d rows of one, want %d, %d", table.Form(), shape.name, spec, f.Keys, f.Most, len(counts), most)
		}
		if _, ok := table.HeaviestKey(); ok != (f.Most > 0 && 2*f.Most >= int64(table.Rows())) {
			t.Fatalf("%s: a heavy key: %v, with %d of %d rows", table.Form(), ok, f.Most, table.Rows())
		}
	}
	for _, f := range []string{"direct-array", "direct-ranges", "direct-set", "inline-open", "inline-payload", "inline-ranges", "unchained"} {
		if !forms[f] {
			t.Errorf("form %q was never chosen", f)
		}
	}
}

// TestHeaviestKey: one key is the same in tables of other rows besides.
func TestHeaviestKey(t *testing.T) {
	var hashes []uint64
	for _, others := range [][]int64{{}, {1, 2}, {1 << 40, 3 << 50}} {
		table := NewTable(Spec{Keys: []Key{{Kind: vector.I64}}})
		b := table.NewBuilder(nil)
		keys := append([]int64{7, 7, 7}, others...)
		if err := b.Append([]*vector.Vector{vector.FromSlice(vector.I64, keys)}, nil, len(keys), nil); err != nil {
			t.Fatal(err)
		}
		if err := table.Finish(Finisher{}); err != nil {
			t.Fatal(err)
		}
		hash, ok := table.HeaviestKey()
		if !ok {
			t.Fatalf("no heavy key among %v", keys)
		}
		hashes = append(hashes, hash)
	}
	if hashes[0] != hashes[1] || hashes[1] != hashes[2] {
		t.Errorf("one key has the hashes %x", hashes)
	}
}
