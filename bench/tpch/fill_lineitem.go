package tpch

func (f *Filler) fillLineItem(orders int) {
	n := f.countLines(orders)
	f.batch.resize(LineItem.Columns(), n)
	c := f.batch.Columns
	row := 0
	for i, k := range f.lines {
		key := orderKey(f.from + int64(i) + 1)
		for number := range int32(k) {
			c[0].Int64[row] = key
			c[3].Int32[row] = number + 1
			row++
		}
	}
	for i, draw := range f.linePrices(n) {
		c[4].Int64[i] = 100 * quantity(draw)
	}
	copy(c[1].Int32, f.partKey)
	copy(c[5].Int64, f.price)
	f.lineSuppliers(c[2].Int32)
	for i, draw := range f.draw(n, seedLineDiscount) {
		c[6].Int64[i] = int64(below(uint64(draw), 11))
	}
	for i, draw := range f.draw(n, seedLineTax) {
		c[7].Int64[i] = int64(below(uint64(draw), 9))
	}
	f.lineDates(c[10].Int32, c[11].Int32, c[12].Int32)
	f.lineFlags(&c[8], &c[9], c[12].Int32)
	for _, draw := range f.draw(n, seedLineInstruct) {
		c[13].addText(instructions[below(uint64(draw), uint64(len(instructions)))])
	}
	for _, draw := range f.draw(n, seedLineMode) {
		c[14].addText(shipModes[below(uint64(draw), uint64(len(shipModes)))])
	}
	f.lineComments(&c[15], n)
}

// draw draws one number for each of the n lines of the orders. A stream moves on by maxLines draws
// an order, however many lines there are.
func (f *Filler) draw(n int, seed stream) []uint32 {
	f.draws = resized(f.draws, n)
	s := seed.at(maxLines * f.from)
	line := 0
	for _, k := range f.lines {
		for range k {
			f.draws[line] = uint32(s.next())
			line++
		}
		s.jump(f.skips[maxLines-k])
	}
	return f.draws
}

func quantity(draw uint32) int64 { return 1 + int64(below(uint64(draw), 50)) }

// linePrices makes the part keys and extended prices of lines and returns the draws of quantities,
// valid until the next draw.
func (f *Filler) linePrices(n int) (quantities []uint32) {
	f.partKey, f.price = resized(f.partKey, n), resized(f.price, n)
	parts := uint64(f.g.Units(Part))
	for i, draw := range f.draw(n, seedLinePart) {
		f.partKey[i] = int32(belowWide(uint64(draw), parts)) + 1
	}
	quantities = f.draw(n, seedLineQuantity)
	for i, draw := range quantities {
		f.price[i] = quantity(draw) * retailPrice(f.partKey[i])
	}
	return quantities
}

func (f *Filler) lineSuppliers(dst []int32) {
	suppliers := uint32(f.g.Units(Supplier))
	for i, draw := range f.draw(len(dst), seedLineSupplier) {
		dst[i] = supplierOf(f.partKey[i], uint32(below(uint64(draw), suppliersPerPart)), suppliers)
	}
}

// shipDays makes the days lines are shipped, counted from the first day.
func (f *Filler) shipDays(n int) {
	f.shipDay = resized(f.shipDay, n)
	draws := f.draw(n, seedLineShipDate)
	line := 0
	for order, k := range f.lines {
		for range k {
			f.shipDay[line] = f.orderDay[order] + 1 + int32(below(uint64(draws[line]), 121))
			line++
		}
	}
}

func (f *Filler) lineDates(ship, commit, receipt []int32) {
	f.shipDays(len(ship))
	for i, day := range f.shipDay {
		ship[i] = firstDay + day
	}
	draws := f.draw(len(commit), seedLineCommitDate)
	line := 0
	for order, k := range f.lines {
		for range k {
			commit[line] = firstDay + f.orderDay[order] + 30 + int32(below(uint64(draws[line]), 61))
			line++
		}
	}
	for i, draw := range f.draw(len(receipt), seedLineReceiptDate) {
		receipt[i] = ship[i] + 1 + int32(below(uint64(draw), 30))
	}
}

// lineFlags fills the return flag, which is drawn only for lines received already, and the status.
func (f *Filler) lineFlags(returned, status *Column, receipt []int32) {
	s := seedLineReturnFlag.at(maxLines * f.from)
	line := 0
	for _, k := range f.lines {
		unused := maxLines
		for range k {
			flag := byte('N')
			if receipt[line] <= firstDay+today {
				flag = "RA"[below(s.next(), 2)]
				unused--
			}
			returned.addByte(flag)
			flag = 'O'
			if f.shipDay[line] <= today {
				flag = 'F'
			}
			status.addByte(flag)
			line++
		}
		s.jump(f.skips[unused])
	}
}

func (f *Filler) lineComments(c *Column, n int) {
	f.starts, f.lengths = resized(f.starts, n), resized(f.lengths, n)
	s := seedLineComment.at(2 * maxLines * f.from)
	line := 0
	for _, k := range f.lines {
		for range k {
			f.starts[line], f.lengths[line] = lineComment.draw(&s)
			line++
		}
		s.jump(f.skips[maxLines-k])
		s.jump(f.skips[maxLines-k])
	}
	f.g.text().cut(c, f.starts, f.lengths)
}
