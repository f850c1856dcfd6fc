package vector

import "github.com/weftdb/weft/internal/decimal"

// Kind is the physical representation of a value. SQL types map onto kinds in package catalog.
type Kind uint8

// The kinds. Bool is one byte a value, 0 or 1. Bytes is variable length: strings, byte strings and
// the variable-length form of numeric.
const (
	Invalid Kind = iota
	Bool
	I8
	I16
	I32
	I64
	I128
	F32
	F64
	KindInterval
	Bytes
	kindCount
)

var kindNames = [kindCount]string{"invalid", "bool", "i8", "i16", "i32", "i64", "i128", "f32", "f64", "interval", "bytes"}
var kindWidths = [kindCount]int{0, 1, 1, 2, 4, 8, 16, 4, 8, 16, 0}

// String returns the kind's name in messages and file dumps.
func (k Kind) String() string { return kindNames[k] }

// Width returns the bytes a value takes, 0 for Bytes.
func (k Kind) Width() int { return kindWidths[k] }

// Int128 is a signed 128-bit integer in two's complement, laid out as Arrow's decimal128.
type Int128 = decimal.Int128

// Interval is a span of time whose three parts do not convert into each other.
type Interval struct {
	Months int32
	Days   int32
	Micros int64
}

// Fixed lists the element types with built-in operators; each is its own machine code.
type Fixed interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// Elem lists everything a fixed-width vector can hold.
type Elem interface {
	Fixed | Int128 | Interval
}
