package storage

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"

	"github.com/weftdb/weft/vector"
)

// entryProbe checks one index. Each row looks for its own entry, at the place its key encodes to;
// when all rows have found theirs and there are as many entries as rows, no entry is left over. Only
// when something is wrong are the entries themselves gone through, to name the bad ones.
type entryProbe struct {
	table *tableCheck
	ix    *indexCodec
	it    *pebble.Iterator
	keys  keyTable
	other keyTable         // of entryOf
	vecs  []*vector.Vector // scratch
	key   []byte
	value []byte
	rows  int64 // that belong to the index
	wrong bool  // a row has not found its entry

	unread int // entries that could not be read
	// fetcher reads the rows that entries name; nil until there is need.
	fetcher *Fetcher
	fetched vector.Batch
}

func newEntryProbe(c *tableCheck, ix *indexCodec) (*entryProbe, error) {
	p := &entryProbe{table: c, ix: ix, vecs: make([]*vector.Vector, len(ix.inputs))}
	return p, p.open()
}

func (p *entryProbe) open() (err error) {
	low, high := storeBounds(kindIndex, uint32(p.ix.index.ID))
	p.it, err = p.table.view.snap.db.NewIter(&pebble.IterOptions{LowerBound: low, UpperBound: high})
	return ioError("check index", err)
}

func (p *entryProbe) close() {
	_ = p.it.Close()
	if p.fetcher != nil {
		_ = p.fetcher.Close()
		p.fetcher = nil
	}
}

func (p *entryProbe) report(place, format string, args ...any) {
	p.wrong = true
	p.table.report(p.ix.index.Name, place, format, args...)
}

// maxUnread is how many entries of an index may be unreadable before no more are looked for. Pebble
// spends up to seconds on each block that is damaged.
const maxUnread = 3

// find moves to a key and reports whether it is there. Rows often come in the order of an index, so
// the next entry is tried before the tree is searched.
func (p *entryProbe) find(key []byte) bool {
	if p.it.Valid() && p.it.Next() && bytes.Equal(p.it.Key(), key) {
		return true
	}
	return p.it.SeekGE(key) && bytes.Equal(p.it.Key(), key)
}

// page checks that rows of b, which has the table's columns and the rows' references, have their
// entries.
func (p *entryProbe) page(b *vector.Batch, rows vector.Sel, refs []int64) {
	for n, col := range p.ix.inputs {
		p.vecs[n] = b.Vecs[col]
		if len(rows) < b.N {
			p.vecs[n] = &vector.Vector{}
			densify(p.vecs[n], b.Vecs[col], rows, len(rows))
		}
	}
	p.keys.reset(len(rows), 1)
	if err := p.keys.fill(0, p.ix, p.vecs, nil, nil, len(rows)); err != nil {
		p.report(placeOf(RowRef(refs[rows[0]])), "entries of rows from it on cannot be computed: %v", oneLine{err})
		return
	}
	for i, row := range rows {
		if x := p.keys.get(i, 0); x.present {
			p.rows++
			p.row(x, RowRef(refs[row]))
		}
	}
}

// stored returns the key and value of an entry, which are valid until the next call.
func (p *entryProbe) stored(x rowEntry, ref RowRef) (key, value []byte) {
	p.key = append(p.key[:0], x.key...)
	if x.suffixed {
		p.key = appendRef(p.key, ref)
	}
	p.value = appendEntryValue(p.value[:0], x.suffixed, ref, x.payload)
	return p.key, p.value
}

// row checks that a row has its entry.
func (p *entryProbe) row(x rowEntry, ref RowRef) {
	if p.unread >= maxUnread {
		return
	}
	key, want := p.stored(x, ref)
	if !p.find(key) {
		if err := p.it.Error(); err != nil {
			p.report("", "cannot be read: %v", oneLine{err})
			p.close()
			_ = p.open() // it worked before
			p.unread++
			return
		}
		p.report(placeOf(ref), "has no entry: key %s", p.text(key))
		return
	}
	value, err := p.it.ValueAndErr()
	if err == nil && bytes.Equal(value, want) {
		return
	}
	if err != nil {
		p.report(placeOf(ref), "its entry cannot be read: %v", oneLine{err})
		return
	}
	switch other, _, err := p.ix.splitEntry(key, value); {
	case err != nil || x.suffixed && x.payload == nil:
		p.report(placeOf(ref), "its entry has a malformed value: key %s, value %x", p.text(key), value)
	case other != ref:
		p.foreign(ref, other)
	default:
		p.report(placeOf(ref), "its entry has other included columns: key %s", p.text(key))
	}
}

