package join

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weftdb/weft/internal/invariants"
	"github.com/weftdb/weft/vector"
)

// sortedCursor yields sorted keys with themselves as the only column, again and again.
type sortedCursor struct {
	keys  []int64
	at    int
	view  vector.Vector
	whole *vector.Vector
	vecs  []*vector.Vector
}

func newSortedCursor(keys []int64) *sortedCursor {
	c := &sortedCursor{keys: keys, whole: vector.FromSlice(vector.I64, keys)}
	c.vecs = []*vector.Vector{&c.view}
	return c
}

func (c *sortedCursor) Next() (keys, columns []*vector.Vector, n int, sel vector.Sel, err error) {
	n = min(vector.BatchCap, len(c.keys)-c.at)
	if c.whole.Valid == nil {
		vector.Slice(&c.view, c.whole, c.at, n)
	} else { // a slice of a bitmap begins with a word
		rows := make([]uint32, n)
		for i := range rows {
			rows[i] = uint32(c.at + i)
		}
		vector.Gather(&c.view, c.whole, rows)
	}
	c.at += n
	return c.vecs, c.vecs, n, nil, nil
}

// counted is an output that counts.
type counted struct{ rows int }

func (c *counted) Pairs(left, _ []uint32, _ []*vector.Vector) error {
	c.rows += len(left)
	return nil
}

// mergeOf prepares a merge join of sorted keys.
func mergeOf(right []int64, unique bool) (*Merger, *counted) {
	out := &counted{}
	spec := MergeSpec{Kind: Inner, Keys: []MergeKey{{}}, KeyKinds: []vector.Kind{vector.I64}, Columns: []vector.Kind{vector.I64}, RightUnique: unique}
	return NewMerger(spec, newSortedCursor(right), nil, out), out
}

// sortedKeys returns n keys in order, each so many times.
func sortedKeys(n, times int) []int64 {
	keys := make([]int64, n)
	for i := range keys {
		keys[i] = int64(i / times * 7)
	}
	return keys
}

// TestMergeAllocates checks that merging allocates nothing once it has begun, also where groups lie in two
// batches.
func TestMergeAllocates(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checks allocate")
	}
	const n = 400 * 1024
	keys := sortedKeys(n, 3)
	m, out := mergeOf(keys, false)
	left := newSortedCursor(keys)
	push := func() {
		vecs, _, n, _, _ := left.Next()
		if err := m.Push(vecs, n, nil); err != nil {
			t.Fatal(err)
		}
	}
	for range 100 {
		push()
	}
	if allocs := testing.AllocsPerRun(200, push); allocs != 0 {
		t.Errorf("%v allocations a batch", allocs)
	}
	if out.rows == 0 {
		t.Error("no rows")
	}
}

// BenchmarkMerge merges a million rows with a million, and hashes them for comparison. A row is one of either
// side.
func BenchmarkMerge(b *testing.B) {
	const n = 1 << 20
	for _, times := range []int{1, 4} {
		keys := sortedKeys(n, times)
		left := keys
		if times > 1 {
			left = sortedKeys(n, 1)
		}
		b.Run(fmt.Sprintf("merge/times=%d", times), func(b *testing.B) {
			b.ReportAllocs()
			rows := 0
			for b.Loop() {
				m, out := mergeOf(keys, times == 1)
				l := newSortedCursor(left)
				for {
					vecs, _, n, _, _ := l.Next()
					if n == 0 {
						break
					}
					if err := m.Push(vecs, n, nil); err != nil {
						b.Fatal(err)
					}
				}
				if err := m.Finish(); err != nil {
					b.Fatal(err)
				}
				rows = out.rows
			}
			if rows == 0 {
				b.Error("no rows")
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(2*n), "ns/row")
		})
		for _, order := range []string{"ordered", "shuffled"} {
			probes := append([]int64(nil), left...)
			if order == "shuffled" {
				rand.Shuffle(n, func(i, j int) { probes[i], probes[j] = probes[j], probes[i] })
			}
			b.Run(fmt.Sprintf("hash/times=%d/%s", times, order), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					pushAll(b, buildTable(b, keys, false), probes)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(2*n), "ns/row")
			})
		}
	}
}

// pairsOf collects what a merge join yields.
type pairsOf struct{ matched, alone int }

func (c *pairsOf) Pairs(_, right []uint32, _ []*vector.Vector) error {
	for _, row := range right {
		if row == vector.NoRow {
			c.alone++
		} else {
			c.matched++
		}
	}
	return nil
}

// TestMergeNullBatches has batches of nothing but NULLs on the right, which tell nothing of the rows behind them.
func TestMergeNullBatches(t *testing.T) {
	const nulls, n = 3000, 100
	keys := make([]int64, nulls+n)
	for i := range n {
		keys[nulls+i] = int64(i * 2)
	}
	for _, unique := range []bool{true, false} {
		right := newSortedCursor(keys)
		valid := right.whole.AllValid(len(keys))
		for i := range nulls {
			valid.Clear(i)
		}
		out := &pairsOf{}
		spec := MergeSpec{Kind: Left, Keys: []MergeKey{{NullsFirst: true}}, KeyKinds: []vector.Kind{vector.I64}, Columns: []vector.Kind{vector.I64}, RightUnique: unique}
		m := NewMerger(spec, right, nil, out)
		left := newSortedCursor(sortedKeys(n, 1)) // 0, 7, 14 …: half of those below 200 are even
		for {
			vecs, _, n, _, _ := left.Next()
			if n == 0 {
				break
			}
			if err := m.Push(vecs, n, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.Finish(); err != nil || out.matched != 15 || out.alone != n-15 {
			t.Errorf("unique %v: %d rows with a match and %d without, %v", unique, out.matched, out.alone, err)
		}
	}
}
