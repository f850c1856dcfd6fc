package storage

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// checkedEngine has a table t(id bigint primary key, v text) with an index on v: rows 0 … 199 in
// packed pages, of which some are changed and deleted again, and a sequence s.
func checkedEngine(t *testing.T) (*Engine, *catalog.Table) {
	e := openTest(t, Options{NoFold: true})
	t.Cleanup(func() { _ = e.Close() })
	tbl := kvTable(e, "t")
	tbl.Indexes = append(tbl.Indexes, catalog.Index{ID: e.NewIndexID(), Name: "t_v", Columns: []catalog.ColumnID{2}, Desc: []bool{true}, Plain: true})
	tbl = createTable(t, e, tbl)
	x := e.Begin(TxnOptions{})
	l, err := x.NewLoader(bg, tbl)
	must(t, err)
	var pairs []any
	for i := range 200 {
		pairs = append(pairs, i, fmt.Sprint("text ", i%50))
	}
	must(t, l.Append(0, kv(pairs...)))
	_, err = l.Finish()
	must(t, err)
	must(t, x.Commit(bg))
	tbl = e.Catalog().Table(tbl.ID)
	x = e.Begin(TxnOptions{})
	_, err = x.Update(bg, tbl, []RowRef{refOf(t, x, tbl, 3)}, kv(3, "changed"))
	must(t, err)
	_, err = x.Delete(bg, tbl, []RowRef{refOf(t, x, tbl, 4), refOf(t, x, tbl, 199)})
	must(t, err)
	_, err = x.Insert(bg, tbl, kv(1000, ""))
	must(t, err)
	must(t, x.Commit(bg))
	createTable(t, e, &catalog.Table{ID: e.NewTableID(), Schema: "public", Name: "s", Kind: catalog.SequenceRelation,
		Sequence: &catalog.Sequence{Type: int8Type, Start: 1, Increment: 1, Min: 1, Max: 100}, Stores: []catalog.StoreID{e.NewStoreID()}})
	_, _, err = e.NextValue(e.Catalog().Lookup("public", "s"))
	must(t, err)
	return e, tbl
}

// entryKey is the key of an index's entry for a row.
func entryKey(t *testing.T, e *Engine, tbl *catalog.Table, index int, ref RowRef, values ...vector.Datum) []byte {
	codec, err := e.codec(tbl)
	must(t, err)
	key, _ := codec.indexes[index].appendDatums(appendIndexPrefix(nil, tbl.Indexes[index].ID), values)
	if !tbl.Indexes[index].Unique {
		key = appendRef(key, ref)
	}
	return key
}

