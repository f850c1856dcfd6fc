// Package bench runs benchmarks on weft: it makes the data, loads them, measures queries in all
// ways of reading, checks their answers and reports.
package bench
