package catalog

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

func exampleTable() *Table {
	return &Table{ID: 7, Schema: DefaultSchema, Name: "orders", SchemaVersion: 3, NextColumn: 4, Epoch: 9, HasView: true,
		Columns: []Column{
			{ID: 1, Name: "id", Type: Type{ID: Int8}, NotNull: true, AddedIn: 1, Covered: true},
			{ID: 3, Name: "price", Type: Type{ID: Numeric, Prec: 15, Scale: 2}, Default: "0.00", Missing: "1.5", AddedIn: 2},
		},
		Dropped:      []Column{{ID: 2, Name: "old", Type: Type{ID: Text}, AddedIn: 1}},
		Indexes:      []Index{{ID: 5, Name: "orders_pkey", Columns: []ColumnID{1}, Desc: []bool{true}, Unique: true, Primary: true}},
		Checks:       []Check{{Name: "positive", Expr: "price > 0"}},
		DistributeBy: []ColumnID{1},
		Stores:       []StoreID{11, 12},
	}
}

func TestSnapshotRoundTrip(t *testing.T) {
	s := NewSnapshot(2).WithSchema("s2", true).WithTable(exampleTable())
	state, err := s.EncodeState()
	if err != nil {
		t.Fatal(err)
	}
	b, err := EncodeTable(s.Table(7))
	if err != nil {
		t.Fatal(err)
	}
	tbl, err := DecodeTable(b)
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeSnapshot(state, []*Table{tbl})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, s) {
		t.Errorf("got %+v\nwant %+v", got, s)
	}
	if _, err := DecodeTable([]byte("{")); sqlerr.CodeOf(err) != sqlerr.DataCorrupted {
		t.Errorf("damaged description: %v", err)
	}
}

func TestMerge(t *testing.T) {
	table := func(id TableID, name string) *Table { return &Table{ID: id, Schema: DefaultSchema, Name: name} }
	base := NewSnapshot(1).WithTable(table(1, "a")).WithTable(table(2, "b"))
	code := func(latest, next *Snapshot) sqlerr.Code {
		_, err := Merge(latest, base, next)
		return sqlerr.CodeOf(err)
	}
	// Changes of different tables join; names may be swapped.
	swapped := base.WithoutTable(1).WithoutTable(2).WithTable(table(1, "b")).WithTable(table(2, "a"))
	other := base.WithTable(table(3, "c")).WithSchema("s", true)
	m, err := Merge(other, base, swapped)
	if err != nil {
		t.Fatal(err)
	}
	if m.Lookup("public", "a").ID != 2 || m.Lookup("public", "b").ID != 1 || m.Lookup("public", "c").ID != 3 || !m.HasSchema("s") {
		t.Errorf("merged: %v", m.Tables())
	}
	if m.Version != other.Version+1 || m.NextTable != 4 {
		t.Errorf("version %d next %d", m.Version, m.NextTable)
	}
	// The same table on both sides.
	if c := code(base.WithTable(table(1, "a2")), base.WithoutTable(1)); c != sqlerr.SerializationFailure {
		t.Errorf("conflicting change: %s", c)
	}
	// The same name on both sides.
	if c := code(base.WithTable(table(3, "c")), base.WithTable(table(4, "c"))); c != sqlerr.DuplicateTable {
		t.Errorf("conflicting name: %s", c)
	}
	if c := code(base.WithSchema("s", true).WithSchema("s", false), base.WithTable(&Table{ID: 5, Schema: "s"})); c != sqlerr.InvalidSchemaName {
		t.Errorf("missing schema: %s", c)
	}
}

func TestStatsRoundTrip(t *testing.T) {
	s := &Stats{Version: 4, Rows: 10, SampleColumns: []ColumnID{1},
		Columns: map[ColumnID]ColumnStats{1: {NullFraction: 0.5, Distinct: 3, AvgWidth: 8,
			Min: vector.FloatDatum(vector.F64, math.Inf(-1)), Max: vector.StringDatum("\xff\x00")}},
		Sample: [][]vector.Datum{{vector.IntDatum(vector.I64, -1), vector.NullDatum(vector.I64)}}}
	b, err := EncodeStats(s)
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeStats(b)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, s) {
		t.Errorf("got %+v, want %+v", got, s)
	}
	var e *sqlerr.Error
	if _, err := DecodeStats(b[:5]); !errors.As(err, &e) {
		t.Errorf("damaged statistics: %v", err)
	}
}
