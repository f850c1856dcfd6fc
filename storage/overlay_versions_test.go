package storage

import (
	"slices"
	"testing"
)

// TestVersionList grows and cuts a list at random and compares it with a slice.
func TestVersionList(t *testing.T) {
	r := newRand(t)
	var l versionList[int]
	var want []int
	for range 2000 {
		if r.IntN(4) == 0 {
			n := r.IntN(len(want) + 1)
			l.cut(n)
			want = want[:n]
		}
		for range r.IntN(versionChunk) {
			x := r.Int()
			equal(t, int(l.add(x)), len(want))
			want = append(want, x)
		}
		equal(t, l.len(), len(want))
		for i, x := range want {
			if got := *l.at(int32(i)); got != x {
				t.Fatalf("version %d of %d is %d, not %d", i, len(want), got, x)
			}
		}
		if len(want) > 3*versionChunk {
			l.cut(0)
			want = nil
		}
	}
	l.cut(0)
	equal(t, len(l.chunks), 0)
}

// TestVersionsStay makes sure that versions behind the first chunk do not move: readers keep pointers.
func TestVersionsStay(t *testing.T) {
	var l versionList[int]
	for i := range versionChunk + 1 {
		l.add(i)
	}
	last := l.at(versionChunk)
	for i := range 10 * versionChunk {
		l.add(i)
	}
	if l.at(versionChunk) != last {
		t.Error("a version has moved")
	}
}

// TestKeyListOrders inserts keys in ascending, descending and random order: all are found, and in order.
func TestKeyListOrders(t *testing.T) {
	r := newRand(t)
	for _, order := range []string{"ascending", "descending", "random"} {
		l := keyList{arena: &byteArena{}}
		keys := make([][]byte, 1000)
		for i := range keys {
			keys[i] = []byte{byte(i >> 8), byte(i)}
		}
		switch order {
		case "descending":
			slices.Reverse(keys)
		case "random":
			r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		}
		for i, key := range keys {
			if l.at(key) != nil {
				t.Fatalf("%s: key %x is there before it is inserted", order, key)
			}
			head, _ := l.insert(key)
			equal(t, *head, -1)
			*head = int32(i)
		}
		for i, key := range keys {
			if head := l.at(key); head == nil || *head != int32(i) {
				t.Fatalf("%s: key %x is lost", order, key)
			}
		}
		next := 0
		l.scan(nil, func(key []byte, _ int32) bool {
			equal(t, int(key[0])<<8|int(key[1]), next)
			next++
			return true
		})
		equal(t, next, len(keys))
		if l.at([]byte{0xFF}) != nil || l.at([]byte{0, 0, 0}) != nil || l.at(nil) != nil {
			t.Errorf("%s: a key is found that was not inserted", order)
		}
	}
}
