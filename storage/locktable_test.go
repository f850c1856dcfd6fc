package storage

import (
	"math/rand/v2"
	"testing"
)

// TestLockTable does to a table and to a map the same, with few different hashes and with many.
func TestLockTable(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for _, ids := range []int{3, 50, 3000} {
		var table lockTable
		want := map[resource]lockState{}
		owners := []*lockOwner{{id: 1}, {id: 2}}
		for range 20 * ids {
			res := resource{kind: lockRow + lockKind(r.IntN(2)), object: uint32(r.IntN(2)), id: uint64(r.IntN(ids)) << (r.IntN(2) * 30)}
			switch r.IntN(3) {
			case 0:
				table.remove(res)
				delete(want, res)
			default:
				l := lockState{holder: owners[r.IntN(2)], modes: modeSet(r.IntN(100))}
				table.put(res, l)
				want[res] = l
			}
			if got := table.get(res); got != want[res] || table.count != len(want) {
				t.Fatalf("%v: %v, want %v; %d entries, want %d", res, got, want[res], table.count, len(want))
			}
		}
		for res, l := range want {
			if got := table.get(res); got != l {
				t.Fatalf("%v: %v, want %v", res, got, l)
			}
			table.remove(res)
		}
		if table.count != 0 || len(table.slots) > keptLockSlots {
			t.Errorf("%d entries are left in %d slots", table.count, len(table.slots))
		}
	}
}

// BenchmarkLocks locks and releases as many keys as a large transaction does.
func BenchmarkLocks(b *testing.B) {
	const keys = 100_000
	m := &lockManager{}
	o := &lockOwner{id: 1}
	b.ReportAllocs()
	for b.Loop() {
		for i := range keys {
			if _, _, err := m.lock(bg, o, resource{kind: lockKey, object: 3, id: uint64(i) * 0x9E3779B97F4A7C15}, Update, Wait); err != nil {
				b.Fatal(err)
			}
		}
		m.releaseAll(o)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/keys, "ns/lock")
}
