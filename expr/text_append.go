package expr

import (
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector"
)

// AppendParsed reads a value of a type from text, as ParseDatum does, and appends it to v, a flat
// vector of the type's kind; after an error v is unchanged. Loading data goes through it: the
// common types take no detour over a Datum and no allocation.
func AppendParsed(v *vector.Vector, t catalog.Type, text string, env *Env) error {
	switch t.ID {
	case catalog.Text, catalog.Varchar, catalog.Char:
		heap, err := v.HeapBuf(), error(nil)
		if t.Prec == 0 {
			heap = append(heap, text...)
		} else if heap, err = appendFitted(heap, vector.ViewString(text), t, false); err != nil {
			return err
		}
		v.EndBytes(heap)
		keepValid(v)
		return nil
	case catalog.Int4, catalog.Int2, catalog.Int8:
		i, err := parseInteger(text, t.ID)
		if err != nil {
			return err
		}
		vector.AppendDatum(v, vector.Datum{Kind: t.Kind(), I: i})
		return nil
	case catalog.Numeric:
		if t.Kind() == vector.I64 {
			if i, ok := parseScaled(text, int(t.Prec), int(t.Scale)); ok {
				vector.Append(v, i)
				keepValid(v)
				return nil
			}
		}
	}
	d, err := ParseDatum(t, text, env)
	if err != nil {
		return err
	}
	vector.AppendDatum(v, d)
	return nil
}

// keepValid marks the row just appended valid, if v keeps track.
func keepValid(v *vector.Vector) {
	if v.Valid != nil {
		v.SetNull(v.Len-1, v.Len)
		v.Valid.Set(v.Len - 1)
	}
}

// parseScaled reads plain decimal digits with at most scale of them after the point as a scaled
// integer; everything else (blanks, exponents, rounding, overflow) is left to the general path.
func parseScaled(s string, prec, scale int) (int64, bool) {
	neg := strings.HasPrefix(s, "-")
	if neg {
		s = s[1:]
	}
	if len(s) == 0 || len(s) > 19 {
		return 0, false
	}
	v, digits, fraction, point := int64(0), 0, 0, false
	for i := range len(s) {
		c := s[i]
		if c == '.' && !point {
			point = true
			continue
		}
		if c -= '0'; c > 9 {
			return 0, false
		}
		v = v*10 + int64(c)
		if v > 0 {
			digits++
		}
		if point {
			fraction++
		}
	}
	if fraction > scale || digits+scale-fraction > prec || len(s) == 1 && point {
		return 0, false
	}
	v *= pow10(scale - fraction)
	if neg {
		v = -v
	}
	return v, true
}
