package bench

import (
	"context"
	"testing"

	"github.com/weftdb/weft"
	"github.com/weftdb/weft/bench/tpch"
)

// BenchmarkLoad generates and loads tables into a directory.
func BenchmarkLoad(b *testing.B) {
	ctx := context.Background()
	for _, table := range []tpch.Table{tpch.LineItem, tpch.PartSupp} {
		b.Run(table.String(), func(b *testing.B) {
			rows := int64(0)
			for b.Loop() {
				b.StopTimer()
				o, err := Options{Scale: 0.1}.withDefaults()
				if err != nil {
					b.Fatal(err)
				}
				r := &runner{o: o, threads: 2}
				if r.gen, err = tpch.New(o.Scale); err != nil {
					b.Fatal(err)
				}
				r.gen.Prepare()
				if r.db, err = weft.Open(ctx, b.TempDir(), weft.Options{}); err != nil {
					b.Fatal(err)
				}
				r.session = r.db.Session()
				b.StartTimer()
				loaded, err := r.load(ctx, table)
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				rows += loaded.Rows
				r.session.Close()
				if err := r.db.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
