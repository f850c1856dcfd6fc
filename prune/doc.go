// Package prune knows how the rows of partitioned tables are divided: which partition a row belongs to,
// and which partitions may hold rows that conditions are true for.
package prune
