package storage

import (
	"bytes"
	"math"
	"sort"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// fewRows is up to how many rows single reads are cheaper than an iterator.
const fewRows = 4

// readOldKeys reads the index keys of rows, which are locked, in their newest version: what the
// transaction wrote before, else the latest committed state. Rows to pass over are set in the
// result: those the running statement wrote already, and those deleted by the transaction.
func (t *Txn) readOldKeys(c *tableCodec, s *writeScratch, refs []RowRef) (skip vector.Bitmap, err error) {
	skip = vector.NewBitmap(len(refs))
	s.oldKeys.reset(len(refs), len(c.indexes))
	s.order = s.order[:0]
	if err := t.skipWritten(s, refs, skip); err != nil {
		return nil, err
	}
	sort.Slice(s.order, func(a, b int) bool {
		x, y := s.order[a], s.order[b]
		return refs[x] < refs[y] || refs[x] == refs[y] && x < y
	})
	kept := s.order[:0]
	last := RowRef(0)
	for _, i := range s.order {
		if refs[i] == last { // the same row twice: the first one counts
			skip.Set(i)
			continue
		}
		last = refs[i]
		kept = append(kept, i)
	}
	s.order = kept
	if len(kept) <= fewRows {
		return skip, t.readFewKeys(c, s, refs)
	}
	return skip, t.fetchKeys(c, s, refs)
}

// skipWritten divides rows into s.order and those to pass over.
func (t *Txn) skipWritten(s *writeScratch, refs []RowRef, skip vector.Bitmap) (err error) {
	started, o := t.statement().cmd, t.overlay
	o.mu.RLock()
	defer o.mu.RUnlock()
	r := spillReader{store: o.spill}
	defer func() { err = r.close(err) }()
	for i, ref := range refs {
		row, cmd, own, err := o.newestRow(&r, ref)
		if err != nil {
			return err
		}
		if own && (cmd >= started || row == nil) {
			skip.Set(i)
			continue
		}
		s.order = append(s.order, i)
	}
	return nil
}

// readFewKeys reads the keys of the rows in s.order one by one.
func (t *Txn) readFewKeys(c *tableCodec, s *writeScratch, refs []RowRef) error {
	bufs := make([]*columnBuf, len(c.keyCols))
	vecs := make([]*vector.Vector, len(c.keyCols))
	for n, col := range c.keyCols {
		bufs[n], vecs[n] = newColumnBuf(c.tbl.Columns[col].Type.Kind(), 1), &vector.Vector{}
	}
	for _, i := range s.order {
		row, err := t.newestRow(c, refs[i])
		if err != nil {
			return err
		}
		if row == nil {
			return &RowConflict{Index: i, Ref: refs[i], Deleted: true}
		}
		lay, err := c.ofRow(row)
		if err != nil {
			return err
		}
		one := [][]byte{row}
		for n, col := range c.keyCols {
			bufs[n].reset()
			if lay.at[col] < 0 {
				bufs[n].putConst(0, 1, c.missing[col])
			} else {
				bufs[n].putRows(0, lay.row, lay.at[col], one)
			}
			bufs[n].view(vecs[n], 1)
		}
		if err := s.setOldKeys(c, []int{i}, vecs); err != nil {
			return err
		}
	}
	return nil
}

// newestRow returns the newest version of a locked row in single form, nil if there is none.
func (t *Txn) newestRow(c *tableCodec, ref RowRef) ([]byte, error) {
	if row, own, err := t.ownRow(ref); own || err != nil {
		return row, err
	}
	if f := t.overlay.found.Load(); f != nil && f.ref == ref && t.e.journal.pageLastChange(ref.Store(), ref.Row()>>6) <= f.at {
		return f.row, nil
	}
	page, slot := ref.Row()>>6, int(ref.Row()&63)
	pages := t.e.pages.find(groupID{ref.Store(), ref.Group()})
	if p := pages.get(int(page&1023), math.MaxUint64); p != nil && p.changed.Load()>>slot&1 == 0 {
		r := pageReader{codec: c}
		r.loadCached(page, 1<<slot, p, nil)
		return r.loadedRow(slot)
	}
	return readRow(t.e.db, c.tableLayout, ref)
}

// ownRow returns a row's newest version in the transaction's writes, nil if it was deleted.
func (t *Txn) ownRow(ref RowRef) (row []byte, own bool, err error) {
	o := t.overlay
	o.mu.RLock()
	defer o.mu.RUnlock()
	r := spillReader{store: o.spill}
	row, _, own, err = o.newestRow(&r, ref)
	if r.it != nil { // the row is the iterator's
		row = bytes.Clone(row)
	}
	return row, own, r.close(err)
}

// fetchKeys reads the keys of the rows in s.order, which ascend.
func (t *Txn) fetchKeys(c *tableCodec, s *writeScratch, refs []RowRef) error {
	view := t.latest()
	defer view.Release()
	limit := min(len(s.order), vector.BatchCap)
	f, err := view.newFetcher(c.tbl, c.keyCols, limit)
	if err != nil {
		return err
	}
	defer f.Close()
	var b vector.Batch
	for left := s.order; len(left) > 0; {
		store, n := refs[left[0]].Store(), 0
		s.ids = s.ids[:0]
		for ; n < min(len(left), limit) && refs[left[n]].Store() == store; n++ {
			s.ids = append(s.ids, refs[left[n]].Row())
		}
		missing, err := f.Fetch(store, s.ids, &b)
		if err != nil {
			return err
		}
		for row, i := range left[:n] {
			if missing != nil && missing.Get(row) {
				return &RowConflict{Index: i, Ref: refs[i], Deleted: true}
			}
		}
		if err := s.setOldKeys(c, left[:n], b.Vecs); err != nil {
			return err
		}
		left = left[n:]
	}
	return nil
}

// setOldKeys encodes the index entries of rows from vectors of the columns c.keyCols.
func (s *writeScratch) setOldKeys(c *tableCodec, rows []int, vecs []*vector.Vector) error {
	for k := range c.indexes {
		ix := &c.indexes[k]
		err := s.oldKeys.fill(k, ix, vecs, c.inputAt[k], rows, len(rows))
		if err != nil && ix.index.State == catalog.IndexBuilding {
			// A row that was there before the index may be one whose expression fails. It has no entry,
			// and may be changed and deleted; the build fails if it stays.
			err = s.oldKeysSingly(c, k, rows, vecs)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// oldKeysSingly is setOldKeys for one index, which takes rows whose expressions fail as none of the
// index's.
func (s *writeScratch) oldKeysSingly(c *tableCodec, k int, rows []int, vecs []*vector.Vector) error {
	one := make([]*vector.Vector, len(vecs))
	for row, i := range rows {
		for n, v := range vecs {
			one[n] = &vector.Vector{}
			densify(one[n], v, vector.Sel{uint16(row)}, 1)
		}
		err := s.oldKeys.fill(k, &c.indexes[k], one, c.inputAt[k], []int{i}, 1)
		if err != nil && !sqlerr.CodeOf(err).OfData() {
			return err
		}
	}
	return nil
}
