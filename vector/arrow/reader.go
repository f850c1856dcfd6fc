package arrow

import (
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/weftdb/weft/vector"
)

// Reader reads a result as Arrow records. It implements array.RecordReader, belongs to one
// goroutine, and ends its source when it is released or has reached the end.
type Reader struct {
	columns []Column
	schema  *arrow.Schema
	next    func() *vector.Batch
	close   func() error
	refs    atomic.Int64
	record  arrow.Record
	err     error
	closed  bool
}

var _ array.RecordReader = (*Reader)(nil)

// NewReader reads the batches that next returns until nil; their memory passes to the reader. close
// ends the source and returns the error it met, if any.
func NewReader(columns []Column, next func() *vector.Batch, close func() error) *Reader {
	r := &Reader{columns: columns, schema: Schema(columns), next: next, close: close}
	r.refs.Store(1)
	return r
}

// Schema describes the records.
func (r *Reader) Schema() *arrow.Schema { return r.schema }

// Next advances to the next record.
func (r *Reader) Next() bool {
	r.drop()
	if r.closed {
		return false
	}
	b := r.next()
	if b == nil {
		r.end()
		return false
	}
	if r.record, r.err = Record(r.schema, r.columns, b); r.err != nil {
		r.end()
		return false
	}
	return true
}

func (r *Reader) drop() {
	if r.record != nil {
		r.record.Release()
		r.record = nil
	}
}

func (r *Reader) end() {
	if !r.closed {
		r.closed = true
		if err := r.close(); r.err == nil {
			r.err = err
		}
	}
}

// Record returns the current record, which is valid until Next; retain it to keep it longer.
func (r *Reader) Record() arrow.Record { return r.record }

// Err returns the error that ended Next, if any.
func (r *Reader) Err() error { return r.err }

// Retain adds a user.
func (r *Reader) Retain() { r.refs.Add(1) }

// Release removes a user; the last one ends the query.
func (r *Reader) Release() {
	if r.refs.Add(-1) == 0 {
		r.drop()
		r.end()
	}
}
