package storage

import (
	"bytes"
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// Check verifies the latest committed state: every row can be decoded, lies in the store of its
// node and is counted; every index entry belongs to a row and every row has its entries. It returns
// all findings joined.
func (e *Engine) Check(ctx context.Context) error {
	// The counts are those of the view only while no commit goes between.
	e.commitMu.Lock()
	v := e.View()
	counts := map[catalog.StoreID]int64{}
	for _, s := range e.stores.all() {
		counts[s.id] = s.rows.Load()
	}
	e.commitMu.Unlock()
	defer v.Release()
	var findings []error
	for _, tbl := range v.Catalog().Tables() {
		c := &tableCheck{ctx: ctx, view: v, tbl: tbl}
		if err := c.run(counts); err != nil {
			return err
		}
		findings = append(findings, c.findings...)
	}
	return errors.Join(findings...)
}

// tableCheck checks one table.
type tableCheck struct {
	ctx      context.Context
	view     *View
	tbl      *catalog.Table
	codec    *tableCodec
	rows     int64
	findings []error
}

func (c *tableCheck) report(format string, args ...any) {
	if len(c.findings) < 100 {
		c.findings = append(c.findings, sqlerr.New(sqlerr.DataCorrupted, "table %s: "+format, append([]any{c.tbl.Name}, args...)...))
	}
}

func (c *tableCheck) run(counts map[catalog.StoreID]int64) (err error) {
	if c.codec, err = c.view.snap.e.codec(c.tbl); err != nil {
		return err
	}
	for node, store := range c.tbl.Stores {
		rows, err := c.store(uint32(node), store)
		if err != nil {
			return err
		}
		if rows != counts[store] {
			c.report("store has %d rows, %d are counted: store=%d", rows, counts[store], store)
		}
		c.rows += rows
	}
	for k := range c.codec.indexes {
		if err := c.entries(&c.codec.indexes[k]); err != nil {
			return err
		}
	}
	return nil
}

// store checks the rows of one store and that their index entries exist.
func (c *tableCheck) store(node uint32, store catalog.StoreID) (rows int64, err error) {
	groups, err := c.view.Groups(store)
	if err != nil {
		return 0, err
	}
	cols := make([]int, len(c.tbl.Columns))
	for i := range cols {
		cols[i] = i
	}
	nodes, hashes := make([]uint32, vector.BatchCap), make([]uint32, vector.BatchCap)
	var b vector.Batch
	for g := range groups {
		if err := c.ctx.Err(); err != nil {
			return 0, err
		}
		cur, err := c.view.ScanGroup(c.tbl, store, g, cols, ScanOptions{Refs: true})
		if err != nil {
			return 0, err
		}
		for {
			more, err := cur.Next(&b)
			if err != nil {
				return 0, errors.Join(err, cur.Close())
			}
			if !more {
				break
			}
			rows += int64(b.N)
			c.codec.route.route(nodes, hashes, b.Vecs, b.N)
			refs := vector.Of[int64](b.Vecs[len(cols)])
			for i := range b.N {
				if nodes[i] != node {
					c.report("row lies on the wrong node: row=%x node=%d", refs[i], node)
				}
				if err := c.rowEntries(&b, i, RowRef(refs[i])); err != nil {
					return 0, errors.Join(err, cur.Close())
				}
			}
		}
		if err := cur.Close(); err != nil {
			return 0, err
		}
	}
	return rows, nil
}

// rowEntries checks that row i of b has its index entries.
func (c *tableCheck) rowEntries(b *vector.Batch, i int, ref RowRef) error {
	for k := range c.codec.indexes {
		ix := &c.codec.indexes[k]
		key, hasNull := ix.appendRow(appendIndexPrefix(nil, ix.index.ID), pick(b.Vecs, ix.cols), i)
		suffixed := !ix.index.Unique || hasNull
		if suffixed {
			key = appendRef(key, ref)
		}
		value, found, err := getValue(c.view.snap.db, key)
		if err != nil {
			return err
		}
		if !found || !bytes.Equal(value, entryValue(suffixed, ref)) {
			c.report("row has no entry in index %s: row=%x", ix.index.Name, uint64(ref))
		}
	}
	return nil
}

// entries checks that an index has as many entries as the table has rows; with every row having its
// own, none is left over then.
func (c *tableCheck) entries(ix *indexCodec) error {
	low, high := storeBounds(kindIndex, uint32(ix.index.ID))
	it, err := c.view.snap.db.NewIter(&pebble.IterOptions{LowerBound: low, UpperBound: high})
	if err != nil {
		return ioError("check index", err)
	}
	n := int64(0)
	for it.First(); it.Valid(); it.Next() {
		if _, err := entryRef(it.Key(), it.Value()); err != nil {
			c.report("malformed entry in index %s: key=%x", ix.index.Name, it.Key())
		}
		n++
	}
	if n != c.rows {
		c.report("index %s has %d entries for %d rows", ix.index.Name, n, c.rows)
	}
	return ioError("check index", it.Close())
}

func pick(vecs []*vector.Vector, at []int) []*vector.Vector {
	list := make([]*vector.Vector, len(at))
	for i, n := range at {
		list[i] = vecs[n]
	}
	return list
}
