package bench

import (
	"context"
	"fmt"
	"math"

	"github.com/weftdb/weft"
)

// The filter's table has a column that is packed into two bytes and one of eight bytes that are too random
// to pack.
const packedValues = 10_000

// filterShares are the shares of rows that the filters find.
var filterShares = []float64{0.01, 0.5}

// filterGoal is the number of rows that a core should filter in a second.
const filterGoal = 1e9

// filter measures a comparison on a covered column within a query: from its text to the count of the rows
// found, all on one thread.
func (r *htapRunner) filter(ctx context.Context) error {
	rows := r.o.FilterRows
	if err := r.fillFilter(ctx, rows); err != nil {
		return err
	}
	if err := r.exec(ctx, "SET threads = 1", "ALTER TABLE filtered COLVIEW", "SELECT * FROM gs_imcv_flush('filtered')"); err != nil {
		return err
	}
	settle()
	for _, share := range filterShares {
		for _, c := range []struct{ name, condition string }{
			{"packed integer", fmt.Sprintf("packed < %d", int(share*packedValues))},
			{"plain bigint", fmt.Sprintf("plain < %d", int64((2*share-1)*math.MaxInt64))},
		} {
			query := "SELECT count(*) FROM filtered WHERE " + c.condition
			t, err := r.timed(ctx, "column", query)
			if err != nil {
				return err
			}
			found, err := r.one(ctx, query)
			if err != nil {
				return err
			}
			if err := r.exec(ctx, "SET htap_router_mode = 'row'"); err != nil {
				return err
			}
			if want, err := r.one(ctx, query); err != nil || found != want {
				return fmt.Errorf("bench: %s: %g rows by columns, %g by rows: %w", query, found, want, err)
			}
			name := fmt.Sprintf("%s, %g %% of the rows found", c.name, share*100)
			r.add(Figure{Name: "filter of a " + name, Value: float64(rows) / t.cpu / 1e6, Unit: "G rows/s", Goal: filterGoal / 1e9, AtLeast: true})
		}
	}
	return nil
}

// fillFilter makes and loads the table.
func (r *htapRunner) fillFilter(ctx context.Context, rows int) error {
	if err := r.exec(ctx, "CREATE TABLE filtered (packed integer NOT NULL, plain bigint NOT NULL)"); err != nil {
		return err
	}
	_, err := r.session.BulkLoad(ctx, "filtered", 1, func(seq uint64, b *weft.LoadBatch) (int, error) {
		first := int(seq) * weft.MaxLoadRows
		n := min(weft.MaxLoadRows, rows-first)
		if n <= 0 {
			return 0, nil
		}
		packed, plain := make([]int32, n), make([]int64, n)
		for k := range n {
			x := scrambled(uint64(first + k))
			packed[k], plain[k] = int32(x%packedValues), int64(x)
		}
		b.Int32(0, packed)
		b.Int64(1, plain)
		return n, nil
	})
	if err != nil {
		return err
	}
	return r.exec(ctx, "ANALYZE filtered")
}

// scrambled is a permutation of 64 bits in which neighbours have nothing in common.
func scrambled(x uint64) uint64 {
	for range 3 {
		x = (x + 0x9E3779B97F4A7C15) * 0xD6E8FEB86659FD93
		x ^= x >> 32
	}
	return x
}
