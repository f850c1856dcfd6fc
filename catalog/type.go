package catalog

import (
	"fmt"

	"github.com/weftdb/weft/vector"
)

// TypeID names a SQL type.
type TypeID uint8

// The SQL types. Unknown is the type of a bare string literal or NULL before it is resolved.
const (
	Unknown TypeID = iota
	Bool
	Int2
	Int4
	Int8
	Float4
	Float8
	Numeric
	Char    // char(n), blank padded
	Varchar // varchar, nvarchar2, varchar2
	Text
	Name
	Bytea
	Date
	Timestamp
	TimestampTZ
	Interval
	Int2Vector
	Oid
	typeCount
)

var typeNames = [typeCount]string{"unknown", "boolean", "smallint", "integer", "bigint", "real",
	"double precision", "numeric", "character", "character varying", "text", "name", "bytea", "date",
	"timestamp without time zone", "timestamp with time zone", "interval", "int2vector", "oid"}

// Type is a SQL type with its modifiers. Types are compared with ==.
//
// Numeric: Prec digits of which Scale after the point; Prec 0 is numeric without modifiers, each
// value with its own display scale. The types of numeric expressions carry derived modifiers too
// (a product has the sum of its factors' digits and scales): every value then has exactly Scale
// digits after the point. Char, Varchar: Prec is the length in characters, 0 = none given.
// Timestamps and intervals: Prec is 1 + the digits kept of a second, 0 = all six.
type Type struct {
	ID    TypeID
	Prec  int16
	Scale int16
}

// MaxPrec64 and MaxPrec128 are the most digits the two fixed-width forms of numeric hold.
const (
	MaxPrec64  = 18
	MaxPrec128 = 38
)

// Kind returns the physical kind of the type's values. A numeric of at most 18 digits is a scaled
// int64, of at most 38 a scaled 128-bit integer, else package internal/decimal's byte form.
func (t Type) Kind() vector.Kind {
	switch t.ID {
	case Bool:
		return vector.Bool
	case Int2:
		return vector.I16
	case Int4, Date:
		return vector.I32
	case Int8, Timestamp, TimestampTZ, Oid:
		return vector.I64
	case Float4:
		return vector.F32
	case Float8:
		return vector.F64
	case Interval:
		return vector.KindInterval
	case Numeric:
		switch {
		case t.Prec == 0 || t.Prec > MaxPrec128 || t.Scale < 0:
			return vector.Bytes
		case t.Prec > MaxPrec64:
			return vector.I128
		}
		return vector.I64
	}
	return vector.Bytes
}

// IsString reports whether values are character strings.
func (t Type) IsString() bool {
	return t.ID == Char || t.ID == Varchar || t.ID == Text || t.ID == Name || t.ID == Unknown
}

// IsInteger reports whether t is one of the integer types.
func (t Type) IsInteger() bool { return t.ID == Int2 || t.ID == Int4 || t.ID == Int8 }

// IsNumber reports whether arithmetic works on t.
func (t Type) IsNumber() bool { return t.ID >= Int2 && t.ID <= Numeric }

// String returns the type as PostgreSQL's format_type prints it.
func (t Type) String() string {
	name := typeNames[t.ID]
	switch {
	case t.ID == Numeric && t.Prec > 0:
		return fmt.Sprintf("numeric(%d,%d)", t.Prec, t.Scale)
	case (t.ID == Char || t.ID == Varchar) && t.Prec > 0:
		return fmt.Sprintf("%s(%d)", name, t.Prec)
	case t.ID == Timestamp && t.Prec > 0:
		return fmt.Sprintf("timestamp(%d) without time zone", t.Prec-1)
	case t.ID == TimestampTZ && t.Prec > 0:
		return fmt.Sprintf("timestamp(%d) with time zone", t.Prec-1)
	case t.ID == Interval && t.Prec > 0:
		return fmt.Sprintf("interval(%d)", t.Prec-1)
	}
	return name
}

// Base returns the type without modifiers.
func (t Type) Base() Type { return Type{ID: t.ID} }

// ExactKeys reports whether an index's keys give values of the type back as they were. Others come
// back equal only: a negative zero without its sign, an interval without months, a numeric with
// another scale.
func (t Type) ExactKeys() bool {
	switch t.ID {
	case Float4, Float8, Interval:
		return false
	case Numeric:
		return t.Kind() != vector.Bytes
	case Char:
		return t.Prec > 0
	}
	return true
}

// PGHash returns PostgreSQL's hash function of the type.
func (t Type) PGHash() vector.PGHash {
	switch t.ID {
	case Bool:
		return vector.PGHashBool
	case Int2:
		return vector.PGHashInt2
	case Int4:
		return vector.PGHashInt4
	case Int8:
		return vector.PGHashInt8
	case Oid:
		return vector.PGHashOid
	case Float4:
		return vector.PGHashFloat4
	case Float8:
		return vector.PGHashFloat8
	case Numeric:
		return vector.PGHashNumeric
	case Char:
		return vector.PGHashBpchar
	case Date:
		return vector.PGHashDate
	case Timestamp, TimestampTZ:
		return vector.PGHashTimestamp
	case Interval:
		return vector.PGHashInterval
	}
	return vector.PGHashText
}
