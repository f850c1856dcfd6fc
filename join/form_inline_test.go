package join

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weftdb/weft/vector"
)

// TestUnevenKeys builds inline tables whose keys leave the parts empty from which their regions' size is
// taken, or whose rows nearly all have one key.
// TestPayload compares what the joins that may read payload from slots yield with a map.
func TestPayload(t *testing.T) {
	defer func(a, b int) { wholeRows, inlinePartRows = a, b }(wholeRows, inlinePartRows)
	wholeRows, inlinePartRows = 300, 64
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 2))
	forms := map[string]int{}
	for _, kind := range []Kind{Inner, Left, Single} {
		for _, payload := range []vector.Kind{vector.Bool, vector.I8, vector.I16, vector.I32, vector.I64, vector.F32, vector.F64, vector.Bytes} {
			for c := range 8 {
				testPayload(t, r, kind, payload, 20+r.IntN(1000)*(c&1), c&2 != 0, c == 7, forms)
			}
		}
	}
	for _, f := range []string{"inline-payload", "inline-open"} {
		if forms[f] == 0 {
			t.Errorf("form %q was never chosen", f)
		}
	}
}

func testPayload(t *testing.T, r *rand.Rand, kind Kind, payload vector.Kind, rows int, extremes, nulls bool, forms map[string]int) {
	want := map[int64]vector.Datum{}
	keys, values := vector.New(vector.I64, 0), vector.New(payload, 0)
	var all []int64
	for i := range rows {
		k := int64(r.Uint64())
		if extremes && i < 4 {
			k = []int64{-1 << 63, 1<<63 - 2, 0, -1}[i]
		}
		d := vector.IntDatum(payload, int64(r.IntN(2)))
		switch payload {
		case vector.F32, vector.F64:
			d = vector.FloatDatum(payload, float64(r.IntN(1000))-500.5)
		case vector.Bytes:
			d = vector.StringDatum(fmt.Sprint(r.IntN(1000)))
		case vector.I16, vector.I32, vector.I64:
			d = vector.IntDatum(payload, int64(r.IntN(1000)-500))
		}
		if nulls && r.IntN(5) == 0 {
			d = vector.NullDatum(payload)
		}
		want[k] = d
		all = append(all, k)
		vector.AppendDatum(keys, vector.IntDatum(vector.I64, k))
		vector.AppendDatum(values, d)
	}
	table := NewTable(Spec{Keys: []Key{{Kind: vector.I64}}, Columns: []vector.Kind{payload}, Payload: true, Unique: r.IntN(2) == 0})
	builder := table.NewBuilder(nil)
	var k, v vector.Vector
	for from := 0; from < rows; from += BlockRows {
		n := min(BlockRows, rows-from)
		vector.Slice(&k, keys, from, n)
		vector.Slice(&v, values, from, n)
		if err := builder.Append([]*vector.Vector{&k}, []*vector.Vector{&v}, n, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.Finish(finisher(r)); err != nil {
		t.Fatal(err)
	}
	forms[table.Form()]++
	out := &payloadCheck{t: t, want: want, outer: kind != Inner, seen: map[int64]int{}}
	joiner := table.NewJoiner(kind, false, nil, out)
	out.joiner = joiner
	pushed := map[int64]int{}
	for range 5 {
		n := 1 + r.IntN(BlockRows)
		out.keys = nil
		var sel vector.Sel
		for i := range n {
			x := all[r.IntN(len(all))]
			if r.IntN(2) == 0 { // also what wraps around to the empty slot's key
				x = []int64{int64(r.Uint64()), -1 << 63, 1<<63 - 1, slices.Max(all) + 1}[r.IntN(4)]
			}
			out.keys = append(out.keys, x)
			if r.IntN(3) > 0 {
				sel = append(sel, uint16(i))
			}
		}
		if r.IntN(2) == 0 {
			sel = nil
		}
		for i, x := range out.keys {
			if _, found := want[x]; (found || out.outer) && (sel == nil || slices.Contains(sel, uint16(i))) {
				pushed[x]++
			}
		}
		if err := joiner.Push([]*vector.Vector{vector.FromSlice(vector.I64, out.keys)}, n, sel); err != nil {
			t.Fatal(err)
		}
	}
	if !maps.Equal(pushed, out.seen) {
		t.Fatalf("%s kind %d: rows found differ", table.Form(), kind)
	}
}

// payloadCheck compares the payload of each row with what is wanted.
type payloadCheck struct {
	t      *testing.T
	want   map[int64]vector.Datum
	keys   []int64
	outer  bool
	joiner *Joiner
	seen   map[int64]int
}

func (c *payloadCheck) Once(sel vector.Sel, build []uint32) error {
	if sel == nil {
		sel = allRows[:len(c.keys)]
	}
	var v vector.Vector
	vector.PickOuter(&v, c.joiner.Stored(0), build)
	for k, i := range sel {
		x := c.keys[i]
		c.seen[x]++
		want, found := c.want[x]
		if got := vector.DatumAt(&v, k); found && got != want || !found && (!c.outer || !got.Null) {
			c.t.Fatalf("key %d has %v, want %v", x, got, want)
		}
	}
	return nil
}

func (c *payloadCheck) Pairs(_, _ []uint32) error { panic("keys are unique") }

func (c *payloadCheck) Marks(vector.Sel, []uint8) error { panic("no kind with marks") }

func TestUnevenKeys(t *testing.T) {
	defer func(a, b int) { wholeRows, inlinePartRows = a, b }(wholeRows, inlinePartRows)
	wholeRows, inlinePartRows = 64, 16
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	inverse := uint64(spread) // Newton's iteration doubles the bits that are right, three at first
	for range 5 {
		inverse *= 2 - spread*inverse
	}
	for name, key := range map[string]func(i int) int64{
		"upper half": func(int) int64 { return int64((1<<63 | r.Uint64()) * inverse) },
		"one part":   func(int) int64 { return int64((7<<60 | r.Uint64()>>8) * inverse) },
		"one key":    func(i int) int64 { return int64(r.Uint64()) * int64(b2i(i%50 == 0)) },
	} {
		keys := make([]int64, 5000)
		rows := map[int64]int{}
		for i := range keys {
			keys[i] = key(i)
			rows[keys[i]]++
		}
		table := NewTable(Spec{Keys: []Key{{Kind: vector.I64}}, Columns: []vector.Kind{vector.I64}})
		builder := table.NewBuilder(nil)
		for from := 0; from < len(keys); from += 1000 {
			v := []*vector.Vector{vector.FromSlice(vector.I64, keys[from:from+1000])}
			if err := builder.Append(v, v, 1000, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := table.Finish(Finisher{}); err != nil {
			t.Fatal(err)
		}
		p := table.NewProber()
		var probe, build [BlockRows]uint32
		for k, n := range rows {
			p.Lookup([]*vector.Vector{vector.FromSlice(vector.I64, []int64{k})}, 1, nil)
			found := 0
			for m := p.pairs(probe[:], build[:]); m > 0; m = p.pairs(probe[:], build[:]) {
				for _, row := range build[:m] {
					if keys[row] != k {
						t.Fatalf("%s: row %d has key %d, not %d", name, row, keys[row], k)
					}
				}
				found += m
			}
			if found != n {
				t.Fatalf("%s (%s): key %d has %d rows, found %d", name, table.Form(), k, n, found)
			}
		}
	}
}
