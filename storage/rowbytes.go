package storage

import (
	"context"

	"github.com/cockroachdb/pebble/v2"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
)

// sizedEntries is how many entries pass between looks at the context.
const sizedEntries = 1024

// RowBytes returns what the committed rows of a store take as they are encoded: the bytes of their keys and
// values, packed pages and single rows, before the files' compression. Index entries do not count. It reads
// all of them.
func (v *View) RowBytes(ctx context.Context, store catalog.StoreID) (bytes int64, err error) {
	low, high := storeBounds(kindRow, uint32(store))
	it, err := v.snap.db.NewIter(&pebble.IterOptions{LowerBound: low, UpperBound: high})
	if err != nil {
		return 0, ioError("read rows", err)
	}
	seen := 0
	for valid := it.First(); valid; valid = it.Next() {
		if seen++; seen%sizedEntries == 0 && ctx.Err() != nil {
			_ = it.Close()
			return 0, sqlerr.New(sqlerr.QueryCanceled, "canceling size of rows: %w", context.Cause(ctx))
		}
		value, err := it.ValueAndErr()
		if err != nil {
			_ = it.Close()
			return 0, ioError("read rows", err)
		}
		bytes += int64(len(it.Key()) + len(value))
	}
	if err := it.Close(); err != nil {
		return 0, ioError("read rows", err)
	}
	return bytes, nil
}
