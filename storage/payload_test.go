package storage

import (
	"testing"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector"
)

// TestPayload has random values of included columns come back as they were, and refuses what is cut
// off or too long.
func TestPayload(t *testing.T) {
	r := newRand(t)
	for range 500 {
		n := 1 + r.IntN(10)
		types := make([]catalog.Type, n)
		c := payloadCodec{}
		in, out := make([]*vector.Vector, n), make([]*vector.Vector, n)
		want := make([]vector.Datum, n)
		for i := range types {
			types[i] = keyTypes[r.IntN(len(keyTypes))]
			kind := types[i].Kind()
			c.kinds = append(c.kinds, kind)
			if want[i] = randomDatum(r, types[i]); r.IntN(4) == 0 {
				want[i] = vector.NullDatum(kind)
			}
			in[i] = vector.ConstOf(want[i])
			if r.IntN(5) > 0 {
				out[i] = vector.New(kind, 1)
			}
		}
		payload := c.append(nil, in, 7)
		if err := c.decode(payload, out); err != nil {
			t.Fatal(err)
		}
		for i, v := range out {
			if v == nil {
				continue
			}
			if got := vector.DatumAt(v, 0); v.Len != 1 || got != want[i] && !(got.F != got.F && want[i].F != want[i].F) {
				t.Fatalf("%s: %v came back as %v", types[i], want[i], got)
			}
		}
		if c.decode(append(payload, 0), make([]*vector.Vector, n)) == nil {
			t.Error("a byte too many was accepted")
		}
		if c.decode(payload[:len(payload)-1], make([]*vector.Vector, n)) == nil {
			t.Error("a payload cut off was accepted")
		}
	}
}

// TestEntryValues takes the values of entries apart again.
func TestEntryValues(t *testing.T) {
	ref := MakeRowRef(3, 77)
	key := appendRef(append(appendIndexPrefix(nil, 9), 1, 2, 3), ref)
	bare, covering := &indexCodec{}, &indexCodec{includeAt: []int{0}}
	for _, payload := range [][]byte{{0}, {0, 1, 2, 3, 4, 5, 6}, make([]byte, 40)} {
		for _, suffixed := range []bool{false, true} {
			value := appendEntryValue(nil, suffixed, ref, payload)
			got, rest, err := covering.splitEntry(key, value)
			if err != nil || got != ref || string(rest) != string(payload) {
				t.Errorf("%v %v: %v %v %v", suffixed, payload, got, rest, err)
			}
			if unique, ok := uniqueRef(value); !suffixed && (!ok || unique != ref) {
				t.Errorf("%v: reference %v %v", payload, unique, ok)
			}
		}
	}
	for _, suffixed := range []bool{false, true} {
		got, rest, err := bare.splitEntry(key, appendEntryValue(nil, suffixed, ref, nil))
		if err != nil || got != ref || len(rest) != 0 {
			t.Errorf("%v: %v %v %v", suffixed, got, rest, err)
		}
	}
	for _, value := range [][]byte{{1}, {2, 0}, {0}, make([]byte, 9)} {
		if _, _, err := bare.splitEntry(key, value); err == nil {
			t.Errorf("value %x was accepted", value)
		}
	}
	if _, _, err := covering.splitEntry(key, nil); err == nil {
		t.Error("a covering entry without value was accepted")
	}
}
