package storage

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
)

// pendingCommit is a commit on its way: what it writes is encoded before the commit mutex is taken.
type pendingCommit struct {
	t       *Txn
	batch   *pebble.Batch
	groups  []touchedGroup
	loaded  []groupID // groups of stores that a bulk load filled: nobody has seen them yet
	counts  []countChange
	bounds  []indexBound
	files   *sstFiles   // of a large transaction: in place of the batch; nil = the batch is it
	pages   *pagePacker // of many rows; nil = they are written one by one
	key     []byte      // scratch
	dropped keySpaces   // of tables that the transaction drops or empties
	rows    uint64
	merged  *catalog.Snapshot // the catalog after the commit, nil = unchanged
}

// touchedGroup lists the positions of a group that a commit changes.
type touchedGroup struct {
	state     *groupState
	positions []uint16
	bits      *GroupBits // instead of positions, where there are many
	packed    int        // how many of the rows are written in packed pages
	// marked are the versions whose bits were set before the commit mutex was taken.
	marked *[]*GroupVersion
}

// countChange is the change of a store's number of live rows.
type countChange struct {
	store *storeState
	delta int64
}

// indexBound is the last entry that a commit adds to an index.
type indexBound struct {
	index catalog.IndexID
	key   []byte
}

// Commit makes the writes visible and waits until they are durable. The transaction has ended in
// any case; after an error nothing of it is visible, except that with an I/O error (58030) while
// waiting for the log it may be found committed when the database is opened again.
func (t *Txn) Commit(ctx context.Context) error {
	if err := t.checkActive(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		t.Rollback()
		return sqlerr.New(sqlerr.QueryCanceled, "canceling commit: %w", context.Cause(ctx))
	}
	if !t.overlay.anything && t.next == nil && len(t.stats) == 0 && len(t.loads) == 0 {
		if t.serial != nil {
			if err := t.e.serial.commit(t.serial, func() error { return nil }); err != nil {
				t.Rollback()
				return err
			}
		}
		t.e.metrics.emptyCommits.Add(1)
		t.end()
		return nil
	}
	p, err := t.apply(ctx)
	if err != nil {
		t.Rollback()
		return err
	}
	// Locks go before the sync: whoever reads or overwrites these rows now comes later in the log,
	// and is not durable before this commit is.
	t.end()
	t.e.dropStale()
	if t.opts.NoSyncWait && t.e.wal {
		t.e.syncLater(p)
		return nil
	}
	return t.e.syncNow(p)
}

// newCommit returns the commit of what the transaction has written.
func (t *Txn) newCommit() *pendingCommit {
	p := &pendingCommit{t: t}
	if size := t.overlay.size(); size < t.e.opts.CommitFileBytes {
		p.batch = t.e.newBatchOf(size)
	} else {
		p.batch, p.files = t.e.newBatch(), t.e.newCommitFiles()
	}
	if p.files != nil || t.overlay.rows.len() >= packedRows {
		p.pages = &pagePacker{p: p}
	}
	return p
}

// apply makes the commit visible.
func (t *Txn) apply(ctx context.Context) (done pendingSync, err error) {
	p := t.newCommit()
	if err = p.prepare(ctx); err == nil {
		p.mark()
		done, err = t.publish(p)
	}
	if p.files != nil {
		p.files.remove() // those ingested are gone
	}
	if err != nil {
		t.e.freeBatch(p.batch)
		return done, err
	}
	if done.batch = p.batch; p.files != nil {
		t.e.durable.advance(done.commit) // ending the transaction removes files, for which nobody need wait
	}
	return done, nil
}

// publish makes a commit visible, if it is in order with the other serializable transactions.
func (t *Txn) publish(p *pendingCommit) (done pendingSync, err error) {
	if t.serial == nil {
		return t.e.publish(p)
	}
	err = t.e.serial.commit(t.serial, func() (err error) {
		done, err = t.e.publish(p)
		return err
	})
	return done, err
}

