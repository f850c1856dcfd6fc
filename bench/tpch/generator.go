package tpch

import (
	"fmt"
	"runtime"
	"sync"
)

// Generator makes the data of one scale factor. It is safe for concurrent use.
type Generator struct {
	scale float64
	rows  [tableCount]int64 // of a LineItem the orders, of a PartSupp the parts
	clerk int64
	text  func() *text // made at first use: it takes 50 MB and a part of a second
}

// The limits of the scale factor: below, tables would be empty or all have dbgen's least size;
// above, keys outgrow 32 bits (dbgen itself changes its random numbers at 30,000).
const (
	MinScale = 0.001
	MaxScale = 10000
)

// New returns a generator for a scale factor. As in dbgen, factors above 1 lose their fraction and
// smaller ones count in thousandths; Scale tells what is left.
func New(scale float64) (*Generator, error) {
	text := sync.OnceValue(func() *text { return newText(runtime.GOMAXPROCS(0)) })
	return newGenerator(scale, text)
}

// WithScale returns a generator for another scale factor that shares memory with g.
func (g *Generator) WithScale(scale float64) (*Generator, error) { return newGenerator(scale, g.text) }

func newGenerator(scale float64, text func() *text) (*Generator, error) {
	if !(scale >= MinScale && scale <= MaxScale) {
		return nil, fmt.Errorf("tpch: the scale factor must be between %v and %v, not %v", MinScale, MaxScale, scale)
	}
	g := &Generator{text: text, clerk: 1000}
	times, divisor := int64(scale), int64(1)
	if scale < 1 {
		times, divisor = int64(1000*scale), 1000
	} else {
		g.clerk *= times
	}
	g.scale = float64(times) / float64(divisor)
	g.rows = [tableCount]int64{Region: int64(len(regions)), Nation: int64(len(nations))}
	for t, base := range map[Table]int64{Part: 200_000, Supplier: 10_000, Customer: 150_000, Orders: 1_500_000} {
		g.rows[t] = base * times / divisor
	}
	g.rows[PartSupp], g.rows[LineItem] = g.rows[Part], g.rows[Orders]
	return g, nil
}

// Prepare makes what the first Fill of a table with comments makes otherwise.
func (g *Generator) Prepare() { g.text() }

// Scale returns the scale factor.
func (g *Generator) Scale() float64 { return g.scale }

// Units returns the number of units of a table. A unit is what ranges count: an order for LineItem,
// a part for PartSupp, a row for every other table.
func (g *Generator) Units(t Table) int64 { return g.rows[t] }

// MaxRows is the most rows a unit of the table has.
func (t Table) MaxRows() int64 {
	switch t {
	case PartSupp:
		return suppliersPerPart
	case LineItem:
		return maxLines
	}
	return 1
}

// Chunk returns the units of chunk number seq when the table is cut into chunks of at most the given
// number of rows. Behind the last chunk from equals to.
func (g *Generator) Chunk(t Table, seq uint64, rows int) (from, to int64) {
	units := max(1, int64(rows)/t.MaxRows())
	if end := g.Units(t); seq <= uint64(end/units) {
		from = int64(seq) * units
		return from, min(from+units, end)
	}
	return 0, 0
}

// Rows returns the number of rows of a table. For LineItem it takes a while, about 5 ms times the
// scale factor: every order draws its number of lines.
func (g *Generator) Rows(t Table) int64 {
	switch t {
	case PartSupp:
		return g.rows[t] * suppliersPerPart
	case LineItem:
		n, s := g.rows[t], seedOrderLines
		for range g.rows[t] {
			n += int64(below(s.next(), maxLines))
		}
		return n
	}
	return g.rows[t]
}

// Filler makes batches of one table. It belongs to one goroutine and allocates nothing once its
// buffers have grown.
type Filler struct {
	g     *Generator
	table Table
	batch Batch
	from  int64 // the first unit, from 0

	draws    []uint32 // one column's draws
	starts   []uint32 // of comments
	lengths  []uint8
	lines    []uint8 // of each order
	orderDay []int32 // of each order, since the first day
	price    []int64 // of each line
	partKey  []int32
	shipDay  []int32
	skips    [maxLines + 1]uint64 // jump factors
}

// Filler returns a new filler.
func (g *Generator) Filler(t Table) *Filler {
	f := &Filler{g: g, table: t, batch: Batch{Columns: make([]Column, len(t.Columns()))}}
	for i, c := range t.Columns() {
		f.batch.Columns[i].Kind = c.Kind
	}
	for i := range f.skips {
		f.skips[i] = jumpFactor(int64(i))
	}
	return f
}

// Fill makes the rows of the units from, …, to-1, counted from 0. The batch is valid until the next
// call.
func (f *Filler) Fill(from, to int64) (*Batch, error) {
	if from < 0 || to < from || to > f.g.Units(f.table) {
		return nil, fmt.Errorf("tpch: units %d to %d of %v are not in 0 to %d", from, to, f.table, f.g.Units(f.table))
	}
	f.from = from
	n := int(to - from)
	switch f.table {
	case Region:
		f.fillRegion(n)
	case Nation:
		f.fillNation(n)
	case Part:
		f.fillPart(n)
	case Supplier:
		f.fillSupplier(n)
	case PartSupp:
		f.fillPartSupp(n)
	case Customer:
		f.fillCustomer(n)
	case Orders:
		f.fillOrders(n)
	default:
		f.fillLineItem(n)
	}
	return &f.batch, nil
}