func TestCheckFindsDamage(t *testing.T) {
	type plant struct {
		name string
		do   func(t *testing.T, e *Engine, tbl *catalog.Table, b *pebble.Batch)
		want []string
	}
	text := func(s string) vector.Datum { return vector.StringDatum(s) }
	number := func(n int64) vector.Datum { return vector.IntDatum(vector.I64, n) }
	row := func(tbl *catalog.Table, id uint64) []byte { return appendRowKey(nil, tbl.Stores[0], id) }
	ref := func(tbl *catalog.Table, id uint64) RowRef { return MakeRowRef(tbl.Stores[0], id) }
	page := func(t *testing.T, e *Engine, tbl *catalog.Table, n uint64) (key, value []byte) {
		key = appendPageKey(nil, tbl.Stores[0], n, pageSlot)
		value, found, err := getValue(e.db, key)
		must(t, err)
		if !found {
			t.Fatal("no packed page")
		}
		return key, value
	}
	single := func(tbl *catalog.Table, e *Engine, t *testing.T, b *vector.Batch) []byte {
		x := e.Begin(TxnOptions{})
		defer x.Rollback()
		id := vector.Of[int64](b.Vecs[0])
		wanted := id[0]
		id[0] = 1 << 40 // no row has it
		r, err := x.Insert(bg, tbl, b)
		must(t, err)
		own, _, err := x.ownRow(r[0])
		must(t, err)
		row := append([]byte(nil), own...)
		binary.LittleEndian.PutUint64(row[5:], uint64(wanted))
		return row
	}
	for _, p := range []plant{
		{"nothing", func(*testing.T, *Engine, *catalog.Table, *pebble.Batch) {}, nil},
		{"row lost", func(t *testing.T, e *Engine, tbl *catalog.Table, b *pebble.Batch) { _ = b.Set(row(tbl, 10), nil, nil) },
			[]string{"public.t, store 2: 198 rows are stored, the counter says 199", "the open database counts 199",
				"public.t, index t_pkey: 199 entries for 198 rows", "public.t, index t_pkey, key (10): names store 2 row 10, which does not exist",
				"public.t, index t_v, key (text 10): names store 2 row 10, which does not exist"}},
		{"row doubled", func(t *testing.T, e *Engine, tbl *catalog.Table, b *pebble.Batch) {
			_ = b.Set(row(tbl, 199), single(tbl, e, t, kv(5000, "text 9")), nil)
			_ = b.Set(row(tbl, 198), single(tbl, e, t, kv(7, "text 7")), nil)
		}, []string{"store 2 row 198: its key (7) is not unique: store 2 row 7 has it too", "index t_pkey, store 2 row 199: has no entry: key (5000)",
			"index t_pkey, key (198): names store 2 row 198, whose key is (7)"}},
		{"old version", func(t *testing.T, e *Engine, tbl *catalog.Table, b *pebble.Batch) { _ = b.Delete(row(tbl, 3), nil) },
			[]string{"index t_v, store 2 row 3: has no entry: key (text 3)", "index t_v, key (changed): names store 2 row 3, whose key is (text 3)"}},
		{"tombstone lost", func(t *testing.T, e *Engine, tbl *catalog.Table, b *pebble.Batch) { _ = b.Delete(row(tbl, 4), nil) },
			[]string{"200 rows are stored", "store 2 row 4: has no entry: key (4)"}},
		{"malformed row", func(t *testing.T, e *Engine, tbl *catalog.Table, b *pebble.Batch) {
			_ = b.Set(row(tbl, 20), []byte{0, 1, 0, 0, 7}, nil)
		}, []string{"store 2 row 20: malformed row: 5 bytes", "198 rows are stored"}},
		{"row of the future", func(t *testing.T, e *Engine, tbl *catalog.Table, b *pebble.Batch) {
			v := single(tbl, e, t, kv(20, "x"))
			v[1] = 9
			_ = b.Set(row(tbl, 20), v, nil)
		}, []string{"store 2 row 20: row has schema version 9, the table 1"}},
		{"malformed text", func(t *testing.T, e *Engine, tbl *catalog.Table, b *pebble.Batch) {
			_ = b.Set(row(tbl, 20), single(tbl, e, t, kv(20, "\xff\xfe")), nil)
		}, []string{"store 2 row 20: malformed value in column v of type text"}},
		{"NULL", func(t *testing.T, e *Engine, tbl *catalog.Table, b *pebble.Batch) {
			v := single(tbl, e, t, kv(20, "text 20"))
			v[4] |= 1
			_ = b.Set(row(tbl, 20), v, nil)
		}, []string{"store 2 row 20: NULL in column id, which is NOT NULL"}},
		{"torn page", func(t *testing.T, e *Engine, tbl *catalog.Table, b *pebble.Batch) {
			key, value := page(t, e, tbl, 1)
			_ = b.Set(key, value[:len(value)/2], nil)
		}, []string{"store 2 page 1: malformed packed page", "135 rows are stored"}},
		{"page says too much", func(t *testing.T, e *Engine, tbl *catalog.Table, b *pebble.Batch) {
			key, value := page(t, e, tbl, 1)
			value[1]++
			_ = b.Set(key, value, nil)
		}, []string{"store 2 page 1: malformed packed page"}},
		{"page with crossed ends", func(t *testing.T, e *Engine, tbl *catalog.Table, b *pebble.Batch) {
			key, value := page(t, e, tbl, 1)
			value[20+64*8], value[20+64*8+1] = 0xff, 0xff
			_ = b.Set(key, value, nil)
		}, []string{"store 2 page 1: cannot be decoded"}},
		{"changed value in a page", func(t *testing.T, e *Engine, tbl *catalog.Table, b *pebble.Batch) {
			key, value := page(t, e, tbl, 1)
			value[20]++ // id 64 becomes 65
			_ = b.Set(key, value, nil)
		}, []string{"store 2 row 64: its key (65) is not unique: store 2 row 65 has it too", "key (64): names store 2 row 64, whose key is (65)"}},
		{"row ids", func(t *testing.T, e *Engine, tbl *catalog.Table, b *pebble.Batch) {
			_ = b.Set(counterKey(tbl.Stores[0], counterIDs), appendU64(nil, 200), nil)
		}, []string{"store 2 row 200: its id was never handed out: ids end at 200"}},
		{"row count", func(t *testing.T, e *Engine, tbl *catalog.Table, b *pebble.Batch) {
			_ = b.Set(counterKey(tbl.Stores[0], counterRows), appendU64(nil, 7), nil)
		}, []string{"store 2: 199 rows are stored, the counter says 7"}},
		{"row key", func(t *testing.T, e *Engine, tbl *catalog.Table, b *pebble.Batch) {
			_ = b.Set(append(row(tbl, 20), 1), []byte("x"), nil)
			_ = b.Set(row(tbl, 20)[:6], []byte("x"), nil)
			_ = b.Set(appendPageKey(nil, tbl.Stores[0], 0, 70), []byte("x"), nil)
		}, []string{"malformed row key 40000000020000000000" + "1401", "malformed row key 400000000200", "malformed row key 40000000020000000000" + "46"}},
		{"group number", func(t *testing.T, e *Engine, tbl *catalog.Table, b *pebble.Batch) {
			_ = b.Set(groupKey(tbl.Stores[0], 0), appendU64(nil, 99), nil)
		}, []string{"store 2 group 0: last change is by commit 99, the database is at commit 5"}},
		{"group number lost", func(t *testing.T, e *Engine, tbl *catalog.Table, b *pebble.Batch) {
			_ = b.Delete(groupKey(tbl.Stores[0], 0), nil)
		}, []string{"store 2 group 0: has rows, but no number of its last change"}},
		{"entry lost", func(t *testing.T, e *Engine, tbl *catalog.Table, b *pebble.Batch) {
			_ = b.Delete(entryKey(t, e, tbl, 0, 0, number(50)), nil)
			_ = b.Delete(entryKey(t, e, tbl, 1, ref(tbl, 51), text("text 1")), nil)
		}, []string{"index t_pkey, store 2 row 50: has no entry: key (50)", "index t_v, store 2 row 51: has no entry: key (text 1)", "index t_v: 198 entries for 199 rows"}},
		{"entry too many", func(t *testing.T, e *Engine, tbl *catalog.Table, b *pebble.Batch) {
			_ = b.Set(entryKey(t, e, tbl, 0, 0, number(777)), appendRef(nil, ref(tbl, 50)), nil)
			_ = b.Set(entryKey(t, e, tbl, 1, MakeRowRef(9, 1), text("stray")), nil, nil)
		}, []string{"index t_pkey, key (777): names store 2 row 50, whose key is (50)", "index t_v, key (stray): names store 9 row 1, which does not exist"}},
		{"malformed entry", func(t *testing.T, e *Engine, tbl *catalog.Table, b *pebble.Batch) {
			_ = b.Set(appendIndexPrefix(nil, tbl.Indexes[0].ID), []byte("x"), nil)
			_ = b.Set(entryKey(t, e, tbl, 1, ref(tbl, 51), text("text 1")), []byte("no"), nil)
		}, []string{"index t_pkey: malformed entry: key 5000000003, value 78", "index t_v, store 2 row 51: its entry has a malformed value"}},
		{"entry elsewhere", func(t *testing.T, e *Engine, tbl *catalog.Table, b *pebble.Batch) {
			_ = b.Set(entryKey(t, e, tbl, 0, 0, number(50)), appendRef(nil, ref(tbl, 51)), nil)
		}, []string{"index t_pkey, store 2 row 50: the entry of its key (50) names store 2 row 51"}},
		{"orphans", func(t *testing.T, e *Engine, tbl *catalog.Table, b *pebble.Batch) {
			_ = b.Set(appendRowKey(nil, 77, 1), []byte("x"), nil)
			_ = b.Set(groupKey(77, 0), appendU64(nil, 1), nil)
			_ = b.Set(counterKey(77, counterRows), appendU64(nil, 1), nil)
			_ = b.Set(counterKey(78, counterIDs), appendU64(nil, 1), nil) // of a transaction without a commit
			_ = b.Set(appendIndexPrefix(nil, 79), nil, nil)
			_ = b.Set(tableKey(kindStats, 80), nil, nil)
			_ = b.Set([]byte("\x99what"), nil, nil)
			_ = b.Set(loadKey(1), []byte(`{"Stores":[81]}`), nil)
			_ = b.Set(appendRowKey(nil, 81, 1), []byte("x"), nil)
		}, []string{"database: rows of store 77, which does not exist", "numbers of last changes of store 77, which does not exist",
			"counters of store 77, which does not exist", "entries of index 79, which does not exist", "statistics of table 80, which does not exist", "malformed statistics: key 2800000050",
			"key of unknown kind: 9977686174"}},
		{"malformed numbers", func(t *testing.T, e *Engine, tbl *catalog.Table, b *pebble.Batch) {
			_ = b.Set(counterKey(tbl.Stores[0], 9), []byte("x"), nil)
			_ = b.Set(groupKey(tbl.Stores[0], 0), []byte("x"), nil)
			_ = b.Set(append([]byte{kindRow}, 0), nil, nil)
			_ = b.Set(loadKey(1), []byte("x"), nil)
		}, []string{"malformed counter", "malformed number of a group's last change", "malformed key 4000", "malformed note of a bulk load"}},
		{"sequence", func(t *testing.T, e *Engine, tbl *catalog.Table, b *pebble.Batch) {
			store := e.Catalog().Lookup("public", "s").Stores[0]
			_ = b.Set(counterKey(store, counterLast), appendU64(nil, 101), nil)
			_ = b.Set(counterKey(store, counterCalled), appendU64(nil, 2), nil)
			_ = b.Set(counterKey(store, counterRows), appendU64(nil, 2), nil)
		}, []string{"public.s: its value 101 is out of bounds (1..100)", "public.s: its mark of being used is 2", "public.s: its store has counters of a table"}},
		{"half a sequence", func(t *testing.T, e *Engine, tbl *catalog.Table, b *pebble.Batch) {
			_ = b.Delete(counterKey(e.Catalog().Lookup("public", "s").Stores[0], counterCalled), nil)
		}, []string{"public.s: half of its value is missing"}},
		{"commit number", func(t *testing.T, e *Engine, tbl *catalog.Table, b *pebble.Batch) {
			_ = b.Set(metaKey(metaCommit), appendU64(nil, 1), nil)
		}, []string{"the stored commit number is 1, the open database is at 5"}},
		{"table description", func(t *testing.T, e *Engine, tbl *catalog.Table, b *pebble.Batch) {
			_ = b.Set(tableKey(kindTable, 40), []byte("{}"), nil)
		}, []string{"malformed table description: key 2000000028", "description of table 40, which does not exist", "the stored catalog has version 4 with 3 relations"}},
		{"table description unreadable", func(t *testing.T, e *Engine, tbl *catalog.Table, b *pebble.Batch) {
			_ = b.Set(tableKey(kindTable, uint32(tbl.ID)), []byte("{"), nil)
		}, []string{"the catalog cannot be read: malformed table description"}},
	} {
		t.Run(p.name, func(t *testing.T) {
			e, tbl := checkedEngine(t)
			mustCheck(t, e)
			b := e.db.NewBatch()
			p.do(t, e, tbl, b)
			must(t, b.Commit(pebble.NoSync))
			if s := e.current.Swap(nil); s != nil {
				s.release() // it shows the state before
			}
			var found []string
			s, err := e.Check(bg, CheckOptions{Report: func(f Finding) { found = append(found, f.String()) }})
			must(t, err)
			if int(s.Findings) != len(found) || (len(found) == 0) != (len(p.want) == 0) {
				t.Errorf("%d findings counted, %d reported", s.Findings, len(found))
			}
			all := strings.Join(found, "\n")
			for _, want := range p.want {
				if !strings.Contains(all, want) {
					t.Errorf("not found: %s", want)
				}
			}
			if t.Failed() || testing.Verbose() {
				t.Logf("found:\n%s", all)
			}
		})
	}
}

