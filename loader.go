package weft

import (
	"context"
	"math"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/internal/utf8text"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/vector"
)

// MaxLoadRows is the most rows a LoadBatch takes.
const MaxLoadRows = 1024

// LoadBatch is what a BulkLoad's fill function hands over: the values of every column but generated
// ones, in the table's order and without NULLs. The slices are not copied: they must stay unchanged until the
// same worker's next call.
type LoadBatch struct {
	// Worker numbers the calling worker, from 0: calls with the same number never overlap.
	Worker int

	columns []loadColumn
}

// loadColumn holds one column's values in the form they were given in.
type loadColumn struct {
	typ     catalog.Type
	kind    vector.Kind
	int32s  []int32
	int64s  []int64
	floats  []float64
	offsets []int32
	heap    []byte
	given   bool
}

// Int32 sets an integer column, or a date column in days since 1970.
func (b *LoadBatch) Int32(column int, values []int32) {
	b.columns[column].give(vector.I32).int32s = values
}

// Int64 sets a bigint column, a timestamp column in microseconds since 1970, or a numeric column of
// at most 18 digits as the value times ten to the power of the scale.
func (b *LoadBatch) Int64(column int, values []int64) {
	b.columns[column].give(vector.I64).int64s = values
}

// Float64 sets a double precision column.
func (b *LoadBatch) Float64(column int, values []float64) {
	b.columns[column].give(vector.F64).floats = values
}

// Bytes sets a column of strings or byte strings: value i is heap[offsets[i]:offsets[i+1]]. Values
// of char(n) need no padding.
func (b *LoadBatch) Bytes(column int, offsets []int32, heap []byte) {
	c := b.columns[column].give(vector.Bytes)
	c.offsets, c.heap = offsets, heap
}

func (c *loadColumn) give(kind vector.Kind) *loadColumn {
	c.kind, c.given = kind, true
	return c
}

// BulkLoad fills a table from Go values, as COPY does from a file: an empty table is loaded into
// fresh files, and its statistics are gathered on the way. Workers (0 = the session's threads) call
// fill with ascending numbers from 0; each call gives a batch and returns its number of rows, 0 at
// the end. Rows are stored in the order of the numbers. In a transaction block the load is part of
// the transaction, else it is durable when BulkLoad returns. The table is named as the catalog does.
func (s *Session) BulkLoad(ctx context.Context, table string, workers int, fill func(seq uint64, b *LoadBatch) (rows int, err error)) (rows int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return 0, errClosed
	case s.failed:
		return 0, sqlerr.New(sqlerr.InFailedTransaction, "current transaction is aborted, commands ignored until end of transaction block")
	}
	defer func() {
		if p := recover(); p != nil {
			err = sqlerr.Panicked(p, bulkLoadText(table))
		}
		if err != nil {
			s.fail()
			err = contextError(ctx, err)
		}
	}()
	ctx, release := s.db.users.join(ctx)
	defer release()
	r := &running{s: s, ctx: ctx, text: bulkLoadText(table), now: time.Now().UnixMicro()}
	if s.txn == nil || s.txStart == 0 {
		s.txStart = r.now
	}
	w := s.beginWork(&work{})
	defer w.abandon()
	rows, err = r.bulkLoad(w, table, workers, fill)
	if err = w.end(ctx, err); err == nil {
		err = r.refreshViews(ctx, w)
	}
	return rows, err
}

// bulkLoadText stands for a statement's text in messages.
func bulkLoadText(table string) string { return "BULK LOAD " + table }

func (r *running) bulkLoad(w *work, table string, workers int, fill func(uint64, *LoadBatch) (int, error)) (int64, error) {
	in := r.s.input(w.txn.Catalog())
	name := sql.ObjectName{Span: sql.Span{Start: -1}, Name: table}
	if schema, rest, ok := strings.Cut(table, "."); ok {
		name.Schema, name.Name = schema, rest
	}
	t, err := (&planner.DDL{Input: in}).LookupTable(name)
	if err != nil {
		return 0, err
	}
	l, err := r.newCopyLoad(r.ctx, t, nil, in, w)
	if err != nil {
		return 0, err
	}
	defer l.cancel()
	if workers > 0 {
		l.threads = workers
	}
	var number, worker atomic.Int64
	err = l.inParallel(func(w *copyWorker, stop <-chan struct{}) error {
		b := &LoadBatch{Worker: int(worker.Add(1)) - 1, columns: make([]loadColumn, len(t.Columns))}
		for {
			select {
			case <-stop:
				return nil
			default:
			}
			seq := uint64(number.Add(1)) - 1
			n, err := w.fill(seq, b, fill)
			if err != nil || n == 0 {
				return err
			}
		}
	})
	if err != nil {
		l.abort()
		return 0, err
	}
	return r.finishLoad(l, w)
}

// loadPieces is the number of the loader's batches that a LoadBatch makes.
func loadPieces() int { return (MaxLoadRows + vector.BatchCap - 1) / vector.BatchCap }

