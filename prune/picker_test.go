package prune

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bits-and-blooms/bitset"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/vector"
)

// tree builds a table of integer columns a, b and c that is partitioned at random down to a depth: by range, list
// and hash, with and without default partitions.
type tree struct {
	r    *rand.Rand
	s    *catalog.Snapshot
	next catalog.TableID
}

func (b *tree) add(t *catalog.Table, depth int) {
	t.Stores = []catalog.StoreID{catalog.StoreID(t.ID)}
	if depth > 0 {
		t.Kind, t.Stores = catalog.PartitionedTable, nil
		t.Partitioning = &catalog.Partitioning{Strategy: []catalog.PartitionStrategy{catalog.PartitionByRange, catalog.PartitionByList, catalog.PartitionByHash}[b.r.IntN(3)],
			Keys: []catalog.PartitionKey{{Column: catalog.ColumnID(1 + b.r.IntN(3)), Type: int4}}}
		if t.Partitioning.Strategy == catalog.PartitionByHash && b.r.IntN(2) == 0 {
			t.Partitioning.Keys = append(t.Partitioning.Keys, catalog.PartitionKey{Column: 1 + t.Partitioning.Keys[0].Column%3, Type: int4})
		}
	}
	b.s = b.s.WithTable(t)
	if depth == 0 {
		return
	}
	value := func(i int) catalog.BoundValue { return catalog.BoundValue{Text: fmt.Sprint(i)} }
	n := 2 + b.r.IntN(3)
	for i := range n + b.r.IntN(2) {
		bound := &catalog.PartitionBound{}
		switch {
		case t.Partitioning.Strategy == catalog.PartitionByHash && i < n:
			bound.Modulus, bound.Remainder = n, i
		case t.Partitioning.Strategy == catalog.PartitionByHash:
			continue
		case i == n:
			bound.Default = true
		case t.Partitioning.Strategy == catalog.PartitionByList:
			bound.In = []catalog.BoundValue{value(5 * i), value(5*i + 1), value(5*i + 2)}
		default:
			bound.From, bound.To = []catalog.BoundValue{value(6 * i)}, []catalog.BoundValue{value(6*i + 5)}
		}
		b.next++
		below := 0
		if depth > 1 && b.r.IntN(4) > 0 {
			below = depth - 1
		}
		b.add(&catalog.Table{ID: b.next, Schema: "public", Name: fmt.Sprint("p", b.next), Parent: t.ID, Columns: t.Columns, Bound: bound}, below)
	}
}

// equate adds the condition that a column is equal to a parameter.
func (j *Join) equate(t testing.TB, column expr.Expr, param int) {
	t.Helper()
	cond, err := expr.ResolveBinary("=", column, &expr.Param{Index: param, Typ: int4}, 0)
	if err != nil {
		t.Fatal(err)
	}
	j.Conds, j.Params, j.Types = append(j.Conds, cond), append(j.Params, param), append(j.Types, int4)
}

// TestPicker compares the leaves that batches of rows find with those that each row's values select.
func TestPicker(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 3))
	cols := []*expr.Col{{ID: 1, Typ: int4, Name: "a"}, {ID: 2, Typ: int4, Name: "b"}, {ID: 3, Typ: int4, Name: "c"}}
	batches, below := 0, 0
	for range 300 {
		b := &tree{r: r, s: catalog.NewSnapshot(1), next: 1}
		root := &catalog.Table{ID: 1, Schema: "public", Name: "t", Columns: []catalog.Column{{ID: 1, Name: "a", Type: int4}, {ID: 2, Name: "b", Type: int4}, {ID: 3, Name: "c", Type: int4}}}
		b.add(root, 1+r.IntN(3))
		d, err := New(b.s, root, cols, nil)
		if err != nil {
			t.Fatal(err)
		}
		j := &Join{Desc: d, Column: func(pos int) expr.Expr { return cols[pos] }}
		for i, c := range cols {
			if r.IntN(3) > 0 {
				j.equate(t, c, i+1)
			}
		}
		if len(j.Params) == 0 {
			continue
		}
		env := &expr.Env{}
		within := d.All()
		for leaf := range d.Leaves {
			within.SetTo(uint(leaf), r.IntN(5) > 0)
		}
		p := j.NewPicker(env, within)
		if p.groups != nil {
			batches++
			if len(d.Leaves) > len(d.top.kids) {
				below++
			}
		}
		most, least := bitset.New(uint(len(d.Leaves))), bitset.New(uint(len(d.Leaves)))
		for range 3 {
			n := 1 + r.IntN(20)
			values := make([]*vector.Vector, len(j.Params))
			for i := range values {
				values[i] = vector.New(vector.I32, n)
				for range n {
					k := vector.IntDatum(vector.I32, int64(r.IntN(30)-3))
					k.Null = r.IntN(9) == 0
					vector.AppendDatum(values[i], k)
				}
			}
			for row := range n {
				one := &expr.Env{Params: make([]vector.Datum, 3)}
				for i, v := range values {
					one.Params[j.Params[i]-1] = vector.DatumAt(v, row)
				}
				most.InPlaceUnion(d.Select(j.Conds, j.Column, &Knowledge{Env: one}))
				matches(t, j, one.Params, least)
			}
			p.Add(values, n, nil)
		}
		got := p.Set().Intersection(within)
		least, most = least.Intersection(within), most.Intersection(within)
		if !got.IsSuperSet(least) || !most.IsSuperSet(got) {
			t.Fatalf("parameters %v of %d leaves: found %v, want %v, at most %v", j.Params, len(d.Leaves), got, least, most)
		}
	}
	if batches < 100 || below < 50 {
		t.Errorf("%d pickers took batches, %d of them of several levels", batches, below)
	}
}

