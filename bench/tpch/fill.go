package tpch

// int32s fills a column with least … least+n-1, one draw a row.
func (f *Filler) int32s(dst []int32, seed stream, least int32, n uint64) {
	s := seed.at(f.from * f.rowsPerUnit())
	for i := range dst {
		dst[i] = least + int32(below(s.next(), n))
	}
}

// int64s is int32s for money.
func (f *Filler) int64s(dst []int64, seed stream, least int64, n uint64) {
	s := seed.at(f.from * f.rowsPerUnit())
	for i := range dst {
		dst[i] = least + int64(below(s.next(), n))
	}
}

// choices fills a column with words, one draw a row.
func (f *Filler) choices(c *Column, seed stream, words []string) {
	s := seed.at(f.from * f.rowsPerUnit())
	n := uint64(len(words))
	for range f.batch.Rows {
		c.addText(words[below(s.next(), n)])
	}
}

// comments fills a column with comments, two draws a row.
func (f *Filler) comments(c *Column, seed stream, kind comment) {
	n := f.batch.Rows
	f.starts, f.lengths = resized(f.starts, n), resized(f.lengths, n)
	s := seed.at(2 * f.from * f.rowsPerUnit())
	for i := range f.starts {
		f.starts[i], f.lengths[i] = kind.draw(&s)
	}
	f.g.text().cut(c, f.starts, f.lengths)
}

// rowsPerUnit is the number of rows a unit has in tables where that is fixed.
func (f *Filler) rowsPerUnit() int64 {
	if f.table == PartSupp {
		return suppliersPerPart
	}
	return 1
}

// names fills a column with a prefix and the padded key, from from+1 on.
func (f *Filler) names(c *Column, prefix string) {
	for i := range f.batch.Rows {
		c.Bytes = appendPadded(append(c.Bytes, prefix...), f.from+int64(i)+1, 9)
		c.endText()
	}
}

// keys fills a column with from+1, from+2, ….
func (f *Filler) keys(dst []int32) {
	for i := range dst {
		dst[i] = int32(f.from) + int32(i) + 1
	}
}

// addressDraws is the number of draws an address takes at most: its length and one for every five
// characters.
const addressDraws = 9

const addressLetters = "0123456789abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ,"

// addresses fills a column with random strings of 10 to 40 characters.
func (f *Filler) addresses(c *Column, seed stream) {
	s := seed.at(addressDraws * f.from)
	for range f.batch.Rows {
		next := s
		n := int(10 + below(next.next(), 31))
		draws := 1
		var letters int64
		for i := range n {
			if i%5 == 0 {
				// dbgen's range overflows to -2^31 here, so the number is negative.
				letters = int64(float64(next.next()) / modulus * -(1 << 31))
				draws++
			}
			c.Bytes = append(c.Bytes, addressLetters[letters&63])
			letters >>= 6
		}
		c.endText()
		next.jump(f.skips[addressDraws-draws])
		s = next
	}
}

// phones fills a column with telephone numbers, three draws a row. The country is the nation's.
func (f *Filler) phones(c *Column, seed stream, nationKeys []int32) {
	s := seed.at(3 * f.from)
	for _, nation := range nationKeys {
		b := appendPadded(c.Bytes, int64(nation)+10, 2)
		b = appendPadded(append(b, '-'), 100+int64(below(s.next(), 900)), 3)
		b = appendPadded(append(b, '-'), 100+int64(below(s.next(), 900)), 3)
		c.Bytes = appendPadded(append(b, '-'), 1000+int64(below(s.next(), 9000)), 4)
		c.endText()
	}
}

// Balances run from -999.99 to 9999.99.
const (
	leastBalance  = -999_99
	balanceNumber = 9999_99 - leastBalance + 1
)
