package tpch

import (
	"fmt"
	"strings"
)

// Table is one of the eight tables.
type Table uint8

// The tables, in an order in which foreign keys hold.
const (
	Region Table = iota
	Nation
	Part
	Supplier
	PartSupp
	Customer
	Orders
	LineItem
	tableCount
)

// Tables lists all tables.
func Tables() []Table {
	all := make([]Table, tableCount)
	for i := range all {
		all[i] = Table(i)
	}
	return all
}

// Kind is how a column's values are kept.
type Kind uint8

// The kinds. A Decimal is an int64 that counts hundredths, a Date an int32 that counts days since
// 1970.
const (
	Int32 Kind = iota
	Int64
	Decimal
	Date
	Text
)

// ColumnSpec describes a column.
type ColumnSpec struct {
	Name string
	Type string // SQL type
	Kind Kind
	Max  int // bytes of the longest Text value
}

type tableSpec struct {
	name    string
	columns []ColumnSpec
	key     string
}

// spec is a table as clause 1.4 of the specification has it, with 64-bit order keys.
func (t Table) spec() *tableSpec { return &tableSpecs[t] }

var tableSpecs = [tableCount]tableSpec{
	Region: {"region", []ColumnSpec{
		integer("r_regionkey"), char("r_name", 25), varchar("r_comment", 152),
	}, "r_regionkey"},
	Nation: {"nation", []ColumnSpec{
		integer("n_nationkey"), char("n_name", 25), integer("n_regionkey"), varchar("n_comment", 152),
	}, "n_nationkey"},
	Part: {"part", []ColumnSpec{
		integer("p_partkey"), varchar("p_name", 55), char("p_mfgr", 25), char("p_brand", 10), varchar("p_type", 25),
		integer("p_size"), char("p_container", 10), money("p_retailprice"), varchar("p_comment", 23),
	}, "p_partkey"},
	Supplier: {"supplier", []ColumnSpec{
		integer("s_suppkey"), char("s_name", 25), varchar("s_address", 40), integer("s_nationkey"),
		char("s_phone", 15), money("s_acctbal"), varchar("s_comment", 101),
	}, "s_suppkey"},
	PartSupp: {"partsupp", []ColumnSpec{
		integer("ps_partkey"), integer("ps_suppkey"), integer("ps_availqty"), money("ps_supplycost"),
		varchar("ps_comment", 199),
	}, "ps_partkey, ps_suppkey"},
	Customer: {"customer", []ColumnSpec{
		integer("c_custkey"), varchar("c_name", 25), varchar("c_address", 40), integer("c_nationkey"),
		char("c_phone", 15), money("c_acctbal"), char("c_mktsegment", 10), varchar("c_comment", 117),
	}, "c_custkey"},
	Orders: {"orders", []ColumnSpec{
		bigint("o_orderkey"), integer("o_custkey"), char("o_orderstatus", 1), money("o_totalprice"),
		date("o_orderdate"), char("o_orderpriority", 15), char("o_clerk", 15), integer("o_shippriority"),
		varchar("o_comment", 79),
	}, "o_orderkey"},
	LineItem: {"lineitem", []ColumnSpec{
		bigint("l_orderkey"), integer("l_partkey"), integer("l_suppkey"), integer("l_linenumber"),
		money("l_quantity"), money("l_extendedprice"), money("l_discount"), money("l_tax"),
		char("l_returnflag", 1), char("l_linestatus", 1), date("l_shipdate"), date("l_commitdate"),
		date("l_receiptdate"), char("l_shipinstruct", 25), char("l_shipmode", 10), varchar("l_comment", 44),
	}, "l_orderkey, l_linenumber"},
}

func integer(name string) ColumnSpec { return ColumnSpec{name, "integer", Int32, 0} }
func bigint(name string) ColumnSpec  { return ColumnSpec{name, "bigint", Int64, 0} }
func money(name string) ColumnSpec   { return ColumnSpec{name, "decimal(15,2)", Decimal, 0} }
func date(name string) ColumnSpec    { return ColumnSpec{name, "date", Date, 0} }
func char(name string, n int) ColumnSpec {
	return ColumnSpec{name, fmt.Sprintf("char(%d)", n), Text, n}
}
func varchar(name string, n int) ColumnSpec {
	return ColumnSpec{name, fmt.Sprintf("varchar(%d)", n), Text, n}
}

// String returns the table's name.
func (t Table) String() string { return t.spec().name }

// Columns describes the table's columns.
func (t Table) Columns() []ColumnSpec { return t.spec().columns }

// DDL returns the statement that creates the table, with its primary key if the data are to have
// one.
func (t Table) DDL(primaryKey bool) string {
	var lines []string
	for _, c := range t.Columns() {
		lines = append(lines, fmt.Sprintf("    %s %s NOT NULL", c.Name, c.Type))
	}
	if primaryKey {
		lines = append(lines, fmt.Sprintf("    PRIMARY KEY (%s)", t.spec().key))
	}
	return fmt.Sprintf("CREATE TABLE %s (\n%s\n)", t, strings.Join(lines, ",\n"))
}

// manySuppliers is where the suppliers of a part are surely distinct: number i of part p is i steps
// of S/4 + p/S from the first, less than S/4 + 20, and S/3 is the shortest step that can meet a
// supplier again.
const manySuppliers = 240

// UniqueKeys reports whether the table's primary key holds in dbgen's data. At some scale factors
// below 0.024 a part has a supplier twice.
func (g *Generator) UniqueKeys(t Table) bool {
	suppliers := uint32(g.Units(Supplier))
	if t != PartSupp || suppliers >= manySuppliers {
		return true
	}
	for part := range int32(g.Units(Part)) {
		seen := map[int32]bool{}
		for number := range uint32(suppliersPerPart) {
			seen[supplierOf(part+1, number, suppliers)] = true
		}
		if len(seen) < suppliersPerPart {
			return false
		}
	}
	return true
}
