package join

import (
	"encoding/binary"
	"math"

	"github.com/weftdb/weft/internal/invariants"
	"github.com/weftdb/weft/vector"
)

// MergeKey is a key of a merge join, whose two sides come in its order.
type MergeKey struct {
	NullSafe bool
	Desc     bool
	// NullsFirst tells, of a null-safe key, where NULLs stand. Rows with NULL in another key match nothing
	// and may stand anywhere.
	NullsFirst bool
}

// mergeSide is a batch of one side of a merge join. Its live rows are numbered from 0.
type mergeSide struct {
	keys []*vector.Vector
	n    int
	rows vector.Sel // the row of each live row
	// codes order as the first key does; rows with equal codes are compared by their keys unless codes are
	// exact.
	codes []uint64
	dead  []bool // rows with a NULL that matches nothing; nil = there is none
	alive []bool // memory of dead
}

// show makes s the live rows of a batch.
func (s *mergeSide) show(by []MergeKey, keys []*vector.Vector, n int, sel vector.Sel) {
	s.keys, s.n, s.rows = keys, n, sel
	if sel == nil {
		s.rows = allRows[:n]
	} else {
		s.n = len(sel)
	}
	if cap(s.codes) < s.n {
		s.codes = make([]uint64, max(s.n, vector.BatchCap))
	}
	s.codes = s.codes[:s.n]
	encodeMergeKey(s.codes, keys[0], s.rows, by[0])
	s.bury(by)
	if invariants.Enabled {
		s.check(by)
	}
}

// bury finds the rows that match nothing.
func (s *mergeSide) bury(by []MergeKey) {
	s.dead = nil
	for c, k := range s.keys {
		if by[c].NullSafe || k.Valid == nil {
			continue
		}
		if s.dead == nil {
			if cap(s.alive) < s.n {
				s.alive = make([]bool, max(s.n, vector.BatchCap))
			}
			s.dead = s.alive[:s.n]
			clear(s.dead)
		}
		for i, row := range s.rows {
			s.dead[i] = s.dead[i] || k.IsNull(int(row))
		}
	}
}

// check panics when live rows are not in order: a bug of the plan, which would lose rows.
func (s *mergeSide) check(by []MergeKey) {
	last := -1
	for i := range s.n {
		if s.alone(i) {
			continue
		}
		if last >= 0 && compareMergeKeys(by, s.keys, int(s.rows[last]), s.keys, int(s.rows[i])) > 0 {
			panic("join: input of a merge join is out of order")
		}
		last = i
	}
}

// alone reports whether a row matches nothing whatever the other side has.
func (s *mergeSide) alone(i int) bool { return s.dead != nil && s.dead[i] }

// compareMergeKeys compares two rows by all keys.
func compareMergeKeys(by []MergeKey, a []*vector.Vector, i int, b []*vector.Vector, j int) int {
	for c := range by {
		if order := vector.CompareNullable(a[c], i, b[c], j, by[c].Desc, by[c].NullsFirst); order != 0 {
			return order
		}
	}
	return 0
}

// exactCodes reports whether rows with equal codes have equal keys.
func exactCodes(by []MergeKey, kind vector.Kind) bool {
	if len(by) > 1 || by[0].NullSafe {
		return false
	}
	switch kind {
	case vector.Bytes, vector.I128, vector.KindInterval:
		return false
	}
	return true
}

// encodeMergeKey writes codes for rows of a vector. What it writes for NULL matters in null-safe keys only.
func encodeMergeKey(codes []uint64, v *vector.Vector, rows vector.Sel, by MergeKey) {
	switch {
	case v.Form == vector.Const:
		code := uint64(0)
		if !v.IsNull(0) {
			code = mergeCode(v, 0)
		}
		for i := range codes {
			codes[i] = code
		}
	case v.Form == vector.Dict:
		words := v.Codes()
		for i, row := range rows {
			if !v.IsNull(int(row)) {
				codes[i] = mergeCode(v.Dict, int(words[row]))
			}
		}
	default:
		encodeFlat(codes, v, rows)
	}
	if by.Desc {
		for i := range codes {
			codes[i] = ^codes[i]
		}
	}
	if by.NullSafe && v.Valid != nil {
		for i, row := range rows {
			if v.IsNull(int(row)) {
				codes[i] = math.MaxUint64
				if by.NullsFirst {
					codes[i] = 0
				}
			}
		}
	}
}

const signBit = 1 << 63

// encodeFlat is encodeMergeKey for the flat form; a dispatch table.
func encodeFlat(codes []uint64, v *vector.Vector, rows vector.Sel) {
	switch v.Kind {
	case vector.I16:
		encodeInts(codes, vector.Of[int16](v), rows)
	case vector.I32:
		encodeInts(codes, vector.Of[int32](v), rows)
	case vector.I64:
		encodeInts(codes, vector.Of[int64](v), rows)
	default:
		for i, row := range rows {
			codes[i] = mergeCode(v, int(row))
		}
	}
}

func encodeInts[T int16 | int32 | int64](codes []uint64, x []T, rows vector.Sel) {
	codes = codes[:len(rows)]
	for i, row := range rows {
		codes[i] = uint64(int64(x[row])) ^ signBit
	}
}

// mergeCode returns the code of a value of a flat or constant vector; of a longer value that of its start.
func mergeCode(v *vector.Vector, i int) uint64 {
	switch v.Kind {
	case vector.Bool:
		return uint64(vector.Of[uint8](v)[i])
	case vector.I8:
		return uint64(int64(vector.Of[int8](v)[i])) ^ signBit
	case vector.I16:
		return uint64(int64(vector.Of[int16](v)[i])) ^ signBit
	case vector.I32:
		return uint64(int64(vector.Of[int32](v)[i])) ^ signBit
	case vector.I64:
		return uint64(vector.Of[int64](v)[i]) ^ signBit
	case vector.F32:
		return uint64(vector.OrderKey(float64(vector.Of[float32](v)[i]))) ^ signBit
	case vector.F64:
		return uint64(vector.OrderKey(vector.Of[float64](v)[i])) ^ signBit
	case vector.I128:
		return uint64(vector.Of[vector.Int128](v)[i].Hi) ^ signBit
	case vector.KindInterval:
		return uint64(vector.Of[vector.Interval](v)[i].Span().Hi) ^ signBit
	}
	b := v.BytesAt(i)
	if len(b) >= 8 {
		return binary.BigEndian.Uint64(b)
	}
	var start [8]byte
	copy(start[:], b)
	return binary.BigEndian.Uint64(start[:])
}
