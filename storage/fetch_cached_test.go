package storage

import (
	"testing"

	"github.com/weftdb/weft/vector"
)

// TestCachedPlaces reads rows of several packed pages, column by column, in tables of every type.
func TestCachedPlaces(t *testing.T) {
	r := newRand(t)
	var enc rowEncoder
	for range 300 {
		tbl := randomTable(r, 1+r.IntN(20))
		l := mustLayout(t, tbl)
		var places []cachedPlace
		var want [][]vector.Datum
		for range 1 + r.IntN(6) {
			b, rows := randomBatch(r, tbl, 1+r.IntN(64), true)
			encoded := enc.encode(l, b)
			n := encoded.len()
			if n == 0 {
				continue
			}
			data, ok := appendPage(nil, l, encoded.vecs, 0, n, ^uint64(0)>>(64-n))
			if !ok {
				t.Fatal("page too large")
			}
			for rank := range n {
				if r.IntN(3) == 0 {
					places = append(places, cachedPlace{data: data, rank: rank, rows: n})
					want = append(want, rows[rank])
				}
			}
		}
		cols := newColumnBufs(tbl)
		for c := range cols {
			if err := cols[c].putPlaces(0, places, l.current.row, l.current.at[c]); err != nil {
				t.Fatal(err)
			}
		}
		checkColumns(t, "places", tbl, cols, want)
	}
}
