package storage

import (
	"context"

	"github.com/cockroachdb/pebble/v2"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// An index is built while writers go on in three steps. First a commit adds it to its table as
// Building: writers keep it up from then on. Then AwaitWriters waits for those who had begun before,
// and FillIndex adds the entries of the rows there are. At last another commit makes it Ready.
//
// FillIndex goes through the rows of a snapshot. Each step computes entries outside of the commit
// mutex and writes them under it, where rows changed since the snapshot are looked at again: so an
// entry is never written for a row that is not there, and who changes the row later finds it.
//
// The entry of a unique key belongs to whoever holds the key's lock. A writer looks the key up when
// it has the lock and writes when it commits; in between, FillIndex must not write it. It writes
// first and looks for the lock then: a writer who comes later finds the entry, and an entry whose
// key is locked is taken back, under the same mutex, and made when the lock has been got.

// AwaitWriters waits until the transactions that write a table now have ended. Others go on.
func (t *Txn) AwaitWriters(ctx context.Context, id catalog.TableID) error {
	if err := t.checkActive(); err != nil {
		return err
	}
	return t.e.locks.awaitHolders(ctx, &t.owner, resource{kind: lockRelation, object: uint32(id)}, TableShare)
}

// fillRows is how many rows a step of FillIndex takes: more make commits wait longer for the mutex,
// fewer take it more often.
const fillRows = 256

// indexFill adds the entries of existing rows to a Building index.
type indexFill struct {
	t    *Txn
	ctx  context.Context
	tbl  *catalog.Table
	ix   *indexCodec
	view *View

	keys, again keyTable
	entries     []fillEntry
	value       []byte
	locked      []RowRef // rows whose keys others have locked
}

// fillEntry is an entry to write.
type fillEntry struct {
	key []byte // complete
	rowEntry
	ref RowRef
}

// FillIndex adds to a Building index of tbl the entries of all rows. The caller has locked the table
// in ShareUpdateExclusive and waited for its writers. Equal keys of a unique index give 23505.
func (t *Txn) FillIndex(ctx context.Context, tbl *catalog.Table, index *catalog.Index) error {
	if err := t.checkWritable(); err != nil {
		return err
	}
	codec, err := t.e.codec(tbl)
	if err != nil {
		return err
	}
	f := &indexFill{t: t, ctx: ctx, tbl: tbl}
	if f.ix, err = codec.indexCodec(index); err != nil {
		return err
	}
	f.view = t.e.View()
	defer f.view.Release()
	for _, store := range tbl.Stores {
		groups, err := f.view.Groups(store)
		if err != nil {
			return err
		}
		for g := range groups {
			if err := f.group(store, g); err != nil {
				return err
			}
		}
	}
	return f.lockedRows()
}

func (f *indexFill) group(store catalog.StoreID, group int) (err error) {
	c, err := f.view.ScanGroup(f.tbl, store, group, f.ix.inputs, ScanOptions{Refs: true})
	if err != nil {
		return err
	}
	defer func() {
		if cerr := c.Close(); err == nil {
			err = cerr
		}
	}()
	var b vector.Batch
	for {
		more, err := c.Next(&b)
		if err != nil || !more {
			return err
		}
		if err := f.ctx.Err(); err != nil {
			return sqlerr.New(sqlerr.QueryCanceled, "canceling index build: %w", context.Cause(f.ctx))
		}
		n := len(b.Vecs) - 1
		refs := vector.Of[int64](b.Vecs[n])[:b.N]
		f.keys.reset(b.N, 1)
		if err := f.keys.fill(0, f.ix, b.Vecs[:n], nil, nil, b.N); err != nil {
			if f.changedSince(refs) { // a row that fails may be gone
				err = f.singly(refs)
			}
			if err != nil {
				return err
			}
			continue
		}
		for from := 0; from < b.N; from += fillRows {
			if err := f.step(refs, from, min(from+fillRows, b.N)); err != nil {
				return err
			}
		}
	}
}

// changedSince reports whether some of the rows may have changed since the snapshot.
func (f *indexFill) changedSince(refs []int64) bool {
	for _, r := range refs {
		if f.changed(RowRef(r)) {
			return true
		}
	}
	return false
}

func (f *indexFill) changed(ref RowRef) bool {
	return f.t.e.journal.pageLastChange(ref.Store(), ref.Row()>>6) > f.view.CommitNumber()
}

// singly adds the entries of rows as they are now, one by one.
func (f *indexFill) singly(refs []int64) error {
	for _, r := range refs {
		err := f.write(func() error { return f.current(RowRef(r)) })
		if err != nil {
			return err
		}
	}
	return nil
}

// step writes the entries of rows from … to−1 of a batch.
func (f *indexFill) step(refs []int64, from, to int) error {
	return f.write(func() error {
		for i := from; i < to; i++ {
			ref := RowRef(refs[i])
			if f.changed(ref) {
				if err := f.current(ref); err != nil {
					return err
				}
				continue
			}
			f.add(f.keys.get(i, 0), ref)
		}
		return nil
	})
}

func (f *indexFill) add(x rowEntry, ref RowRef) {
	if !x.present {
		return
	}
	key := x.key
	if x.suffixed {
		key = appendRef(key, ref)
	}
	f.entries = append(f.entries, fillEntry{key, x, ref})
}

// current adds the entry of a row as it is in the latest committed state. The commit mutex is held.
func (f *indexFill) current(ref RowRef) error {
	view := f.t.e.View()
	defer view.Release()
	var b vector.Batch
	missing, err := view.Fetch(f.tbl, ref.Store(), []uint64{ref.Row()}, f.ix.inputs, &b)
	if err != nil || missing != nil && missing.Get(0) {
		return err
	}
	f.again.reset(1, 1)
	if err := f.again.fill(0, f.ix, b.Vecs, nil, nil, 1); err != nil {
		return err
	}
	x := f.again.get(0, 0)
	x.key, x.payload = append([]byte(nil), x.key...), append([]byte(nil), x.payload...) // again is used again
	if len(f.ix.includeAt) == 0 {
		x.payload = nil
	}
	f.add(x, ref)
	return nil
}

// write collects entries and writes them, while no commit can come in between.
func (f *indexFill) write(collect func() error) error {
	e := f.t.e
	e.commitMu.Lock()
	defer e.commitMu.Unlock()
	f.entries = f.entries[:0]
	if err := collect(); err != nil {
		return err
	}
	if len(f.entries) == 0 {
		return nil
	}
	if err := f.refuseDuplicates(); err != nil {
		return err
	}
	b := e.newBatch()
	defer e.freeBatch(b)
	for i := range f.entries {
		x := &f.entries[i]
		f.value = appendEntryValue(f.value[:0], x.suffixed, x.ref, x.payload)
		if err := b.Set(x.key, f.value, nil); err != nil {
			return ioError("build index", err)
		}
		e.keyBounds.raise(f.ix.index.ID, x.key)
	}
	if _, err := e.apply(b); err != nil {
		return err
	}
	return f.takeBack()
}

// refuseDuplicates returns the error of an entry whose key another row has.
func (f *indexFill) refuseDuplicates() error {
	if !f.ix.index.Unique {
		return nil
	}
	seen := map[string]RowRef{}
	for i := range f.entries {
		x := &f.entries[i]
		if x.suffixed {
			continue
		}
		other, taken := seen[string(x.key)]
		if !taken {
			var err error
			if other, taken, err = getRef(f.t.e.db, x.key); err != nil {
				return err
			}
		}
		if taken && other != x.ref {
			return f.duplicate(x.key)
		}
		seen[string(x.key)] = x.ref
	}
	return nil
}

func (f *indexFill) duplicate(key []byte) error {
	values, _, err := f.ix.decode(key[indexPrefixLen:])
	if err != nil {
		return err
	}
	return sqlerr.New(sqlerr.UniqueViolation, "could not create unique index %q", f.ix.index.Name).
		WithDetail("%s", f.t.e.keyIsDuplicated(f.tbl, &duplicateKey{f.ix, values})).WithConstraint(f.ix.index.Name).WithTable(f.tbl.Name)
}

// takeBack removes the entries just written whose keys others have locked, and notes their rows.
func (f *indexFill) takeBack() error {
	e := f.t.e
	var b *pebble.Batch
	for i := range f.entries {
		x := &f.entries[i]
		if x.suffixed || !e.locks.heldByOthers(&f.t.owner, keyResource(f.ix.index.ID, x.key)) {
			continue
		}
		if b == nil {
			b = e.newBatch()
			defer e.freeBatch(b)
		}
		if err := b.Delete(x.key, nil); err != nil {
			return ioError("build index", err)
		}
		f.locked = append(f.locked, x.ref)
	}
	if b == nil {
		return nil
	}
	_, err := e.apply(b)
	return err
}

// lockedRows adds the entries of the rows whose keys were locked, under locks of its own, which stay
// to the end of the transaction.
func (f *indexFill) lockedRows() error {
	for len(f.locked) > 0 {
		ref := f.locked[len(f.locked)-1]
		f.locked = f.locked[:len(f.locked)-1]
		var key []byte
		if err := f.look(ref, &key); err != nil {
			return err
		}
		if key == nil { // a writer has seen to it
			continue
		}
		if err := f.t.lockKey(f.ctx, f.ix.index.ID, key, Update); err != nil {
			return err
		}
		// Meanwhile the row may have got another key; then its entry may be taken back again.
		if err := f.write(func() error { return f.current(ref) }); err != nil {
			return err
		}
	}
	return nil
}

// look finds the key that a row has now; nil when it has none.
func (f *indexFill) look(ref RowRef, key *[]byte) error {
	f.t.e.commitMu.Lock()
	defer f.t.e.commitMu.Unlock()
	f.entries = f.entries[:0]
	err := f.current(ref)
	for i := range f.entries {
		if !f.entries[i].suffixed {
			*key = f.entries[i].key
		}
	}
	return err
}
