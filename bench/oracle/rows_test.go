package oracle

import "github.com/pingcap/go-tpc/tpch/dbgen"

func addRegion(c *checker, item any) {
	r := item.(*dbgen.Region)
	c.int(int64(r.Code))
	c.text(r.Text)
	c.text(r.Comment)
}

func addNation(c *checker, item any) {
	n := item.(*dbgen.Nation)
	c.int(int64(n.Code))
	c.text(n.Text)
	c.int(int64(n.Join))
	c.text(n.Comment)
}

func addPart(c *checker, item any) {
	p := item.(*dbgen.Part)
	c.int(int64(p.PartKey))
	c.text(p.Name)
	c.text(p.Mfgr)
	c.text(p.Brand)
	c.text(p.Type)
	c.int(int64(p.Size))
	c.text(p.Container)
	c.int(int64(p.RetailPrice))
	c.text(p.Comment)
}

func addPartSupp(c *checker, item any) {
	for _, s := range item.(*dbgen.Part).S {
		c.int(int64(s.PartKey))
		c.int(int64(s.SuppKey))
		c.int(int64(s.Qty))
		c.int(int64(s.SCost))
		c.text(s.Comment)
	}
}

func addSupplier(c *checker, item any) {
	s := item.(*dbgen.Supp)
	c.int(int64(s.SuppKey))
	c.text(s.Name)
	c.text(s.Address)
	c.int(int64(s.NationCode))
	c.text(s.Phone)
	c.int(int64(s.Acctbal))
	c.text(s.Comment)
}

func addCustomer(c *checker, item any) {
	u := item.(*dbgen.Cust)
	c.int(int64(u.CustKey))
	c.text(u.Name)
	c.text(u.Address)
	c.int(int64(u.NationCode))
	c.text(u.Phone)
	c.int(int64(u.Acctbal))
	c.text(u.MktSegment)
	c.text(u.Comment)
}

func addOrder(c *checker, item any) {
	o := item.(*dbgen.Order)
	c.int(int64(o.OKey))
	c.int(int64(o.CustKey))
	c.text(string(o.Status))
	c.int(int64(o.TotalPrice))
	c.text(o.Date)
	c.text(o.OrderPriority)
	c.text(o.Clerk)
	c.int(o.ShipPriority)
	c.text(o.Comment)
}

func addLines(c *checker, item any) {
	for _, l := range item.(*dbgen.Order).Lines {
		c.int(int64(l.OKey))
		c.int(int64(l.PartKey))
		c.int(int64(l.SuppKey))
		c.int(int64(l.LCnt))
		c.int(int64(l.Quantity) * 100)
		c.int(int64(l.EPrice))
		c.int(int64(l.Discount))
		c.int(int64(l.Tax))
		c.text(string(l.RFlag))
		c.text(string(l.LStatus))
		c.text(l.SDate)
		c.text(l.CDate)
		c.text(l.RDate)
		c.text(l.ShipInstruct)
		c.text(l.ShipMode)
		c.text(l.Comment)
	}
}
