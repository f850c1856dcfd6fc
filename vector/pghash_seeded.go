package vector

import (
	"encoding/binary"
	"math"

	"github.com/weftdb/weft/internal/decimal"
)

// pgSeed is the seed of PostgreSQL's 64-bit hash functions (hash_any_extended and those built on it). With
// seed 0 their low halves are what the functions of 32 bits give.
type pgSeed uint64

// pgPartitionSeed is the seed of the hashes by which PARTITION BY HASH divides rows.
const pgPartitionSeed pgSeed = 0x7A5B22367996DCFD

// start begins the state of a hash of n bytes.
func (s pgSeed) start(n int) (a, b, c uint32) {
	a = uint32(pgHashSeed + n)
	if s == 0 {
		return a, a, a
	}
	return pgMix(a+uint32(s>>32), a+uint32(s), a)
}

func (s pgSeed) bytes(k []byte) uint64 {
	a, b, c := s.start(len(k))
	b, c = pgHashRest(a, b, c, k)
	return uint64(b)<<32 | uint64(c)
}

func (s pgSeed) uint32(k uint32) uint64 {
	a, b, c := s.start(4)
	b, c = pgFinal(a+k, b, c)
	return uint64(b)<<32 | uint64(c)
}

func (s pgSeed) int64(v int64) uint64 { return s.uint32(pgFold(v)) }

func (s pgSeed) float64(f float64) uint64 {
	if f == 0 {
		return uint64(s)
	}
	u := math.Float64bits(f)
	if f != f {
		u = 0x7FF8000000000000
	}
	var buf [8]byte
	binary.LittleEndian.PutUint64(buf[:], u)
	return s.bytes(buf[:])
}

func (s pgSeed) decimal(d decimal.Decimal) uint64 {
	if !d.IsFinite() {
		return uint64(s)
	}
	if d.IsZero() {
		return uint64(s) - 1
	}
	var digitBuf [24]int16
	digits, weight := decimal.AppendBase10000(digitBuf[:0], d)
	var byteBuf [48]byte
	k := byteBuf[:0]
	for _, digit := range digits {
		k = append(k, byte(digit), byte(digit>>8))
	}
	return s.bytes(k) ^ uint64(int64(weight))
}

// row hashes one non-NULL row of a flat or constant vector.
func (s pgSeed) row(fn PGHash, scale int, v *Vector, i int) uint64 {
	switch fn {
	case PGHashBool:
		return s.uint32(uint32(Of[uint8](v)[i]))
	case PGHashInt2:
		return s.uint32(uint32(int32(Of[int16](v)[i])))
	case PGHashInt4:
		return s.uint32(uint32(Of[int32](v)[i]))
	case PGHashInt8:
		return s.int64(Of[int64](v)[i])
	case PGHashOid:
		return s.uint32(uint32(Of[int64](v)[i]))
	case PGHashFloat4:
		return s.float64(float64(Of[float32](v)[i]))
	case PGHashFloat8:
		return s.float64(Of[float64](v)[i])
	case PGHashText:
		return s.bytes(v.BytesAt(i))
	case PGHashBpchar:
		return s.bytes(trimBlanks(v.BytesAt(i)))
	case PGHashDate:
		return s.uint32(uint32(pgDate(Of[int32](v)[i])))
	case PGHashTimestamp:
		return s.int64(pgTimestamp(Of[int64](v)[i]))
	case PGHashInterval:
		return s.int64(pgSpan(Of[Interval](v)[i]))
	case PGHashNumeric:
		return s.decimal(pgDecimalAt(scale, v, i))
	}
	panic("vector: unknown hash function")
}

// PGPartitionHash is PostgreSQL's seeded 64-bit form of a hash function, of a row that is not NULL.
// Rows are divided among hash partitions by it, so results are disk format.
func PGPartitionHash(fn PGHash, scale int, v *Vector, i int) uint64 {
	switch v.Form {
	case Const:
		i = 0
	case Dict:
		v, i = v.Dict, int(v.Codes()[i])
	}
	return pgPartitionSeed.row(fn, scale, v, i)
}

// PGHashCombine64 mixes a further column's hash into a row's: PostgreSQL's hash_combine64.
func PGHashCombine64(a, b uint64) uint64 {
	return a ^ (b + 0x49a0f4dd15e5a8e3 + a<<54 + a>>7)
}