// TestCheckDescriptions checks descriptions that cannot be right.
func TestCheckDescriptions(t *testing.T) {
	e, tbl := checkedEngine(t)
	bad := tbl.Clone()
	bad.Name, bad.ID, bad.Schema = "bad", 50, "nowhere"
	bad.Columns[1].ID, bad.Columns[1].AddedIn, bad.Columns[1].Name = 1, 7, "id"
	bad.DistributeBy = []catalog.ColumnID{9}
	bad.Indexes[0].Columns = []catalog.ColumnID{8}
	bad.Stores = append(bad.Stores, 99)
	snap := e.Catalog().WithTable(bad)
	snap.NextTable, snap.NextStore, snap.NextIndex = 3, 5, 4
	var found []string
	c := &check{e: e, ctx: bg, o: CheckOptions{Report: func(f Finding) { found = append(found, f.String()) }}, reported: map[string]int{}}
	d := &descriptionCheck{check: c, snap: snap, tbl: bad}
	d.identity()
	d.columns()
	d.spaces(map[catalog.StoreID]string{2: "public.t"}, map[catalog.IndexID]string{3: "public.t"})
	owned := &catalog.Table{ID: 1, Schema: "public", Name: "q", Kind: catalog.SequenceRelation, Stores: []catalog.StoreID{1},
		Sequence: &catalog.Sequence{Start: 1, Increment: 1, Min: 1, Max: 9, OwnerTable: 33}}
	(&descriptionCheck{check: c, snap: snap.WithTable(owned), tbl: owned}).identity()
	all := strings.Join(found, "\n")
	for _, want := range []string{"its id 50 is not below the next one, 3", "its schema does not exist", "column id has id 1, which is taken",
		"of schema version 7, the table of 1", "two columns have the name id", "distributed by column 9", "index t_pkey is on column 8",
		"it has 2 stores, not 1", "store 2 belongs to public.t too", "store 99 is not below the next one, 5", "index 3 belongs to public.t too",
		"index 4 is not below the next one, 4", "public.q: the column that owns it does not exist: table 33"} {
		if !strings.Contains(all, want) {
			t.Errorf("not found: %s", want)
		}
	}
	if t.Failed() {
		t.Log(all)
	}
}

