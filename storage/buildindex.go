package storage

import (
	"context"
	"errors"
	"fmt"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// BuildIndex fills the key space of a new index of tbl from the table's rows: index has a fresh id
// and is not among tbl.Indexes yet. The caller then adds it with SetCatalog. Writers of the table
// are locked out until the transaction ends. Equal keys of a unique index give 23505.
func (t *Txn) BuildIndex(ctx context.Context, tbl *catalog.Table, index *catalog.Index) error {
	if err := t.checkWritable(); err != nil {
		return err
	}
	if err := t.lockToChange(ctx, tbl.ID, TableShare); err != nil {
		return err
	}
	if now, err := t.describedNow(tbl); err != nil {
		return err
	} else if now != tbl {
		return errTableChanged(tbl)
	}
	t.mu.Lock()
	fixed := t.opts.Isolation != ReadCommitted && t.snap != nil
	t.mu.Unlock()
	if fixed { // the new entries are not in the snapshot that later statements read
		return sqlerr.New(sqlerr.FeatureNotSupported, "an index cannot be built in a REPEATABLE READ or SERIALIZABLE transaction that has read before").
			WithHint("Build it first, or in a transaction of its own.")
	}
	e := t.e
	alone := tbl.Clone()
	alone.Indexes = []catalog.Index{*index}
	codec, err := e.newTableCodec(alone)
	if err != nil {
		return err
	}
	name := e.fs.PathJoin(e.dirs.temp, fmt.Sprintf("index-%d", e.nextLoad.Add(1)))
	l := &indexLoad{e: e, ix: &codec.indexes[0], name: name, files: &sstFiles{e: e, name: name}}
	defer l.remove()
	view := t.latest()
	defer view.Release()
	err = l.addTable(ctx, view, tbl)
	var paths []string
	if err == nil {
		paths, err = l.finish(ctx)
	}
	var dup *duplicateKey
	if errors.As(err, &dup) {
		return sqlerr.New(sqlerr.UniqueViolation, "could not create unique index %q", index.Name).
			WithDetail("%s", e.keyIsDuplicated(tbl, dup)).WithConstraint(index.Name).WithTable(tbl.Name)
	}
	if err != nil {
		return err
	}
	if _, err := t.noteLoad(keySpaces{Indexes: []catalog.IndexID{index.ID}}); err != nil {
		return err
	}
	defer e.keyBounds.forget(index.ID)
	return e.ingest(ctx, paths)
}

// addTable adds the entries of all rows of a table.
func (l *indexLoad) addTable(ctx context.Context, view *View, tbl *catalog.Table) error {
	var b vector.Batch
	var keys keyTable
	for _, store := range tbl.Stores {
		groups, err := view.Groups(store)
		if err != nil {
			return err
		}
		for g := range groups {
			if err := ctx.Err(); err != nil {
				return sqlerr.New(sqlerr.QueryCanceled, "canceling index build: %w", context.Cause(ctx))
			}
			c, err := view.ScanGroup(tbl, store, g, l.ix.inputs, ScanOptions{Refs: true})
			if err != nil {
				return err
			}
			for {
				more, err := c.Next(&b)
				if err == nil && more {
					err = l.addBatch(&b, &keys)
				}
				if err != nil {
					_ = c.Close() // it says the same again, or less
					return err
				}
				if !more {
					break
				}
			}
			if err := c.Close(); err != nil {
				return err
			}
		}
	}
	return nil
}

// addBatch adds the entries of rows whose last vector holds their references.
func (l *indexLoad) addBatch(b *vector.Batch, keys *keyTable) error {
	n := len(b.Vecs) - 1
	refs := vector.Of[int64](b.Vecs[n])
	keys.reset(b.N, 1)
	if err := keys.fill(0, l.ix, b.Vecs[:n], nil, nil, b.N); err != nil {
		return err
	}
	for i := range b.N {
		entry := keys.get(i, 0)
		if !entry.present {
			continue
		}
		full, err := l.add(entry, RowRef(refs[i]))
		if err != nil {
			return err
		}
		if full != nil {
			l.sortChunk(full)
		}
	}
	return nil
}
