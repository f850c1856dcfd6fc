package storage

import (
	"context"
	"flag"
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

var bg = context.Background()

// spillFlag makes every test's transactions spill above a number of bytes, and wholeFlag lock tables
// above a number of locks.
var (
	spillFlag = flag.Int64("spill", 0, "let transactions spill above this many bytes")
	wholeFlag = flag.Int("whole", 0, "let transactions lock tables above this many locks")
)

func openTest(t testing.TB, o Options) *Engine {
	t.Helper()
	if o.SpillBytes == 0 {
		o.SpillBytes = *spillFlag
	}
	if o.WholeTableLocks == 0 {
		o.WholeTableLocks = *wholeFlag
	}
	if o.Dir == "" {
		o.InMemory = true
	}
	e, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// memEngine opens a database in memory that ends with the test.
func memEngine(t testing.TB) *Engine {
	e := openTest(t, Options{})
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

var (
	int4Type = catalog.Type{ID: catalog.Int4}
	int8Type = catalog.Type{ID: catalog.Int8}
	textType = catalog.Type{ID: catalog.Text}
)

// kvTable describes a table t(id bigint primary key, v text) on the engine's data nodes.
func kvTable(e *Engine, name string) *catalog.Table {
	tbl := &catalog.Table{ID: e.NewTableID(), Schema: catalog.DefaultSchema, Name: name, SchemaVersion: 1, NextColumn: 3,
		Columns: []catalog.Column{
			{ID: 1, Name: "id", Type: int8Type, NotNull: true, AddedIn: 1},
			{ID: 2, Name: "v", Type: textType, AddedIn: 1}},
		Indexes:      []catalog.Index{{ID: e.NewIndexID(), Name: name + "_pkey", Columns: []catalog.ColumnID{1}, Unique: true, Primary: true}},
		DistributeBy: []catalog.ColumnID{1},
	}
	for range e.Catalog().Nodes {
		tbl.Stores = append(tbl.Stores, e.NewStoreID())
	}
	return tbl
}

func createTable(t testing.TB, e *Engine, tbl *catalog.Table) *catalog.Table {
	t.Helper()
	x := e.Begin(TxnOptions{})
	must(t, x.SetCatalog(bg, x.Catalog().WithTable(tbl)))
	must(t, x.Commit(bg))
	return e.Catalog().Table(tbl.ID)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// kv makes a batch of rows (id, text); text "" is NULL.
func kv(pairs ...any) *vector.Batch {
	id, v := vector.New(vector.I64, 4), vector.New(vector.Bytes, 4)
	for i := 0; i < len(pairs); i += 2 {
		vector.Append(id, int64(pairs[i].(int)))
		if s := pairs[i+1].(string); s != "" {
			vector.AppendDatum(v, vector.StringDatum(s))
		} else {
			vector.AppendDatum(v, vector.NullDatum(vector.Bytes))
		}
	}
	return &vector.Batch{N: len(pairs) / 2, Vecs: []*vector.Vector{id, v}}
}

// contents reads a table through a view: "id=text" sorted by id, NULL as "null".
func contents(t testing.TB, v *View, tbl *catalog.Table) string {
	t.Helper()
	type row struct {
		id   int64
		text string
	}
	var rows []row
	for _, store := range tbl.Stores {
		groups, err := v.Groups(store)
		must(t, err)
		for g := range groups {
			c, err := v.ScanGroup(tbl, store, g, []int{0, 1}, ScanOptions{Refs: true})
			must(t, err)
			var b vector.Batch
			last := int64(-1)
			for {
				more, err := c.Next(&b)
				must(t, err)
				if !more {
					break
				}
				for i := range b.N {
					ref := vector.Of[int64](b.Vecs[2])[i]
					if ref <= last || RowRef(ref).Store() != store {
						t.Fatalf("reference %x after %x", ref, last)
					}
					last = ref
					r := row{vector.Of[int64](b.Vecs[0])[i], "null"}
					if !b.Vecs[1].IsNull(i) {
						r.text = string(b.Vecs[1].BytesAt(i))
					}
					rows = append(rows, r)
				}
			}
			must(t, c.Close())
		}
	}
	sort.Slice(rows, func(i, j int) bool { return rows[i].id < rows[j].id })
	list := make([]string, len(rows))
	for i, r := range rows {
		list[i] = fmt.Sprintf("%d=%s", r.id, r.text)
	}
	return strings.Join(list, " ")
}

func committed(t testing.TB, e *Engine, tbl *catalog.Table) string {
	t.Helper()
	v := e.View()
	defer v.Release()
	return contents(t, v, tbl)
}

func seen(t testing.TB, x *Txn, tbl *catalog.Table) string {
	t.Helper()
	v := x.View()
	defer v.Release()
	return contents(t, v, tbl)
}

func wantCode(t testing.TB, err error, code sqlerr.Code) {
	t.Helper()
	if sqlerr.CodeOf(err) != code {
		t.Fatalf("error %v, want code %s", err, code)
	}
}

func equal[T comparable](t testing.TB, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("got %v\nwant %v", got, want)
	}
}

// lookup finds a row by primary key.
func lookup(t testing.TB, v *View, tbl *catalog.Table, id int64) RowRef {
	t.Helper()
	ref, ok, err := v.LookupKey(tbl, tbl.PrimaryKey(), []vector.Datum{vector.IntDatum(vector.I64, id)})
	must(t, err)
	if !ok {
		return 0
	}
	return ref
}

// refOf finds a row as a transaction sees it.
func refOf(t testing.TB, x *Txn, tbl *catalog.Table, id int64) RowRef {
	t.Helper()
	v := x.View()
	defer v.Release()
	ref := lookup(t, v, tbl, id)
	if ref == 0 {
		t.Fatalf("no row %d", id)
	}
	return ref
}

func insertKV(t testing.TB, e *Engine, tbl *catalog.Table, pairs ...any) {
	t.Helper()
	x := e.Begin(TxnOptions{})
	_, err := x.Insert(bg, tbl, kv(pairs...))
	must(t, err)
	must(t, x.Commit(bg))
}

func TestInsertCommitReopen(t *testing.T) {
	for _, nodes := range []int{1, 2, 3} {
		fs := vfs.NewMem()
		e := openTest(t, Options{Dir: "db", FS: fs, Nodes: nodes})
		tbl := createTable(t, e, kvTable(e, "t"))
		insertKV(t, e, tbl, 1, "one", 2, "", 200, "x", 300, "y")
		equal(t, committed(t, e, tbl), "1=one 2=null 200=x 300=y")
		equal(t, e.RowCount(tbl), 4)
		id := e.DatabaseID()
		must(t, e.Close())

		e = openTest(t, Options{Dir: "db", FS: fs})
		tbl = e.Catalog().Lookup("public", "t")
		equal(t, len(tbl.Stores), nodes)
		equal(t, committed(t, e, tbl), "1=one 2=null 200=x 300=y")
		equal(t, e.RowCount(tbl), 4)
		equal(t, e.DatabaseID(), id)
		v := e.View()
		ref := lookup(t, v, tbl, 300)
		if nodes == 2 && (ref.Store() != tbl.Stores[0] || lookup(t, v, tbl, 200).Store() != tbl.Stores[0]) {
			t.Error("keys 200 and 300 are not on the first node")
		}
		v.Release()
		must(t, e.Close())
	}
}

func TestVisibility(t *testing.T) {
	e := memEngine(t)
	tbl := createTable(t, e, kvTable(e, "t"))
	insertKV(t, e, tbl, 1, "a", 2, "b")

	old := e.View()
	defer old.Release()
	rc, snap := e.Begin(TxnOptions{}), e.Begin(TxnOptions{Isolation: Snapshot})
	defer rc.Rollback()
	defer snap.Rollback()
	equal(t, seen(t, snap, tbl), "1=a 2=b")

	x := e.Begin(TxnOptions{})
	_, err := x.Insert(bg, tbl, kv(3, "c"))
	must(t, err)
	n, err := x.Delete(bg, tbl, []RowRef{refOf(t, x, tbl, 1)})
	must(t, err)
	equal(t, n, 1)
	refs, err := x.Update(bg, tbl, []RowRef{refOf(t, x, tbl, 2)}, kv(2, "B"))
	must(t, err)
	equal(t, refs[0], refOf(t, x, tbl, 2))
	equal(t, seen(t, x, tbl), "2=B 3=c")
	equal(t, seen(t, rc, tbl), "1=a 2=b")
	must(t, x.Commit(bg))

	equal(t, seen(t, rc, tbl), "2=B 3=c")
	equal(t, seen(t, snap, tbl), "1=a 2=b")
	equal(t, contents(t, old, tbl), "1=a 2=b")
	equal(t, committed(t, e, tbl), "2=B 3=c")
	equal(t, e.RowCount(tbl), 2)
}

func TestCommandNumbers(t *testing.T) {
	e := memEngine(t)
	tbl := createTable(t, e, kvTable(e, "t"))
	insertKV(t, e, tbl, 1, "a")
	x := e.Begin(TxnOptions{})
	defer x.Rollback()

	x.BeginStatement()
	v := x.View()
	for i := range 3 { // INSERT … SELECT from itself sees none of its own rows
		_, err := x.Insert(bg, tbl, kv(10+i, "n"))
		must(t, err)
		equal(t, contents(t, v, tbl), "1=a")
	}
	x.EndStatement()
	equal(t, contents(t, v, tbl), "1=a") // nor does a cursor left open
	v.Release()
	equal(t, seen(t, x, tbl), "1=a 10=n 11=n 12=n")

	x.BeginStatement()
	ref := refOf(t, x, tbl, 1)
	_, err := x.Update(bg, tbl, []RowRef{ref}, kv(1, "b"))
	must(t, err)
	again, err := x.Update(bg, tbl, []RowRef{ref}, kv(1, "c")) // the same row twice in one statement
	must(t, err)
	equal(t, again[0], 0)
	x.EndStatement()
	equal(t, seen(t, x, tbl), "1=b 10=n 11=n 12=n")
	must(t, x.Commit(bg))
	equal(t, committed(t, e, tbl), "1=b 10=n 11=n 12=n")
}

func TestSavepoints(t *testing.T) {
	e := memEngine(t)
	tbl := createTable(t, e, kvTable(e, "t"))
	insertKV(t, e, tbl, 1, "a", 2, "b")
	x := e.Begin(TxnOptions{})
	_, err := x.Insert(bg, tbl, kv(3, "c"))
	must(t, err)
	sp := x.Savepoint()
	for range 2 {
		_, err = x.Insert(bg, tbl, kv(4, "d"))
		must(t, err)
		_, err = x.Delete(bg, tbl, []RowRef{refOf(t, x, tbl, 1), refOf(t, x, tbl, 3)})
		must(t, err)
		_, err = x.Update(bg, tbl, []RowRef{refOf(t, x, tbl, 2)}, kv(5, "B"))
		must(t, err)
		equal(t, seen(t, x, tbl), "4=d 5=B")
		x.RollbackTo(sp)
		equal(t, seen(t, x, tbl), "1=a 2=b 3=c")
	}
	x.BeginStatement()
	_, err = x.Insert(bg, tbl, kv(6, "f", 1, "dup"))
	wantCode(t, err, sqlerr.UniqueViolation)
	x.RollbackStatement()
	equal(t, seen(t, x, tbl), "1=a 2=b 3=c")
	_, err = x.Insert(bg, tbl, kv(6, "f"))
	must(t, err)
	must(t, x.Commit(bg))
	equal(t, committed(t, e, tbl), "1=a 2=b 3=c 6=f")
	equal(t, e.RowCount(tbl), 4)
}

func TestUniqueErrors(t *testing.T) {
	e := memEngine(t)
	tbl := kvTable(e, "t")
	tbl.Indexes[0].Columns = []catalog.ColumnID{1, 2}
	tbl = createTable(t, e, tbl)
	insertKV(t, e, tbl, 1, "a")
	x := e.Begin(TxnOptions{})
	defer x.Rollback()
	_, err := x.Insert(bg, tbl, kv(1, "b", 1, "a"))
	wantCode(t, err, sqlerr.UniqueViolation)
	se := err.(*sqlerr.Error)
	equal(t, se.Message, `duplicate key value violates unique constraint "t_pkey"`)
	equal(t, se.Detail, "Key (id, v)=(1, a) already exists.")
	equal(t, se.ConstraintName, "t_pkey")

	// Twice in one batch, and after a deletion in the same transaction.
	_, err = x.Insert(bg, tbl, kv(2, "a", 2, "a"))
	wantCode(t, err, sqlerr.UniqueViolation)
	_, err = x.Delete(bg, tbl, mustRefs(t, x, tbl))
	must(t, err)
	_, err = x.Insert(bg, tbl, kv(1, "a"))
	must(t, err)
	equal(t, seen(t, x, tbl), "1=a")

	_, err = x.Insert(bg, tbl, &vector.Batch{N: 1, Vecs: []*vector.Vector{
		vector.ConstOf(vector.NullDatum(vector.I64)), vector.ConstOf(vector.StringDatum("z"))}})
	wantCode(t, err, sqlerr.NotNullViolation)
	se = err.(*sqlerr.Error)
	equal(t, se.Message, `null value in column "id" of relation "t" violates not-null constraint`)
	equal(t, se.Detail, "Failing row contains (null, z).")
	equal(t, se.ColumnName, "id")
}

// mustRefs returns the references of all rows a transaction sees.
func mustRefs(t testing.TB, x *Txn, tbl *catalog.Table) (refs []RowRef) {
	t.Helper()
	v := x.View()
	defer v.Release()
	for _, store := range tbl.Stores {
		groups, err := v.Groups(store)
		must(t, err)
		for g := range groups {
			c, err := v.ScanGroup(tbl, store, g, nil, ScanOptions{Refs: true})
			must(t, err)
			var b vector.Batch
			for {
				more, err := c.Next(&b)
				must(t, err)
				if !more {
					break
				}
				for _, r := range vector.Of[int64](b.Vecs[0])[:b.N] {
					refs = append(refs, RowRef(r))
				}
			}
			must(t, c.Close())
		}
	}
	return refs
}

// An update of the distribution key moves the row to another store.
func TestUpdateMovesRow(t *testing.T) {
	e := openTest(t, Options{Nodes: 2})
	defer func() { must(t, e.Close()) }()
	tbl := createTable(t, e, kvTable(e, "t"))
	insertKV(t, e, tbl, 200, "a", 300, "b")
	x := e.Begin(TxnOptions{})
	from := refOf(t, x, tbl, 200)
	to, err := x.Update(bg, tbl, []RowRef{from, refOf(t, x, tbl, 300)}, kv(100, "moved", 300, "stays"))
	must(t, err)
	if to[0].Store() != tbl.Stores[1] || to[1].Store() != tbl.Stores[0] {
		t.Fatalf("rows at %x %x", to[0], to[1])
	}
	equal(t, refOf(t, x, tbl, 100), to[0])
	must(t, x.Commit(bg))
	equal(t, committed(t, e, tbl), "100=moved 300=stays")
	equal(t, e.RowCount(tbl), 2)
	v := e.View()
	defer v.Release()
	equal(t, lookup(t, v, tbl, 200), 0)
	equal(t, lookup(t, v, tbl, 100), to[0])
}

func TestDDL(t *testing.T) {
	e := memEngine(t)
	tbl := createTable(t, e, kvTable(e, "t"))
	insertKV(t, e, tbl, 1, "a")
	old := e.View()

	// TRUNCATE with inserts before and after it, and a rolled back part.
	x := e.Begin(TxnOptions{})
	_, err := x.Insert(bg, tbl, kv(2, "lost"))
	must(t, err)
	empty := tbl.Clone()
	empty.Stores = []catalog.StoreID{e.NewStoreID()}
	empty.Indexes[0].ID = e.NewIndexID()
	empty.Epoch++
	must(t, x.SetCatalog(bg, x.Catalog().WithTable(empty)))
	_, err = x.Insert(bg, empty, kv(1, "new"))
	must(t, err)
	_, err = x.Insert(bg, tbl, kv(5, "old description"))
	wantCode(t, err, sqlerr.SerializationFailure)
	sp := x.Savepoint()
	must(t, x.SetCatalog(bg, x.Catalog().WithoutTable(tbl.ID)))
	_, err = x.Insert(bg, empty, kv(3, "gone"))
	wantCode(t, err, sqlerr.UndefinedTable)
	x.RollbackTo(sp)
	equal(t, seen(t, x, empty), "1=new")
	must(t, x.Commit(bg))

	equal(t, contents(t, old, old.Catalog().Table(tbl.ID)), "1=a") // the old view keeps its table
	old.Release()
	now := e.Catalog().Table(tbl.ID)
	equal(t, now.Stores[0], empty.Stores[0])
	equal(t, committed(t, e, now), "1=new")
	equal(t, e.RowCount(now), 1)

	// Two transactions create tables; both stay. Two take the same name; one does not.
	a, b := e.Begin(TxnOptions{}), e.Begin(TxnOptions{})
	must(t, a.SetCatalog(bg, a.Catalog().WithTable(kvTable(e, "a"))))
	must(t, b.SetCatalog(bg, b.Catalog().WithTable(kvTable(e, "b"))))
	must(t, a.Commit(bg))
	must(t, b.Commit(bg))
	if e.Catalog().Lookup("public", "a") == nil || e.Catalog().Lookup("public", "b") == nil {
		t.Error("a table got lost")
	}
	a, b = e.Begin(TxnOptions{}), e.Begin(TxnOptions{})
	must(t, a.SetCatalog(bg, a.Catalog().WithTable(kvTable(e, "c"))))
	must(t, b.SetCatalog(bg, b.Catalog().WithTable(kvTable(e, "c"))))
	must(t, a.Commit(bg))
	wantCode(t, b.Commit(bg), sqlerr.DuplicateTable)
}

func TestStats(t *testing.T) {
	fs := vfs.NewMem()
	e := openTest(t, Options{Dir: "db", FS: fs})
	tbl := createTable(t, e, kvTable(e, "t"))
	x := e.Begin(TxnOptions{})
	must(t, x.SetStats(tbl.ID, &catalog.Stats{Rows: 42}))
	must(t, x.Commit(bg))
	equal(t, e.Stats(tbl.ID).Rows, 42)
	must(t, e.Close())
	e = openTest(t, Options{Dir: "db", FS: fs})
	equal(t, e.Stats(tbl.ID).Rows, 42)
	x = e.Begin(TxnOptions{})
	must(t, x.SetCatalog(bg, x.Catalog().WithoutTable(tbl.ID)))
	must(t, x.Commit(bg))
	if e.Stats(tbl.ID) != nil {
		t.Error("statistics of a dropped table")
	}
	must(t, e.Close())
}