// TestCheckManyGroups checks a table of several groups and nodes.
func TestCheckManyGroups(t *testing.T) {
	e := openTest(t, Options{InMemory: true, Nodes: 2})
	defer func() { must(t, e.Close()) }()
	tbl := createTable(t, e, kvTable(e, "t"))
	const rows = 5 * GroupRows
	x := e.Begin(TxnOptions{})
	l, err := x.NewLoader(bg, tbl)
	must(t, err)
	must(t, loadRows(newRand(t), l, sequence(rows), shortText))
	_, err = l.Finish()
	must(t, err)
	must(t, x.Commit(bg))
	insertKV(t, e, e.Catalog().Table(tbl.ID), 10*rows, "single")
	if s := mustCheck(t, e); s.Rows != rows+1 || s.Entries != rows+1 {
		t.Errorf("%+v", s)
	}
}

// TestCheckIsBounded loses an index: the findings are counted, but only some of them reported.
func TestCheckIsBounded(t *testing.T) {
	e, tbl := checkedEngine(t)
	low, high := storeBounds(kindIndex, uint32(tbl.Indexes[1].ID))
	must(t, e.db.DeleteRange(low, high, pebble.NoSync))
	e.dropStale()
	if s := e.current.Swap(nil); s != nil {
		s.release()
	}
	reported := 0
	var last Finding
	s, err := e.Check(bg, CheckOptions{Report: func(f Finding) { reported++; last = f }})
	must(t, err)
	if s.Findings != 200 || reported != maxTableFindings+1 || last.String() != "public.t: 100 more findings" {
		t.Errorf("%d findings, %d reported, the last one: %s", s.Findings, reported, last)
	}
}

