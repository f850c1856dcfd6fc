package join

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/weftdb/weft/vector"
)

// filterValue makes a value of a kind, one of about n; floats have both zeros and NaN among them.
func filterValue(r *rand.Rand, k vector.Kind, n int) vector.Datum {
	x := r.IntN(n)
	switch k {
	case vector.Bytes:
		return vector.StringDatum(fmt.Sprint("value ", x))
	case vector.F64, vector.F32:
		return vector.FloatDatum(k, []float64{math.Copysign(0, -1), 0, math.NaN(), float64(x)}[min(x, 3)])
	case vector.I128:
		return vector.Int128Datum(vector.Int128{Lo: uint64(x), Hi: int64(x % 3)})
	case vector.Bool:
		return vector.BoolDatum(x%2 == 0)
	case vector.I8:
		return vector.IntDatum(k, int64(x%200-100))
	}
	return vector.IntDatum(k, int64(x-n/2)*[]int64{1, 1, 7}[r.IntN(3)])
}

// TestKeyFilters builds tables of one and of two keys and checks that no value or pair of values in them is
// refused, in any form of vector, and that the bounds and lists that filters give are right.
func TestKeyFilters(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 4))
	kinds := []vector.Kind{vector.Bool, vector.I8, vector.I16, vector.I32, vector.I64, vector.F32, vector.F64, vector.I128, vector.Bytes}
	forms := map[string]bool{}
	for range 400 {
		keys := []vector.Kind{kinds[r.IntN(len(kinds))], kinds[r.IntN(len(kinds))]}[:1+r.IntN(2)]
		distinct := []int{5, 60, 1000, 8000}[r.IntN(4)]
		spec, rel := Spec{}, &relation{kinds: keys}
		for _, k := range keys {
			spec.Keys = append(spec.Keys, Key{Kind: k})
		}
		sparse := r.IntN(2) == 0
		for range r.IntN(3000) * r.IntN(4) / 3 {
			var row []vector.Datum
			for _, k := range keys {
				d := filterValue(r, k, distinct)
				if sparse && k == vector.I64 {
					d.I *= 0x1234567_12345
				}
				if r.IntN(20) == 0 {
					d = vector.NullDatum(k)
				}
				row = append(row, d)
			}
			rel.rows = append(rel.rows, row)
		}
		table := NewTable(spec)
		builder := table.NewBuilder(nil)
		rel.batches(r, func(b *vector.Batch) {
			if err := builder.Append(b.Vecs, nil, b.N, b.Sel); err != nil {
				t.Fatal(err)
			}
		})
		if err := table.Finish(Finisher{}); err != nil {
			t.Fatal(err)
		}
		all := []int{0, 1}[:len(keys)]
		filter, err := table.KeyFilter(all...)
		if err != nil || filter == nil {
			t.Fatalf("filter %v, error %v", filter, err)
		}
		forms[filter.Form()] = true
		checkFilter(t, r, filter, rel)
	}
	for _, f := range []string{"in", "bitmap", "range,bloom", "bloom"} {
		if !forms[f] {
			t.Errorf("no filter was of the form %s", f)
		}
	}
}

func checkFilter(t *testing.T, r *rand.Rand, filter *Filter, rel *relation) {
	probe := filter.Probe()
	rel.batches(r, func(b *vector.Batch) {
		want := map[uint16]bool{}
		for k := range b.Live() {
			i := uint16(k)
			if b.Sel != nil {
				i = b.Sel[k]
			}
			null := false
			for _, v := range b.Vecs {
				null = null || v.IsNull(int(i))
			}
			want[i] = !null
		}
		for _, i := range probe.Select(b.Vecs, b.N, b.Sel, nil) {
			if !want[i] {
				t.Fatalf("%s: row %d passes, which is NULL or not live", filter.Form(), i)
			}
			delete(want, i)
		}
		for i, in := range want {
			if in {
				t.Fatalf("%s: row %d of the build is refused", filter.Form(), i)
			}
		}
	})
	for c, k := range rel.kinds {
		low, high, integers := filter.Bounds(c)
		for _, row := range rel.rows {
			d := row[c]
			if d.Null || len(row) > 1 && row[1-c].Null {
				continue
			}
			if integers && (d.I < low || d.I > high || !filter.Meets(c, d.I, d.I) || !filter.Meets(c, d.I-3, d.I+2)) {
				t.Fatalf("%s: bounds %d, %d exclude %v of kind %v", filter.Form(), low, high, d, k)
			}
			if few := filter.Few(); few != nil && !listed(few, d) {
				t.Fatalf("%s: %v is not listed", filter.Form(), d)
			}
		}
		if integers && low <= high && (filter.Meets(c, high+1, math.MaxInt64) && high < math.MaxInt64 || filter.Meets(c, math.MinInt64, low-1)) {
			t.Fatalf("%s: values are met outside of %d, %d", filter.Form(), low, high)
		}
		if few := filter.Few(); integers && few != nil && low <= high {
			for x := low; x <= min(high, low+300); x++ {
				if filter.Meets(c, x, x) != listed(few, vector.IntDatum(k, x)) {
					t.Fatalf("%s: %d is met or not, against the list", filter.Form(), x)
				}
			}
		}
	}
}

func listed(few []vector.Datum, d vector.Datum) bool {
	for _, f := range few {
		if f == d || d.Kind != vector.Bytes && f.I == d.I {
			return true
		}
	}
	return false
}

// TestFilterEmptyDictionary probes with rows that are all NULL: their dictionary may have no value.
func TestFilterEmptyDictionary(t *testing.T) {
	v := vector.New(vector.I64, 0)
	probe := &FilterProbe{filter: &Filter{}}
	probe.test(v)
	if len(probe.flags) != 1 {
		t.Errorf("%d flags", len(probe.flags))
	}
}
