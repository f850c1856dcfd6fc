// Package decimal holds PostgreSQL's numeric: exact decimal values with a display scale, NaN and
// infinities, and the 128-bit integers that scaled numerics are made of.
//
// Decimal is the general form. Its byte form (AppendBytes, FromBytes) is what vectors of kind
// Bytes and rows on disk hold; AppendSortKey gives the normalised form that orders and compares by
// value as plain bytes.
package decimal
