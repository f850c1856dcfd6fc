package storage

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// model is what a table should hold.
type model map[int]string

func (m model) String() string {
	ids := slices.Sorted(maps.Keys(m))
	return wantContents(ids, func(id int) string { return m[id] })
}

// modelTest runs random operations against the engine and against a map.
type modelTest struct {
	*testing.T
	r         *rand.Rand
	e         *Engine
	tbl       *catalog.Table
	options   Options
	committed model
	views     []*View
	expected  []model
}

func TestModel(t *testing.T) { testModel(t, scaled(15), Options{}) }

// TestModelSpilled lets every write of a transaction go to files, or every few.
func TestModelSpilled(t *testing.T) {
	for _, bytes := range []int64{1, 6000, 20000} {
		testModel(t, 1+scaled(5), Options{SpillBytes: bytes})
	}
}

// TestModelCommitFiles lets every transaction be committed as files, or the larger ones.
func TestModelCommitFiles(t *testing.T) {
	for _, bytes := range []int{1, 2000} {
		testModel(t, 1+scaled(6), Options{CommitFileBytes: bytes})
	}
}

func testModel(t *testing.T, rounds int, o Options) {
	for round := range rounds {
		o.Dir, o.FS, o.Nodes, o.MemTableBytes = "db", vfs.NewMem(), 1+round%3, 256<<10
		m := &modelTest{T: t, r: newRand(t), options: o, committed: model{}}
		m.e = openTest(t, o)
		tbl := kvTable(m.e, "t")
		tbl.Indexes = append(tbl.Indexes, catalog.Index{ID: m.e.NewIndexID(), Name: "t_v", Columns: []catalog.ColumnID{2}})
		if round%2 == 1 {
			tbl.Indexes[1].Include = []catalog.ColumnID{1}
		}
		m.tbl = createTable(t, m.e, tbl)
		for range 40 {
			m.step()
		}
		m.dropViews()
		mustCheck(t, m.e)
		must(t, m.e.Close())
	}
}

func (m *modelTest) step() {
	switch m.r.IntN(12) {
	case 0:
		m.fold()
	case 1:
		m.dropViews()
		must(m, m.e.Close())
		m.e = openTest(m, m.options)
		m.tbl = m.e.Catalog().Table(m.tbl.ID)
	case 2:
		m.truncate()
	case 3:
		m.load()
	case 4:
		must(m, m.e.db.Flush())
	default:
		m.transaction()
	}
	v := m.e.View()
	m.checkView(v, m.tbl, m.committed)
	equal(m, int(m.e.RowCount(m.tbl)), len(m.committed))
	if m.r.IntN(3) == 0 && len(m.views) < 4 {
		m.views, m.expected = append(m.views, v), append(m.expected, maps.Clone(m.committed))
	} else {
		v.Release()
	}
	for i, old := range m.views {
		equal(m, contents(m, old, old.Catalog().Table(m.tbl.ID)), m.expected[i].String())
	}
}

func (m *modelTest) dropViews() {
	for _, v := range m.views {
		v.Release()
	}
	m.views, m.expected = nil, nil
}

func (m *modelTest) fold() {
	for _, s := range m.tbl.Stores {
		_, err := m.e.FoldGroup(bg, m.tbl, s, 0, m.e.CommitNumber())
		must(m, err)
	}
}

func (m *modelTest) truncate() {
	x := m.e.Begin(TxnOptions{})
	empty := m.tbl.Clone()
	for i := range empty.Stores {
		empty.Stores[i] = m.e.NewStoreID()
	}
	for i := range empty.Indexes {
		empty.Indexes[i].ID = m.e.NewIndexID()
	}
	empty.Epoch++
	must(m, x.SetCatalog(bg, x.Catalog().WithTable(empty)))
	must(m, x.Commit(bg))
	m.tbl, m.committed = m.e.Catalog().Table(m.tbl.ID), model{}
}

func (m *modelTest) load() {
	if len(m.committed) > 0 {
		return
	}
	x := m.e.Begin(TxnOptions{})
	l, err := x.NewLoader(bg, m.tbl)
	must(m, err)
	ids := sequence(1 + m.r.IntN(400))
	must(m, loadRows(m.r, l, ids, shortText))
	_, err = l.Finish()
	must(m, err)
	must(m, x.Commit(bg))
	m.tbl = m.e.Catalog().Table(m.tbl.ID)
	for _, id := range ids {
		m.committed[id] = shortText(id)
	}
}

// transaction runs statements, some of which are undone.
func (m *modelTest) transaction() {
	x := m.e.Begin(TxnOptions{Isolation: Isolation(m.r.IntN(2))})
	now := maps.Clone(m.committed)
	saved, point := maps.Clone(now), x.Savepoint()
	for range 1 + m.r.IntN(6) {
		before := maps.Clone(now)
		x.BeginStatement()
		m.statement(x, now)
		if m.r.IntN(5) == 0 {
			x.RollbackStatement()
			now = before
		} else {
			x.EndStatement()
		}
		switch m.r.IntN(8) {
		case 0:
			x.RollbackTo(point)
			now = maps.Clone(saved)
		case 1:
			saved, point = maps.Clone(now), x.Savepoint()
		}
		v := x.View()
		m.checkView(v, m.tbl, now)
		v.Release()
	}
	if m.r.IntN(4) == 0 {
		x.Rollback()
		return
	}
	must(m, x.Commit(bg))
	m.committed = now
}

