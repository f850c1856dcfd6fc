// Package weft is an embeddable HTAP SQL engine in pure Go: every table lives in a durable,
// transactional row store, chosen columns also live in memory as column views, and one optimizer
// decides per query, per table and per row group which of the two to read.
package weft
