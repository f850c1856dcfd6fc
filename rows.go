package weft

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/exec"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// Column is a column of a result.
type Column struct {
	Name string
	Type catalog.Type
}

// resultColumns describes a plan's result.
func resultColumns(p *planner.Plan) []Column {
	cols := make([]Column, len(p.Columns))
	for i, c := range p.Columns {
		cols[i] = Column{c.Name, c.Type}
	}
	return cols
}

// Result tells what a statement without rows did.
type Result struct {
	// Tag is PostgreSQL's command tag, such as INSERT 0 3.
	Tag          string
	RowsAffected int64
}

// Rows is a statement's result. It belongs to one goroutine and must be closed.
type Rows struct {
	ctx       context.Context
	columns   []Column
	env       *expr.Env
	cursor    *exec.Cursor
	kept      []*vector.Batch // rows collected before Rows was returned
	batch     *vector.Batch
	row       int
	count     int64
	affected  int64
	tag       string
	tagPrefix string // of a tag that counts the rows
	wrote     string // of a tag that counts what was written
	reusable  bool   // nobody but who is given the rows knows of them
	err       error
	done      bool
	finish    func()
	mu        sync.Mutex // guards what a closing database may end: cursor, err, done, finish
	onClose   func() error
	onError   func()
}

// Columns describes the result's columns; a statement without rows has none.
func (r *Rows) Columns() []Column { return r.columns }

// NextBatch returns the next batch of rows, nil at the end or after an error, which Err tells. Its
// memory belongs to the caller.
func (r *Rows) NextBatch() *vector.Batch {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.kept) > 0 {
		b := r.kept[0]
		r.kept = r.kept[1:]
		r.count += int64(b.Live())
		return b
	}
	if r.done {
		return nil
	}
	if r.cursor == nil { // all rows were kept
		r.end()
		return nil
	}
	b, err := r.cursor.Next()
	if err != nil {
		r.failed(contextError(r.ctx, err))
		return nil
	}
	if b == nil {
		r.end()
		return nil
	}
	r.count += int64(b.Live())
	return b
}

func (r *Rows) failed(err error) {
	if r.err == nil {
		r.err = err
	}
	if r.onError != nil {
		r.onError()
	}
	r.end()
}

func (r *Rows) end() {
	r.done = true
	if r.cursor != nil {
		if err := r.cursor.Close(); err != nil && r.err == nil {
			r.err = contextError(r.ctx, err)
		}
		r.cursor = nil
	}
	if r.finish != nil {
		r.finish()
		r.finish = nil
	}
}

// streams makes what a statement keeps of its session wait for the end of rows that come from a running
// plan, and reports whether they do.
func (r *Rows) streams(s *Session, leave func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.finish == nil {
		return false
	}
	finish := r.finish
	r.finish = func() {
		finish()
		s.release(leave)
	}
	return true
}

// abort ends the rows because the database is being closed, or their session with its temporary tables.
func (r *Rows) abort(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.done && r.err == nil {
		r.err = err
	}
	r.end()
}

// collect drains a cursor.
func (r *Rows) collect(cursor *exec.Cursor) error {
	for {
		b, err := cursor.Next()
		if err != nil {
			cursor.Close()
			return err
		}
		if b == nil {
			r.done = true
			return cursor.Close()
		}
		r.kept = append(r.kept, b)
	}
}

// data returns the values of the current row.
func (r *Rows) data() []vector.Datum {
	row := r.row
	if r.batch.Sel != nil {
		row = int(r.batch.Sel[row])
	}
	values := make([]vector.Datum, len(r.batch.Vecs))
	for i, v := range r.batch.Vecs {
		values[i] = vector.DatumAt(v, row)
	}
	return values
}

// Next advances to the next row.
func (r *Rows) Next() bool {
	for {
		if r.batch != nil && r.row+1 < r.batch.Live() {
			r.row++
			return true
		}
		if r.batch = r.NextBatch(); r.batch == nil {
			return false
		}
		r.row = -1
	}
}

