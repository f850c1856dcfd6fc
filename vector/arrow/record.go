// Package arrow turns batches into Arrow records. It is the only place that knows Arrow's types, so
// that another version of the library concerns nothing else.
package arrow

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/weftdb/weft/internal/decimal"
	"github.com/weftdb/weft/vector"
)

// Meaning says what values of a kind stand for.
type Meaning uint8

// The meanings. Plain is the kind itself: integers, floats, booleans, intervals; Text for bytes.
const (
	Plain Meaning = iota
	Text
	Binary
	Date        // days since 1970 in an I32
	Timestamp   // microseconds since 1970 in an I64
	TimestampTZ // the same, in UTC
	Decimal     // scaled I64 or I128, or package decimal's byte form
)

// Column describes a column of a result.
type Column struct {
	Name             string
	Kind             vector.Kind
	Meaning          Meaning
	Precision, Scale int32 // of scaled decimals
}

// dataType is the Arrow type of a column. Decimals in byte form, whose scale varies, become text.
func (c *Column) dataType() arrow.DataType {
	switch c.Meaning {
	case Text:
		return arrow.BinaryTypes.String
	case Binary:
		return arrow.BinaryTypes.Binary
	case Date:
		return arrow.FixedWidthTypes.Date32
	case Timestamp:
		return &arrow.TimestampType{Unit: arrow.Microsecond}
	case TimestampTZ:
		return &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
	case Decimal:
		if c.Kind == vector.Bytes {
			return arrow.BinaryTypes.String
		}
		return &arrow.Decimal128Type{Precision: c.Precision, Scale: c.Scale}
	}
	switch c.Kind {
	case vector.Bool:
		return arrow.FixedWidthTypes.Boolean
	case vector.I8:
		return arrow.PrimitiveTypes.Int8
	case vector.I16:
		return arrow.PrimitiveTypes.Int16
	case vector.I32:
		return arrow.PrimitiveTypes.Int32
	case vector.I64:
		return arrow.PrimitiveTypes.Int64
	case vector.F32:
		return arrow.PrimitiveTypes.Float32
	case vector.F64:
		return arrow.PrimitiveTypes.Float64
	case vector.KindInterval:
		return arrow.FixedWidthTypes.MonthDayNanoInterval
	}
	return arrow.BinaryTypes.String
}

// Schema returns the Arrow schema of columns.
func Schema(columns []Column) *arrow.Schema {
	fields := make([]arrow.Field, len(columns))
	for i := range columns {
		fields[i] = arrow.Field{Name: columns[i].Name, Type: columns[i].dataType(), Nullable: true}
	}
	return arrow.NewSchema(fields, nil)
}

// Record makes a record of a batch without a selection, sharing its fixed-width memory and its
// strings: the batch must not be changed afterwards. The caller releases the record.
func Record(schema *arrow.Schema, columns []Column, b *vector.Batch) (arrow.Record, error) {
	if b.Sel != nil {
		return nil, fmt.Errorf("arrow: batch has a selection")
	}
	arrays := make([]arrow.Array, len(columns))
	for i := range columns {
		v := b.Vecs[i]
		if v.Form != vector.Flat {
			v = flat(v, b.N)
		}
		data := arrayData(&columns[i], v, b.N)
		arrays[i] = array.MakeFromData(data)
		data.Release()
	}
	out := array.NewRecord(schema, arrays, int64(b.N))
	for _, a := range arrays {
		a.Release()
	}
	return out, nil
}

func flat(v *vector.Vector, n int) *vector.Vector {
	out := &vector.Vector{}
	idx := make([]uint32, n)
	for i := range idx {
		idx[i] = uint32(i)
		if v.Form == vector.Const {
			idx[i] = 0
		}
	}
	vector.Gather(out, v, idx)
	return out
}

func arrayData(c *Column, v *vector.Vector, n int) arrow.ArrayData {
	t := c.dataType()
	nulls := 0
	var valid *memory.Buffer
	if v.Valid != nil {
		nulls = n - v.Valid.Count(n)
		valid = memory.NewBufferBytes(bitmapBytes(v.Valid, n))
	}
	buffers := []*memory.Buffer{valid, nil}
	switch {
	case c.Kind == vector.Bool:
		buffers[1] = memory.NewBufferBytes(packBools(v, n))
	case c.Meaning == Decimal && c.Kind == vector.I64:
		buffers[1] = memory.NewBufferBytes(widenDecimals(v, n))
	case c.Kind == vector.KindInterval:
		buffers[1] = memory.NewBufferBytes(nanoIntervals(v, n))
	case c.Kind == vector.Bytes:
		if c.Meaning == Decimal {
			v = decimalTexts(v, n)
		}
		buffers[1] = memory.NewBufferBytes(vector.BytesOf(v.Offsets()))
		buffers = append(buffers, memory.NewBufferBytes(v.Heap()))
	default:
		buffers[1] = memory.NewBufferBytes(vector.Of[uint8](v)[:n*c.Kind.Width()])
	}
	return array.NewData(t, n, buffers, nil, nulls, 0)
}

// bitmapBytes views a bitmap as Arrow's: words are little-endian on every platform weft runs on.
func bitmapBytes(m vector.Bitmap, n int) []byte {
	return vector.BytesOf(m)[:(n+7)/8]
}

func packBools(v *vector.Vector, n int) []byte {
	out := make([]byte, (n+7)/8)
	for i, x := range vector.Of[uint8](v)[:n] {
		out[i>>3] |= x << (i & 7)
	}
	return out
}

func widenDecimals(v *vector.Vector, n int) []byte {
	out := make([]decimal128.Num, n)
	for i, x := range vector.Of[int64](v)[:n] {
		out[i] = decimal128.FromI64(x)
	}
	return arrow.Decimal128Traits.CastToBytes(out)
}

func nanoIntervals(v *vector.Vector, n int) []byte {
	out := make([]arrow.MonthDayNanoInterval, n)
	for i, x := range vector.Of[vector.Interval](v)[:n] {
		out[i] = arrow.MonthDayNanoInterval{Months: x.Months, Days: x.Days, Nanoseconds: x.Micros * 1000}
	}
	return arrow.MonthDayNanoIntervalTraits.CastToBytes(out)
}

func decimalTexts(v *vector.Vector, n int) *vector.Vector {
	out := vector.New(vector.Bytes, n)
	for i := range n {
		if v.IsNull(i) {
			out.AppendString("")
			continue
		}
		out.AppendString(decimal.FromBytes(v.BytesAt(i)).String())
	}
	return out
}
