package storage

import (
	"hash/maphash"
	"sync"
)

// rowCache keeps rows that were looked up by a unique key, so that a look-up need not go to Pebble.
//
// An entry says: in commit At, the key belonged to the row Ref with these bytes. It serves a view S if
// At ≤ S and the row's page of 64 has not changed after At: then the row is as it was, its key with
// it, and as the key is unique nobody else has it. Entries are never removed, they stop to serve.
//
// Memory is a ring of bytes and a table of slots for each shard, without pointers in them: the
// collector does not look at the rows. New entries overwrite the oldest.
type rowCache struct {
	seed   maphash.Seed
	shards [rowCacheShards]rowCacheShard
}

const (
	rowCacheShards = 16
	// rowCacheWays is how many slots an entry may be in.
	rowCacheWays = 4
	// rowCacheSlotBytes is the ring's share for each slot: about a key and a short row.
	rowCacheSlotBytes = 128
	// rowCacheFirst is the ring that a shard begins with.
	rowCacheFirst = 16 << 10
)

type rowCacheShard struct {
	mu    sync.Mutex
	limit int // bytes of the ring at most
	rowRing
	_ [32]byte // keeps neighbours off the cache line
}

// rowRing is a ring of bytes with the entries in it.
type rowRing struct {
	ring  []byte
	slots []rowCacheSlot // power of two, rowCacheWays together
	head  uint64         // bytes ever written: the ring holds the last len(ring) of them
}

type rowCacheSlot struct {
	hash    uint64 // 0 = empty
	ref     RowRef
	at      uint64 // commit
	pos     uint64 // of the entry among the bytes ever written
	keyLen  uint16
	rowSize uint32
}

// newRowCache makes a cache of at most a number of bytes; 0 keeps nothing.
func newRowCache(sizeBytes int64) *rowCache {
	c := &rowCache{seed: maphash.MakeSeed()}
	for i := range c.shards {
		c.shards[i].limit = int(sizeBytes / rowCacheShards)
	}
	return c
}

func (c *rowCache) place(key []byte) (*rowCacheShard, uint64) {
	h := maphash.Bytes(c.seed, key) | 1
	return &c.shards[h>>60], h
}

// get returns a copy of the row of a key. The caller checks that the entry serves its view.
func (c *rowCache) get(key []byte) (row []byte, ref RowRef, at uint64, ok bool) {
	s, h := c.place(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entry(h, key)
	if e == nil {
		return nil, 0, 0, false
	}
	row = s.read(make([]byte, 0, e.rowSize), e.pos+uint64(e.keyLen), int(e.rowSize))
	return row, e.ref, e.at, true
}

// find is get without the row.
func (c *rowCache) find(key []byte) (ref RowRef, at uint64, ok bool) {
	s, h := c.place(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entry(h, key)
	if e == nil {
		return 0, 0, false
	}
	return e.ref, e.at, true
}

// confirm notes that the key still belongs to the row, as it is remembered, in a later commit.
func (c *rowCache) confirm(key []byte, ref RowRef, at, later uint64) {
	s, h := c.place(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.entry(h, key); e != nil && e.ref == ref && e.at == at {
		e.at = later
	}
}

// entry returns the entry of a key, nil if there is none.
func (s *rowCacheShard) entry(h uint64, key []byte) *rowCacheSlot {
	ways := s.ways(h)
	for i := range ways {
		if e := &ways[i]; e.hash == h && s.holds(e) && int(e.keyLen) == len(key) && s.equal(e.pos, key) {
			return e
		}
	}
	return nil
}

// put remembers the row of a key.
func (c *rowCache) put(key, row []byte, ref RowRef, at uint64) {
	s, h := c.place(key)
	size := len(key) + len(row)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(key) > 1<<16-1 || size > s.limit/8 {
		return
	}
	if s.ring == nil || s.head+uint64(size) > uint64(len(s.ring)) && len(s.ring) < s.limit {
		s.grow()
	}
	if size > len(s.ring)/4 {
		return
	}
	ways := s.ways(h)
	victim := &ways[0]
	for i := range ways {
		e := &ways[i]
		if e.hash == h || !s.holds(e) {
			victim = e
			break
		}
		if e.pos < victim.pos {
			victim = e
		}
	}
	*victim = rowCacheSlot{hash: h, ref: ref, at: at, pos: s.head, keyLen: uint16(len(key)), rowSize: uint32(len(row))}
	s.write(key)
	s.write(row)
}

// ways are the slots that a hash may be in.
func (s *rowRing) ways(h uint64) []rowCacheSlot {
	if len(s.slots) == 0 {
		return nil
	}
	i := int(h>>4) & (len(s.slots) - 1) &^ (rowCacheWays - 1)
	return s.slots[i : i+rowCacheWays]
}

// holds reports whether an entry's bytes have not been overwritten.
func (s *rowRing) holds(e *rowCacheSlot) bool {
	return e.hash != 0 && s.head-e.pos <= uint64(len(s.ring))
}

// grow doubles the ring, whose old bytes are forgotten, and the slots with it: while a cache fills
// that costs as much again as the rows read so far.
func (s *rowCacheShard) grow() {
	size := max(2*len(s.ring), rowCacheFirst)
	if size > s.limit {
		size = max(s.limit, 1)
	}
	old := s.rowRing
	s.ring, s.head = make([]byte, size), 0
	n := rowCacheWays
	for n < size/rowCacheSlotBytes {
		n *= 2
	}
	s.slots = make([]rowCacheSlot, n)
	for i := range old.slots {
		e := &old.slots[i]
		if !old.holds(e) {
			continue
		}
		total := int(e.keyLen) + int(e.rowSize)
		if s.head+uint64(total) > uint64(size) {
			break
		}
		ways := s.ways(e.hash)
		for k := range ways {
			if ways[k].hash == 0 {
				ways[k] = *e
				ways[k].pos = s.head
				s.write(old.read(nil, e.pos, total))
				break
			}
		}
	}
}

// write appends to the ring.
func (s *rowRing) write(b []byte) {
	for len(b) > 0 {
		n := copy(s.ring[s.head%uint64(len(s.ring)):], b)
		s.head += uint64(n)
		b = b[n:]
	}
}

// equal reports whether the ring has these bytes at a position.
func (s *rowRing) equal(pos uint64, b []byte) bool {
	at := int(pos % uint64(len(s.ring)))
	first := min(len(b), len(s.ring)-at)
	return string(s.ring[at:at+first]) == string(b[:first]) && string(s.ring[:len(b)-first]) == string(b[first:])
}

// read appends bytes of the ring to dst.
func (s *rowRing) read(dst []byte, pos uint64, n int) []byte {
	for n > 0 {
		at := int(pos % uint64(len(s.ring)))
		part := s.ring[at:min(len(s.ring), at+n)]
		dst = append(dst, part...)
		pos, n = pos+uint64(len(part)), n-len(part)
	}
	return dst
}
