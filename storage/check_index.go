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
	vecs  []*vector.Vector
	key   []byte
	wrong bool // a row has not found its entry

	unread int // entries that could not be read
	// fetcher reads the rows that entries name; nil until there is need.
	fetcher *Fetcher
	fetched vector.Batch
}

func newEntryProbe(c *tableCheck, ix *indexCodec) (*entryProbe, error) {
	p := &entryProbe{table: c, ix: ix, vecs: make([]*vector.Vector, len(ix.cols))}
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

// find moves to a key and reports whether it is there. Rows often come in the order of an index, so
// the next entry is tried before the tree is searched.
// maxUnread is how many entries of an index may be unreadable before no more are looked for. Pebble
// spends up to seconds on each block that is damaged.
const maxUnread = 3

func (p *entryProbe) find(key []byte) bool {
	if p.it.Valid() && p.it.Next() && bytes.Equal(p.it.Key(), key) {
		return true
	}
	return p.it.SeekGE(key) && bytes.Equal(p.it.Key(), key)
}

// row checks that row i of b, which has the table's columns, has its entry.
func (p *entryProbe) row(b *vector.Batch, i int, ref RowRef) {
	if p.unread >= maxUnread {
		return
	}
	for n, col := range p.ix.cols {
		p.vecs[n] = b.Vecs[col]
	}
	var hasNull bool
	p.key, hasNull = p.ix.appendRow(appendIndexPrefix(p.key[:0], p.ix.index.ID), p.vecs, i)
	suffixed := !p.ix.index.Unique || hasNull
	if suffixed {
		p.key = appendRef(p.key, ref)
	}
	if !p.find(p.key) {
		if err := p.it.Error(); err != nil {
			p.report("", "cannot be read: %v", oneLine{err})
			p.close()
			_ = p.open() // it worked before
			p.unread++
			return
		}
		p.report(placeOf(ref), "has no entry: key %s", p.text(p.key))
		return
	}
	value, err := p.it.ValueAndErr()
	switch {
	case err != nil:
		p.report(placeOf(ref), "its entry cannot be read: %v", oneLine{err})
	case suffixed && len(value) == 0 || !suffixed && len(value) == 8 && readRef(value) == ref:
	case !suffixed && len(value) == 8:
		p.foreign(ref, readRef(value))
	default:
		p.report(placeOf(ref), "its entry has a malformed value: key %s, value %x", p.text(p.key), value)
	}
}

// foreign reports a row of whose unique key the entry names another row.
func (p *entryProbe) foreign(ref, other RowRef) {
	if key, found, err := p.keyOf(other); err == nil && found && bytes.Equal(key, p.key) {
		p.report(placeOf(ref), "its key %s is not unique: %s has it too", p.text(p.key), placeOf(other))
		return
	}
	p.report(placeOf(ref), "the entry of its key %s names %s", p.text(p.key), placeOf(other))
}

// keyOf makes the key that a row's entry must have; found is false when there is no such row.
func (p *entryProbe) keyOf(ref RowRef) (key []byte, found bool, err error) {
	t := p.table
	if !slices.Contains(t.tbl.Stores, ref.Store()) {
		return nil, false, nil
	}
	if t.unreadable[groupID{ref.Store(), ref.Group()}] {
		return nil, false, errBadPage // every try would read the damaged block again
	}
	if p.fetcher == nil {
		if p.fetcher, err = t.view.newFetcher(t.tbl, p.ix.cols, 1); err != nil {
			return nil, false, err
		}
		p.fetcher.uncached = true
	}
	missing, err := p.fetcher.Fetch(ref.Store(), []uint64{ref.Row()}, &p.fetched)
	if err != nil {
		_ = p.fetcher.Close()
		p.fetcher = nil
	}
	if err != nil || missing != nil {
		return nil, false, err
	}
	key, hasNull := p.ix.appendRow(appendIndexPrefix(nil, p.ix.index.ID), p.fetched.Vecs, 0)
	if !p.ix.index.Unique || hasNull {
		key = appendRef(key, ref)
	}
	return key, true, nil
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
	if count != p.table.rows {
		p.report("", "%d entries for %d rows", count, p.table.rows)
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
	ref, err := entryRef(key, value)
	if err == nil {
		_, _, err = p.ix.decode(key[indexPrefixLen:])
	}
	if err != nil {
		p.report("", "malformed entry: key %x, value %x", key, value)
		return
	}
	want, found, err := p.keyOf(ref)
	switch {
	case err != nil: // the row is reported already
	case !found:
		p.report("key "+p.text(key), "names %s, which does not exist", placeOf(ref))
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
		texts[i] = p.table.e.FormatValue(p.ix.keyCodec.cols[i].typ, v)
	}
	return "(" + strings.Join(texts, ", ") + ")"
}
