package tpch

// Batch holds rows, column by column. Its memory belongs to the Filler that made it.
type Batch struct {
	Rows    int
	Columns []Column
}

// Column holds the values of one column: in the slice that its kind says, or as texts, of which
// number i is Bytes[Offsets[i]:Offsets[i+1]]. A char(n) comes without its padding.
type Column struct {
	Kind    Kind
	Int32   []int32 // Int32 and Date
	Int64   []int64 // Int64 and Decimal
	Offsets []int32
	Bytes   []byte
}

// Text returns text i.
func (c *Column) Text(i int) []byte { return c.Bytes[c.Offsets[i]:c.Offsets[i+1]] }

// resize gives all columns room for n rows. Texts become empty and are added by appending to Bytes
// and calling endText; there is room for wordBytes bytes more than the longest texts take.
func (b *Batch) resize(specs []ColumnSpec, n int) {
	b.Rows = n
	for i := range b.Columns {
		c := &b.Columns[i]
		switch c.Kind {
		case Int32, Date:
			c.Int32 = resized(c.Int32, n)
		case Int64, Decimal:
			c.Int64 = resized(c.Int64, n)
		default:
			c.Offsets = append(resized(c.Offsets, n+1)[:0], 0)
			c.Bytes = resized(c.Bytes, n*specs[i].Max+wordBytes)[:0]
		}
	}
}

// resized returns a slice of n unspecified values in s's memory where that is large enough.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/8)
	}
	return s[:n]
}

// endText ends a text that was appended to Bytes.
func (c *Column) endText() { c.Offsets = append(c.Offsets, int32(len(c.Bytes))) }

// addText adds a text.
func (c *Column) addText(s string) {
	c.Bytes = append(c.Bytes, s...)
	c.endText()
}

// addByte adds a text of one byte.
func (c *Column) addByte(b byte) {
	c.Bytes = append(c.Bytes, b)
	c.endText()
}

// appendPadded appends n with leading zeros to a width.
func appendPadded(dst []byte, n int64, width int) []byte {
	at := len(dst)
	for range width {
		dst = append(dst, '0')
	}
	for i := at + width - 1; i >= at && n > 0; i-- {
		dst[i] = byte('0' + n%10)
		n /= 10
	}
	return dst
}