func TestCheckProgressAndCancel(t *testing.T) {
	e, _ := checkedEngine(t)
	done, total := int64(0), int64(0)
	s, err := e.Check(bg, CheckOptions{Progress: func(d, n int64) { done, total = d, n }})
	must(t, err)
	if want := (CheckSummary{Tables: 1, Indexes: 2, Sequences: 1, Rows: 199, Entries: 398}); s != want || done != 597 || total != 597 {
		t.Errorf("%+v, %d of %d", s, done, total)
	}
	ctx, cancel := context.WithCancel(bg)
	cancel()
	_, err = e.Check(ctx, CheckOptions{})
	wantCode(t, err, sqlerr.QueryCanceled)
}

// TestReservationsOfLostStores reserves row ids and sequence values in relations that are never
// committed: their numbers are used again after re-opening, by relations that begin at the start.
func TestReservationsOfLostStores(t *testing.T) {
	dir := t.TempDir()
	e := openTest(t, Options{Dir: dir})
	sequence := func() *catalog.Table {
		return &catalog.Table{ID: e.NewTableID(), Schema: "public", Name: "s", Kind: catalog.SequenceRelation,
			Sequence: &catalog.Sequence{Type: int8Type, Start: 1, Increment: 1, Min: 1, Max: 1000}, Stores: []catalog.StoreID{e.NewStoreID()}}
	}
	lost := sequence()
	x := e.Begin(TxnOptions{})
	must(t, x.SetCatalog(bg, x.Catalog().WithTable(lost)))
	tbl := kvTable(e, "t")
	must(t, x.SetCatalog(bg, x.Catalog().WithTable(tbl)))
	_, err := x.Insert(bg, tbl, kv(1, "a"))
	must(t, err)
	_, _, err = e.NextValue(lost)
	must(t, err)
	x.Rollback()
	mustCheck(t, e)
	must(t, e.Close())
	e = openTest(t, Options{Dir: dir})
	defer func() { must(t, e.Close()) }()
	again := sequence()
	if again.Stores[0] != lost.Stores[0] {
		t.Fatal("the store's number is not used again: the test shows nothing")
	}
	again = createTable(t, e, again)
	if n, _, err := e.NextValue(again); n != 1 || err != nil {
		t.Errorf("a new sequence begins with %d, %v", n, err)
	}
	if n := countKeys(t, e, kindCounter); n != 2 {
		t.Errorf("%d counters, want the new sequence's two", n)
	}
	mustCheck(t, e)
}