// prepare encodes the transaction's writes.
func (p *pendingCommit) prepare(ctx context.Context) error {
	t := p.t
	spaces := t.committedSpaces()
	if err := p.dropSpaces(); err != nil {
		return ioError("encode commit", err)
	}
	if t.overlay.spill != nil {
		if err := p.encodeSpilled(ctx, spaces); err != nil {
			return err
		}
	} else if err := p.encode(spaces); err != nil {
		return err
	}
	now := t.Catalog()
	t.stats = slices.DeleteFunc(t.stats, func(s tableStats) bool { return now.Table(s.id) == nil }) // dropped since
	for _, s := range t.stats {
		text, err := catalog.EncodeStats(s.stats)
		if err != nil {
			return err
		}
		if err := p.batch.Set(tableKey(kindStats, uint32(s.id)), text, nil); err != nil {
			return ioError("encode commit", err)
		}
	}
	return p.addLoads(spaces)
}

// encode writes the rows and index entries, in the order of their keys.
func (p *pendingCommit) encode(spaces *spaceSet) error {
	o := p.t.overlay
	o.mu.RLock()
	defer o.mu.RUnlock()
	for _, id := range slices.Sorted(maps.Keys(o.stores)) {
		if spaces != nil && !spaces.stores[id] {
			continue
		}
		if err := p.addStore(o, o.stores[id]); err != nil {
			return err
		}
		if err := p.endSpace(); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(o.indexes)) {
		if spaces != nil && !spaces.indexes[id] {
			continue
		}
		if err := p.addIndex(o, o.indexes[id]); err != nil {
			return err
		}
		if err := p.endSpace(); err != nil {
			return err
		}
	}
	return nil
}

// set writes a row or index entry.
func (p *pendingCommit) set(key, value []byte) error {
	if p.files != nil {
		return p.files.set(key, value)
	}
	return ioError("encode commit", p.batch.Set(key, value, nil))
}

// del writes that an index entry goes.
func (p *pendingCommit) del(key []byte) error {
	if p.files != nil {
		return p.files.del(key)
	}
	return ioError("encode commit", p.batch.Delete(key, nil))
}

// endSpace ends the writing of a store or index.
func (p *pendingCommit) endSpace() error {
	if p.files != nil {
		return p.files.close()
	}
	return nil
}

// spaceSet is a set of key spaces.
type spaceSet struct {
	stores  map[catalog.StoreID]bool
	indexes map[catalog.IndexID]bool
}

// committedSpaces returns the key spaces that exist after the commit, nil = all that were written:
// without a change of the catalog the transaction's table locks have kept them alive.
func (t *Txn) committedSpaces() *spaceSet {
	if t.next == nil {
		return nil
	}
	set := &spaceSet{map[catalog.StoreID]bool{}, map[catalog.IndexID]bool{}}
	for _, tbl := range t.next.Relations() {
		k := spacesOf(tbl)
		for _, s := range k.Stores {
			set.stores[s] = true
		}
		for _, i := range k.Indexes {
			set.indexes[i] = true
		}
	}
	return set
}

// dropSpaces removes the key spaces that the transaction's catalog gives up.
func (p *pendingCommit) dropSpaces() error {
	if p.t.next == nil {
		return nil
	}
	for _, c := range catalog.Diff(p.t.base, p.t.next) {
		gone := spacesOf(c.Old).without(spacesOf(c.New))
		p.dropped.Stores = append(p.dropped.Stores, gone.Stores...)
		p.dropped.Indexes = append(p.dropped.Indexes, gone.Indexes...)
	}
	return p.dropped.removeFrom(p.batch)
}

