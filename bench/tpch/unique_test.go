package tpch

import "testing"

// TestUniqueKeys checks that small data sets have duplicate keys exactly where it is said.
func TestUniqueKeys(t *testing.T) {
	base, err := New(0.01)
	if err != nil {
		t.Fatal(err)
	}
	repeated := 0
	for thousandths := 1; thousandths <= 40; thousandths++ {
		g, err := base.WithScale(float64(thousandths)/1000 + 1e-9)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[[2]int32]bool{}
		f := g.Filler(PartSupp)
		for from := int64(0); from < g.Units(PartSupp); from += 500 {
			b, err := f.Fill(from, min(from+500, g.Units(PartSupp)))
			if err != nil {
				t.Fatal(err)
			}
			for i := range b.Rows {
				seen[[2]int32{b.Columns[0].Int32[i], b.Columns[1].Int32[i]}] = true
			}
		}
		unique := int64(len(seen)) == g.Rows(PartSupp)
		if g.UniqueKeys(PartSupp) != unique {
			t.Errorf("scale factor %v: keys unique %v, said %v", g.Scale(), unique, !unique)
		}
		if !unique {
			repeated++
		}
	}
	if repeated == 0 {
		t.Error("no scale factor with repeated keys was met")
	}
}
