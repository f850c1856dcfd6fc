package storage

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/decimal"
	"github.com/weftdb/weft/vector"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

// goldenTable has a column of every type, and keys in both directions.
func goldenTable(e *Engine) *catalog.Table {
	tbl := &catalog.Table{ID: e.NewTableID(), Schema: "public", Name: "golden", SchemaVersion: 1,
		DistributeBy: []catalog.ColumnID{4}}
	for i, typ := range keyTypes {
		tbl.Columns = append(tbl.Columns, catalog.Column{ID: catalog.ColumnID(i + 1),
			Name: strings.ReplaceAll(typ.Base().String(), " ", "_") + fmt.Sprint(i+1), Type: typ, AddedIn: 1})
	}
	tbl.NextColumn = catalog.ColumnID(len(keyTypes) + 1)
	for range e.Catalog().Nodes {
		tbl.Stores = append(tbl.Stores, e.NewStoreID())
	}
	all := make([]catalog.ColumnID, len(keyTypes))
	desc := make([]bool, len(keyTypes))
	for i := range all {
		all[i], desc[i] = catalog.ColumnID(i+1), i%2 == 1
	}
	tbl.Indexes = []catalog.Index{
		{ID: e.NewIndexID(), Name: "golden_id", Columns: []catalog.ColumnID{4}, Unique: true},
		{ID: e.NewIndexID(), Name: "golden_all", Columns: all, Desc: desc},
	}
	return tbl
}

// goldenBatch makes rows whose values follow from their numbers; every fifth value is NULL.
func goldenBatch(first, n int) *vector.Batch {
	b := &vector.Batch{N: n}
	for c, typ := range keyTypes {
		v := vector.New(typ.Kind(), n)
		for i := range n {
			row := first + i
			x := int64(row*37-100) * int64(1+c)
			d := vector.IntDatum(typ.Kind(), x)
			switch {
			case typ.ID == catalog.Bool:
				d = vector.BoolDatum(row%2 == 0)
			case typ.Kind() == vector.I128:
				d = vector.Int128Datum(mulInt64(x, 1<<60))
			case typ.Kind() == vector.F32 || typ.Kind() == vector.F64:
				d = vector.FloatDatum(typ.Kind(), float64(x)/8)
			case typ.Kind() == vector.KindInterval:
				d = vector.IntervalDatum(vector.Interval{Months: int32(row), Days: int32(-row), Micros: x})
			case typ.ID == catalog.Numeric && typ.Kind() == vector.Bytes:
				d = vector.StringDatum(string(decimal.AppendBytes(nil, decimal.FromScaledInt64(x, row%4))))
			case typ.ID == catalog.Char:
				s := fmt.Sprint("c", row%100)
				d = vector.StringDatum(s + blanks(6-len(s)))
			case typ.ID == catalog.Bytea:
				d = vector.StringDatum("\x00\xff" + fmt.Sprint(row))
			case typ.Kind() == vector.Bytes:
				d = vector.StringDatum(strings.Repeat("é", row%4) + fmt.Sprint(x))
			}
			if d.Null = c != 3 && (row+c)%5 == 0; c == 3 {
				d.I = int64(row)
			}
			vector.AppendDatum(v, d)
		}
		b.Vecs = append(b.Vecs, v)
	}
	return b
}

