package imcv

import (
	"testing"

	"github.com/weftdb/weft/vector"
)

// TestCodesAtHoles: every position has a code of the dictionary, also those without a row, where codes lie
// on a line with those around.
func TestCodesAtHoles(t *testing.T) {
	for hole := range 40 {
		codes, rank := make([]int64, 40), []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
		set := vector.NewBitmap(len(codes))
		next := int64(0)
		for i := range codes {
			if i >= hole && i < hole+30 || next == int64(len(rank)) {
				continue
			}
			set.Set(i)
			codes[i] = next
			next++
		}
		want := append([]int64(nil), codes...)
		x, got := packRanked(codes, rank, set), make([]int64, len(codes))
		readInts(got, x, 0)
		for i, code := range got {
			if code < 0 || code >= int64(len(rank)) || set.Get(i) && code != want[i] {
				t.Fatalf("hole at %d: position %d has code %d, want %d", hole, i, code, want[i])
			}
		}
	}
}
