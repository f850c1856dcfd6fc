package imcv

import (
	"encoding/binary"
	"errors"
	"math"
	"unsafe"

	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

var errBadUnit = errors.New("malformed column unit file")

// unitWriter appends values in the form of unit files: numbers as varints or 8 little-endian bytes,
// slices with their length in front.
type unitWriter struct{ b []byte }

func (w *unitWriter) uint(x uint64)    { w.b = binary.AppendUvarint(w.b, x) }
func (w *unitWriter) int(x int)        { w.uint(uint64(x)) }
func (w *unitWriter) word(x uint64)    { w.b = binary.LittleEndian.AppendUint64(w.b, x) }
func (w *unitWriter) bytes(b []byte)   { w.int(len(b)); w.b = append(w.b, b...) }
func (w *unitWriter) words(x []uint64) { w.bytes(vector.BytesOf(x)) }

func (w *unitWriter) datum(d vector.Datum) {
	w.uint(uint64(d.Kind))
	if d.Null {
		w.uint(1)
		return
	}
	w.uint(0)
	w.word(uint64(d.I))
	w.word(uint64(d.Hi))
	w.word(math.Float64bits(d.F))
	w.bytes([]byte(d.S))
}

// unitReader reads what a unitWriter wrote. After malformed input bad is set and everything is zero.
type unitReader struct {
	b   []byte
	bad bool
}

func (r *unitReader) uint() uint64 {
	x, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return x
}

func (r *unitReader) fail() { r.b, r.bad = nil, true }

// int reads a count; none is larger than a file.
func (r *unitReader) int() int {
	x := r.uint()
	if x > math.MaxInt32 {
		r.fail()
		return 0
	}
	return int(x)
}

func (r *unitReader) word() uint64 {
	if len(r.b) < 8 {
		r.fail()
		return 0
	}
	x := binary.LittleEndian.Uint64(r.b)
	r.b = r.b[8:]
	return x
}

func (r *unitReader) view() []byte {
	n := r.int()
	if n > len(r.b) {
		r.fail()
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

// bytes reads a slice into aligned memory of its own, with room behind it.
func (r *unitReader) bytes() []byte {
	b := r.view()
	out := alignedBytes(len(b))
	copy(out, b)
	return out
}

// readSlice reads a slice of count elements.
func readSlice[T uint16 | uint64 | int32](r *unitReader, count int) []T {
	b := r.bytes()
	if len(b) != count*int(unsafe.Sizeof(*new(T))) {
		r.fail()
		return make([]T, max(count, 1))
	}
	return asSlice[T](b)
}

func (r *unitReader) datum() vector.Datum {
	d := vector.Datum{Kind: vector.Kind(r.uint())}
	if d.Null = r.uint() == 1; d.Null {
		return d
	}
	d.I, d.Hi, d.F = int64(r.word()), int64(r.word()), math.Float64frombits(r.word())
	d.S = string(r.view())
	return d
}

// writeUnit returns a unit's values and NULLs. Bounds and filters are in the header of the file.
func writeUnit(u *unit) []byte {
	w := &unitWriter{}
	w.words(u.valid)
	w.uint(uint64(u.values.encoding()))
	u.values.write(w)
	return w.b
}

// readUnit makes the unit again.
func readUnit(b []byte, c *column, rows int) (*unit, error) {
	r := &unitReader{b: b}
	u := &unit{kind: c.kind, rows: rows, zone: c.zone, bloom: c.bloom}
	if n := len(r.b); n > 0 && c.zone.Nulls > 0 {
		u.valid = readSlice[uint64](r, (rows+63)/64)
	} else {
		r.view()
	}
	encoding := Encoding(r.uint())
	u.values = readValues(r, encoding, c.kind, rows)
	if r.bad || u.values == nil || len(r.b) != 0 || rows > storage.GroupRows {
		return nil, errBadUnit
	}
	return u, nil
}

// readValues makes values of what their write appended, nil if the encoding is unknown.
func readValues(r *unitReader, encoding Encoding, kind vector.Kind, rows int) values {
	whole := kind != vector.Bytes && kind.Width() <= 8 && kind != vector.F32 && kind != vector.F64
	switch {
	case encoding == Constant && r.uint() == 0:
		return &constant{r.datum()}
	case encoding == Dictionary:
		x := &dictionary{codes: r.ints(rows)}
		x.dict = r.dict(kind)
		return x
	case encoding == Scaled:
		return &scaled{kind, math.Float64frombits(r.word()), r.ints(rows)}
	case encoding == Narrow:
		return &narrow{r.ints(rows)}
	case encoding == Symbols:
		return r.symbols(rows)
	case encoding == Plain && kind == vector.Bytes:
		return &plainStrings{readSlice[int32](r, rows+1), r.bytes()}
	case encoding == Plain && !whole:
		x := &fixed{kind, r.bytes()}
		if len(x.data) != rows*kind.Width() {
			r.fail()
		}
		return x
	case whole && encoding < encodingCount:
		return &integers{kind, r.ints(rows)}
	}
	return nil
}

func (x *constant) write(w *unitWriter) {
	w.uint(0)
	w.datum(x.value)
}

func (x *integers) write(w *unitWriter) {
	if x.encoding() == Constant {
		w.uint(1) // an integer's constant, not a datum
	}
	x.ints.write(w)
}

func (s *ints) write(w *unitWriter) {
	w.word(uint64(s.base))
	w.word(uint64(s.step))
	w.word(uint64(s.slope))
	w.int(s.width)
	w.int(s.count)
	w.bytes(s.codes)
	w.int(len(s.starts))
	w.bytes(vector.BytesOf(s.starts))
}

func (r *unitReader) ints(rows int) *ints {
	s := &ints{base: int64(r.word()), step: int64(r.word()), slope: int64(r.word()), width: r.int(), count: r.int(), codes: r.bytes()}
	if n := r.int(); n > 0 {
		s.starts = readSlice[uint16](r, n)
	} else {
		r.view()
	}
	want := rows
	if s.starts != nil {
		want = len(s.starts)
	}
	if s.count != want || len(s.codes) != s.width*s.count || s.width > 8 || s.width&(s.width-1) != 0 {
		r.fail()
	}
	return s
}

func (x *narrow) write(w *unitWriter) { x.ints.write(w) }

func (x *scaled) write(w *unitWriter) {
	w.word(math.Float64bits(x.divisor))
	x.ints.write(w)
}

func (x *fixed) write(w *unitWriter) { w.bytes(x.data) }

func (x *dictionary) write(w *unitWriter) {
	x.codes.write(w)
	w.int(x.dict.Len)
	if x.dict.Kind == vector.Bytes {
		w.bytes(vector.BytesOf(x.dict.Offsets()))
		w.bytes(x.dict.Heap())
		return
	}
	w.bytes(vector.Of[uint8](x.dict))
}

func (r *unitReader) dict(kind vector.Kind) *vector.Vector {
	n := r.int()
	if kind == vector.Bytes {
		return stringVector(readSlice[int32](r, n+1), r.bytes())
	}
	v, data := &vector.Vector{}, r.bytes()
	if len(data) != n*kind.Width() {
		r.fail()
		n = 0
	}
	v.SetFixed(kind, data, n, nil)
	return v
}

func (x *plainStrings) write(w *unitWriter) {
	w.bytes(vector.BytesOf(x.offsets))
	w.bytes(x.heap)
}

func (x *symbols) write(w *unitWriter) {
	w.bytes(x.alphabet.text)
	lengths := make([]byte, x.alphabet.count)
	for c := range lengths {
		lengths[c] = byte(x.alphabet.places[c])
	}
	w.bytes(lengths)
	w.int(len(x.codes))
	w.bytes(vector.BytesOf(x.codes))
	w.bytes(vector.BytesOf(x.blocks))
	w.bytes(vector.BytesOf(x.offsets))
	w.int(x.plain)
}

func (r *unitReader) symbols(rows int) *symbols {
	x := &symbols{alphabet: &alphabet{text: r.bytes()}}
	at := 0
	for c, n := range r.view() {
		if c >= maxSymbols || n > maxSymbol {
			r.fail()
			break
		}
		x.alphabet.places[c] = uint32(at)<<8 | uint32(n)
		x.alphabet.count, at = c+1, at+int(n)
	}
	if at+maxSymbol != len(x.alphabet.text) {
		r.fail()
	}
	x.codes = readSlice[uint16](r, r.int())
	x.blocks = readSlice[int32](r, rows/symbolBlock+1)
	x.offsets = readSlice[uint16](r, rows+1)
	x.plain = r.int()
	return x
}
