package vector

import (
	"encoding/binary"
	"math"

	"github.com/weftdb/weft/internal/decimal"
)

// pgPartitionSeed is the seed of the hashes by which PARTITION BY HASH divides rows.
const pgPartitionSeed = 0x7A5B22367996DCFD

// pgSeeded starts the state of a hash of n bytes.
func pgSeeded(n int) (a, b, c uint32) {
	const high, low = pgPartitionSeed >> 32, pgPartitionSeed & math.MaxUint32
	a = uint32(pgHashSeed + n)
	return pgMix(a+high, a+low, a)
}

func pgSeededBytes(k []byte) uint64 {
	a, b, c := pgSeeded(len(k))
	b, c = pgHashRest(a, b, c, k)
	return uint64(b)<<32 | uint64(c)
}

func pgSeededUint32(k uint32) uint64 {
	a, b, c := pgSeeded(4)
	b, c = pgFinal(a+k, b, c)
	return uint64(b)<<32 | uint64(c)
}

func pgSeededInt64(v int64) uint64 {
	lo, hi := uint32(v), uint32(uint64(v)>>32)
	if v < 0 {
		hi = ^hi
	}
	return pgSeededUint32(lo ^ hi)
}

func pgSeededFloat64(f float64) uint64 {
	if f == 0 {
		return pgPartitionSeed
	}
	u := math.Float64bits(f)
	if f != f {
		u = 0x7FF8000000000000
	}
	return pgSeededBytes(binary.LittleEndian.AppendUint64(nil, u))
}

func pgSeededDecimal(d decimal.Decimal) uint64 {
	if !d.IsFinite() {
		return pgPartitionSeed
	}
	if d.IsZero() {
		return pgPartitionSeed - 1
	}
	var digitBuf [24]int16
	digits, weight := decimal.AppendBase10000(digitBuf[:0], d)
	var byteBuf [48]byte
	k := byteBuf[:0]
	for _, digit := range digits {
		k = append(k, byte(digit), byte(digit>>8))
	}
	return pgSeededBytes(k) ^ uint64(int64(weight))
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
	switch fn {
	case PGHashBool:
		return pgSeededUint32(uint32(Of[uint8](v)[i]))
	case PGHashInt2:
		return pgSeededUint32(uint32(int32(Of[int16](v)[i])))
	case PGHashInt4:
		return pgSeededUint32(uint32(Of[int32](v)[i]))
	case PGHashInt8:
		return pgSeededInt64(Of[int64](v)[i])
	case PGHashOid:
		return pgSeededUint32(uint32(Of[int64](v)[i]))
	case PGHashFloat4:
		return pgSeededFloat64(float64(Of[float32](v)[i]))
	case PGHashFloat8:
		return pgSeededFloat64(Of[float64](v)[i])
	case PGHashText:
		return pgSeededBytes(v.BytesAt(i))
	case PGHashBpchar:
		return pgSeededBytes(trimBlanks(v.BytesAt(i)))
	case PGHashDate:
		return pgSeededUint32(uint32(pgDate(Of[int32](v)[i])))
	case PGHashTimestamp:
		return pgSeededInt64(pgTimestamp(Of[int64](v)[i]))
	case PGHashInterval:
		return pgSeededInt64(pgSpan(Of[Interval](v)[i]))
	case PGHashNumeric:
		return pgSeededDecimal(pgDecimalAt(scale, v, i))
	}
	panic("vector: unknown hash function")
}

// PGHashCombine64 mixes a further column's hash into a row's: PostgreSQL's hash_combine64.
func PGHashCombine64(a, b uint64) uint64 {
	return a ^ (b + 0x49a0f4dd15e5a8e3 + a<<54 + a>>7)
}