// addStore encodes the rows written in one store.
func (p *pendingCommit) addStore(o *overlay, s *overlayStore) error {
	delta := int64(0)
	if p.pages != nil {
		if err := p.pages.begin(s.id); err != nil {
			return err
		}
	}
	for _, n := range slices.Sorted(maps.Keys(s.groups)) {
		g := s.groups[n]
		touched := touchedGroup{positions: make([]uint16, 0, len(g.pos))}
		for i, pos := range g.pos {
			if g.head[i] < 0 {
				continue
			}
			last := o.rows.at(g.head[i])
			first := last
			for first.prev >= 0 {
				first = o.rows.at(first.prev)
			}
			row := o.arena.at(last.row)
			if err := p.addRow(s.id, uint64(n)<<16|uint64(pos), row, first.inserted); err != nil {
				return err
			}
			switch {
			case first.inserted && row == nil:
				continue
			case first.inserted:
				delta++
			case row == nil:
				delta--
			}
			touched.positions = append(touched.positions, pos)
		}
		if err := p.endGroup(&touched); err != nil {
			return err
		}
		if len(touched.positions) > 0 {
			touched.state = p.t.e.journal.get(groupID{s.id, n})
			p.groups = append(p.groups, touched)
			p.rows += uint64(len(touched.positions))
		}
	}
	if delta != 0 {
		p.count(p.t.e.stores.get(s.id), delta)
	}
	return nil
}

// addRow writes the newest version of a row, nil if it is deleted, which the transaction may have inserted.
//
// A deleted row becomes an empty override, never a deletion of the key, which would bring the row of a packed
// page back. One that came and went leaves nothing.
func (p *pendingCommit) addRow(store catalog.StoreID, number uint64, row []byte, inserted bool) error {
	if p.pages != nil {
		return p.pages.add(number>>6, int(number&63), row, inserted)
	}
	if inserted && row == nil {
		return nil
	}
	p.key = appendRowKey(p.key[:0], store, number)
	return p.set(p.key, row)
}

// endGroup ends the rows of a group.
func (p *pendingCommit) endGroup(g *touchedGroup) error {
	if p.pages == nil {
		return nil
	}
	err := p.pages.flush()
	g.packed, p.pages.packed = p.pages.packed, 0
	return err
}

func (p *pendingCommit) count(s *storeState, delta int64) {
	for i := range p.counts {
		if p.counts[i].store == s {
			p.counts[i].delta += delta
			return
		}
	}
	p.counts = append(p.counts, countChange{s, delta})
}

// addIndex encodes the changed entries of one index.
func (p *pendingCommit) addIndex(o *overlay, ix *overlayIndex) error {
	var err error
	var value, last []byte
	ix.list.scan(nil, func(key []byte, head int32) bool {
		if head < 0 {
			return true
		}
		v := o.keys.at(head)
		if v.deleted {
			err = p.del(key)
			return err == nil
		}
		value = appendEntryValue(value[:0], v.suffixed, v.ref, o.arena.at(v.payload))
		err = p.set(key, value)
		last = key
		return err == nil
	})
	if last != nil {
		p.bounds = append(p.bounds, indexBound{ix.id, last})
	}
	return err
}

// mark sets the bits of the changed rows in the versions registered now. Setting them early is
// harmless: a bit only says that the row is to be read from the row store.
func (p *pendingCommit) mark() {
	for i := range p.groups {
		g := &p.groups[i]
		g.marked = g.state.versions.Load()
		g.touch()
	}
}

// touch sets the bits in the versions of g.marked.
func (g *touchedGroup) touch() {
	if g.marked == nil || len(*g.marked) == 0 {
		return
	}
	positions := g.list()
	for _, v := range *g.marked {
		v.touch(positions)
	}
}

