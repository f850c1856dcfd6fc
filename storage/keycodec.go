package storage

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/decimal"
	"github.com/weftdb/weft/vector"
)

// Keys are memcomparable: bytes.Compare of two encoded keys is the SQL comparison of the values.
// Each column is a flag byte and, unless NULL, a payload that is no prefix of another payload of
// the column. DESC complements the payload. The encoding is disk format.
const (
	flagNullFirst = 0x00
	flagValue     = 0x01
	flagNullLast  = 0x02
)

// Collations. The id stands in front of each text payload, so that keys explain themselves. C is
// bytewise; another collation would store its sort key and then the original.
const collationC = 0x00

// Text payloads escape zero bytes and end with a terminator that sorts below the escape.
const (
	textEscape     = 0xFF // 0x00 is stored as 0x00 0xFF
	textTerminator = 0x01 // the end is 0x00 0x01
)

// keyOp is how a column's values are encoded.
type keyOp uint8

const (
	keyBool keyOp = iota
	keyInt8
	keyInt16
	keyInt32
	keyInt64
	keyInt128
	keyFloat32
	keyFloat64
	keyInterval
	keyText
	keyChar // text without trailing blanks
	keyNumeric64
	keyNumeric128
	keyNumericBytes
	keyBytea // as text, without collation
)

// keyColumn is one part of a key, a column or an expression.
type keyColumn struct {
	typ        catalog.Type
	op         keyOp
	desc       bool
	nullsFirst bool
}

// keyCodec encodes and decodes the keys of one index. It is immutable.
type keyCodec struct {
	cols []keyColumn
}

// keyOpOf chooses the encoding of a type.
func keyOpOf(t catalog.Type) keyOp {
	kind := t.Kind()
	if t.ID == catalog.Numeric {
		switch kind {
		case vector.I64:
			return keyNumeric64
		case vector.I128:
			return keyNumeric128
		}
		return keyNumericBytes
	}
	switch kind {
	case vector.Bool:
		return keyBool
	case vector.I8:
		return keyInt8
	case vector.I16:
		return keyInt16
	case vector.I32:
		return keyInt32
	case vector.I64:
		return keyInt64
	case vector.I128:
		return keyInt128
	case vector.F32:
		return keyFloat32
	case vector.F64:
		return keyFloat64
	case vector.KindInterval:
		return keyInterval
	}
	switch {
	case t.ID == catalog.Char:
		return keyChar
	case t.IsString():
		return keyText
	}
	return keyBytea
}

func (k *keyColumn) nullFlag() byte {
	if k.nullsFirst {
		return flagNullFirst
	}
	return flagNullLast
}

// appendRow appends the key of row i of vecs, one vector of any form per column. It reports
// whether a column is NULL.
func (c *keyCodec) appendRow(dst []byte, vecs []*vector.Vector, i int) (key []byte, hasNull bool) {
	for n := range c.cols {
		k, v, row := &c.cols[n], vecs[n], i
		if v.IsNull(i) {
			dst, hasNull = append(dst, k.nullFlag()), true
			continue
		}
		switch v.Form {
		case vector.Const:
			row = 0
		case vector.Dict:
			v, row = v.Dict, int(v.Codes()[i])
		}
		dst = append(dst, flagValue)
		start := len(dst)
		dst = k.appendFlat(dst, v, row)
		if k.desc {
			complement(dst[start:])
		}
	}
	return dst, hasNull
}

// appendFlat appends the payload of a non-NULL row of a flat vector.
func (k *keyColumn) appendFlat(dst []byte, v *vector.Vector, i int) []byte {
	switch k.op {
	case keyBool:
		return append(dst, vector.Of[uint8](v)[i])
	case keyInt8:
		return append(dst, uint8(vector.Of[int8](v)[i])^0x80)
	case keyInt16:
		return appendKeyInt16(dst, vector.Of[int16](v)[i])
	case keyInt32:
		return appendKeyInt32(dst, vector.Of[int32](v)[i])
	case keyInt64:
		return appendKeyInt64(dst, vector.Of[int64](v)[i])
	case keyInt128:
		return appendKeyInt128(dst, vector.Of[vector.Int128](v)[i])
	case keyFloat32:
		return appendKeyFloat32(dst, vector.Of[float32](v)[i])
	case keyFloat64:
		return appendKeyInt64(dst, vector.OrderKey(vector.Of[float64](v)[i]))
	case keyInterval:
		return appendKeyInt128(dst, intervalSpan(vector.Of[vector.Interval](v)[i]))
	case keyNumeric64:
		return decimal.AppendSortKey(dst, decimal.FromScaledInt64(vector.Of[int64](v)[i], int(k.typ.Scale)))
	case keyNumeric128:
		return decimal.AppendSortKey(dst, decimal.FromInt128(decimal.Int128(vector.Of[vector.Int128](v)[i]), int(k.typ.Scale)))
	case keyNumericBytes:
		return decimal.AppendSortKey(dst, decimal.FromBytes(v.BytesAt(i)))
	}
	return k.appendText(dst, v.BytesAt(i))
}

