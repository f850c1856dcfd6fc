package exec

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/decimal"
	"github.com/weftdb/weft/vector"
)

// normalizer gives values of a type a form in which equal values have equal bytes and order as
// their bytes do: char(n) without trailing blanks, numerics in byte form as sort keys. Other types
// are left as they are. It belongs to one worker.
type normalizer struct {
	typ   catalog.Type
	asKey bool // numerics of any form become sort keys
	buf   vector.Vector
	text  []byte
	from  *vector.Vector // the dictionary whose normal form is dict
	dict  *vector.Vector
	out   vector.Vector
}

// isNormal reports whether values of a type are in normal form as they are stored.
func isNormal(t catalog.Type) bool {
	return t.ID != catalog.Char && (t.ID != catalog.Numeric || t.Kind() != vector.Bytes)
}

// newNormalizer returns the normalizer of a type, nil when its values need none.
func newNormalizer(t catalog.Type) *normalizer {
	if isNormal(t) {
		return nil
	}
	return &normalizer{typ: t, asKey: t.ID == catalog.Numeric}
}

// newKeyNormalizer is newNormalizer for one side of a comparison: numerics of different scales
// compare by their sort keys.
func newKeyNormalizer(t, other catalog.Type) *normalizer {
	if t.ID == catalog.Numeric && other.ID == catalog.Numeric && (t.Scale != other.Scale || t.Kind() != other.Kind()) {
		return &normalizer{typ: t, asKey: true}
	}
	return newNormalizer(t)
}

// normalizers returns one per expression, nil where none is needed.
func normalizers(list []expr.Expr) []*normalizer {
	out := make([]*normalizer, len(list))
	for i, e := range list {
		out[i] = newNormalizer(e.Type())
	}
	return out
}

// kind returns the kind of normal forms.
func (z *normalizer) kind(k vector.Kind) vector.Kind {
	if z != nil && z.asKey {
		return vector.Bytes
	}
	return k
}

// apply returns the normal form of v, valid until the next call.
func (z *normalizer) apply(v *vector.Vector, n int, sel vector.Sel) *vector.Vector {
	if z == nil {
		return v
	}
	switch {
	case v.Form == vector.Dict && v.Dict.Len > normalWords:
		return z.applyRows(v, n, sel)
	case v.Form == vector.Dict:
		if z.from != v.Dict {
			dict := vector.New(vector.Bytes, v.Dict.Len)
			z.appendAll(dict, v.Dict, v.Dict.Len)
			z.from, z.dict = v.Dict, dict
		}
		z.out.SetDict(v.Codes(), z.dict, v.Valid)
		return &z.out
	case v.Form == vector.Const:
		if v.IsNull(0) {
			z.buf.SetConst(vector.NullDatum(vector.Bytes))
		} else {
			z.buf.SetConst(vector.StringDatum(string(z.value(v, 0))))
		}
		return &z.buf
	}
	if !z.asKey && trimmedAlready(v, n) {
		return v
	}
	z.buf.Reset(vector.Bytes, n)
	z.appendAll(&z.buf, v, n)
	if v.Valid != nil {
		copy(z.buf.AllValid(n), v.Valid)
	}
	return &z.buf
}

// normalWords is the largest dictionary that is normalised as a whole; of larger ones, few words
// may occur in a batch.
const normalWords = 4096

// applyRows is apply for the selected rows alone; the others become empty.
func (z *normalizer) applyRows(v *vector.Vector, n int, sel vector.Sel) *vector.Vector {
	z.buf.Reset(vector.Bytes, n)
	if sel == nil {
		z.appendAll(&z.buf, v, n)
	} else {
		for _, i := range sel {
			z.buf.CloseTo(int(i))
			if v.IsNull(int(i)) {
				z.buf.AppendBytes(nil)
			} else {
				z.buf.AppendBytes(z.value(v, int(i)))
			}
		}
		z.buf.CloseTo(n)
	}
	if v.Valid != nil {
		copy(z.buf.AllValid(n), v.Valid)
	}
	return &z.buf
}

// appendAll appends the normal forms of n rows; NULL rows become empty strings.
func (z *normalizer) appendAll(dst, v *vector.Vector, n int) {
	for i := range n {
		if v.IsNull(i) {
			dst.AppendBytes(nil)
		} else {
			dst.AppendBytes(z.value(v, i))
		}
	}
}

func (z *normalizer) value(v *vector.Vector, i int) []byte {
	if !z.asKey {
		return trimBlanks(v.BytesAt(i))
	}
	var d decimal.Decimal
	switch v.Kind {
	case vector.I64:
		d = decimal.FromScaledInt64(vector.DatumAt(v, i).I, int(z.typ.Scale))
	case vector.I128:
		d = decimal.FromInt128(vector.DatumAt(v, i).Int128(), int(z.typ.Scale))
	default:
		d = decimal.FromBytes(v.BytesAt(i))
	}
	z.text = decimal.AppendSortKey(z.text[:0], d)
	return z.text
}

func trimBlanks(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	return b
}

// trimmedAlready reports whether no string ends with a blank.
func trimmedAlready(v *vector.Vector, n int) bool {
	offsets, heap := v.Offsets(), v.Heap()
	for i := range n {
		if end := offsets[i+1]; end > offsets[i] && heap[end-1] == ' ' {
			return false
		}
	}
	return true
}
