package tpch

import (
	"embed"
	"fmt"
	"strings"
)

// QueryCount is the number of queries.
const QueryCount = 22

// Query is one of the benchmark's queries with the parameters of its validation.
type Query struct {
	Number int
	Title  string
	SQL    string
}

//go:embed queries/*.sql
var queryFiles embed.FS

// Queries returns all queries in order.
func Queries() []Query {
	all := make([]Query, QueryCount)
	for i := range all {
		file := fmt.Sprintf("queries/q%02d.sql", i+1)
		text, err := queryFiles.ReadFile(file)
		if err != nil {
			panic(err) // the files are part of the program
		}
		first, _, _ := strings.Cut(string(text), "\n")
		title, _, _ := strings.Cut(strings.TrimPrefix(first, "-- "), ".")
		all[i] = Query{Number: i + 1, Title: title, SQL: string(text)}
	}
	return all
}

// orderKeys lists the result columns that order the rows of queries whose order leaves ties open.
var orderKeys = map[int][]int{3: {1, 2}, 5: {1}, 10: {2}, 11: {1}, 18: {4, 3}}
