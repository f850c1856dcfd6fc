package storage

import (
	"bytes"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector"
)

func plainParse(t catalog.Type, text string) (vector.Datum, error) { return parsePlain(t, text) }

// randomTable returns a table of random column types.
func randomTable(r *rand.Rand, cols int) *catalog.Table {
	tbl := &catalog.Table{ID: 1, Name: "t", SchemaVersion: 1, NextColumn: catalog.ColumnID(cols + 1)}
	for i := range cols {
		tbl.Columns = append(tbl.Columns, catalog.Column{ID: catalog.ColumnID(i + 1), Name: fmt.Sprint("c", i+1),
			Type: keyTypes[r.IntN(len(keyTypes))], AddedIn: 1})
	}
	return tbl
}

func mustLayout(t testing.TB, tbl *catalog.Table) *tableLayout {
	t.Helper()
	l, err := newTableLayout(tbl, plainParse)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// randomBatch fills a batch with random values in random forms; it returns the live rows too.
func randomBatch(r *rand.Rand, tbl *catalog.Table, n int, forms bool) (*vector.Batch, [][]vector.Datum) {
	b := &vector.Batch{N: n}
	if forms && r.IntN(2) == 0 {
		b.Sel = vector.Sel{}
		for i := range n {
			if r.IntN(3) > 0 {
				b.Sel = append(b.Sel, uint16(i))
			}
		}
	}
	live := make([][]vector.Datum, b.Live())
	for i := range live {
		live[i] = make([]vector.Datum, len(tbl.Columns))
	}
	for c := range tbl.Columns {
		v := randomVector(r, tbl.Columns[c].Type, n, forms)
		b.Vecs = append(b.Vecs, v)
		for i := range live {
			live[i][c] = vector.DatumAt(v, selected(b.Sel, i))
		}
	}
	return b, live
}

func randomVector(r *rand.Rand, typ catalog.Type, n int, forms bool) *vector.Vector {
	form := 0
	if forms {
		form = r.IntN(4)
	}
	switch form {
	case 1:
		return vector.ConstOf(randomDatum(r, typ))
	case 2:
		dict := vector.New(typ.Kind(), 3)
		for range 3 {
			d := randomDatum(r, typ)
			d.Null = false
			vector.AppendDatum(dict, d)
		}
		codes, valid := make([]uint32, n), vector.NewBitmap(n)
		for i := range codes {
			codes[i] = uint32(r.IntN(3))
			if r.IntN(4) > 0 {
				valid.Set(i)
			}
		}
		v := &vector.Vector{}
		v.SetDict(codes, dict, valid)
		return v
	}
	v := vector.New(typ.Kind(), n)
	for range n {
		d := randomDatum(r, typ)
		if form == 0 {
			d.Null = false
		}
		vector.AppendDatum(v, d)
	}
	return v
}

// sameDatum compares representations; NaNs are equal.
func sameDatum(a, b vector.Datum) bool {
	if a.Null || b.Null {
		return a.Null && b.Null && a.Kind == b.Kind
	}
	if a.F != a.F && b.F != b.F {
		a.F, b.F = 0, 0
	}
	return a == b
}

func checkColumns(t *testing.T, what string, tbl *catalog.Table, cols []*columnBuf, want [][]vector.Datum) {
	t.Helper()
	for c := range cols {
		var v vector.Vector
		cols[c].view(&v, len(want))
		for i := range want {
			if got := vector.DatumAt(&v, i); !sameDatum(got, want[i][c]) {
				t.Fatalf("%s: column %d (%v) row %d: %v, want %v", what, c, tbl.Columns[c].Type, i, got, want[i][c])
			}
		}
	}
}

func newColumnBufs(tbl *catalog.Table) []*columnBuf {
	cols := make([]*columnBuf, len(tbl.Columns))
	for c := range cols {
		cols[c] = newColumnBuf(tbl.Columns[c].Type.Kind(), vector.BatchCap)
	}
	return cols
}

func TestRowRoundTrip(t *testing.T) {
	r := newRand(t)
	var enc rowEncoder
	for range 200 {
		tbl := randomTable(r, 1+r.IntN(20))
		l := mustLayout(t, tbl)
		b, want := randomBatch(r, tbl, 1+r.IntN(min(100, vector.BatchCap)), true)
		rows := enc.encode(l, b)
		list := make([][]byte, rows.len())
		for i := range list {
			list[i] = rows.row(i)
			if _, err := l.ofRow(list[i]); err != nil {
				t.Fatal(err)
			}
		}
		cols := newColumnBufs(tbl)
		half := len(list) / 2
		for c := range cols {
			cols[c].putRows(0, l.current.row, l.current.at[c], list[:half])
			cols[c].putRows(half, l.current.row, l.current.at[c], list[half:])
		}
		checkColumns(t, "rows", tbl, cols, want)
	}
}

func TestRowWideOffsets(t *testing.T) {
	tbl := &catalog.Table{SchemaVersion: 1}
	for i := range 3 {
		tbl.Columns = append(tbl.Columns, catalog.Column{ID: catalog.ColumnID(i + 1), Type: catalog.Type{ID: catalog.Text}})
	}
	l := mustLayout(t, tbl)
	b := &vector.Batch{N: 2}
	long := strings.Repeat("x", 70000)
	want := [][]vector.Datum{
		{vector.StringDatum("a"), vector.StringDatum(long), vector.StringDatum("b")},
		{vector.StringDatum("c"), vector.NullDatum(vector.Bytes), vector.StringDatum("")},
	}
	for c := range 3 {
		v := vector.New(vector.Bytes, 2)
		vector.AppendDatum(v, want[0][c])
		vector.AppendDatum(v, want[1][c])
		b.Vecs = append(b.Vecs, v)
	}
	var enc rowEncoder
	rows := enc.encode(l, b)
	cols := newColumnBufs(tbl)
	for i := range 2 {
		if _, err := l.ofRow(rows.row(i)); err != nil {
			t.Fatal(err)
		}
	}
	for c := range cols {
		cols[c].putRows(0, l.current.row, c, [][]byte{rows.row(0), rows.row(1)})
	}
	checkColumns(t, "wide", tbl, cols, want)
	if _, ok := appendPage(nil, l, rows.vecs, 0, 2, 3); ok {
		t.Error("a page of 70 KB was accepted")
	}
}

func TestPageRoundTrip(t *testing.T) {
	r := newRand(t)
	var enc rowEncoder
	for range 200 {
		tbl := randomTable(r, 1+r.IntN(20))
		l := mustLayout(t, tbl)
		b, want := randomBatch(r, tbl, 1+r.IntN(min(300, vector.BatchCap)), true)
		rows := enc.encode(l, b)
		if rows.len() == 0 {
			continue
		}
		first := r.IntN(rows.len())
		n := 1 + r.IntN(min(64, rows.len()-first))
		present := r.Uint64()
		for bits.OnesCount64(present) > n {
			present &= present - 1
		}
		for bits.OnesCount64(present) < n {
			present |= 1 << r.IntN(64)
		}
		data, ok := appendPage([]byte("xyz"), l, rows.vecs, first, n, present)
		if !ok {
			t.Fatal("page too large")
		}
		var single [][]byte
		for i := range n {
			single = append(single, rows.row(first+i))
		}
		if again, ok := appendPageOfRows([]byte("xyz"), l.current.row, single, present); !ok || !bytes.Equal(again, data) {
			t.Fatalf("page of single rows:\n%x\n%x", again, data)
		}
		var p page
		if err := p.parse(data[3:], l); err != nil {
			t.Fatal(err)
		}
		want = want[first : first+n]
		cols := newColumnBufs(tbl)
		cut := r.IntN(n + 1)
		for c := range cols {
			for _, run := range [][2]int{{0, cut}, {cut, n}} {
				if run[0] == run[1] {
					continue
				}
				if err := cols[c].putPage(run[0], &p, l.current.at[c], run[0], run[1]); err != nil {
					t.Fatal(err)
				}
			}
		}
		checkColumns(t, "page", tbl, cols, want)
		for rank := range n {
			row, err := p.appendRow(nil, rank)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(row, rows.row(first+rank)) {
				t.Fatalf("row %d out of the page:\n%x\n%x", rank, row, rows.row(first+rank))
			}
		}
	}
}

func TestSchemaVersions(t *testing.T) {
	int4, text := catalog.Type{ID: catalog.Int4}, catalog.Type{ID: catalog.Text}
	v1 := &catalog.Table{SchemaVersion: 1, Columns: []catalog.Column{
		{ID: 1, Type: int4, AddedIn: 1}, {ID: 2, Type: text, AddedIn: 1}}}
	v2 := v1.Clone()
	v2.SchemaVersion = 2
	v2.Columns = append(v2.Columns, catalog.Column{ID: 3, Type: text, AddedIn: 2, Missing: "'new'"})
	v3 := v2.Clone()
	v3.SchemaVersion = 3
	v3.Dropped = v3.Columns[1:2:2]
	v3.Columns = append(v3.Columns[:1:1], v3.Columns[2])

	var rows [][]byte
	for i, tbl := range []*catalog.Table{v1, v2, v3} {
		b := &vector.Batch{N: 1}
		for c := range tbl.Columns {
			d := vector.IntDatum(vector.I32, int64(i))
			if tbl.Columns[c].Type == text {
				d = vector.StringDatum(fmt.Sprint("v", i+1))
			}
			b.Vecs = append(b.Vecs, vector.ConstOf(d))
		}
		var enc rowEncoder
		out := enc.encode(mustLayout(t, tbl), b)
		rows = append(rows, out.row(0))
	}
	l := mustLayout(t, v3)
	want := []string{"new", "v2", "v3"}
	for i, row := range rows {
		lay, err := l.ofRow(row)
		if err != nil {
			t.Fatal(err)
		}
		cols := newColumnBufs(v3)
		for c := range cols {
			if lay.at[c] < 0 {
				cols[c].putConst(0, 1, l.missing[c])
			} else {
				cols[c].putRows(0, lay.row, lay.at[c], [][]byte{row})
			}
		}
		checkColumns(t, fmt.Sprint("version ", i+1), v3, cols,
			[][]vector.Datum{{vector.IntDatum(vector.I32, int64(i)), vector.StringDatum(want[i])}})
	}
	if _, err := mustLayout(t, v1).ofRow(rows[2]); err == nil {
		t.Error("a row of a later schema version was accepted")
	}
}

func fuzzTable() *catalog.Table {
	return randomTable(rand.New(rand.NewPCG(7, 7)), 9)
}

func FuzzRowDecode(f *testing.F) {
	tbl := fuzzTable()
	l := mustLayout(f, tbl)
	b, _ := randomBatch(rand.New(rand.NewPCG(1, 1)), tbl, 3, true)
	var enc rowEncoder
	rows := enc.encode(l, b)
	for i := range rows.len() {
		f.Add(bytes.Clone(rows.row(i)))
	}
	cols := newColumnBufs(tbl)
	f.Fuzz(func(t *testing.T, row []byte) {
		lay, err := l.ofRow(row)
		if err != nil {
			return
		}
		for c := range cols {
			cols[c].reset()
			if lay.at[c] >= 0 {
				cols[c].putRows(0, lay.row, lay.at[c], [][]byte{row})
			}
		}
	})
}

func FuzzPageDecode(f *testing.F) {
	tbl := fuzzTable()
	l := mustLayout(f, tbl)
	b, _ := randomBatch(rand.New(rand.NewPCG(1, 1)), tbl, 3, false)
	data, _ := appendPage(nil, l, b.Vecs, 0, 3, 0x8100000000000001)
	f.Add(data)
	cols := newColumnBufs(tbl)
	f.Fuzz(func(t *testing.T, data []byte) {
		var p page
		if p.parse(data, l) != nil {
			return
		}
		_, _ = p.appendRow(nil, 0)
		for c := range cols {
			cols[c].reset()
			if p.lay.at[c] >= 0 && p.n <= vector.BatchCap {
				_ = cols[c].putPage(0, &p, p.lay.at[c], 0, p.n)
			}
		}
	})
}

func benchTable() *catalog.Table {
	tbl := &catalog.Table{SchemaVersion: 1}
	for i, typ := range lineitemTypes {
		tbl.Columns = append(tbl.Columns, catalog.Column{ID: catalog.ColumnID(i + 1), Name: fmt.Sprint("c", i), Type: typ})
	}
	return tbl
}

var lineitemTypes = []catalog.Type{
	{ID: catalog.Int8}, {ID: catalog.Int8}, {ID: catalog.Int8}, {ID: catalog.Int4},
	{ID: catalog.Numeric, Prec: 15, Scale: 2}, {ID: catalog.Numeric, Prec: 15, Scale: 2},
	{ID: catalog.Numeric, Prec: 15, Scale: 2}, {ID: catalog.Numeric, Prec: 15, Scale: 2},
	{ID: catalog.Char, Prec: 1}, {ID: catalog.Char, Prec: 1},
	{ID: catalog.Date}, {ID: catalog.Date}, {ID: catalog.Date},
	{ID: catalog.Char, Prec: 25}, {ID: catalog.Char, Prec: 10}, {ID: catalog.Varchar, Prec: 44},
}

// lineitemBatch makes rows like TPC-H's: four lines an order.
func lineitemBatch(r *rand.Rand, firstRow, n int) *vector.Batch {
	b := &vector.Batch{N: n}
	instructs := []string{"DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"}
	for c, typ := range lineitemTypes {
		v := vector.New(typ.Kind(), n)
		for i := range n {
			row := firstRow + i
			switch c {
			case 0:
				vector.Append(v, int64(row/4+1))
			case 3:
				vector.Append(v, int32(row%4+1))
			case 10, 11, 12:
				vector.Append(v, int32(8000+r.IntN(2500)))
			case 8, 9:
				v.AppendString("NRAFO"[r.IntN(4):][:1])
			case 13:
				s := instructs[r.IntN(4)]
				v.AppendString(s + blanks(25-len(s)))
			case 14:
				v.AppendString("TRUCK     ")
			case 15:
				v.AppendString("egular courts above the carefully ironic foxes"[r.IntN(20):][:20+r.IntN(6)])
			default:
				vector.Append(v, int64(r.IntN(1000000)))
			}
		}
		b.Vecs = append(b.Vecs, v)
	}
	return b
}

func BenchmarkCodec(b *testing.B) {
	tbl := benchTable()
	l := mustLayout(b, tbl)
	batch := lineitemBatch(rand.New(rand.NewPCG(1, 2)), 0, vector.BatchCap)
	n := batch.N
	perRow := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/row")
		b.ReportAllocs()
	}
	var enc rowEncoder
	b.Run("encode-rows", func(b *testing.B) {
		for b.Loop() {
			enc.encode(l, batch)
		}
		perRow(b)
	})
	rows := enc.encode(l, batch)
	list := make([][]byte, n)
	for i := range list {
		list[i] = rows.row(i)
	}
	cols := newColumnBufs(tbl)
	decode := func(b *testing.B, which []int, put func(c int)) {
		for b.Loop() {
			for _, c := range which {
				cols[c].reset()
				put(c)
			}
		}
		perRow(b)
	}
	all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	for name, which := range map[string][]int{"16cols": all, "3ints": {0, 4, 10}, "comment": {15}} {
		b.Run("decode-rows/"+name, func(b *testing.B) {
			decode(b, which, func(c int) { cols[c].putRows(0, l.current.row, c, list) })
		})
	}
	b.Run("encode-page", func(b *testing.B) {
		var buf []byte
		for b.Loop() {
			for first := 0; first+64 <= n; first += 64 {
				buf, _ = appendPage(buf[:0], l, batch.Vecs, first, 64, ^uint64(0))
			}
		}
		perRow(b)
	})
	var pages [][]byte
	for first := 0; first+64 <= n; first += 64 {
		data, _ := appendPage(nil, l, batch.Vecs, first, 64, ^uint64(0))
		pages = append(pages, data)
	}
	b.Run("copy-page", func(b *testing.B) { // what a packed page in front of its overrides would cost
		buf := make([]byte, maxPageBytes)
		for b.Loop() {
			for _, data := range pages {
				copy(buf, data)
			}
		}
		perRow(b)
	})
	for name, which := range map[string][]int{"16cols": all, "3ints": {0, 4, 10}, "comment": {15}} {
		b.Run("decode-page/"+name, func(b *testing.B) {
			var p page
			for b.Loop() {
				for _, c := range which {
					cols[c].reset()
				}
				for i, data := range pages {
					_ = p.parse(data, l)
					for _, c := range which {
						_ = cols[c].putPage(i*64, &p, c, 0, 64)
					}
				}
			}
			perRow(b)
		})
	}
}
