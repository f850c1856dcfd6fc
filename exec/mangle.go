package exec

import (
	"math/rand/v2"

	"github.com/weftdb/weft/vector"
)

// mangler stands between operators under the invariants tag: it passes on a copy of each batch,
// with dead rows strewn in and other forms of the vectors, and destroys the copy afterwards. An
// operator that keeps what it was lent, or looks at dead rows, gives wrong results.
type mangler struct{ out Pusher }

func (m *mangler) Flush() error { return m.out.Flush() }

func (m *mangler) Push(b *vector.Batch) error {
	if b.Live() == 0 || b.Live() > b.N || b.N > vector.BatchCap {
		panic("exec: batch without live rows, or too large")
	}
	c := mangled(b)
	err := m.out.Push(c)
	for _, v := range c.Vecs {
		destroy(v)
	}
	for i := range c.Sel {
		c.Sel[i] = 0
	}
	return err
}

// mangled copies a batch's live rows, with copies of some of them as dead rows between.
func mangled(b *vector.Batch) *vector.Batch {
	live := make([]uint32, 0, b.Live())
	for k := range b.Live() {
		if b.Sel != nil {
			k = int(b.Sel[k])
		}
		live = append(live, uint32(k))
	}
	c := &vector.Batch{}
	idx := make([]uint32, 0, vector.BatchCap)
	strew := rand.IntN(2) == 0
	for k, row := range live {
		for strew && rand.IntN(3) == 0 && len(idx)+len(live)-k < vector.BatchCap {
			idx = append(idx, live[rand.IntN(len(live))])
		}
		c.Sel = append(c.Sel, uint16(len(idx)))
		idx = append(idx, row)
	}
	if c.N = len(idx); c.N == len(live) {
		c.Sel = nil
	}
	for _, v := range b.Vecs {
		c.Vecs = append(c.Vecs, mangledVector(v, idx))
	}
	return c
}

// mangledVector copies rows of a vector, in another form now and then.
func mangledVector(v *vector.Vector, idx []uint32) *vector.Vector {
	out := &vector.Vector{}
	switch {
	case v.Form == vector.Const && rand.IntN(2) == 0:
		out.SetConst(vector.DatumAt(v, 0))
	case v.Form == vector.Flat && v.Kind == vector.Bytes && rand.IntN(2) == 0:
		dict := vector.New(vector.Bytes, len(idx))
		codes := make([]uint32, len(idx))
		for k, i := range idx {
			codes[k] = uint32(k)
			dict.AppendBytes(v.BytesAt(int(i)))
		}
		out.SetDict(codes, dict, nil)
		for k, i := range idx {
			if v.IsNull(int(i)) {
				out.SetNull(k, len(idx))
			}
		}
	default:
		vector.Pick(out, v, idx)
	}
	return out
}

// destroy overwrites a vector's values. Dictionaries are shared and immutable: they may be kept.
func destroy(v *vector.Vector) {
	if v.Form == vector.Dict {
		clear(v.Codes())
		v.Dict = vector.New(vector.Bytes, 0)
		v.Dict.AppendString("destroyed")
		return
	}
	if v.Kind == vector.Bytes {
		heap := v.Heap()
		for i := range heap {
			heap[i] = '#'
		}
		return
	}
	data := vector.Of[uint8](v)
	for i := range data {
		data[i] = 0xA5
	}
}
