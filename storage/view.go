package storage

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector"
)

// View is one consistent state of the database: everything up to a commit number, plus the
// transaction's own writes of earlier statements when it came from a transaction. It is counted;
// all methods may be called concurrently.
type View struct {
	snap    *snapshot
	overlay *overlay                  // nil = no own writes
	found   *atomic.Pointer[foundRow] // of the transaction, nil = none
	catalog *catalog.Snapshot
	serial  *serialTxn // notes what is read; nil below Serializable
	cmd     uint32     // own writes of commands before this one are seen
	refs    atomic.Int32
}

// View returns the latest committed state, counted once for the caller.
func (e *Engine) View() *View {
	s := e.snapshot()
	return newView(s, s.state.catalog)
}

// newView takes over a reference to s.
func newView(s *snapshot, c *catalog.Snapshot) *View {
	v := &View{snap: s, catalog: c}
	v.refs.Store(1)
	return v
}

// Unnoted returns a view of the same state whose reads a serializable transaction does not note, counted once
// for the caller: for checks that read beside a query.
func (v *View) Unnoted() *View {
	v.snap.refs.Add(1)
	u := newView(v.snap, v.catalog)
	u.overlay, u.cmd = v.overlay, v.cmd
	if u.overlay != nil {
		u.overlay.retain()
	}
	return u
}

// Retain adds a user.
func (v *View) Retain() { v.refs.Add(1) }

// Release removes a user; the last one frees the snapshot. Cursors and fetchers are users.
func (v *View) Release() {
	if v.refs.Add(-1) == 0 {
		if v.overlay != nil {
			v.overlay.release()
		}
		v.snap.release()
	}
}

// CommitNumber returns the number of the last commit the view sees.
func (v *View) CommitNumber() uint64 { return v.snap.state.commit }

// Catalog returns the catalog that belongs to the view's state.
func (v *View) Catalog() *catalog.Snapshot { return v.catalog }

// Engine returns the engine the view belongs to.
func (v *View) Engine() *Engine { return v.snap.e }

// WaitDurable waits until every commit the view sees is durable: one atomic load when they are.
func (v *View) WaitDurable(ctx context.Context) error {
	return v.snap.e.WaitDurable(ctx, v.snap.state.commit)
}

// ReadTable is to be called by whoever scans a table, once, before the scan: it counts as reading every
// row there is or could be, whatever the scan leaves out. Look-ups and scans of indexes note their
// own keys.
func (v *View) ReadTable(tbl *catalog.Table) error { return v.serial.readTable(tbl.ID) }

func (v *View) noteKey(tbl *catalog.Table, index *catalog.Index, encoded []byte) error {
	if v.serial == nil {
		return nil
	}
	return v.serial.readKey(tbl.ID, index.ID, encoded)
}

// Groups returns the number of groups that may hold rows: scan groups 0 … n−1.
func (v *View) Groups(store catalog.StoreID) (int, error) {
	n, state := 0, v.snap.e.stores.find(store)
	if state == nil || !state.counted.Load() {
		stored, err := v.storedGroups(store)
		if err != nil {
			return 0, err
		}
		if n = stored; state != nil {
			state.grow(n)
			state.counted.Store(true)
		}
	}
	if state != nil {
		n = int(state.groups.Load())
	}
	if v.overlay != nil {
		n = max(n, v.overlay.groups(store))
	}
	return n, nil
}

// storedGroups counts the groups up to the last stored row.
func (v *View) storedGroups(store catalog.StoreID) (int, error) {
	low, high := storeBounds(kindRow, uint32(store))
	it, err := v.snap.db.NewIter(&pebble.IterOptions{LowerBound: low, UpperBound: high})
	if err != nil {
		return 0, ioError("read rows", err)
	}
	n := 0
	if it.Last() && len(it.Key()) == rowKeyLen {
		page, _ := splitRowKey(it.Key())
		n = int(page>>10) + 1
	}
	return n, ioError("read rows", it.Close())
}

// OverlayIDs sets the bits of the group's rows that the view's own transaction wrote, and maybe of
// others, and reports whether there are any. Column scans must take those rows from a row scan
// restricted to them.
func (v *View) OverlayIDs(store catalog.StoreID, group int, dst *GroupBits) bool {
	return v.overlay != nil && v.overlay.groupIDs(dst, store, group, v.cmd)
}

// LookupKey finds the row with the given values of a unique index's columns. No row has a key with
// a NULL in it.
func (v *View) LookupKey(tbl *catalog.Table, index *catalog.Index, key []vector.Datum) (RowRef, bool, error) {
	var buf [64]byte
	_, encoded, err := v.uniqueKey(buf[:0], tbl, index, key)
	if encoded == nil || err != nil {
		return 0, false, err
	}
	if v.overlay != nil {
		if ref, deleted, ok, err := v.overlay.lookupKey(index.ID, encoded, v.cmd); ok || err != nil {
			return ref, !deleted, err
		}
	}
	return getRef(v.snap.db, encoded)
}

// uniqueKey appends the entry that a row with a key has in a unique index, and notes that it is read. It
// returns nil where no row can be found by the key.
func (v *View) uniqueKey(dst []byte, tbl *catalog.Table, index *catalog.Index, key []vector.Datum) (*tableCodec, []byte, error) {
	codec, err := v.snap.e.codec(tbl)
	if err != nil {
		return nil, nil, err
	}
	ix, err := codec.indexCodec(index)
	if err != nil {
		return nil, nil, err
	}
	encoded, hasNull := ix.appendDatums(appendIndexPrefix(dst, index.ID), key)
	if hasNull || !index.Unique {
		return nil, nil, nil
	}
	return codec, encoded, v.noteKey(tbl, index, encoded)
}

// getRef reads the row reference of a unique index entry.
func getRef(r pebble.Reader, key []byte) (RowRef, bool, error) {
	value, closer, err := r.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, ioError("read index", err)
	}
	defer closer.Close()
	ref, ok := uniqueRef(value)
	if !ok {
		return 0, false, errBadKey
	}
	return ref, true, nil
}
