// Package storage is weft's durable, transactional row store.
//
// Rows live in an ordered key-value store (Pebble) under keys made of store, group, page and slot.
// A store is the rows of one leaf partition on one data node; a group is 65,536 consecutive row
// ids of a store; a page is 64. Everything on disk is described in docs/format.md.
//
// A View is one consistent state of the database: a commit number, the snapshot that belongs to it
// and, inside a transaction, that transaction's own earlier writes. A Txn collects writes in memory
// and applies them in one atomic batch when it commits. A GroupVersion is the change journal of one
// column unit version: a bit per row that later commits touched.
//
// Package storage is given finished rows and keys; it evaluates no expressions.
//
// No compatibility promise: use the root package.
package storage
