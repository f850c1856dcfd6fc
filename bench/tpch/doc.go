// Package tpch generates the data of the TPC-H benchmark and holds its queries and answers.
//
// The data are those of dbgen, value by value. dbgen draws every column from a random stream of its
// own and a fixed number of values per row, so a stream can be moved to any row at once: every range
// of rows is generated alone, in any order and by any number of goroutines.
//
// Queries, schema and data derive from TPC material; results are not comparable to any published
// TPC result.
package tpch