// foreign reports a row of whose unique key the entry names another row.
func (p *entryProbe) foreign(ref, other RowRef) {
	mine := bytes.Clone(p.key)
	if key, _, found, err := p.entryOf(other); err == nil && found && bytes.Equal(key, mine) {
		p.report(placeOf(ref), "its key %s is not unique: %s has it too", p.text(mine), placeOf(other))
		return
	}
	p.report(placeOf(ref), "the entry of its key %s names %s", p.text(mine), placeOf(other))
}

// entryOf makes the entry that a row must have; found is false when there is no such row, key nil when
// it is none of the index's. Key and value are valid until the next call.
func (p *entryProbe) entryOf(ref RowRef) (key, value []byte, found bool, err error) {
	t := p.table
	if !slices.Contains(t.tbl.Stores, ref.Store()) {
		return nil, nil, false, nil
	}
	if t.unreadable[groupID{ref.Store(), ref.Group()}] {
		return nil, nil, false, errBadPage // every try would read the damaged block again
	}
	if p.fetcher == nil {
		if p.fetcher, err = t.view.newFetcher(t.tbl, p.ix.inputs, 1); err != nil {
			return nil, nil, false, err
		}
		p.fetcher.uncached = true
	}
	missing, err := p.fetcher.Fetch(ref.Store(), []uint64{ref.Row()}, &p.fetched)
	if err != nil {
		_ = p.fetcher.Close()
		p.fetcher = nil
	}
	if err != nil || missing != nil {
		return nil, nil, false, err
	}
	p.other.reset(1, 1)
	if err := p.other.fill(0, p.ix, p.fetched.Vecs, nil, nil, 1); err != nil {
		return nil, nil, false, err
	}
	x := p.other.get(0, 0)
	if !x.present {
		return nil, nil, true, nil
	}
	key, value = p.stored(x, ref)
	return key, value, true, nil
}

// entries counts the index's entries and, if that or a row has shown that something is wrong, goes
// through them.
func (p *entryProbe) entries() error {
	count := int64(0)
	err := p.each(func(key, value []byte) {
		count++
		p.table.progress(1)
	})
	p.table.summary.Entries += count
	if err != nil {
		return err
	}
	if count != p.rows {
		p.report("", "%d entries for %d rows", count, p.rows)
	}
	if !p.wrong {
		return nil
	}
	return p.each(p.entry)
}

// each calls fn for all entries.
func (p *entryProbe) each(fn func(key, value []byte)) error {
	n := 0
	for p.it.First(); p.it.Valid(); p.it.Next() {
		if n++; n&0xFFF == 0 {
			if err := p.table.canceled(); err != nil {
				return err
			}
		}
		value, err := p.it.ValueAndErr()
		if err != nil {
			break // the iterator has it too
		}
		fn(p.it.Key(), value)
	}
	if err := p.it.Error(); err != nil {
		p.report("", "cannot be read: %v", oneLine{err})
		p.close()
		return p.open()
	}
	return p.table.canceled()
}

// entry checks that an entry belongs to a row.
func (p *entryProbe) entry(key, value []byte) {
	ref, _, err := p.ix.splitEntry(key, value)
	if err == nil {
		_, _, err = p.ix.decode(key[indexPrefixLen:])
	}
	if err != nil {
		p.report("", "malformed entry: key %x, value %x", key, value)
		return
	}
	want, _, found, err := p.entryOf(ref)
	switch {
	case err != nil: // the row is reported already
	case !found:
		p.report("key "+p.text(key), "names %s, which does not exist", placeOf(ref))
	case want == nil:
		p.report("key "+p.text(key), "names %s, which does not belong to the index", placeOf(ref))
	case !bytes.Equal(key, want):
		p.report("key "+p.text(key), "names %s, whose key is %s", placeOf(ref), p.text(want))
	}
}

// placeOf names a row.
func placeOf(ref RowRef) string { return fmt.Sprintf("store %d row %d", ref.Store(), ref.Row()) }

// text prints the values of a key.
func (p *entryProbe) text(key []byte) string {
	values, _, err := p.ix.decode(key[min(indexPrefixLen, len(key)):])
	if err != nil {
		return fmt.Sprintf("%x", key)
	}
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = p.table.e.FormatValue(p.ix.cols[i].typ, v)
	}
	return "(" + strings.Join(texts, ", ") + ")"
}