// fillGolden runs the operations whose outcome the golden files hold: a bulk load, changes of its
// rows, a new column, and rows with it.
func fillGolden(t *testing.T, e *Engine) {
	tbl := createTable(t, e, goldenTable(e))
	x := e.Begin(TxnOptions{})
	l, err := x.NewLoader(bg, tbl)
	must(t, err)
	for i := range 4 {
		must(t, l.Append(uint64(i), goldenBatch(i*50, 50)))
	}
	_, err = l.Finish()
	must(t, err)
	must(t, x.SetStats(tbl.ID, &catalog.Stats{Version: 1, Rows: 200}))
	must(t, x.Commit(bg))
	tbl = e.Catalog().Table(tbl.ID)

	ref := func(x *Txn, id int64) RowRef {
		v := x.View()
		defer v.Release()
		r, _, err := v.LookupKey(tbl, &tbl.Indexes[0], []vector.Datum{vector.IntDatum(vector.I64, id)})
		must(t, err)
		return r
	}
	x = e.Begin(TxnOptions{})
	_, err = x.Delete(bg, tbl, []RowRef{ref(x, 3), ref(x, 77)})
	must(t, err)
	_, err = x.Update(bg, tbl, []RowRef{ref(x, 5)}, goldenBatch(1005, 1))
	must(t, err)
	_, err = x.Insert(bg, tbl, goldenBatch(2000, 3))
	must(t, err)
	must(t, x.Commit(bg))

	wider := tbl.Clone()
	wider.SchemaVersion = 2
	wider.Dropped = wider.Columns[2:3:3]
	wider.Columns = append(append(wider.Columns[:2:2], wider.Columns[3:]...),
		catalog.Column{ID: wider.NextColumn, Name: "added", Type: textType, AddedIn: 2, Missing: "'before'"})
	wider.Indexes = wider.Indexes[:1]
	wider.NextColumn++
	tbl = createTable(t, e, wider)
	b := goldenBatch(3000, 2)
	b.Vecs = append(append(b.Vecs[:2:2], b.Vecs[3:]...), vector.ConstOf(vector.StringDatum("after")))
	x = e.Begin(TxnOptions{})
	_, err = x.Insert(bg, tbl, b)
	must(t, err)
	must(t, x.Commit(bg))
}

// dumpKeys prints the whole key space.
func dumpKeys(t *testing.T, e *Engine) string {
	var s strings.Builder
	it, err := e.db.NewIter(&pebble.IterOptions{})
	must(t, err)
	for it.First(); it.Valid(); it.Next() {
		switch it.Key()[0] {
		case kindStats: // gob numbers types as it meets them
			fmt.Fprintf(&s, "%x = …\n", it.Key())
		case kindMeta, kindTable, kindLoad:
			fmt.Fprintf(&s, "%x = %q\n", it.Key(), it.Value())
		default:
			fmt.Fprintf(&s, "%x = %x\n", it.Key(), it.Value())
		}
	}
	must(t, it.Close())
	return s.String()
}

// dumpRows prints what SQL would see.
func dumpRows(t *testing.T, e *Engine) string {
	var s strings.Builder
	v := e.View()
	defer v.Release()
	for _, tbl := range v.Catalog().Tables() {
		fmt.Fprintf(&s, "%s: %d rows\n", tbl.Name, e.RowCount(tbl))
		cols := make([]int, len(tbl.Columns))
		for i := range cols {
			cols[i] = i
		}
		for _, store := range tbl.Stores {
			c, err := v.ScanGroup(tbl, store, 0, cols, ScanOptions{Refs: true})
			must(t, err)
			var b vector.Batch
			for {
				more, err := c.Next(&b)
				must(t, err)
				if !more {
					break
				}
				for i := range b.N {
					fmt.Fprintf(&s, "%x", vector.Of[int64](b.Vecs[len(cols)])[i])
					for n := range cols {
						fmt.Fprintf(&s, " %q", formatPlain(tbl.Columns[n].Type, vector.DatumAt(b.Vecs[n], i)))
					}
					s.WriteByte('\n')
				}
			}
			must(t, c.Close())
		}
	}
	return s.String()
}

func checkGolden(t *testing.T, name, got string, latest bool) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite && latest {
		must(t, os.MkdirAll("testdata", 0o755))
		must(t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	must(t, err)
	if got == string(want) {
		return
	}
	a, b := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("%s line %d differs: what is on disk has changed\ngot  %s\nwant %s", name, i+1, a[i], b[i])
		}
	}
	t.Fatalf("%s: %d lines, want %d", name, len(a), len(b))
}

