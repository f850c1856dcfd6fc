package imcv

import (
	"math"
	"testing"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/vector"
)

// TestPrunerScales makes sure that constants are compared at the column's scale: 24 and 24.00 have
// different representations.
func TestPrunerScales(t *testing.T) {
	numeric := func(prec, scale int16) catalog.Type {
		return catalog.Type{ID: catalog.Numeric, Prec: prec, Scale: scale}
	}
	for _, c := range []struct {
		value vector.Datum
		typ   catalog.Type
		want  int64
		ok    bool
	}{
		{vector.IntDatum(vector.I64, 24), numeric(2, 0), 2400, true},
		{vector.IntDatum(vector.I64, 2400), numeric(4, 2), 2400, true},
		{vector.IntDatum(vector.I64, 24001), numeric(5, 3), 0, false},
		{vector.IntDatum(vector.I64, math.MaxInt64/50), numeric(18, 0), 0, false},
		{vector.StringDatum("x"), catalog.Type{ID: catalog.Numeric}, 0, false},
	} {
		got, ok := known(&expr.Const{Value: c.value, Typ: c.typ}, numeric(15, 2), nil)
		if ok != c.ok || ok && got.I != c.want {
			t.Errorf("%v %v: %v %v, want %v %v", c.value, c.typ, got, ok, c.want, c.ok)
		}
	}
}
