// Package imcv keeps column views in memory: immutable column units per row group, with a journal of
// the rows that changed since they were built.
//
// A query always sees its own view of the database: rows whose bit in the journal is clear come
// from the units, all others from the row store. Whatever is not loaded is read by rows; a column
// view never changes an answer, only what it costs.
//
// No compatibility promise: use the root package.
package imcv
