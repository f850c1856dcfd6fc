package weft_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	_ "github.com/weftdb/weft"
)

// oltpRows is the size of the table that the benchmarks of single rows use.
const oltpRows = 1_000_000

func openOLTP(b *testing.B, rows int) *sql.DB {
	b.Helper()
	db, err := sql.Open("weft", filepath.Join(b.TempDir(), "db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	ctx := context.Background()
	for _, statement := range []string{
		"create table t (id bigint primary key, a int, b bigint, c text)",
		fmt.Sprintf("insert into t select g, g %% 1000, g * 3, repeat('x', 80) from generate_series(1, %d) g", rows),
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			b.Fatal(err)
		}
	}
	return db
}

// BenchmarkPointSelect reads one row by primary key, prepared, through database/sql, that was read
// before.
func BenchmarkPointSelect(b *testing.B) {
	db := openOLTP(b, oltpRows)
	stmt, err := db.Prepare("select a, b, c from t where id = $1")
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	keys := make([]int64, 100_000) // of a table ten times as large
	var a, n int64
	var c string
	for i := range keys {
		keys[i] = 1 + r.Int64N(oltpRows)
		if err := stmt.QueryRow(keys[i]).Scan(&a, &n, &c); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := stmt.QueryRow(keys[r.IntN(len(keys))]).Scan(&a, &n, &c); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkInsertInTransaction inserts rows one by one through a prepared statement in one
// transaction; the commit counts.
func BenchmarkInsertInTransaction(b *testing.B) {
	db := openOLTP(b, 1)
	text := string(make([]byte, 0, 80))
	for range 80 {
		text += "y"
	}
	next := int64(10)
	b.ReportAllocs()
	const rows = 10_000
	for b.Loop() {
		tx, err := db.Begin()
		if err != nil {
			b.Fatal(err)
		}
		stmt, err := tx.Prepare("insert into t values ($1, $2, $3, $4)")
		if err != nil {
			b.Fatal(err)
		}
		for range rows {
			next++
			if _, err := stmt.Exec(next, next%1000, next*3, text); err != nil {
				b.Fatal(err)
			}
		}
		if err := tx.Commit(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
}

// BenchmarkCommit measures single-row writes that commit, on a large table.
func BenchmarkCommit(b *testing.B) {
	db := openOLTP(b, oltpRows/10)
	r := rand.New(rand.NewPCG(1, 1))
	key := func() []any { return []any{1 + r.IntN(oltpRows/10)} }
	next := oltpRows
	for _, w := range []struct {
		name, query string
		args        func() []any
	}{
		{"insert", "insert into t values ($1, 1, 2, 'x')", func() []any { next++; return []any{next} }},
		{"update", "update t set b = b + 1 where id = $1", key},
		{"upsert", "insert into t values ($1, 1, 2, 'x') on conflict (id) do update set b = t.b + 1", key},
		{"delete", "delete from t where id = $1", func() []any { next--; return []any{next + 1} }},
	} {
		b.Run(w.name, func(b *testing.B) {
			stmt, err := db.Prepare(w.query)
			if err != nil {
				b.Fatal(err)
			}
			defer stmt.Close()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := stmt.Exec(w.args()...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
