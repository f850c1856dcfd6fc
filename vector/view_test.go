package vector

import "testing"

// TestViewsAreNotWritten makes views of shared memory in every way, then writes to the same vector
// in every way, and checks that the shared memory has not changed.
func TestViewsAreNotWritten(t *testing.T) {
	ints := []int64{1, 2, 3, 4}
	offsets, heap := []int32{0, 1, 2, 3, 4}, []byte("abcd")
	codes := []uint32{0, 1, 0, 1}
	words := New(Bytes, 2)
	words.AppendString("x")
	words.AppendString("y")
	valid := Bitmap{0b1011}
	source := New(I64, 4)
	for _, x := range ints {
		Append(source, x)
	}
	views := map[string]func(v *Vector){
		"fixed":      func(v *Vector) { v.SetFixed(I64, BytesOf(ints), 4, valid) },
		"bytes":      func(v *Vector) { v.SetBytes(offsets, heap, valid) },
		"dictionary": func(v *Vector) { v.SetDict(codes, words, valid) },
		"slice":      func(v *Vector) { Slice(v, source, 0, 4) },
		"words":      func(v *Vector) { *v = *Words(words) },
		"values":     func(v *Vector) { *v = *FromSlice(I64, ints) },
	}
	writes := map[string]func(v *Vector){
		"reset fixed": func(v *Vector) { v.Reset(I64, 4); copy(Of[int64](v), []int64{9, 9, 9, 9}) },
		"reset bytes": func(v *Vector) { v.Reset(Bytes, 4); v.AppendString("zzzz") },
		"constant":    func(v *Vector) { v.SetConst(IntDatum(I64, 9)) },
		"text":        func(v *Vector) { v.SetConst(StringDatum("zzzz")) },
		"null":        func(v *Vector) { v.NullRows(F64) },
		"codes":       func(v *Vector) { v.ResetDict(words); v.AppendCodes([]uint32{1, 1, 1, 1}) },
		"gather":      func(v *Vector) { Gather(v, FromSlice(I64, []int64{8, 8, 8, 8}), []uint32{0, 1, 2, 3}) },
		"pick":        func(v *Vector) { Pick(v, FromSlice(I64, []int64{8, 8, 8, 8}), []uint32{0, 1, 2, 3}) },
		"rows":        func(v *Vector) { ViewRows(v, words, Words(words), []uint32{1, 1, 1, 1}) },
		"validity":    func(v *Vector) { v.Reset(I64, 4); v.AllValid(4); v.SetNull(0, 4) },
	}
	for viewName, view := range views {
		for writeName, write := range writes {
			v := New(I64, 1)
			for range 2 { // also where the vector's own memory has been in use before
				view(v)
				write(v)
				for i, x := range []int64{1, 2, 3, 4} {
					if ints[i] != x || offsets[i+1] != int32(i+1) || heap[i] != "abcd"[i] || codes[i] != uint32(i&1) || Of[int64](source)[i] != x {
						t.Fatalf("%s after %s changed shared memory", writeName, viewName)
					}
				}
				if valid[0] != 0b1011 || string(words.BytesAt(0)) != "x" || string(words.BytesAt(1)) != "y" {
					t.Fatalf("%s after %s changed shared memory", writeName, viewName)
				}
			}
		}
	}
}