// statement writes some rows and changes now accordingly.
func (m *modelTest) statement(x *Txn, now model) {
	view := x.View()
	defer view.Release()
	ids := slices.Sorted(maps.Keys(now))
	m.r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	ids = ids[:m.r.IntN(min(len(ids), 60)+1)]
	refs := make([]RowRef, len(ids))
	for i, id := range ids {
		if refs[i] = lookup(m, view, m.tbl, int64(id)); refs[i] == 0 {
			m.Fatalf("key %d not found", id)
		}
	}
	switch m.r.IntN(3) {
	case 0:
		var pairs []any
		for range 1 + m.r.IntN(50) {
			id := m.r.IntN(2000)
			if _, taken := now[id]; !taken {
				now[id] = shortText(m.r.IntN(1000))
				pairs = append(pairs, id, now[id])
			}
		}
		_, err := x.Insert(bg, m.tbl, kv(pairs...))
		must(m, err)
	case 1:
		n, err := x.Delete(bg, m.tbl, refs)
		must(m, err)
		equal(m, n, len(ids))
		for _, id := range ids {
			delete(now, id)
		}
	case 2:
		var pairs []any
		for _, id := range ids {
			to := id
			if _, taken := now[id+5000]; !taken && m.r.IntN(3) == 0 {
				to = id + 5000
			}
			delete(now, id)
			now[to] = shortText(m.r.IntN(1000))
			pairs = append(pairs, to, now[to])
		}
		_, err := x.Update(bg, m.tbl, refs, kv(pairs...))
		must(m, err)
	}
}

// checkView reads the table in every way there is.
func (m *modelTest) checkView(v *View, tbl *catalog.Table, want model) {
	m.Helper()
	equal(m, contents(m, v, tbl), want.String())
	ids := slices.Sorted(maps.Keys(want))
	pkey := indexRefs(m, v, tbl, &tbl.Indexes[0], IndexRange{})
	equal(m, len(pkey), len(ids))
	reversed := indexRefs(m, v, tbl, &tbl.Indexes[0], IndexRange{Reverse: true})
	slices.Reverse(reversed)
	if !slices.Equal(pkey, reversed) {
		m.Fatal("reverse scan differs")
	}
	byRef := map[RowRef]int{}
	for i, ref := range pkey {
		byRef[ref] = ids[i]
	}
	m.checkFetch(v, tbl, byRef, want)
	m.checkPositions(v, tbl, byRef)
	if len(ids) == 0 {
		return
	}
	low, high := ids[m.r.IntN(len(ids))], ids[m.r.IntN(len(ids))]
	from, to := vector.IntDatum(vector.I64, int64(low)), vector.IntDatum(vector.I64, int64(high))
	got := indexRefs(m, v, tbl, &tbl.Indexes[0], IndexRange{Low: &from, High: &to, HighOpen: true})
	count := 0
	for _, id := range ids {
		if low <= id && id < high {
			count++
		}
	}
	equal(m, len(got), count)
	text := shortText(m.r.IntN(1000))
	d := vector.StringDatum(text)
	if text == "" {
		d = vector.NullDatum(vector.Bytes)
	}
	count = 0
	for _, s := range want {
		if s == text {
			count++
		}
	}
	equal(m, len(indexRefs(m, v, tbl, &tbl.Indexes[1], IndexRange{Prefix: []vector.Datum{d}})), count)
}

func indexRefs(t testing.TB, v *View, tbl *catalog.Table, ix *catalog.Index, r IndexRange) (refs []RowRef) {
	t.Helper()
	c, err := v.ScanIndex(tbl, ix, r)
	must(t, err)
	var buf [7]RowRef
	for {
		n, err := c.Next(buf[:])
		must(t, err)
		if n == 0 {
			break
		}
		refs = append(refs, buf[:n]...)
	}
	must(t, c.Close())
	return refs
}