// appendDatums appends the key of values, which may be fewer than the columns: a prefix.
func (c *keyCodec) appendDatums(dst []byte, key []vector.Datum) (encoded []byte, hasNull bool) {
	for n, d := range key {
		k := &c.cols[n]
		if d.Null {
			dst, hasNull = append(dst, k.nullFlag()), true
			continue
		}
		dst = append(dst, flagValue)
		start := len(dst)
		dst = k.appendDatum(dst, d)
		if k.desc {
			complement(dst[start:])
		}
	}
	return dst, hasNull
}

func (k *keyColumn) appendDatum(dst []byte, d vector.Datum) []byte {
	switch k.op {
	case keyBool:
		return append(dst, byte(d.I))
	case keyInt8:
		return append(dst, uint8(d.I)^0x80)
	case keyInt16:
		return appendKeyInt16(dst, int16(d.I))
	case keyInt32:
		return appendKeyInt32(dst, int32(d.I))
	case keyInt64:
		return appendKeyInt64(dst, d.I)
	case keyInt128:
		return appendKeyInt128(dst, d.Int128())
	case keyFloat32:
		return appendKeyFloat32(dst, float32(d.F))
	case keyFloat64:
		return appendKeyInt64(dst, vector.OrderKey(d.F))
	case keyInterval:
		return appendKeyInt128(dst, intervalSpan(d.Interval()))
	case keyNumeric64:
		return decimal.AppendSortKey(dst, decimal.FromScaledInt64(d.I, int(k.typ.Scale)))
	case keyNumeric128:
		return decimal.AppendSortKey(dst, decimal.FromInt128(decimal.Int128(d.Int128()), int(k.typ.Scale)))
	case keyNumericBytes:
		return decimal.AppendSortKey(dst, decimal.FromBytes([]byte(d.S)))
	}
	return k.appendText(dst, []byte(d.S))
}

func (k *keyColumn) appendText(dst, b []byte) []byte {
	if k.op != keyBytea {
		dst = append(dst, collationC)
		if k.op == keyChar {
			b = bytes.TrimRight(b, " ")
		}
	}
	for {
		i := bytes.IndexByte(b, 0)
		if i < 0 {
			break
		}
		dst = append(append(dst, b[:i+1]...), textEscape)
		b = b[i+1:]
	}
	return append(append(dst, b...), 0, textTerminator)
}

func complement(b []byte) {
	for i := range b {
		b[i] = ^b[i]
	}
}

func appendKeyInt16(dst []byte, x int16) []byte {
	return binary.BigEndian.AppendUint16(dst, uint16(x)^1<<15)
}

func appendKeyInt32(dst []byte, x int32) []byte {
	return binary.BigEndian.AppendUint32(dst, uint32(x)^1<<31)
}

func appendKeyInt64(dst []byte, x int64) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(x)^1<<63)
}

func appendKeyInt128(dst []byte, x vector.Int128) []byte {
	return binary.BigEndian.AppendUint64(appendKeyInt64(dst, x.Hi), x.Lo)
}

// appendKeyFloat32 orders as vector.OrderKey does: NaN greatest, −0 equal to 0.
func appendKeyFloat32(dst []byte, f float32) []byte {
	order := int32(math.MaxInt32)
	if f == f {
		if f == 0 {
			f = 0 // −0 and 0 are one value
		}
		order = int32(math.Float32bits(f + 0))
		if order < 0 {
			order = math.MinInt32 - order
		}
	}
	return appendKeyInt32(dst, order)
}

// intervalSpan is what intervals compare by: months of 30 days, days of 24 hours, in microseconds.
func intervalSpan(x vector.Interval) vector.Int128 {
	const dayMicros = 86_400_000_000
	days := int64(x.Months)*30 + int64(x.Days)
	return addInt128(mulInt64(days, dayMicros), vector.Int128{Lo: uint64(x.Micros), Hi: x.Micros >> 63})
}
