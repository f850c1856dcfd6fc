package tpch

func (f *Filler) fillCustomer(n int) {
	f.batch.resize(Customer.Columns(), n)
	c := f.batch.Columns
	f.keys(c[0].Int32)
	f.names(&c[1], "Customer#")
	f.addresses(&c[2], seedCustomerAddress)
	f.int32s(c[3].Int32, seedCustomerNation, 0, uint64(len(nations)))
	f.phones(&c[4], seedCustomerPhone, c[3].Int32)
	f.int64s(c[5].Int64, seedCustomerBalance, leastBalance, balanceNumber)
	f.choices(&c[6], seedCustomerSegment, segments)
	f.comments(&c[7], seedCustomerComment, customerComment)
}

func (f *Filler) fillSupplier(n int) {
	f.batch.resize(Supplier.Columns(), n)
	c := f.batch.Columns
	f.keys(c[0].Int32)
	f.names(&c[1], "Supplier#")
	f.addresses(&c[2], seedSupplierAddress)
	f.int32s(c[3].Int32, seedSupplierNation, 0, uint64(len(nations)))
	f.phones(&c[4], seedSupplierPhone, c[3].Int32)
	f.int64s(c[5].Int64, seedSupplierBalance, leastBalance, balanceNumber)
	f.comments(&c[6], seedSupplierComment, supplierComment)
	f.complaints(&c[6])
}

// complaints writes "Customer Complaints" or "Customer Recommends", with something of the comment
// between the two words, into the comments of about ten in 10,000 suppliers.
func (f *Filler) complaints(c *Column) {
	const customer, complaints, recommends = "Customer ", "Complaints", "Recommends"
	chance, kind := seedComplaintChance.at(f.from), seedComplaintKind.at(f.from)
	gap, offset := seedComplaintGap.at(f.from), seedComplaintOffset.at(f.from)
	for i := range f.batch.Rows {
		text := c.Text(i)
		free := uint64(len(text) - len(customer) - len(complaints))
		between := below(gap.next(), free+1)
		at := below(offset.next(), free-between+1)
		said := complaints
		if below(kind.next(), 101) >= 50 {
			said = recommends
		}
		if below(chance.next(), 10_000) < 10 {
			copy(text[at:], customer)
			copy(text[at+uint64(len(customer))+between:], said)
		}
	}
}

func (f *Filler) fillNation(n int) {
	f.batch.resize(Nation.Columns(), n)
	c := f.batch.Columns
	for i := range n {
		key := f.from + int64(i)
		c[0].Int32[i] = int32(key)
		c[1].addText(nations[key])
		c[2].Int32[i] = nationRegions[key]
	}
	f.comments(&c[3], seedNationComment, nationComment)
}

func (f *Filler) fillRegion(n int) {
	f.batch.resize(Region.Columns(), n)
	c := f.batch.Columns
	for i := range n {
		key := f.from + int64(i)
		c[0].Int32[i] = int32(key)
		c[1].addText(regions[key])
	}
	f.comments(&c[2], seedRegionComment, regionComment)
}