// checkFetch fetches rows that exist and rows that do not.
func (m *modelTest) checkFetch(v *View, tbl *catalog.Table, byRef map[RowRef]int, want model) {
	for _, store := range tbl.Stores {
		var ids []uint64
		for ref := range byRef {
			if ref.Store() == store && m.r.IntN(3) == 0 {
				ids = append(ids, ref.Row())
			}
		}
		for range m.r.IntN(20) {
			ids = append(ids, uint64(m.r.IntN(3000)))
		}
		slices.Sort(ids)
		ids = slices.Compact(ids)
		f, err := v.NewFetcher(tbl, []int{1, 0})
		must(m, err)
		var b vector.Batch
		for len(ids) > 0 {
			n := min(len(ids), vector.BatchCap)
			missing, err := f.Fetch(store, ids[:n], &b)
			must(m, err)
			for i, row := range ids[:n] {
				id, exists := byRef[MakeRowRef(store, row)]
				if gone := missing != nil && missing.Get(i); gone == exists {
					m.Fatalf("row %d: missing %v", row, gone)
				}
				if !exists {
					if !b.Vecs[0].IsNull(i) || !b.Vecs[1].IsNull(i) {
						m.Fatal("missing row has values")
					}
					continue
				}
				equal(m, vector.Of[int64](b.Vecs[1])[i], int64(id))
				if b.Vecs[0].IsNull(i) != (want[id] == "") || string(b.Vecs[0].BytesAt(i)) != want[id] {
					m.Fatalf("row %d has text %q", id, b.Vecs[0].BytesAt(i))
				}
			}
			ids = ids[n:]
		}
		must(m, f.Close())
	}
}

// checkPositions scans with random position sets.
func (m *modelTest) checkPositions(v *View, tbl *catalog.Table, byRef map[RowRef]int) {
	for _, store := range tbl.Stores {
		var positions GroupBits
		var want []RowRef
		for range m.r.IntN(200) {
			positions.Set(m.r.IntN(3000))
		}
		for ref := range byRef {
			if ref.Store() == store && positions.Get(int(ref.Row())) {
				want = append(want, ref)
			}
		}
		sort.Slice(want, func(i, j int) bool { return want[i] < want[j] })
		var got []RowRef
		c, err := v.ScanGroup(tbl, store, 0, []int{1}, ScanOptions{Refs: true, Positions: &positions})
		must(m, err)
		var b vector.Batch
		for {
			more, err := c.Next(&b)
			must(m, err)
			if !more {
				break
			}
			for _, ref := range vector.Of[int64](b.Vecs[1])[:b.N] {
				got = append(got, RowRef(ref))
			}
		}
		must(m, c.Close())
		if !slices.Equal(got, want) {
			m.Fatalf("positions: got %v, want %v", got, want)
		}
	}
}

func TestBuildIndex(t *testing.T) {
	e := memEngine(t)
	tbl := createTable(t, e, kvTable(e, "t"))
	insertKV(t, e, tbl, 1, "b", 2, "a", 3, "", 4, "")
	x := e.Begin(TxnOptions{})
	_, err := x.Insert(bg, tbl, kv(5, "c"))
	must(t, err)
	index := catalog.Index{ID: e.NewIndexID(), Name: "t_v", Columns: []catalog.ColumnID{2}, Desc: []bool{true}, Unique: true}
	must(t, x.BuildIndex(bg, tbl, &index))
	next := tbl.Clone()
	next.Indexes = append(next.Indexes, index)
	must(t, x.SetCatalog(bg, x.Catalog().WithTable(next)))
	_, err = x.Insert(bg, next, kv(6, "a"))
	wantCode(t, err, sqlerr.UniqueViolation)
	_, err = x.Insert(bg, next, kv(6, "d"))
	must(t, err)
	must(t, x.Commit(bg))
	mustCheck(t, e)
	v := e.View()
	var ids []int64
	for _, ref := range indexRefs(t, v, next, &next.Indexes[1], IndexRange{}) {
		var b vector.Batch
		_, err := v.Fetch(next, ref.Store(), []uint64{ref.Row()}, []int{0}, &b)
		must(t, err)
		ids = append(ids, vector.Of[int64](b.Vecs[0])[0])
	}
	if !slices.Equal(ids, []int64{3, 4, 6, 5, 1, 2}) { // NULLs first, then d c b a
		t.Errorf("order %v", ids)
	}
	v.Release()

	x = e.Begin(TxnOptions{})
	_, err = x.Insert(bg, next, kv(7, "e", 8, "e2"))
	must(t, err)
	constant := catalog.Index{ID: e.NewIndexID(), Name: "bad", Columns: []catalog.ColumnID{2}, Unique: true}
	_, err = x.Update(bg, next, []RowRef{refOf(t, x, next, 8)}, kv(8, "zz"))
	must(t, err)
	must(t, x.BuildIndex(bg, next, &constant))
	x.Rollback()
	insertKV(t, e, next, 9, "q")
	x = e.Begin(TxnOptions{})
	defer x.Rollback()
	first := tbl.Clone()
	first.Indexes = nil
	first.ID, first.Name, first.Stores = e.NewTableID(), "nokey", []catalog.StoreID{e.NewStoreID()}
	must(t, x.SetCatalog(bg, x.Catalog().WithTable(first)))
	_, err = x.Insert(bg, first, kv(1, "x", 1, "y"))
	must(t, err)
	err = x.BuildIndex(bg, first, &catalog.Index{ID: e.NewIndexID(), Name: "u", Columns: []catalog.ColumnID{1}, Unique: true})
	wantCode(t, err, sqlerr.UniqueViolation)
	equal(t, err.(*sqlerr.Error).Detail, "Key (id)=(1) is duplicated.")
}
