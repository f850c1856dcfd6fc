package storage

import (
	"bytes"
	"context"
	"fmt"
	"math/bits"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
)

// The commit of a large transaction writes sorted files instead of one batch, and makes them visible by
// one ingestion in place of the batch's application. Rows then go to disk once: not to the log, to a table in
// memory and from there to a file, and where they lie above all others, as new ones do, they are not merged
// with any later.
//
//
//   - The files of rows and index entries are written before the commit mutex is taken. A new one begins
//     with every store and index, so that none spans the key space of another.
//   - All else, which is little and depends on the commit number, is put into the commit's batch as ever.
//     Under the commit mutex the batch is turned into files too: one of what is in front of the rows, one
//     for each dropped key space, which lies between the others as the transaction writes nothing there,
//     and one of what is behind the index entries.
//   - The log is synced before the ingestion, under the same mutex. What the commit relies on in the log,
//     ids reserved and earlier commits, is then durable when the files are.
//
// Pebble adds all files of an ingestion to the store at once, for readers by one step of the visible
// sequence number and on disk by one record, and has made that durable when it returns. The files hold
// the commit's number, by which takeSnapshot tells what a snapshot shows.

// newCommitFiles returns files for the rows and index entries of a commit.
func (e *Engine) newCommitFiles() *sstFiles {
	return &sstFiles{e: e, overwrites: true, name: e.fs.PathJoin(e.dirs.temp, fmt.Sprintf("commit-%d", e.nextLoad.Add(1)))}
}

// encodeSpilled writes the files of rows and index entries.
func (p *pendingCommit) encodeSpilled(ctx context.Context, spaces *spaceSet) error {
	e, o := p.t.e, p.t.overlay
	o.mu.Lock()
	err := o.moveToDisk(ctx, e)
	o.mu.Unlock()
	if err != nil {
		return err
	}
	w := &commitWriter{p: p, ctx: ctx, spaces: spaces, counts: map[catalog.StoreID]int64{}}
	if err := w.run(o.spill); err != nil {
		return err
	}
	return p.files.close()
}

// commitWriter puts the newest version of each row and index entry into the commit's files.
type commitWriter struct {
	p      *pendingCommit
	ctx    context.Context
	spaces *spaceSet // nil = all are committed
	count  int

	space  uint64 // kind and number of the key space being written
	skip   bool   // it will not exist
	counts map[catalog.StoreID]int64
	group  *touchedGroup // the last one of p.groups
	bound  *indexBound   // the last one of p.bounds
	value  []byte        // scratch
}

// newestVersion is what a commit needs to know of all live versions of a row or index entry.
type newestVersion struct {
	key      []byte
	row      []byte // or the reference and the payload
	flags    byte
	inserted bool // by the oldest version
}

func (w *commitWriter) run(s *spillStore) error {
	r := spillReader{store: s}
	if err := r.open(nil, nil); err != nil {
		return err
	}
	var v spilledVersion
	var n newestVersion
	known := false // n is a live version, of the key passed last
	for ok := r.it.First(); ok; ok = r.it.Next() {
		if w.count++; w.count%cancelCheck == 0 && w.ctx.Err() != nil {
			return r.close(sqlerr.New(sqlerr.QueryCanceled, "canceling commit: %w", context.Cause(w.ctx)))
		}
		if err := v.decode(r.it); err != nil {
			return r.close(err)
		}
		if s.numbers(v.key).isDead(v.number) {
			continue
		}
		if known && bytes.Equal(n.key, v.key) {
			n.inserted = v.flags&spilledInserted != 0
			continue
		}
		if known {
			if err := w.put(&n); err != nil {
				return r.close(err)
			}
		}
		known = true
		n.key, n.row = append(n.key[:0], v.key...), append(n.row[:0], v.rest...)
		n.flags, n.inserted = v.flags, v.flags&spilledInserted != 0
	}
	err := ioError("read spilled writes", r.it.Error())
	if err == nil && known {
		err = w.put(&n)
	}
	if err == nil {
		err = w.endSpace()
	}
	for store, delta := range w.counts {
		if delta != 0 {
			w.p.count(w.p.t.e.stores.get(store), delta)
		}
	}
	return r.close(err)
}

// put writes what the commit makes of a row or index entry.
func (w *commitWriter) put(n *newestVersion) error {
	if space := spaceOf(n.key); space != w.space {
		if err := w.endSpace(); err != nil {
			return err
		}
		w.space = space
		w.skip = w.spaces != nil && !w.spaces.has(n.key[0], uint32(space))
		if n.key[0] == kindRow {
			if err := w.p.pages.begin(catalog.StoreID(space)); err != nil {
				return err
			}
		}
	}
	switch {
	case w.skip:
		return nil
	case n.key[0] == kindRow:
		return w.putRow(n)
	}
	if n.flags&spilledDeleted != 0 {
		return w.p.files.del(n.key)
	}
	if w.bound == nil {
		w.p.bounds = append(w.p.bounds, indexBound{index: catalog.IndexID(w.space)})
		w.bound = &w.p.bounds[len(w.p.bounds)-1]
	}
	w.bound.key = append(w.bound.key[:0], n.key...)
	v := spilledVersion{rest: n.row}
	w.value = appendEntryValue(w.value[:0], n.flags&spilledSuffixed != 0, readRef(n.row), v.payload())
	return w.p.files.set(n.key, w.value)
}

