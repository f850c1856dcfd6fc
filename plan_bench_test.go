package weft_test

import (
	"fmt"
	"strings"
	"testing"
)

// manyTables makes tables of 100 rows to join: each has a key, a column with few values, and one for each of others'
// keys.
func manyTables(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "create table j%d (id int primary key, a int, b int); insert into j%d select g, g %% 10, g %% 7 from generate_series(1, 100) g;", i, i)
	}
	b.WriteString("create table fact (id int primary key")
	for i := range n {
		fmt.Fprintf(&b, ", f%d int", i)
	}
	b.WriteString("); insert into fact select g")
	for i := range n {
		fmt.Fprintf(&b, ", 1 + (g * %d) %% 100", i+1)
	}
	b.WriteString(" from generate_series(1, 1000) g; analyze")
	return b.String()
}

// manyJoins joins n of these tables: in a chain, around a table in the middle, all by the same key, or in a chain with
// more conditions across it.
func manyJoins(n int, shape string) string {
	var from, conds []string
	for i := range n {
		from = append(from, fmt.Sprintf("j%d", i))
		switch {
		case shape == "star" && i == 0:
			from[0] = "fact"
		case shape == "star":
			conds = append(conds, fmt.Sprintf("fact.f%d = j%d.id", i, i))
		case i == 0:
		case shape == "one key":
			conds = append(conds, fmt.Sprintf("j0.a = j%d.id", i))
		default:
			conds = append(conds, fmt.Sprintf("j%d.b = j%d.id", i-1, i))
			if shape == "mesh" && i > 2 && i%2 == 1 {
				conds = append(conds, fmt.Sprintf("j%d.a = j%d.a", i-3, i))
			}
		}
	}
	return "explain select count(*) from " + strings.Join(from, ", ") + " where " + strings.Join(conds, " and ")
}

// BenchmarkPlanJoins plans joins of many tables.
func BenchmarkPlanJoins(b *testing.B) {
	s := openMemory(b).Session()
	defer s.Close()
	mustExec(b, s, manyTables(80))
	for _, shape := range []string{"chain", "star", "one key", "mesh"} {
		for _, n := range []int{20, 40, 80} {
			b.Run(fmt.Sprintf("%s/%d", strings.ReplaceAll(shape, " ", "-"), n), func(b *testing.B) {
				query := manyJoins(n, shape)
				b.ReportAllocs()
				for b.Loop() {
					mustExec(b, s, query)
				}
			})
		}
	}
}
