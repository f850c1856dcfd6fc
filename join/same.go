package join

import (
	"bytes"

	"github.com/weftdb/weft/vector"
)

// sameKey keeps the first m pairs whose values in one key column are equal.
func sameKey(a, b *vector.Vector, nullSafe bool, probe, build []uint32, m int) int {
	if a.Form == vector.Flat && b.Form == vector.Flat && (!nullSafe || a.Valid == nil && b.Valid == nil) {
		switch a.Kind {
		case vector.Bytes:
			return sameBytes(a, b, probe, build, m)
		case vector.I16:
			return sameFixed[int16](a, b, probe, build, m)
		case vector.I32:
			return sameFixed[int32](a, b, probe, build, m)
		case vector.I64:
			return sameFixed[int64](a, b, probe, build, m)
		}
	}
	if a.Form == vector.Dict && b.Form == vector.Flat && a.Kind == vector.Bytes && a.Valid == nil && b.Valid == nil {
		return sameWords(a, b, probe, build, m)
	}
	k := 0
	for i := range m {
		probe[k], build[k] = probe[i], build[i]
		k += b2i(equalRows(a, int(probe[i]), b, int(build[i]), nullSafe))
	}
	return k
}

func sameFixed[T int16 | int32 | int64](a, b *vector.Vector, probe, build []uint32, m int) int {
	x, y, k := vector.Of[T](a), vector.Of[T](b), 0
	for i := range m {
		l, r := probe[i], build[i]
		probe[k], build[k] = l, r
		k += b2i(x[l] == y[r])
	}
	return k
}

func sameBytes(a, b *vector.Vector, probe, build []uint32, m int) int {
	ao, ah, bo, bh, k := a.Offsets(), a.Heap(), b.Offsets(), b.Heap(), 0
	for i := range m {
		l, r := probe[i], build[i]
		probe[k], build[k] = l, r
		k += b2i(bytes.Equal(ah[ao[l]:ao[l+1]], bh[bo[r]:bo[r+1]]))
	}
	return k
}

// sameWords is sameBytes for a in dictionary form.
func sameWords(a, b *vector.Vector, probe, build []uint32, m int) int {
	codes, k := a.Codes(), 0
	ao, ah, bo, bh := a.Dict.Offsets(), a.Dict.Heap(), b.Offsets(), b.Heap()
	for i := range m {
		l, r := probe[i], build[i]
		c := codes[l]
		probe[k], build[k] = l, r
		k += b2i(bytes.Equal(ah[ao[c]:ao[c+1]], bh[bo[r]:bo[r+1]]))
	}
	return k
}

func equalRows(a *vector.Vector, i int, b *vector.Vector, j int, nullSafe bool) bool {
	an, bn := a.IsNull(i), b.IsNull(j)
	if an || bn {
		return nullSafe && an && bn
	}
	return vector.CompareRows(a, i, b, j) == 0
}
