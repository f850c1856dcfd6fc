package weft_test

import (
	"context"
	"testing"

	"github.com/weftdb/weft"
)

// BenchmarkIndexPaths reads a fifth of a table of half a million rows in each way, on one thread, and
// reports the time for each row that qualifies.
func BenchmarkIndexPaths(b *testing.B) {
	db, err := weft.Open(context.Background(), "", weft.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	s := db.Session()
	defer s.Close()
	mustExec(b, s, "create table t (id int primary key, a int, b int, c text, d text); set threads = 1")
	mustExec(b, s, "insert into t select g, (g % 1000) * 7919 % 1000, g / 500, 'text ' || g, repeat('x', 60) from generate_series(1, 500000) g")
	mustExec(b, s, "create index on t (a) include (b); create index on t (b); create index on t (a, b); analyze t")
	for _, c := range []struct{ name, query, set string }{
		{"seq", "select count(*), sum(b) from t where a < 200", accessPaths[0]},
		{"index", "select count(*), sum(length(c)) from t where a < 200", accessPaths[1]},
		{"index/clustered", "select count(*), sum(length(c)) from t where b < 200", accessPaths[1]},
		{"index-only", "select count(*), sum(b) from t where a < 200", accessPaths[2]},
		{"bitmap", "select count(*), sum(length(c)) from t where a < 200", accessPaths[3]},
		{"bitmap/clustered", "select count(*), sum(length(c)) from t where b < 200", accessPaths[3]},
		{"bitmap-or", "select count(*), sum(length(c)) from t where a < 100 or b < 100", accessPaths[3]},
		{"ordered", "select sum(length(c)) from (select c from t where a < 200 order by a limit 100000) x", accessPaths[1]},
	} {
		b.Run(c.name, func(b *testing.B) {
			mustExec(b, s, c.set)
			rows := 0
			for b.Loop() {
				if _, err := queryText(s, c.query); err != nil {
					b.Fatal(err)
				}
				rows += 100_000
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rows), "ns/row")
		})
	}
	b.Run("ends", func(b *testing.B) {
		mustExec(b, s, accessPaths[4])
		for b.Loop() {
			if _, err := queryText(s, "select min(a), max(a), max(b) from t"); err != nil {
				b.Fatal(err)
			}
		}
	})
}
