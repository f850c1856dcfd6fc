package storage

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weftdb/weft/catalog"
)

// commitModel is a database of a few tables beside what each of them has to hold, by key.
type commitModel struct {
	t      *testing.T
	r      *rand.Rand
	o      Options
	fs     *vfs.MemFS
	e      *Engine
	tables []*catalog.Table
	rows   []map[int64]string
	next   int // key
}

// TestRandomCommits makes transactions of few and many rows in several tables, which insert, change and delete,
// also what they have inserted, and go back to savepoints; their commits are batches, files, and files of what
// was spilled. Between them pages are folded, and the database is closed, or crashes, and is opened again.
func TestRandomCommits(t *testing.T) {
	r := newRand(t)
	for range 12 {
		m := &commitModel{t: t, r: rand.New(rand.NewPCG(r.Uint64(), 9)), fs: vfs.NewCrashableMem()}
		m.o = Options{Dir: "/db", NoFold: true, CommitFileBytes: []int{0, 1, 1}[m.r.IntN(3)], SpillBytes: []int64{64 << 20, 1, 1 << 15}[m.r.IntN(3)], PageCacheBytes: []int64{0, 40 << 10}[m.r.IntN(2)]}
		m.open()
		for i := range 4 {
			m.tables, m.rows = append(m.tables, createTable(t, m.e, kvTable(m.e, fmt.Sprint("t", i)))), append(m.rows, map[int64]string{})
		}
		for range 12 {
			m.transaction()
			if m.r.IntN(4) == 0 {
				m.fold()
			}
			if m.r.IntN(5) == 0 {
				m.reopen()
			}
		}
		mustCheck(t, m.e)
		must(t, m.e.Close())
	}
}

func (m *commitModel) open() {
	m.t.Helper()
	var err error
	m.o.FS = m.fs
	m.e, err = Open(m.o)
	must(m.t, err)
}

// transaction makes a transaction and compares what is there afterwards.
func (m *commitModel) transaction() {
	x := m.e.Begin(TxnOptions{NoSyncWait: m.r.IntN(2) == 0})
	rows := cloneAll(m.rows)
	var undo Savepoint
	var undone []map[int64]string
	for range 1 + m.r.IntN(8) {
		i := m.r.IntN(len(m.tables))
		switch m.r.IntN(9) {
		case 0, 1, 2:
			m.insert(x, i, rows[i])
		case 3, 4, 5:
			m.change(x, i, rows[i])
		case 6:
			before := maps.Clone(rows[i])
			m.insert(x, i, rows[i])
			maps.DeleteFunc(rows[i], func(id int64, _ string) bool { _, had := before[id]; return !had && m.remove(x, i, id) })
		case 7:
			undo, undone = x.Savepoint(), cloneAll(rows)
		case 8:
			if undone != nil {
				x.RollbackTo(undo)
				rows = cloneAll(undone)
			}
		}
	}
	if m.r.IntN(6) == 0 {
		x.Rollback()
	} else {
		must(m.t, x.Commit(bg))
		m.rows = rows
	}
	m.compare("after a transaction")
}

func cloneAll(all []map[int64]string) []map[int64]string {
	out := make([]map[int64]string, len(all))
	for i := range all {
		out[i] = maps.Clone(all[i])
	}
	return out
}

func (m *commitModel) insert(x *Txn, i int, rows map[int64]string) {
	n := []int{1, 10, 64, 128, 200, 400}[m.r.IntN(6)]
	text := fmt.Sprint("x", m.r.IntN(1000))
	_, err := x.Insert(bg, m.tables[i], numbered(m.next, m.next+n, text))
	must(m.t, err)
	for range n {
		rows[int64(m.next)] = text
		m.next++
	}
}

func (m *commitModel) remove(x *Txn, i int, id int64) bool {
	_, err := x.Delete(bg, m.tables[i], []RowRef{refOf(m.t, x, m.tables[i], id)})
	must(m.t, err)
	return true
}

// change updates or deletes some of a table's rows.
func (m *commitModel) change(x *Txn, i int, rows map[int64]string) {
	share, gone := []int{1, 3, 20}[m.r.IntN(3)], m.r.IntN(2) == 0
	var refs []RowRef
	var pairs []any
	for id := range rows {
		if m.r.IntN(share) != 0 {
			continue
		}
		refs, pairs = append(refs, refOf(m.t, x, m.tables[i], id)), append(pairs, int(id), fmt.Sprint("u", m.r.IntN(100)))
		if len(refs) == 500 {
			break
		}
	}
	if len(refs) == 0 {
		return
	}
	var err error
	if gone {
		_, err = x.Delete(bg, m.tables[i], refs)
	} else {
		_, err = x.Update(bg, m.tables[i], refs, kv(pairs...))
	}
	must(m.t, err)
	for k := 0; k < len(pairs); k += 2 {
		if id := int64(pairs[k].(int)); gone {
			delete(rows, id)
		} else {
			rows[id] = pairs[k+1].(string)
		}
	}
}

func (m *commitModel) fold() {
	for _, tbl := range m.tables {
		_, err := m.e.FoldGroup(bg, tbl, tbl.Stores[0], 0, m.e.CommitNumber())
		must(m.t, err)
	}
	m.compare("after folding")
}

// reopen closes the database, or lets it crash once all commits are durable, and opens it again.
func (m *commitModel) reopen() {
	v := m.e.View()
	must(m.t, v.WaitDurable(bg))
	v.Release()
	mustCheck(m.t, m.e)
	crashed := m.fs.CrashClone(vfs.CrashCloneCfg{})
	must(m.t, m.e.Close())
	if m.r.IntN(2) == 0 {
		m.fs = crashed
	}
	m.open()
	for i, tbl := range m.tables {
		m.tables[i] = m.e.Catalog().Table(tbl.ID)
	}
	m.compare("after opening")
}

// compare reads all tables, from the store and with what is in memory.
func (m *commitModel) compare(when string) {
	m.t.Helper()
	v := m.e.View()
	defer v.Release()
	for i, tbl := range m.tables {
		for _, stored := range []bool{true, false} {
			found, err := scanRows(v, tbl, ScanOptions{Refs: true, FromStore: stored})
			must(m.t, err)
			got := map[int64]string{}
			for id, row := range found {
				got[id] = row.text
			}
			if !maps.Equal(got, m.rows[i]) {
				m.t.Fatalf("%s: table %d has %d rows, want %d (files from %d bytes on, spilled from %d)", when, i, len(got), len(m.rows[i]), m.o.CommitFileBytes, m.o.SpillBytes)
			}
		}
	}
}
