package vector

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/weftdb/weft/internal/decimal"
)

// PGHash names one of PostgreSQL's unseeded type hash functions (the ones hash joins and hash
// indexes use). Rows are distributed over data nodes by them, so results are disk format: they must
// never change.
type PGHash uint8

// The functions. Which type uses which is decided where types are known.
const (
	PGHashBool      PGHash = iota // hashchar of 0 or 1
	PGHashInt2                    // hashint2
	PGHashInt4                    // hashint4
	PGHashInt8                    // hashint8
	PGHashOid                     // hashoid, of an I64
	PGHashFloat4                  // hashfloat4
	PGHashFloat8                  // hashfloat8
	PGHashText                    // hashtext, hashname, hashvarlena
	PGHashBpchar                  // hashbpchar: without trailing blanks
	PGHashDate                    // hashint4 of days since 2000-01-01
	PGHashTimestamp               // timestamp_hash: hashint8 of microseconds since 2000-01-01
	PGHashInterval                // interval_hash
	PGHashNumeric                 // hash_numeric, of any form of numeric
)

// PostgreSQL counts time from 2000-01-01, vectors from 1970-01-01.
const (
	pgEpochDays   = 10957
	pgEpochMicros = pgEpochDays * 86_400_000_000
)

const pgHashSeed = 0x9e3779b9 + 3923095

// pgMix mixes three words reversibly: Bob Jenkins' lookup3.
func pgMix(a, b, c uint32) (uint32, uint32, uint32) {
	a -= c
	a ^= bits.RotateLeft32(c, 4)
	c += b
	b -= a
	b ^= bits.RotateLeft32(a, 6)
	a += c
	c -= b
	c ^= bits.RotateLeft32(b, 8)
	b += a
	a -= c
	a ^= bits.RotateLeft32(c, 16)
	c += b
	b -= a
	b ^= bits.RotateLeft32(a, 19)
	a += c
	c -= b
	c ^= bits.RotateLeft32(b, 4)
	b += a
	return a, b, c
}

// pgFinal mixes the last three words into the two that hashes are made of.
func pgFinal(a, b, c uint32) (uint32, uint32) {
	c ^= b
	c -= bits.RotateLeft32(b, 14)
	a ^= c
	a -= bits.RotateLeft32(c, 11)
	b ^= a
	b -= bits.RotateLeft32(a, 25)
	c ^= b
	c -= bits.RotateLeft32(b, 16)
	a ^= c
	a -= bits.RotateLeft32(c, 4)
	b ^= a
	b -= bits.RotateLeft32(a, 14)
	c ^= b
	c -= bits.RotateLeft32(b, 24)
	return b, c
}

// PGHashBytes is PostgreSQL's hash_any on a little-endian machine.
func PGHashBytes(k []byte) uint32 { return uint32(pgSeed(0).bytes(k)) }

// pgHashRest mixes bytes into a state and ends it.
func pgHashRest(a, b, c uint32, k []byte) (uint32, uint32) {
	for len(k) >= 12 {
		a += binary.LittleEndian.Uint32(k)
		b += binary.LittleEndian.Uint32(k[4:])
		c += binary.LittleEndian.Uint32(k[8:])
		a, b, c = pgMix(a, b, c)
		k = k[12:]
	}
	// The lowest byte of c is reserved for the length, which the seed holds already.
	for i, x := range k {
		switch {
		case i < 4:
			a += uint32(x) << (8 * i)
		case i < 8:
			b += uint32(x) << (8 * (i - 4))
		default:
			c += uint32(x) << (8 * (i - 7))
		}
	}
	return pgFinal(a, b, c)
}

// PGHashUint32 is PostgreSQL's hash_uint32.
func PGHashUint32(k uint32) uint32 {
	const seed = pgHashSeed + 4&0xffffffff
	s := uint32(seed)
	_, c := pgFinal(s+k, s, s)
	return c
}

