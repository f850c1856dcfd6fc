//go:build invariants

package vector

import (
	"math/rand/v2"
	"os"
	"strconv"
)

// BatchCap is the most rows a batch holds; this build draws it from 3 up so that tests meet batch
// borders everywhere. WEFT_BATCH_CAP fixes it.
var BatchCap = drawBatchCap()

func drawBatchCap() int {
	if n, err := strconv.Atoi(os.Getenv("WEFT_BATCH_CAP")); err == nil && n >= 3 && n <= 1024 {
		return n
	}
	return []int{3, 5, 7, 64, 100, 1000, 1024}[rand.IntN(7)]
}
