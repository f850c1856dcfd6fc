package tpch

const (
	suppliersPerPart = 4
	nameWords        = 5
)

func (f *Filler) fillPart(n int) {
	f.batch.resize(Part.Columns(), n)
	c := f.batch.Columns
	f.keys(c[0].Int32)
	f.partNames(&c[1])
	f.brands(&c[2], &c[3])
	f.choices(&c[4], seedPartType, partTypes)
	f.int32s(c[5].Int32, seedPartSize, 1, 50)
	f.choices(&c[6], seedPartContainer, containers)
	for i, key := range c[0].Int32 {
		c[7].Int64[i] = retailPrice(key)
	}
	f.comments(&c[8], seedPartComment, partComment)
}

// retailPrice is the price of a part, a function of its key.
func retailPrice(partKey int32) int64 {
	return int64(90_000 + uint32(partKey)/10%20_001 + uint32(partKey)%1000*100)
}

// partNames joins five colours. dbgen shuffles all of them; the first five are settled after five
// of the draws.
func (f *Filler) partNames(c *Column) {
	s := seedPartName.at(f.from * int64(len(colors)))
	rest := jumpFactor(int64(len(colors)) - nameWords)
	var order [128]uint8
	for i := range colors {
		order[i] = uint8(i)
	}
	for range f.batch.Rows {
		var swapped [nameWords]uint64
		for i := range nameWords {
			at := uint64(i) + below(s.next(), uint64(len(colors)-i))
			order[i], order[at] = order[at], order[i]
			swapped[i] = at
			if i > 0 {
				c.Bytes = append(c.Bytes, ' ')
			}
			c.Bytes = append(c.Bytes, colors[order[i]]...)
		}
		c.endText()
		s.jump(rest)
		for i := nameWords - 1; i >= 0; i-- { // undo the swaps
			order[i], order[swapped[i]] = order[swapped[i]], order[i]
		}
	}
}

// brands fills the manufacturer and the brand, whose first digit is the manufacturer's.
func (f *Filler) brands(mfgr, brand *Column) {
	m, b := seedPartMfgr.at(f.from), seedPartBrand.at(f.from)
	for range f.batch.Rows {
		first := byte('1' + below(m.next(), 5))
		mfgr.Bytes = append(append(mfgr.Bytes, "Manufacturer#"...), first)
		mfgr.endText()
		brand.Bytes = append(append(brand.Bytes, "Brand#"...), first, byte('1'+below(b.next(), 5)))
		brand.endText()
	}
}

func (f *Filler) fillPartSupp(n int) {
	f.batch.resize(PartSupp.Columns(), n*suppliersPerPart)
	c := f.batch.Columns
	suppliers := uint32(f.g.Units(Supplier))
	for i := range n {
		key := int32(f.from) + int32(i) + 1
		for number := range suppliersPerPart {
			row := i*suppliersPerPart + number
			c[0].Int32[row] = key
			c[1].Int32[row] = supplierOf(key, uint32(number), suppliers)
		}
	}
	f.int32s(c[2].Int32, seedPartSuppQty, 1, 9999)
	f.int64s(c[3].Int64, seedPartSuppCost, 100, 99_901)
	f.comments(&c[4], seedPartSuppComment, partSuppComment)
}

// supplierOf is the supplier that has a part as number 0 to 3. The sum stays below 2^32 up to
// MaxScale.
func supplierOf(partKey int32, number, suppliers uint32) int32 {
	part := uint32(partKey)
	return int32((part+number*(suppliers/suppliersPerPart+(part-1)/suppliers))%suppliers) + 1
}
