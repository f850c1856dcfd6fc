package prune

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

var int4 = catalog.Type{ID: catalog.Int4}

// ranges describes a table of n partitions of ten integers each, every fifth of which is missing, and a
// default partition unless n is odd.
func ranges(t testing.TB, n int) *Desc {
	root := &catalog.Table{ID: 1, Schema: "public", Name: "t", Kind: catalog.PartitionedTable, Columns: []catalog.Column{{ID: 1, Name: "a", Type: int4}, {ID: 2, Name: "b", Type: int4}},
		Partitioning: &catalog.Partitioning{Keys: []catalog.PartitionKey{{Column: 1, Type: int4}}}}
	s := catalog.NewSnapshot(1).WithTable(root)
	for i := range n {
		if i%5 == 4 {
			continue
		}
		leaf := *root
		leaf.ID, leaf.Name, leaf.Kind, leaf.Partitioning, leaf.Parent = catalog.TableID(i+2), fmt.Sprint("p", i), catalog.OrdinaryTable, nil, 1
		leaf.Columns = []catalog.Column{root.Columns[1], root.Columns[0]}
		leaf.Stores = []catalog.StoreID{catalog.StoreID(i + 1)}
		leaf.Bound = &catalog.PartitionBound{From: []catalog.BoundValue{{Text: fmt.Sprint(10 * i)}}, To: []catalog.BoundValue{{Text: fmt.Sprint(10*i + 10)}}}
		if i == 0 {
			leaf.Bound.From[0] = catalog.BoundValue{Kind: catalog.BoundIsMin}
		}
		s = s.WithTable(&leaf)
	}
	if n%2 == 0 {
		rest := *root
		rest.ID, rest.Name, rest.Kind, rest.Partitioning, rest.Parent = catalog.TableID(n+2), "rest", catalog.OrdinaryTable, nil, 1
		rest.Stores, rest.Bound = []catalog.StoreID{catalog.StoreID(n + 1)}, &catalog.PartitionBound{Default: true}
		s = s.WithTable(&rest)
	}
	cols := []*expr.Col{{ID: 1, Typ: int4, Name: "a"}, {ID: 2, Typ: int4, Name: "b"}}
	d, err := New(s, root, cols, func(string) (expr.Expr, error) {
		return nil, sqlerr.New(sqlerr.InternalError, "there is no expression")
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestRoute compares the leaves of rows with what the bounds say.
func TestRoute(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 7, 40} {
		d := ranges(t, n)
		router := d.NewRouter(nil)
		for _, ordered := range []bool{true, false} {
			b := &vector.Batch{N: 500, Vecs: []*vector.Vector{vector.New(vector.I32, 500), vector.New(vector.I32, 500)}}
			for i := range 500 {
				x := int64(i)
				if !ordered {
					x = int64(r.IntN(10*n+40) - 20)
				}
				k := vector.IntDatum(vector.I32, x)
				k.Null = i%50 == 7
				vector.AppendDatum(b.Vecs[0], k)
				vector.AppendDatum(b.Vecs[1], vector.IntDatum(vector.I32, int64(i)))
			}
			if ordered {
				b.Sel = vector.Sel{3, 7, 8, 200, 201, 499}
			}
			leaves := make([]int32, b.N)
			if err := router.Route(b, leaves); err != nil {
				t.Fatal(err)
			}
			for k := range b.Live() {
				row := k
				if b.Sel != nil {
					row = int(b.Sel[k])
				}
				want := ""
				if n%2 == 0 {
					want = "rest"
				}
				key := vector.DatumAt(b.Vecs[0], row)
				if part := max(key.I, 0) / 10; !key.Null && part < int64(n) && part%5 != 4 {
					want = fmt.Sprint("p", part)
				}
				got := ""
				if leaves[row] >= 0 {
					got = d.Leaves[leaves[row]].Table.Name
				} else if m, err := router.Missing(b, row); err != nil || m.Table.Name != "t" || m.Keys[0] != "a" || m.Values[0] != key {
					t.Errorf("missing: %+v, %v", m, err)
				}
				if got != want {
					t.Errorf("%d partitions: %+v is in %q, want %q", n, key, got, want)
				}
			}
		}
	}
}

// TestDescription looks at what is known of leaves.
func TestDescription(t *testing.T) {
	d := ranges(t, 40)
	if len(d.Leaves) != 33 || d.LeafOf(1) != 0 || d.LeafOf(41) != 32 || d.LeafOf(5) != -1 {
		t.Errorf("%d leaves: %d %d %d", len(d.Leaves), d.LeafOf(1), d.LeafOf(41), d.LeafOf(5))
	}
	if from, to := d.Interval(1); from != 0 || to != 33 {
		t.Errorf("the whole table is leaves %d to %d", from, to)
	}
	if from, to := d.Interval(4); from != 2 || to != 3 {
		t.Errorf("p2 is leaves %d to %d", from, to)
	}
	if cols := d.Leaves[3].Columns; cols[0] != 1 || cols[1] != 0 {
		t.Errorf("columns %v", cols)
	}
}

func BenchmarkRoute(b *testing.B) {
	for _, name := range []string{"random", "clustered"} {
		b.Run(name, func(b *testing.B) {
			d := ranges(b, 1000)
			router := d.NewRouter(nil)
			rows := &vector.Batch{N: 1024, Vecs: []*vector.Vector{vector.New(vector.I32, 1024), vector.New(vector.I32, 1024)}}
			r := rand.New(rand.NewPCG(1, 2))
			for i := range 1024 {
				x := int32(i / 8)
				if name == "random" {
					x = int32(r.IntN(10000))
				}
				vector.Append(rows.Vecs[0], x)
				vector.Append(rows.Vecs[1], x)
			}
			leaves := make([]int32, 1024)
			for b.Loop() {
				if err := router.Route(rows, leaves); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*1024/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}