// matches adds the leaves of rows that have a parameter's value in a column with a condition, and any in the others.
func matches(t *testing.T, j *Join, params []vector.Datum, leaves *bitset.BitSet) {
	var rows [][]vector.Datum
	rows = append(rows, nil)
	for i := range 3 {
		values := []vector.Datum{params[i]}
		if !slices.Contains(j.Params, i+1) {
			values = values[:0]
			for x := range 30 {
				values = append(values, vector.IntDatum(vector.I32, int64(x-3)))
			}
			values = append(values, vector.NullDatum(vector.I32))
		} else if params[i].Null {
			return
		}
		var more [][]vector.Datum
		for _, row := range rows {
			for _, v := range values {
				more = append(more, append(row[:len(row):len(row)], v))
			}
		}
		rows = more
	}
	b := &vector.Batch{N: len(rows), Vecs: []*vector.Vector{vector.New(vector.I32, len(rows)), vector.New(vector.I32, len(rows)), vector.New(vector.I32, len(rows))}}
	for _, row := range rows {
		for i, v := range row {
			vector.AppendDatum(b.Vecs[i], v)
		}
	}
	found := make([]int32, b.N)
	if err := j.Desc.NewRouter(nil).Route(b, found); err != nil {
		t.Fatal(err)
	}
	for _, leaf := range found {
		if leaf >= 0 {
			leaves.Set(uint(leaf))
		}
	}
}

// BenchmarkPicker finds the leaves of a table of 16 ranges of 8 hashes each: a batch per run.
func BenchmarkPicker(b *testing.B) {
	s := catalog.NewSnapshot(1)
	columns := []catalog.Column{{ID: 1, Name: "a", Type: int4}, {ID: 2, Name: "b", Type: int4}}
	root := &catalog.Table{ID: 1, Schema: "public", Name: "t", Kind: catalog.PartitionedTable, Columns: columns, Partitioning: &catalog.Partitioning{Keys: []catalog.PartitionKey{{Column: 1, Type: int4}}}}
	s = s.WithTable(root)
	for i := range 16 {
		id := catalog.TableID(2 + i*10)
		s = s.WithTable(&catalog.Table{ID: id, Schema: "public", Name: fmt.Sprint("r", i), Kind: catalog.PartitionedTable, Parent: 1, Columns: columns,
			Bound:        &catalog.PartitionBound{From: []catalog.BoundValue{{Text: fmt.Sprint(100 * i)}}, To: []catalog.BoundValue{{Text: fmt.Sprint(100*i + 100)}}},
			Partitioning: &catalog.Partitioning{Strategy: catalog.PartitionByHash, Keys: []catalog.PartitionKey{{Column: 2, Type: int4}}}})
		for k := range 8 {
			s = s.WithTable(&catalog.Table{ID: id + 1 + catalog.TableID(k), Schema: "public", Name: fmt.Sprintf("r%d_%d", i, k), Parent: id, Columns: columns,
				Stores: []catalog.StoreID{catalog.StoreID(i*10 + k + 1)}, Bound: &catalog.PartitionBound{Modulus: 8, Remainder: k}})
		}
	}
	cols := []*expr.Col{{ID: 1, Typ: int4, Name: "a"}, {ID: 2, Typ: int4, Name: "b"}}
	d, err := New(s, root, cols, nil)
	if err != nil {
		b.Fatal(err)
	}
	j := &Join{Desc: d, Column: func(pos int) expr.Expr { return cols[pos] }}
	for i, c := range cols {
		j.equate(b, c, i+1)
	}
	r := rand.New(rand.NewPCG(1, 2))
	values := []*vector.Vector{vector.New(vector.I32, 1024), vector.New(vector.I32, 1024)}
	for range 1024 {
		vector.Append(values[0], int32(r.IntN(1500))) // the last range is never hit
		vector.Append(values[1], int32(r.IntN(1<<20)))
	}
	p := j.NewPicker(&expr.Env{}, d.All())
	b.ReportAllocs()
	for b.Loop() {
		p.set.ClearAll() // all is to be found again
		p.left = p.within.Count()
		p.Add(values, 1024, nil)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/row")
}
