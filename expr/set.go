package expr

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/decimal"
	"github.com/weftdb/weft/vector"
)

// valueSet is the constant list of an IN, for look-ups by value.
type valueSet struct {
	typ     catalog.Type
	hasNull bool
	ints    map[int64]struct{}
	small   []int64 // instead of ints, when few
	strings map[string]struct{}
	words   []string       // instead of strings, when few
	others  *vector.Vector // kinds without a hashable form: compared one by one
	key     []byte
}

const smallSet = 8 // below this a linear search beats a map

// newSet returns the list as a set and the expression to look up in it, or nil when some item is
// not constant. Numerics are looked up in the form they are stored in.
func newSet(e *InList) (*valueSet, Expr) {
	arg := widened(e.Arg)
	t := arg.Type()
	s := &valueSet{typ: t}
	for _, item := range e.List {
		c, ok := item.(*Const)
		if !ok {
			return nil, nil
		}
		switch {
		case c.Value.Null:
			s.hasNull = true
		case t.ID == catalog.Numeric && c.Typ.ID == catalog.Numeric:
			s.addNumeric(numericOfDatum(c.Typ, c.Value))
		case c.Typ.Kind() != t.Kind():
			return nil, nil
		default:
			s.add(c.Value)
		}
	}
	if len(s.ints) <= smallSet {
		for i := range s.ints {
			s.small = append(s.small, i)
		}
		s.ints = nil
	}
	if len(s.strings) <= smallSet {
		for w := range s.strings {
			s.words = append(s.words, w)
		}
		s.strings = nil
	}
	return s, arg
}

// addNumeric adds a number in the form of the set's type; one with more fraction digits or beyond
// that form equals none of its values.
func (s *valueSet) addNumeric(d decimal.Decimal) {
	if s.typ.Kind() == vector.Bytes {
		s.add(vector.StringDatum(string(decimal.AppendBytes(nil, d))))
		return
	}
	x, ok := d.Int128(int(s.typ.Scale))
	switch {
	case !ok || d.MinScale() > int(s.typ.Scale):
	case s.typ.Kind() == vector.I128:
		s.add(vector.Int128Datum(x))
	case x.IsInt64():
		s.add(vector.IntDatum(vector.I64, int64(x.Lo)))
	}
}

func (s *valueSet) add(d vector.Datum) {
	switch s.typ.Kind() {
	case vector.Bool, vector.I8, vector.I16, vector.I32, vector.I64:
		if s.ints == nil {
			s.ints = map[int64]struct{}{}
		}
		s.ints[d.I] = struct{}{}
	case vector.Bytes:
		if s.strings == nil {
			s.strings = map[string]struct{}{}
		}
		s.strings[string(s.normal([]byte(d.S)))] = struct{}{}
	default:
		if s.others == nil {
			s.others = vector.New(s.typ.Kind(), 4)
		}
		vector.AppendDatum(s.others, d)
	}
}

// normal maps equal strings to equal bytes.
func (s *valueSet) normal(b []byte) []byte {
	switch s.typ.ID {
	case catalog.Char:
		return trimBlankBytes(b)
	case catalog.Numeric:
		s.key = decimal.AppendSortKey(s.key[:0], decimal.FromBytes(b))
		return s.key
	}
	return b
}

// contains looks up row i of a flat or constant vector; it is not NULL.
func (s *valueSet) contains(v *vector.Vector, i int) bool {
	var x int64
	switch v.Kind {
	case vector.Bool:
		x = int64(vector.Of[uint8](v)[i])
	case vector.I8:
		x = int64(vector.Of[int8](v)[i])
	case vector.I16:
		x = int64(vector.Of[int16](v)[i])
	case vector.I32:
		x = int64(vector.Of[int32](v)[i])
	case vector.I64:
		x = vector.Of[int64](v)[i]
	case vector.Bytes:
		b := s.normal(v.BytesAt(i))
		if s.strings != nil {
			_, ok := s.strings[vector.StringOf(b)]
			return ok
		}
		for _, w := range s.words {
			if string(b) == w {
				return true
			}
		}
		return false
	default:
		for j := 0; s.others != nil && j < s.others.Len; j++ {
			if vector.CompareRows(v, i, s.others, j) == 0 {
				return true
			}
		}
		return false
	}
	if s.ints != nil {
		_, ok := s.ints[x]
		return ok
	}
	for _, y := range s.small {
		if x == y {
			return true
		}
	}
	return false
}
