package catalog

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/weftdb/weft/vector"
)

func distributed(t *testing.T, nodes int, key ...ColumnID) *Distribution {
	t.Helper()
	tbl := &Table{Name: "t", Columns: []Column{{ID: 1, Name: "id", Type: Type{ID: Int8}}, {ID: 2, Name: "s", Type: Type{ID: Text}}, {ID: 3, Name: "f", Type: Type{ID: Float8}}}, DistributeBy: key}
	d, err := NewDistribution(tbl, nodes)
	if err != nil {
		t.Fatal(err)
	}
	return &d
}

func one(d vector.Datum) *vector.Vector {
	v := vector.New(d.Kind, 1)
	vector.AppendDatum(v, d)
	return v
}

// TestDistribution compares nodes with PostgreSQL's hashes.
func TestDistribution(t *testing.T) {
	id, s := one(vector.IntDatum(vector.I64, 1)), one(vector.StringDatum("z"))
	hash := vector.PGHashInt64(1)
	for _, c := range []struct {
		key  []ColumnID
		vecs []*vector.Vector
		node uint32
	}{
		{[]ColumnID{1}, []*vector.Vector{one(vector.IntDatum(vector.I64, 200))}, 0},
		{[]ColumnID{1}, []*vector.Vector{one(vector.IntDatum(vector.I64, 300))}, 0},
		{[]ColumnID{1, 2}, []*vector.Vector{id, one(vector.NullDatum(vector.Bytes))}, hash % 2}, // NULLs leave the hash alone
		{[]ColumnID{1, 2}, []*vector.Vector{id, s}, vector.PGHashCombine(hash, vector.PGHashBytes([]byte("z"))) % 2},
		{[]ColumnID{3}, []*vector.Vector{one(vector.FloatDatum(vector.F64, math.Copysign(0, -1)))}, 0},
		{nil, nil, 0},
	} {
		if got := distributed(t, 2, c.key...).NodeOf(c.vecs, 0); got != int(c.node) {
			t.Errorf("key %v: node %d, want %d", c.key, got, c.node)
		}
	}
	if _, err := NewDistribution(&Table{DistributeBy: []ColumnID{1}}, 2); err == nil {
		t.Error("a key of no column was taken")
	}
}

// TestDistributionByRow compares the nodes of rows one by one with those of all rows at a time.
func TestDistributionByRow(t *testing.T) {
	const rows = 500
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	table := []*vector.Vector{vector.New(vector.I64, rows), vector.New(vector.Bytes, rows), vector.New(vector.F64, rows)}
	for range rows {
		values := []vector.Datum{vector.IntDatum(vector.I64, r.Int64N(1000)), vector.StringDatum(string(rune('a' + r.IntN(26)))), vector.FloatDatum(vector.F64, []float64{0, math.Copysign(0, -1), math.NaN(), 1.5}[r.IntN(4)])}
		for i, d := range values {
			if r.IntN(5) == 0 {
				d = vector.NullDatum(d.Kind)
			}
			vector.AppendDatum(table[i], d)
		}
	}
	dst, scratch := make([]uint32, rows), make([]uint32, rows)
	for _, key := range [][]ColumnID{{1}, {2}, {3}, {1, 2}, {3, 1}, {2, 3, 1}} {
		d := distributed(t, 5, key...)
		d.Place(dst, scratch, table, rows)
		own := make([]*vector.Vector, len(key))
		for k, at := range d.Columns {
			own[k] = table[at]
		}
		for i := range rows {
			if got := d.NodeOf(own, i); got != int(dst[i]) {
				t.Fatalf("seed %d, key %v, row %d: node %d, among all %d", seed, key, i, got, dst[i])
			}
		}
	}
}
