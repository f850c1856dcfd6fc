package catalog

import (
	"fmt"
	"math"
	"testing"

	"github.com/weftdb/weft/vector"
)

// TestDistinct checks the distinct counts of regular sequences, which the hash of the hash tables
// spreads too evenly for a sketch.
func TestDistinct(t *testing.T) {
	const rows = 100_000
	for _, distinct := range []int{1, 10, 1000, 20_000, 100_000} {
		for name, value := range map[string]func(int) vector.Datum{
			"consecutive": func(i int) vector.Datum { return vector.IntDatum(vector.I64, int64(i%distinct)) },
			"repeated":    func(i int) vector.Datum { return vector.IntDatum(vector.I64, int64(i/(rows/distinct))) },
			"strided":     func(i int) vector.Datum { return vector.IntDatum(vector.I64, int64(i%distinct)*4096) },
			"text":        func(i int) vector.Datum { return vector.StringDatum(fmt.Sprint("value ", i%distinct)) },
		} {
			typ := Type{ID: Int8}
			if name == "text" {
				typ = Type{ID: Text}
			}
			c := NewCollector([]Column{{ID: 1, Type: typ}}, 1)
			for from := 0; from < rows; from += vector.BatchCap {
				v := vector.New(typ.Kind(), vector.BatchCap)
				n := min(vector.BatchCap, rows-from)
				for i := range n {
					vector.AppendDatum(v, value(from+i))
				}
				c.Add(&vector.Batch{N: n, Vecs: []*vector.Vector{v}})
			}
			got := c.state[0].distinct.estimate()
			if math.Abs(got/float64(distinct)-1) > 0.08 {
				t.Errorf("%s: %.0f distinct values, want %d", name, got, distinct)
			}
		}
	}
}
