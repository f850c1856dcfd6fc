package join

import (
	"math/bits"

	"github.com/weftdb/weft/vector"
)

// hashedGroups finds groups by hash and compares the stored keys. A slot holds 32 bits of hash and
// the group number plus 1; 0 = empty.
type hashedGroups struct {
	slots  []uint64
	shift  uint
	hashes [BlockRows]uint64

	row, group [BlockRows]uint32 // rows whose hash is that of a group, to be compared
	rows       [BlockRows]uint32
}

func newHashedGroups() *hashedGroups { return &hashedGroups{} }

func (h *hashedGroups) name() string            { return "hashed" }
func (h *hashedGroups) next(*Groups) groupIndex { panic("join: hashed groups take every key") }

func (h *hashedGroups) hash(keys []*vector.Vector, n int, in vector.Sel) {
	if len(in) == n {
		in = nil
	}
	if len(keys) == 0 {
		clear(h.hashes[:n])
	}
	for i, k := range keys {
		vector.Hash(h.hashes[:], k, n, in, i > 0)
	}
}

func (h *hashedGroups) makeRoom(g *Groups, groups int) error {
	size := max(len(h.slots), 16)
	for size < 2*groups {
		size *= 2
	}
	if size == len(h.slots) {
		return nil
	}
	if err := g.grow(size * 8); err != nil {
		return err
	}
	// The slot number comes from the hash bits that slots keep, so that growing needs no hashing:
	// tables of more than 2^32 slots are out of reach.
	old := h.slots
	h.slots = make([]uint64, size)
	h.shift = uint(32 - bits.Len(uint(size-1)))
	for _, s := range old {
		if s != 0 {
			h.put(s)
		}
	}
	return nil
}

// put enters a slot that is known to be new.
func (h *hashedGroups) put(s uint64) {
	mask := uint32(len(h.slots) - 1)
	at := uint32(s>>32) >> h.shift
	for h.slots[at] != 0 {
		at = (at + 1) & mask
	}
	h.slots[at] = s
}

const highHash = ^uint64(1<<32 - 1)

func (h *hashedGroups) assign(g *Groups, dst []uint32, keys []*vector.Vector, n int, in vector.Sel) (bool, error) {
	h.hash(keys, n, in)
	if err := h.makeRoom(g, int(g.number)+len(in)); err != nil {
		return false, err
	}
	m, slots, mask := 0, h.slots, uint32(len(h.slots)-1)
	for _, i := range in {
		i &= BlockRows - 1
		hash := h.hashes[i] & highHash
		at := uint32(hash>>32) >> h.shift
		for {
			s := slots[at]
			if s == 0 {
				dst[i] = g.begin(i)
				slots[at] = hash | uint64(dst[i]) + 1
				break
			}
			if s&highHash == hash {
				dst[i] = uint32(s) - 1
				h.row[m&(BlockRows-1)], h.group[m&(BlockRows-1)] = uint32(i), dst[i]
				m++
				break
			}
			at = (at + 1) & mask
		}
	}
	// The keys begun are stored now: rows of this batch may be compared with them.
	if err := g.keep(n); err != nil {
		return false, err
	}
	return true, h.verify(g, dst, keys, n, m)
}

// verify compares m rows with the groups of the same hash, and finds those of other keys.
func (h *hashedGroups) verify(g *Groups, dst []uint32, keys []*vector.Vector, n, m int) error {
	copy(h.rows[:m], h.row[:m])
	same := m
	for i, k := range keys {
		same = sameKey(k, g.store.Column(i), true, h.row[:], h.group[:], same)
	}
	if same == m {
		return nil
	}
	k := 0
	for _, row := range h.rows[:m] {
		if k < same && h.row[k] == row {
			k++
			continue
		}
		group, err := h.search(g, keys, n, uint16(row))
		if err != nil {
			return err
		}
		dst[row] = group
	}
	return nil
}

// search is assign for one row, comparing keys at every slot of its hash.
func (h *hashedGroups) search(g *Groups, keys []*vector.Vector, n int, row uint16) (uint32, error) {
	hash := h.hashes[row] & highHash
	mask := uint32(len(h.slots) - 1)
	at := uint32(hash>>32) >> h.shift
	for {
		s := h.slots[at]
		if s == 0 {
			group := g.begin(row)
			h.slots[at] = hash | uint64(group) + 1
			return group, g.keep(n)
		}
		if s&highHash == hash {
			group, same := uint32(s)-1, true
			for i, k := range keys {
				same = same && equalRows(k, int(row), g.store.Column(i), int(group), true)
			}
			if same {
				return group, nil
			}
		}
		at = (at + 1) & mask
	}
}

func (h *hashedGroups) insert(g *Groups, keys []*vector.Vector, from, n int) (bool, error) {
	h.hash(keys, n, allRows[:n])
	if err := h.makeRoom(g, from+n); err != nil {
		return false, err
	}
	for i := range n {
		h.put(h.hashes[i]&highHash | uint64(from+i) + 1)
	}
	return true, nil
}
