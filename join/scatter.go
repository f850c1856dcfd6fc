package join

import "github.com/weftdb/weft/vector"

// fanOut is the number of partitions that rows are scattered to at a time. A join that needs more does it
// again, with other bits of the hash.
const fanOut = 16

// Scatter writes one worker's rows to the spools of the partitions that their keys' hashes belong to.
// Rows of equal keys come to the same partition, on both sides of a join. It belongs to its worker.
type Scatter struct {
	writers []*SpoolWriter // nil = the partition's rows are kept
	seed    uint64
	to      [fanOut]uint8 // partition → where in sels its rows go
	hashes  [BlockRows]uint64
	sels    [fanOut + 1]vector.Sel // by partition, and those kept
}

// kept is where the rows of partitions without a writer go.
const kept = fanOut

// newSpools returns spools for n partitions.
func newSpools(files Files, kinds []vector.Kind, n int) []*Spool {
	out := make([]*Spool, n)
	for i := range out {
		out[i] = NewSpool(files, kinds)
	}
	return out
}

// newScatter returns a scatter to spools, one or fanOut of them, by the hash bits of a level.
func newScatter(spools []*Spool, level int) *Scatter {
	s := &Scatter{writers: make([]*SpoolWriter, len(spools)), seed: levelSeed(level)}
	for i, spool := range spools {
		s.to[i] = kept
		if spool != nil {
			s.to[i], s.writers[i] = uint8(i), spool.NewWriter()
		}
	}
	for i := range s.sels {
		s.sels[i] = make(vector.Sel, 0, BlockRows)
	}
	return s
}

// levelSeed is an odd number by which hashes are multiplied: each level's partition depends on all of
// their bits in another way, and neither as the buckets of tables do.
func levelSeed(level int) uint64 {
	seed := uint64(0x9FB21C651E98DF25)
	for range level {
		seed = seed*0xD6E8FEB86659FD93 | 1
	}
	return seed
}

// split sorts the rows of sel (nil = n rows) into sels.
func (s *Scatter) split(keys []*vector.Vector, n int, sel vector.Sel) {
	for i, k := range keys {
		vector.Hash(s.hashes[:], k, n, sel, i > 0)
	}
	for i := range s.sels {
		s.sels[i] = s.sels[i][:0]
	}
	if sel == nil {
		sel = allRows[:n]
	}
	for _, i := range sel {
		p := s.to[s.hashes[i]*s.seed>>60]
		s.sels[p] = append(s.sels[p], i)
	}
}

// Append writes the live rows of vecs by their keys. Rows of partitions that are not written are in
// sels[kept] until the next call.
func (s *Scatter) Append(keys, vecs []*vector.Vector, n int, sel vector.Sel) error {
	if len(s.writers) == 1 {
		return s.writers[0].Append(vecs, n, sel)
	}
	s.split(keys, n, sel)
	for p, rows := range s.sels[:kept] {
		if len(rows) == 0 {
			continue
		}
		if err := s.writers[p].Append(vecs, n, rows); err != nil {
			return err
		}
	}
	return nil
}

// Flush writes what is still in memory.
func (s *Scatter) Flush() error {
	for _, w := range s.writers {
		if w == nil {
			continue
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}