// publish gives the commit its number and makes it visible.
func (e *Engine) publish(p *pendingCommit) (done pendingSync, err error) {
	e.commitMu.Lock()
	defer e.commitMu.Unlock()
	if err := e.failed(); err != nil {
		return done, err
	}
	old := e.published.Load()
	next := &committedState{commit: old.commit + 1, catalog: old.catalog}
	if p.t.next != nil {
		if p.merged, err = catalog.Merge(old.catalog, p.t.base, p.t.next); err != nil {
			return done, err
		}
		next.catalog = p.merged
	}
	if err := e.number(p, old, next); err != nil {
		return done, ioError("encode commit", err)
	}
	if p.files != nil {
		if done.number, err = e.numberBatch(p.batch); err != nil {
			return done, err
		}
		if err := p.addBatch(); err != nil {
			return done, err
		}
		if e.wal {
			if err := e.syncLog(); err != nil {
				return done, err
			}
		}
	}
	// Everything readers of the new state rely on is in place before it becomes visible.
	for i := range p.groups {
		g := &p.groups[i]
		if registered := g.state.versions.Load(); registered != g.marked {
			g.marked = registered
			g.touch()
		}
		positions := g.list()
		e.journal.record(g.state, positions, len(positions)-g.packed, next.commit)
		e.pages.change(g.state.id, positions)
		e.stores.get(g.state.id.store).grow(g.state.id.group + 1)
	}
	for _, b := range p.bounds {
		e.keyBounds.raise(b.index, b.key)
	}
	e.moves.add(p.t.moved, next.commit)
	e.sequence.Add(1)
	if p.files != nil {
		if err = e.ingestCommit(p.files.paths); err == nil && e.wal {
			e.redo.ingested(done.number)
		}
	} else {
		done.number, err = e.apply(p.batch)
	}
	// The log may fail when the store has taken the commit already. Nobody is told that it happened, but
	// whoever reads from now on finds it, so it must be found whole, with its catalog.
	there := err == nil || e.holds(next.commit)
	if there {
		for _, c := range p.counts {
			c.store.rows.Add(c.delta)
		}
		e.published.Store(next)
	}
	e.sequence.Add(1)
	if there {
		e.afterPublish(p, old, next)
	}
	if err != nil {
		return done, err
	}
	done.commit = next.commit
	return done, nil
}

// holds reports whether the store shows a commit to new snapshots.
func (e *Engine) holds(commit uint64) (there bool) {
	defer func() { _ = recover() }() // after a failure Pebble panics on a state it does not expect: nothing can be read then
	value, closer, err := e.db.Get(metaKey(metaCommit))
	if err != nil {
		return false
	}
	there = bytes.Equal(value, appendU64(nil, commit))
	return there && closer.Close() == nil
}

// number adds what depends on the commit number and on the commits before.
func (e *Engine) number(p *pendingCommit, old, next *committedState) error {
	stamp := appendU64(nil, next.commit)
	if err := p.batch.Set(metaKey(metaCommit), stamp, nil); err != nil {
		return err
	}
	for i := range p.groups {
		id := p.groups[i].state.id
		if err := p.batch.Set(groupKey(id.store, id.group), stamp, nil); err != nil {
			return err
		}
	}
	for _, id := range p.loaded {
		if err := p.batch.Set(groupKey(id.store, id.group), stamp, nil); err != nil {
			return err
		}
	}
	for _, c := range p.counts {
		rows := uint64(c.store.rows.Load() + c.delta)
		if err := p.batch.Set(counterKey(c.store.id, counterRows), appendU64(nil, rows), nil); err != nil {
			return err
		}
	}
	if p.merged != nil {
		return writeCatalog(p.batch, old.catalog, p.merged)
	}
	return nil
}

// afterPublish brings what is kept in memory up to the new state. The commit mutex is held.
func (e *Engine) afterPublish(p *pendingCommit, old, next *committedState) {
	e.metrics.commits.Add(1)
	e.metrics.commitRows.Add(p.rows)
	for _, s := range p.t.stats {
		e.stats.Store(s.id, s.stats)
	}
	if p.merged == nil {
		return
	}
	raise(&e.nextTable, uint32(p.merged.NextTable))
	raise(&e.nextStore, uint32(p.merged.NextStore))
	raise(&e.nextIndex, uint32(p.merged.NextIndex))
	for _, c := range catalog.Diff(old.catalog, p.merged) {
		e.stores.know(c.New)
		if c.Old == nil {
			continue
		}
		if c.New == nil {
			e.stats.Delete(c.Old.ID)
		}
		if c.New == nil || c.New.Epoch != c.Old.Epoch {
			e.journal.void(c.Old.Stores, next.commit)
		}
	}
	e.journal.void(p.dropped.Stores, next.commit)
	for _, s := range p.dropped.Stores {
		e.journal.dropStore(s)
		e.pages.dropStore(s)
		e.stores.drop(s)
	}
}

// raise makes x at least to.
func raise(x *atomic.Uint32, to uint32) {
	for old := x.Load(); old < to; old = x.Load() {
		if x.CompareAndSwap(old, to) {
			return
		}
	}
}
