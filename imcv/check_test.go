package imcv

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// TestCheckUnits compares units with rows, some of them changed since; then each kind of damage to a
// unit must be found.
func TestCheckUnits(t *testing.T) {
	ctx := context.Background()
	e, err := storage.Open(storage.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	tbl := &catalog.Table{ID: e.NewTableID(), Schema: "public", Name: "t", SchemaVersion: 1, NextColumn: 3, HasView: true, Stores: []catalog.StoreID{e.NewStoreID()},
		Columns: []catalog.Column{{ID: 1, Name: "a", Type: catalog.Type{ID: catalog.Int8}, AddedIn: 1, Covered: true},
			{ID: 2, Name: "b", Type: catalog.Type{ID: catalog.Text}, AddedIn: 1, Covered: true}}}
	commit := func(change func(x *storage.Txn) error) {
		t.Helper()
		x := e.Begin(storage.TxnOptions{})
		if err := change(x); err != nil {
			t.Fatal(err)
		}
		if err := x.Commit(ctx); err != nil {
			t.Fatal(err)
		}
	}
	commit(func(x *storage.Txn) error { return x.SetCatalog(ctx, x.Catalog().WithTable(tbl)) })
	rows := func(first, n int) *vector.Batch {
		a, b := vector.New(vector.I64, n), vector.New(vector.Bytes, n)
		for i := first; i < first+n; i++ {
			vector.Append(a, int64(i*3))
			b.AppendString(fmt.Sprint("text ", i%7))
		}
		return &vector.Batch{N: n, Vecs: []*vector.Vector{a, b}}
	}
	var refs []storage.RowRef
	commit(func(x *storage.Txn) (err error) { refs, err = x.Insert(ctx, tbl, rows(0, 1000)); return err })
	m := NewManager(e, Options{Enabled: true, BudgetBytes: 1 << 30, Workers: 1, FlushPages: 1 << 20, FlushSeconds: 1 << 20})
	m.Start()
	defer m.Stop()
	if err := m.Populate(ctx, tbl); err != nil {
		t.Fatal(err)
	}
	commit(func(x *storage.Txn) error {
		if _, err := x.Update(ctx, tbl, refs[10:20], rows(5000, 10)); err != nil {
			return err
		}
		if _, err := x.Delete(ctx, tbl, refs[30:40]); err != nil {
			return err
		}
		_, err := x.Insert(ctx, tbl, rows(2000, 5))
		return err
	})
	check := func() string {
		t.Helper()
		var found []string
		units, err := m.Check(ctx, func(f storage.Finding) { found = append(found, f.String()) })
		if err != nil || units != 2 {
			t.Fatalf("%d units, %v", units, err)
		}
		return strings.Join(found, "\n")
	}
	if found := check(); found != "" {
		t.Fatal(found)
	}
	g := m.slot(tbl.ID, tbl.Stores[0], 0).newest()
	column, text := g.column(1).unit.Load(), g.column(2).unit.Load()
	numbers, words := column.values.(*integers), text.values.(*dictionary)
	for _, damage := range []struct {
		name     string
		do, undo func()
		want     string
	}{
		{"value", func() { numbers.base++ }, func() { numbers.base-- }, "column view: column a differs from the row: sequence unit"},
		{"row lost", func() { g.present[1] &^= 1 << 3 }, func() { g.present[1] |= 1 << 3 }, "row 67: column view: the row is missing"},
		{"row count", func() { g.rows++ }, func() { g.rows-- }, "group 0: column view: 1000 rows are present, 1001 are counted"},
		{"row that is not", func() { g.present[20] |= 1 << 7 }, func() { g.present[20] &^= 1 << 7 }, "row 1287: column view: it holds a row that the table does not have"},
		{"zone", func() { column.zone.Max.I = 2000 }, func() { column.zone.Max.I = 2997 }, "column view: column a lies outside of its zone"},
		{"short", func() { text.rows = 9 }, func() { text.rows = 1000 }, "the unit of column b ends at row 9, the group at 1000"},
		{"dictionary", func() { words.dict.BytesAt(3)[0] = 'T' }, func() { words.dict.BytesAt(3)[0] = 't' }, "column b differs from the row: dictionary unit"},
	} {
		damage.do()
		found := check()
		if !strings.Contains(found, damage.want) || strings.Count(found, "\n") > maxUnitFindings {
			t.Errorf("%s: found\n%s", damage.name, found)
		}
		damage.undo()
	}
	if found := check(); found != "" {
		t.Error(found)
	}
}
