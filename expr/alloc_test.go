package expr_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/vector"
)

// mayAllocate names what cannot do without: numbers beyond 128 bits, regular expressions, decoding
// of runes, formatting through the standard library.
var mayAllocate = []string{"~ '", "~* '", "ilike", "upper", "lower", "initcap", "translate", "extract(epoch", "f8::numeric", "f4::numeric",
	"n5 * n5", "t like u", "n2 * n2 * n2 * n2 * n2", "n * ", "n5 - n", "n % 7", "round(n", "n < n2", "n = 1.5", "n in", "-n", "abs(n)", "case when b then n ", "n::", "n5::numeric"}

// TestNoAllocations: in a steady state, evaluating a batch allocates nothing.
func TestNoAllocations(t *testing.T) {
	columns = matrixColumns()
	defer func() { columns = nil }()
	r := rand.New(rand.NewPCG(31, 32))
	vecs := matrixData(r, min(200, vector.BatchCap), true)
	b := &vector.Batch{N: vecs[0].Len, Vecs: vecs}
	sel := vector.Sel{}
	for i := range b.N {
		if r.IntN(2) == 0 {
			sel = append(sel, uint16(i))
		}
	}
next:
	for _, text := range matrixExprs {
		for _, m := range mayAllocate {
			if strings.Contains(text, m) {
				continue next
			}
		}
		e := try(bindText(text))
		ev := try(expr.Compile(e, layout, nil))
		if _, err := ev.Eval(b, nil); err != nil {
			continue
		}
		allocs := testing.AllocsPerRun(20, func() {
			ev.Eval(b, nil)
			ev.Eval(b, sel)
		})
		if e.Type().ID == catalog.Bool {
			f := try(expr.CompileFilter(e, layout, nil))
			out := make(vector.Sel, vector.BatchCap)
			allocs += testing.AllocsPerRun(20, func() {
				f.Select(b, nil, out)
				f.Select(b, sel, out)
			})
		}
		if allocs > 0 {
			t.Errorf("%s: %v allocations", text, allocs)
		}
	}
}
