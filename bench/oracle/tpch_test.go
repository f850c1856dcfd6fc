package oracle

import (
	"testing"
	"time"

	"github.com/pingcap/go-tpc/tpch/dbgen"
	"github.com/weftdb/weft/bench/tpch"
)

// TestScale1 compares the checksums of all tables at scale factor 1, the smallest that the other
// port knows.
func TestScale1(t *testing.T) {
	g, err := tpch.New(1)
	if err != nil {
		t.Fatal(err)
	}
	dbgen.InitDbGen(1)
	loaders := map[dbgen.Table]dbgen.Loader{}
	var all []*checker
	check := func(number dbgen.Table, table tpch.Table, add func(c *checker, item any)) {
		c := &checker{t: t, table: table, add: add, theirs: tpch.NewChecksum(table)}
		c.batch.Columns = make([]tpch.Column, len(table.Columns()))
		for i, spec := range table.Columns() {
			c.batch.Columns[i] = tpch.Column{Kind: spec.Kind, Offsets: []int32{0}}
		}
		loaders[number] = c
		all = append(all, c)
	}
	check(dbgen.TRegion, tpch.Region, addRegion)
	check(dbgen.TNation, tpch.Nation, addNation)
	check(dbgen.TPart, tpch.Part, addPart)
	check(dbgen.TPsupp, tpch.PartSupp, addPartSupp)
	check(dbgen.TSupp, tpch.Supplier, addSupplier)
	check(dbgen.TCust, tpch.Customer, addCustomer)
	check(dbgen.TOrder, tpch.Orders, addOrder)
	check(dbgen.TLine, tpch.LineItem, addLines)
	tables := []dbgen.Table{dbgen.TNation, dbgen.TRegion, dbgen.TSupp, dbgen.TCust, dbgen.TPartPsupp, dbgen.TOrderLine}
	if err := dbgen.DbGen(loaders, tables); err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		c.compare(g)
	}
}

// checker is a loader that adds up a table's checksum.
type checker struct {
	t      *testing.T
	table  tpch.Table
	add    func(c *checker, item any)
	batch  tpch.Batch
	column int
	theirs *tpch.Checksum
}

func (c *checker) Load(item any) error {
	c.add(c, item)
	if c.batch.Rows > 1000 {
		return c.Flush()
	}
	return nil
}

func (c *checker) Flush() error {
	c.theirs.Add(&c.batch)
	c.batch.Rows = 0
	for i := range c.batch.Columns {
		col := &c.batch.Columns[i]
		col.Int32, col.Int64, col.Offsets, col.Bytes = col.Int32[:0], col.Int64[:0], col.Offsets[:1], col.Bytes[:0]
	}
	return nil
}

// next returns the column to add to; behind the last one a new row begins.
func (c *checker) next() *tpch.Column {
	col := &c.batch.Columns[c.column]
	if c.column++; c.column == len(c.batch.Columns) {
		c.column = 0
		c.batch.Rows++
	}
	return col
}

func (c *checker) int(v int64) {
	col := c.next()
	switch col.Kind {
	case tpch.Int32:
		col.Int32 = append(col.Int32, int32(v))
	case tpch.Int64, tpch.Decimal:
		col.Int64 = append(col.Int64, v)
	default:
		c.t.Fatalf("%v: integer for a column of kind %v", c.table, col.Kind)
	}
}

func (c *checker) text(s string) {
	col := c.next()
	if col.Kind == tpch.Date {
		day, err := time.Parse(time.DateOnly, s)
		if err != nil {
			c.t.Fatal(err)
		}
		col.Int32 = append(col.Int32, int32(day.Unix()/86400))
		return
	}
	col.Bytes = append(col.Bytes, s...)
	col.Offsets = append(col.Offsets, int32(len(col.Bytes)))
}

func (c *checker) compare(g *tpch.Generator) {
	ours, f := tpch.NewChecksum(c.table), g.Filler(c.table)
	for seq := uint64(0); ; seq++ {
		from, to := g.Chunk(c.table, seq, 10_000)
		if from == to {
			break
		}
		b, err := f.Fill(from, to)
		if err != nil {
			c.t.Fatal(err)
		}
		ours.Add(b)
	}
	if ours.Rows != c.theirs.Rows {
		c.t.Errorf("%v: %d rows, want %d", c.table, ours.Rows, c.theirs.Rows)
	}
	theirs := c.theirs.Sums()
	for i, sum := range ours.Sums() {
		if sum != theirs[i] {
			c.t.Errorf("%v: %s differs", c.table, c.table.Columns()[i].Name)
		}
	}
	c.t.Logf("%v: %d rows compared", c.table, ours.Rows)
}
