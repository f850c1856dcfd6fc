package weft

import (
	"strings"
	"testing"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/vector"
)

// TestVerifyCompares compares results that agree, or differ in one thing.
func TestVerifyCompares(t *testing.T) {
	result := func(ids []int64, floats []float64, null int) []*vector.Batch {
		v := vector.FromSlice(vector.I64, ids)
		if null >= 0 {
			v.AllValid(len(ids)).Clear(null)
		}
		return []*vector.Batch{{N: len(ids), Vecs: []*vector.Vector{v, vector.FromSlice(vector.F64, floats)}}}
	}
	stmt, err := sql.ParseOne("select 1")
	if err != nil {
		t.Fatal(err)
	}
	built, err := planner.Build(stmt, planner.Input{Catalog: catalog.NewSnapshot(1), Settings: planner.DefaultSettings()})
	if err != nil {
		t.Fatal(err)
	}
	plan := newCachedPlan(built)
	plan.columns = []Column{{"id", catalog.Type{ID: catalog.Int8}}, {"f", catalog.Type{ID: catalog.Float8}}}
	for _, c := range []struct {
		name    string
		a, b    []*vector.Batch
		message string
	}{
		{"in another order", result([]int64{1, 2, 2}, []float64{5, 6, 7}, -1), result([]int64{2, 1, 2}, []float64{7, 5, 6}, -1), ""},
		{"in other batches", result([]int64{1, 2}, []float64{5, 6}, -1), append(result([]int64{2}, []float64{6}, -1), result([]int64{1}, []float64{5}, -1)...), ""},
		{"added up in another order", result([]int64{1}, []float64{0.1 + 0.2}, -1), result([]int64{1}, []float64{0.3}, -1), ""},
		{"a value", result([]int64{1, 3}, []float64{5, 5}, -1), result([]int64{1, 4}, []float64{5, 5}, -1), "by rows there is a row (3||[5]), by columns (4||[5]) in its place"},
		{"a float", result([]int64{1}, []float64{5}, -1), result([]int64{1}, []float64{5.0001}, -1), "(1||[5]), by columns (1||[5.0001])"},
		{"a NULL", result([]int64{0, 1}, []float64{5, 5}, 0), result([]int64{0, 1}, []float64{5, 5}, -1), `by rows there is a row (1||[5]), by columns (0||[5]) in its place`},
		{"a row more", result([]int64{1, 1}, []float64{5, 5}, -1), result([]int64{1}, []float64{5}, -1), "by rows there are 2 rows, by columns 1"},
		{"how often", result([]int64{1, 1, 2}, []float64{5, 5, 5}, -1), result([]int64{1, 2, 2}, []float64{5, 5, 5}, -1), "by rows there is a row (1||[5]), by columns (2||[5])"},
	} {
		err := (&running{}).compareRows(plan, c.a, c.b, &expr.Env{})
		switch {
		case c.message == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.message != "" && (err == nil || !strings.Contains(err.Error(), c.message)):
			t.Errorf("%s: %v, want %q", c.name, err, c.message)
		}
	}
}