// position is the current row's place in its batch.
func (r *Rows) position() int {
	if r.batch.Sel != nil {
		return int(r.batch.Sel[r.row])
	}
	return r.row
}

// Text returns column i of the current row as PostgreSQL prints it; ok is false for NULL.
func (r *Rows) Text(i int) (text string, ok bool) {
	v, at := r.batch.Vecs[i], r.position()
	if v.IsNull(at) {
		return "", false
	}
	return string(expr.AppendText(nil, r.columns[i].Type, v, at, r.env)), true
}

// Value returns column i of the current row as a Go value: nil, bool, int64, float64, string,
// []byte or time.Time. Numerics, intervals and infinite times come as text.
func (r *Rows) Value(i int) any {
	v, at := r.batch.Vecs[i], r.position()
	if v.IsNull(at) {
		return nil
	}
	d := vector.DatumAt(v, at)
	switch r.columns[i].Type.ID {
	case catalog.Bool:
		return d.I != 0
	case catalog.Int2, catalog.Int4, catalog.Int8, catalog.Oid:
		return d.I
	case catalog.Float4, catalog.Float8:
		return d.F
	case catalog.Bytea:
		return []byte(d.S)
	case catalog.Text, catalog.Varchar:
		return d.S
	case catalog.Date, catalog.Timestamp, catalog.TimestampTZ:
		if t, ok := goTime(r.columns[i].Type, d, r.env); ok {
			return t
		}
	}
	text, _ := r.Text(i)
	return text
}

// infinite reports whether a date or timestamp is one of the infinities: the extreme values of its
// representation.
func infinite(t catalog.Type, d vector.Datum) bool {
	if t.ID == catalog.Date {
		return d.I == math.MaxInt32 || d.I == math.MinInt32
	}
	return d.I == math.MaxInt64 || d.I == math.MinInt64
}

// goTime converts a date or timestamp; infinities have no Go value.
func goTime(t catalog.Type, d vector.Datum, env *expr.Env) (time.Time, bool) {
	if infinite(t, d) {
		return time.Time{}, false
	}
	switch t.ID {
	case catalog.Date:
		return time.Unix(d.I*86400, 0).UTC(), true
	case catalog.TimestampTZ:
		zone := time.UTC
		if env != nil && env.TimeZone != nil {
			zone = env.TimeZone
		}
		return time.UnixMicro(d.I).In(zone), true
	}
	return time.UnixMicro(d.I).UTC(), true
}

// Scan copies the current row's columns to what dest points at, converting as database/sql does.
func (r *Rows) Scan(dest ...any) error {
	if r.batch == nil {
		return sqlerr.New(sqlerr.InvalidCursorName, "Scan called without a row: call Next first")
	}
	if len(dest) != len(r.columns) {
		return sqlerr.New(sqlerr.InvalidParameterValue, "the result has %d columns but Scan was given %d destinations", len(r.columns), len(dest))
	}
	for i := range dest {
		if err := assign(dest[i], r.Value(i)); err != nil {
			return fmt.Errorf("scan column %q: %w", r.columns[i].Name, err)
		}
	}
	return nil
}

// Err returns the error that ended Next, if any.
func (r *Rows) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Close ends the statement; a running one is cancelled.
func (r *Rows) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end()
	r.kept, r.batch = nil, nil
	if r.onClose != nil {
		if err := r.onClose(); err != nil && r.err == nil {
			r.err = err
		}
		r.onClose = nil
	}
	return r.err
}

// Result tells what the statement did, after its last row.
func (r *Rows) Result() Result {
	switch {
	case r.tag != "":
		return Result{Tag: r.tag, RowsAffected: r.affected}
	case r.tagPrefix == "" && r.wrote == "":
		return Result{RowsAffected: r.affected}
	}
	n := r.rowsAffected()
	return Result{Tag: r.wrote + r.tagPrefix + " " + strconv.FormatInt(n, 10), RowsAffected: n}
}

// rowsAffected is the number in the result.
func (r *Rows) rowsAffected() int64 {
	if r.tagPrefix != "" {
		return r.count
	}
	return r.affected
}