// endSpace ends the writing of a store or index.
func (w *commitWriter) endSpace() error {
	err := w.endGroup()
	w.bound = nil
	if err == nil {
		err = w.p.files.close()
	}
	return err
}

// endGroup ends the rows of a group.
func (w *commitWriter) endGroup() error {
	if w.group == nil {
		return w.p.pages.flush() // of rows that came and went
	}
	err := w.p.endGroup(w.group)
	w.group = nil
	return err
}

// spaceOf returns the kind and the number of the key space of a row or index key: its first five bytes.
func spaceOf(key []byte) (space uint64) {
	for _, b := range key[:indexPrefixLen] {
		space = space<<8 | uint64(b)
	}
	return space
}

func (s *spaceSet) has(kind byte, number uint32) bool {
	if kind == kindRow {
		return s.stores[catalog.StoreID(number)]
	}
	return s.indexes[catalog.IndexID(number)]
}

func (w *commitWriter) putRow(n *newestVersion) error {
	store, deleted := catalog.StoreID(w.space), n.flags&spilledDeleted != 0
	page, slot := splitRowKey(n.key)
	id := groupID{store, int(page >> 10)}
	if w.group != nil && w.group.state.id != id {
		if err := w.endGroup(); err != nil {
			return err
		}
	}
	row := n.row
	if deleted {
		row = nil
	}
	if err := w.p.pages.addCopy(page, slot, row, n.inserted); err != nil {
		return err
	}
	switch {
	case n.inserted && deleted:
		return nil // came and went
	case n.inserted:
		w.counts[store]++
	case deleted:
		w.counts[store]--
	}
	if w.group == nil {
		w.p.groups = append(w.p.groups, touchedGroup{state: w.p.t.e.journal.get(id), bits: &GroupBits{}})
		w.group = &w.p.groups[len(w.p.groups)-1]
	}
	w.group.bits[page&1023] |= 1 << slot
	w.p.rows++
	return nil
}

// list returns the group's positions, which ascend.
func (g *touchedGroup) list() []uint16 {
	if g.bits == nil {
		return g.positions
	}
	var all []uint16
	for page, word := range g.bits {
		for ; word != 0; word &= word - 1 {
			all = append(all, uint16(page<<6|bits.TrailingZeros64(word)))
		}
	}
	return all
}

// batchEntry is an operation of a batch.
type batchEntry struct {
	kind       pebble.InternalKeyKind
	key, value []byte
}

// addBatch turns the commit's batch into files. The commit mutex is held.
func (p *pendingCommit) addBatch() error {
	var entries []batchEntry
	for r := p.batch.Reader(); ; {
		kind, key, value, ok, err := r.Next()
		if err != nil {
			return ioError("encode commit", err)
		}
		if !ok {
			break
		}
		entries = append(entries, batchEntry{kind, key, value})
	}
	slices.SortStableFunc(entries, func(a, b batchEntry) int {
		if order := bytes.Compare(a.key, b.key); order != 0 {
			return order
		}
		return int(rangeFirst(b.kind)) - int(rangeFirst(a.kind))
	})
	for i, x := range entries {
		if i+1 < len(entries) && bytes.Equal(x.key, entries[i+1].key) && rangeFirst(x.kind) == rangeFirst(entries[i+1].kind) {
			continue // the last operation on a key counts
		}
		if err := p.addEntry(x); err != nil {
			return err
		}
	}
	return p.files.close()
}

// rangeFirst is 1 for the deletion of a range, which goes in front of a key at its start.
func rangeFirst(kind pebble.InternalKeyKind) uint8 {
	if kind == pebble.InternalKeyKindRangeDelete {
		return 1
	}
	return 0
}

func (p *pendingCommit) addEntry(x batchEntry) error {
	// What lies among rows and index entries, or behind them, gets files of its own.
	apart := x.key[0] >= kindRow
	if apart {
		if err := p.files.close(); err != nil {
			return err
		}
	}
	var err error
	switch x.kind {
	case pebble.InternalKeyKindSet:
		err = p.files.set(x.key, x.value)
	case pebble.InternalKeyKindDelete:
		err = p.files.del(x.key)
	case pebble.InternalKeyKindRangeDelete:
		err = p.files.delRange(x.key, x.value)
	default:
		return sqlerr.New(sqlerr.InternalError, "commit has an operation that no file can hold: kind=%s", x.kind)
	}
	if err == nil && apart {
		err = p.files.close()
	}
	return err
}

// ingestCommit makes a commit's files visible. The commit mutex is held, which also keeps a backup from
// copying the log meanwhile.
func (e *Engine) ingestCommit(paths []string) error {
	// Pebble may wait for tables in memory to be flushed, which a failed engine never does; then it is
	// left behind.
	done := make(chan error, 1)
	go func() {
		done <- e.guard("ingest commit", func() error { return e.db.Ingest(context.Background(), paths) })
	}()
	select {
	case err := <-done:
		return err
	case <-e.stopped:
		return e.failed()
	}
}
