package tpch

const (
	maxLines  = 7
	firstDay  = 8035 // 1992-01-01
	orderDays = 2406 // up to 1998-08-02: the last lines arrive before the end of 1998
	// today is 1995-06-17, counted from firstDay: what happens later has not happened yet.
	today = 1263
)

func (f *Filler) fillOrders(n int) {
	f.batch.resize(Orders.Columns(), n)
	c := f.batch.Columns
	f.countLines(n)
	for i := range n {
		c[0].Int64[i] = orderKey(f.from + int64(i) + 1)
	}
	f.customers(c[1].Int32)
	f.totals(&c[2], c[3].Int64)
	for i, day := range f.orderDay {
		c[4].Int32[i] = firstDay + day
	}
	f.choices(&c[5], seedOrderPriority, priorities)
	s := seedOrderClerk.at(f.from)
	for range n {
		number := belowWide(s.next(), uint64(f.g.clerk)) + 1
		c[6].Bytes = appendPadded(append(c[6].Bytes, "Clerk#"...), number, 9)
		c[6].endText()
	}
	clear(c[7].Int32)
	f.comments(&c[8], seedOrderComment, orderComment)
}

// orderKey spreads the keys: of 32 in a row, the first 8 are used.
func orderKey(number int64) int64 { return number>>3<<5 | number&7 }

// countLines draws each order's number of lines and its date.
func (f *Filler) countLines(n int) (lines int) {
	f.lines, f.orderDay = resized(f.lines, n), resized(f.orderDay, n)
	count, day := seedOrderLines.at(f.from), seedOrderDate.at(f.from)
	for i := range f.lines {
		k := 1 + below(count.next(), maxLines)
		f.lines[i] = uint8(k)
		f.orderDay[i] = int32(below(day.next(), orderDays))
		lines += int(k)
	}
	return lines
}

// customers draws the customers of orders; those whose key three divides order nothing.
func (f *Filler) customers(dst []int32) {
	s, most := seedOrderCustomer.at(f.from), int32(f.g.Units(Customer))
	for i := range dst {
		key := int32(belowWide(s.next(), uint64(most))) + 1
		for delta := int32(1); key%3 == 0; delta = -delta {
			key = min(key+delta, most)
		}
		dst[i] = key
	}
}

// totals computes the status and the total price of orders from their lines.
func (f *Filler) totals(status *Column, total []int64) {
	n := 0
	for _, k := range f.lines {
		n += int(k)
	}
	f.linePrices(n)
	f.shipDays(n)
	clear(total)
	f.addLines(total)
	line := 0
	for _, k := range f.lines {
		shipped := 0
		for _, day := range f.shipDay[line : line+int(k)] {
			if day <= today {
				shipped++
			}
		}
		line += int(k)
		switch shipped {
		case 0:
			status.addByte('O')
		case int(k):
			status.addByte('F')
		default:
			status.addByte('P')
		}
	}
}

// addLines adds each line's price less discount plus tax to its order's total.
func (f *Filler) addLines(total []int64) {
	discount, tax := seedLineDiscount.at(maxLines*f.from), seedLineTax.at(maxLines*f.from)
	line := 0
	for order, k := range f.lines {
		for range k {
			less := 100 - int64(below(discount.next(), 11))
			plus := 100 + int64(below(tax.next(), 9))
			total[order] += f.price[line] * less / 100 * plus / 100
			line++
		}
		discount.jump(f.skips[maxLines-k])
		tax.jump(f.skips[maxLines-k])
	}
}
