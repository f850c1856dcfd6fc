package tpch

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"
)

// Checksum hashes a table column by column, in row order and whatever the size of the batches.
// Integers count as 8 bytes, little endian, texts as their bytes and a zero.
type Checksum struct {
	Rows    int64
	columns []*xxh3.Hasher
	buf     []byte
}

// NewChecksum returns the checksum of no rows.
func NewChecksum(t Table) *Checksum {
	c := &Checksum{}
	for range t.Columns() {
		c.columns = append(c.columns, xxh3.New())
	}
	return c
}

// Add adds the rows of a batch.
func (c *Checksum) Add(b *Batch) {
	c.Rows += int64(b.Rows)
	for i := range b.Columns {
		c.buf = b.Columns[i].appendHashed(c.buf[:0])
		c.columns[i].Write(c.buf)
	}
}

func (c *Column) appendHashed(dst []byte) []byte {
	for _, v := range c.Int32 {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(v))
	}
	for _, v := range c.Int64 {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(v))
	}
	if c.Kind == Text {
		for i := range len(c.Offsets) - 1 {
			dst = append(append(dst, c.Text(i)...), 0)
		}
	}
	return dst
}

// Sums returns the hash of every column.
func (c *Checksum) Sums() []uint64 {
	sums := make([]uint64, len(c.columns))
	for i, h := range c.columns {
		sums[i] = h.Sum64()
	}
	return sums
}
