// Package catalog describes a database: types, tables, columns, keys, column views, partition
// bounds and statistics. Descriptions are immutable; a change makes new ones under a new version,
// and a statement pins the version it was planned with.
//
// No compatibility promise: use the root package.
package catalog
