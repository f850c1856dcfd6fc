package sql

import "testing"

func BenchmarkParse(b *testing.B) {
	run := func(name, text string) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := Parse(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("point", "select * from t where id=$1")
	run("insert", "INSERT INTO test_table VALUES (200, 100, -1, 'CNY', 'ee', 'CNY')")
	run("update", "UPDATE accounts SET balance = balance - $1, changed = now() WHERE id = $2 AND balance >= $1")
	texts := corpus(b)
	run("q64", texts["tpcds-queries/q64"])
}