// fill gets batch seq and loads it in pieces, some of them empty. Whatever happens, the loader gets
// all numbers of the batch: other workers wait for their turn behind them.
func (w *copyWorker) fill(seq uint64, b *LoadBatch, fill func(uint64, *LoadBatch) (int, error)) (rows int, err error) {
	piece, number := 0, seq*uint64(loadPieces())
	defer func() {
		if p := recover(); p != nil {
			err = sqlerr.Panicked(p, w.l.statement)
		}
		for ; piece < loadPieces() && w.l.loader != nil; piece++ {
			if e := w.l.loader.Append(number+uint64(piece), w.noRows()); err == nil {
				err = e
			}
		}
	}()
	clear(b.columns)
	if rows, err = fill(seq, b); rows == 0 || err != nil {
		return 0, err
	}
	if rows < 0 || rows > MaxLoadRows {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "bulk load: a batch has %d rows, expected 0 to %d", rows, MaxLoadRows)
	}
	for i := range b.columns {
		if c := &w.l.table.Columns[i]; c.Generated != "" {
			if b.columns[i].given {
				return 0, sqlerr.New(sqlerr.GeneratedAlways, "bulk load: column %q was given, which is a generated column", c.Name)
			}
			continue
		}
		if err := b.columns[i].check(&w.l.table.Columns[i], rows); err != nil {
			return 0, err
		}
	}
	for from := 0; from < rows; piece++ {
		to := min(from+vector.BatchCap, rows)
		for _, i := range w.l.targets {
			b.columns[i].copyTo(w.row.Vecs[i], from, to)
		}
		if err := w.load(number+uint64(piece), to-from); err != nil {
			return 0, err
		}
		from = to
	}
	return rows, nil
}

// noRows is a batch without rows.
func (w *copyWorker) noRows() *vector.Batch {
	b := &vector.Batch{}
	for i := range w.l.table.Columns {
		b.Vecs = append(b.Vecs, vector.New(w.l.table.Columns[i].Type.Kind(), 0))
	}
	return b
}

// check refuses values that the column cannot hold.
func (c *loadColumn) check(column *catalog.Column, rows int) error {
	c.typ = column.Type
	n := len(c.int32s) + len(c.int64s) + len(c.floats)
	if c.kind == vector.Bytes {
		n = len(c.offsets) - 1
	}
	switch {
	case !c.given || c.kind != c.typ.Kind() || c.typ.ID == catalog.Numeric && c.kind == vector.Bytes:
		return sqlerr.New(sqlerr.DatatypeMismatch, "bulk load: column %q is of type %s, which was not given", column.Name, c.typ)
	case n < rows:
		return sqlerr.New(sqlerr.InvalidParameterValue, "bulk load: column %q has %d values, expected %d", column.Name, n, rows)
	case c.typ.ID == catalog.Numeric:
		limit := int64(math.Pow10(int(c.typ.Prec)))
		for _, v := range c.int64s[:rows] {
			if v >= limit || v <= -limit {
				return sqlerr.New(sqlerr.NumericValueOutOfRange, "numeric field overflow").WithDetail("Column %q is of type %s.", column.Name, c.typ)
			}
		}
	case c.typ.IsString():
		return c.checkStrings(column, rows)
	}
	return nil
}

func (c *loadColumn) checkStrings(column *catalog.Column, rows int) error {
	valid := utf8text.Invalid(c.heap[c.offsets[0]:c.offsets[rows]]) < 0
	for i, end := range c.offsets[1 : rows+1] {
		start := c.offsets[i]
		if start < end && !utf8.RuneStart(c.heap[start]) {
			valid = false
		}
		if limit := int(c.typ.Prec); limit > 0 && int(end-start) > limit && utf8.RuneCount(c.heap[start:end]) > limit {
			return sqlerr.New(sqlerr.StringDataRightTruncation, "value too long for type %s", c.typ)
		}
	}
	if valid {
		return nil
	}
	for i, end := range c.offsets[1 : rows+1] {
		value := c.heap[c.offsets[i]:end]
		if at := utf8text.Invalid(value); at >= 0 {
			return utf8text.Error(value, at).WithColumn(column.Name).WithDetail("bulk load: value %d of the batch, column %q", i+1, column.Name)
		}
	}
	return nil
}

// copyTo makes v the values from, …, to-1.
func (c *loadColumn) copyTo(v *vector.Vector, from, to int) {
	v.Reset(c.kind, to-from)
	switch c.kind {
	case vector.I32:
		copy(vector.Of[int32](v), c.int32s[from:to])
	case vector.I64:
		copy(vector.Of[int64](v), c.int64s[from:to])
	case vector.F64:
		copy(vector.Of[float64](v), c.floats[from:to])
	default:
		for i := from; i < to; i++ {
			heap := append(v.HeapBuf(), c.heap[c.offsets[i]:c.offsets[i+1]]...)
			if c.typ.ID == catalog.Char {
				for n := utf8.RuneCount(heap[len(v.HeapBuf()):]); n < int(c.typ.Prec); n++ {
					heap = append(heap, ' ')
				}
			}
			v.EndBytes(heap)
		}
	}
}