// fillGoldenIndexes adds what came with format 2: included columns, orders of NULLs, NULLs that are not
// distinct.
func fillGoldenIndexes(t *testing.T, e *Engine) {
	fillGolden(t, e)
	tbl := &catalog.Table{ID: e.NewTableID(), Schema: "public", Name: "indexes", SchemaVersion: 1, DistributeBy: []catalog.ColumnID{1}, NextColumn: 4,
		Columns: []catalog.Column{{ID: 1, Name: "id", Type: int8Type, AddedIn: 1}, {ID: 2, Name: "a", Type: int4Type, AddedIn: 1},
			{ID: 3, Name: "t", Type: textType, AddedIn: 1, Generated: "a || 'x'"}}}
	for range e.Catalog().Nodes {
		tbl.Stores = append(tbl.Stores, e.NewStoreID())
	}
	tbl.Indexes = []catalog.Index{
		{ID: e.NewIndexID(), Name: "included", Columns: []catalog.ColumnID{1}, Include: []catalog.ColumnID{2, 3}, Unique: true},
		{ID: e.NewIndexID(), Name: "ordered", Columns: []catalog.ColumnID{2, 3}, Desc: []bool{true, false}, NullsFirst: []bool{false, true}, Include: []catalog.ColumnID{1}},
		{ID: e.NewIndexID(), Name: "same", Columns: []catalog.ColumnID{2}, Unique: true, NullsNotDistinct: true},
	}
	tbl = createTable(t, e, tbl)
	b := vector.NewBatch([]vector.Kind{vector.I64, vector.I32, vector.Bytes})
	for i := range 5 {
		vector.AppendDatum(b.Vecs[0], vector.IntDatum(vector.I64, int64(i)))
		a, text := vector.IntDatum(vector.I32, int64(10-i)), vector.StringDatum(strings.Repeat("t", i))
		a.Null, text.Null = i == 2, i == 3
		vector.AppendDatum(b.Vecs[1], a)
		vector.AppendDatum(b.Vecs[2], text)
	}
	b.N = 5
	x := e.Begin(TxnOptions{})
	_, err := x.Insert(bg, tbl, b)
	must(t, err)
	must(t, x.Commit(bg))
}

// goldenFormats are the versions of what is on disk, the latest last: only its files are ever rewritten.
var goldenFormats = []struct {
	name string
	fill func(*testing.T, *Engine)
}{{"format1", fillGolden}, {"format2", fillGoldenIndexes}, {"format3", fillGoldenPartitions}, {"format4", fillGoldenPartitions}}

// The same operations give the same bytes, for ever.
func TestGoldenBytes(t *testing.T) {
	for i, format := range goldenFormats {
		e := openTest(t, Options{Nodes: 2, NoFold: true})
		format.fill(t, e)
		mustCheck(t, e)
		checkGolden(t, format.name+".keys", dumpKeys(t, e), i == len(goldenFormats)-1)
		must(t, e.Close())
	}
}

// Databases written by every version stay readable, and become ones of the latest.
func TestGoldenDirectory(t *testing.T) {
	for i, format := range goldenFormats {
		latest := i == len(goldenFormats)-1
		dir := filepath.Join("testdata", format.name)
		if *rewrite && latest {
			must(t, os.RemoveAll(dir))
			e := openTest(t, Options{Dir: dir, Nodes: 2, NoFold: true, MemTableBytes: 256 << 10})
			format.fill(t, e)
			checkGolden(t, format.name+".rows", dumpRows(t, e), true)
			must(t, e.db.Flush())
			must(t, e.Close())
		}
		fs := vfs.NewMem()
		ok, err := vfs.Clone(vfs.Default, fs, dir, "db")
		must(t, err)
		equal(t, ok, true)
		e := openTest(t, Options{Dir: "db", FS: fs, NoMaintenance: true})
		equal(t, e.format.Format, i+1)
		must(t, e.Close())
		e = openTest(t, Options{Dir: "db", FS: fs})
		equal(t, e.format.Format, formatVersion)
		mustCheck(t, e)
		checkGolden(t, format.name+".rows", dumpRows(t, e), false)
		tbl := e.Catalog().Lookup("public", "golden")
		_, err = e.FoldGroup(bg, tbl, tbl.Stores[0], 0, e.CommitNumber())
		must(t, err)
		checkGolden(t, format.name+".rows", dumpRows(t, e), false)
		must(t, e.Close())
		stored, err := loadFormat(fs, "db", fs.PathJoin("db", "rows"))
		must(t, err)
		equal(t, stored.Format, formatVersion)
	}
}

func TestViewDuringCommit(t *testing.T) {
	e := memEngine(t)
	tbl := createTable(t, e, kvTable(e, "t"))
	insertKV(t, e, tbl, 1, "a")
	// A commit that hangs between its start and its application holds nobody up.
	e.sequence.Add(1)
	equal(t, committed(t, e, tbl), "1=a")
	e.sequence.Add(1)
	insertKV(t, e, tbl, 2, "b")
	equal(t, committed(t, e, tbl), "1=a 2=b")
}