// PGHashInt64 is PostgreSQL's hashint8: it agrees with hashint4 on values that both types hold.
func PGHashInt64(v int64) uint32 { return PGHashUint32(pgFold(v)) }

// pgFold brings an integer to 32 bits.
func pgFold(v int64) uint32 {
	lo, hi := uint32(v), uint32(uint64(v)>>32)
	if v < 0 {
		hi = ^hi
	}
	return lo ^ hi
}

// PGHashFloat64 is PostgreSQL's hashfloat8: zeros hash equal, and so do NaNs.
func PGHashFloat64(f float64) uint32 { return uint32(pgSeed(0).float64(f)) }

// PGHashDecimal is PostgreSQL's hash_numeric: by value, whatever the scale.
func PGHashDecimal(d decimal.Decimal) uint32 { return uint32(pgSeed(0).decimal(d)) }

// pgSpan is the span that intervals compare by: 30-day months, 24-hour days; the low 64 bits of
// PostgreSQL's int128.
func pgSpan(x Interval) int64 {
	days := int64(x.Months)*30 + int64(x.Days)
	return days*86_400_000_000 + x.Micros
}

// pgDate counts days as PostgreSQL does; ±infinity are the same numbers in both.
func pgDate(days int32) int32 {
	if days != math.MaxInt32 && days != math.MinInt32 {
		days -= pgEpochDays
	}
	return days
}

// pgTimestamp counts microseconds as PostgreSQL does; ±infinity are the same numbers in both.
func pgTimestamp(micros int64) int64 {
	if micros != math.MaxInt64 && micros != math.MinInt64 {
		micros -= pgEpochMicros
	}
	return micros
}

func trimBlanks(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	return b
}

// PGHashCombine mixes a further column's hash into a row's: PostgreSQL's hash_combine.
func PGHashCombine(a, b uint32) uint32 {
	return a ^ (b + 0x9e3779b9 + a<<6 + a>>2)
}

// PGHashRows hashes rows 0 … n−1 of v by fn into dst. scale is the scale of numerics in
// fixed-width form. NULL rows get 0.
func PGHashRows(dst []uint32, fn PGHash, scale int, v *Vector, n int) {
	dst = dst[:n]
	switch v.Form {
	case Const:
		h := PGHashRow(fn, scale, v, 0)
		for i := range dst {
			dst[i] = h
		}
		return
	case Flat:
		if v.Valid == nil && pgHashFlat(dst, fn, v) {
			return
		}
	}
	for i := range dst {
		dst[i] = PGHashRow(fn, scale, v, i)
	}
}

// PGHashRow is PGHashRows for row i alone.
func PGHashRow(fn PGHash, scale int, v *Vector, i int) uint32 {
	if v.IsNull(i) {
		return 0
	}
	switch v.Form {
	case Const:
		i = 0
	case Dict:
		v, i = v.Dict, int(v.Codes()[i])
	}
	return uint32(pgSeed(0).row(fn, scale, v, i))
}

// pgHashFlat is the loop for the usual key types without NULLs.
func pgHashFlat(dst []uint32, fn PGHash, v *Vector) bool {
	switch fn {
	case PGHashInt4:
		for i, x := range Of[int32](v)[:len(dst)] {
			dst[i] = PGHashUint32(uint32(x))
		}
	case PGHashInt8:
		for i, x := range Of[int64](v)[:len(dst)] {
			dst[i] = PGHashInt64(x)
		}
	case PGHashText:
		for i := range dst {
			dst[i] = PGHashBytes(v.BytesAt(i))
		}
	default:
		return false
	}
	return true
}

func pgDecimalAt(scale int, v *Vector, i int) decimal.Decimal {
	switch v.Kind {
	case I64:
		return decimal.FromScaledInt64(Of[int64](v)[i], scale)
	case I128:
		x := Of[Int128](v)[i]
		return decimal.FromInt128(decimal.Int128{Lo: x.Lo, Hi: x.Hi}, scale)
	}
	return decimal.FromBytes(v.BytesAt(i))
}
