package planner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/sql"
)

// fixedWorld gives tables row counts without data.
type fixedWorld map[string]float64

func (w fixedWorld) Stats(catalog.TableID) *catalog.Stats { return nil }
func (w fixedWorld) Rows(t *catalog.Table) float64        { return w[t.Name] }
func (w fixedWorld) ViewState(t *catalog.Table) ViewState {
	return ViewState{Groups: 1, LoadedGroups: 1}
}
func (w fixedWorld) SystemView(string) ([]ResultColumn, bool) { return nil, false }
func (w fixedWorld) TableFunction(string) ([]ResultColumn, []catalog.Type, bool) {
	return nil, nil, false
}

type counter struct{ table, store, index uint32 }

func (c *counter) NewTableID() catalog.TableID { c.table++; return catalog.TableID(c.table) }
func (c *counter) NewStoreID() catalog.StoreID { c.store++; return catalog.StoreID(c.store) }
func (c *counter) NewIndexID() catalog.IndexID { c.index++; return catalog.IndexID(c.index) }

// tpchInput is the benchmark's schema with the row counts of scale factor 1.
func tpchInput(t *testing.T) Input {
	t.Helper()
	in := Input{Catalog: catalog.NewSnapshot(1), Settings: DefaultSettings(), World: fixedWorld{
		"region": 5, "nation": 25, "supplier": 10000, "part": 200000, "customer": 150000,
		"partsupp": 800000, "orders": 1500000, "lineitem": 6001215}}
	ids := &counter{}
	for _, text := range tpchSchema {
		stmt, err := sql.ParseOne(text)
		if err != nil {
			t.Fatal(err)
		}
		d := &DDL{Input: in, IDs: ids}
		table, err := d.CreateTable(stmt.(*sql.CreateTable))
		if err != nil {
			t.Fatal(err)
		}
		in.Catalog = in.Catalog.WithTable(table)
	}
	return in
}

var tpchSchema = []string{
	`create table region (r_regionkey integer not null, r_name char(25) not null, r_comment varchar(152) not null, primary key (r_regionkey))`,
	`create table nation (n_nationkey integer not null, n_name char(25) not null, n_regionkey integer not null, n_comment varchar(152) not null, primary key (n_nationkey))`,
	`create table part (p_partkey integer not null, p_name varchar(55) not null, p_mfgr char(25) not null, p_brand char(10) not null, p_type varchar(25) not null, p_size integer not null, p_container char(10) not null, p_retailprice decimal(15,2) not null, p_comment varchar(23) not null, primary key (p_partkey))`,
	`create table supplier (s_suppkey integer not null, s_name char(25) not null, s_address varchar(40) not null, s_nationkey integer not null, s_phone char(15) not null, s_acctbal decimal(15,2) not null, s_comment varchar(101) not null, primary key (s_suppkey))`,
	`create table partsupp (ps_partkey integer not null, ps_suppkey integer not null, ps_availqty integer not null, ps_supplycost decimal(15,2) not null, ps_comment varchar(199) not null, primary key (ps_partkey, ps_suppkey))`,
	`create table customer (c_custkey integer not null, c_name varchar(25) not null, c_address varchar(40) not null, c_nationkey integer not null, c_phone char(15) not null, c_acctbal decimal(15,2) not null, c_mktsegment char(10) not null, c_comment varchar(117) not null, primary key (c_custkey))`,
	`create table orders (o_orderkey bigint not null, o_custkey integer not null, o_orderstatus char(1) not null, o_totalprice decimal(15,2) not null, o_orderdate date not null, o_orderpriority char(15) not null, o_clerk char(15) not null, o_shippriority integer not null, o_comment varchar(79) not null, primary key (o_orderkey))`,
	`create table lineitem (l_orderkey bigint not null, l_partkey integer not null, l_suppkey integer not null, l_linenumber integer not null, l_quantity decimal(15,2) not null, l_extendedprice decimal(15,2) not null, l_discount decimal(15,2) not null, l_tax decimal(15,2) not null, l_returnflag char(1) not null, l_linestatus char(1) not null, l_shipdate date not null, l_commitdate date not null, l_receiptdate date not null, l_shipinstruct char(25) not null, l_shipmode char(10) not null, l_comment varchar(44) not null, primary key (l_orderkey, l_linenumber))`,
}

// TestTPCHPlans plans the 22 queries and checks what must hold of every plan.
func TestTPCHPlans(t *testing.T) {
	dir := filepath.Join("..", "..", "shared", "data", "tpch-queries")
	files, _ := filepath.Glob(filepath.Join(dir, "q*.sql"))
	if len(files) == 0 {
		t.Skipf("SKIPPED: no TPC-H query texts in %s", dir)
	}
	in := tpchInput(t)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			stmt, err := sql.ParseOne(string(text))
			if err != nil {
				t.Fatal(err)
			}
			plan, err := Build(stmt, in)
			if err != nil {
				t.Fatal(err)
			}
			checkPlan(t, plan)
			t.Log("\n" + strings.Join(Explain(plan, ExplainOptions{Costs: true}), "\n"))
		})
	}
}

// checkPlan verifies a plan's invariants: no free columns, no cross products between large inputs,
// no Apply where unnesting is possible.
func checkPlan(t *testing.T, p *Plan) {
	t.Helper()
	check := func(n Node) {
		if free := freeColumns(n); len(free) > 0 {
			t.Errorf("plan uses columns that nothing produces: %v", free)
		}
		walkNodes(n, func(n Node) bool {
			switch n := n.(type) {
			case *Apply:
				if !n.ByIndex {
					t.Error("plan runs a subquery per row")
				}
			case *Join:
				if len(n.Keys) == 0 && n.Left.Estimate().Rows > 1000 && n.Right.Estimate().Rows > 1000 {
					t.Errorf("nested loop over %.0f × %.0f rows", float64(n.Left.Estimate().Rows), float64(n.Right.Estimate().Rows))
				}
				if len(n.On) > 0 {
					t.Error("join conditions were not split")
				}
			}
			return true
		})
	}
	for _, c := range p.CTEs {
		check(c.Plan)
	}
	for _, ip := range p.InitPlans {
		check(ip.Plan)
	}
	check(p.Root)
}
