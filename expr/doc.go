// Package expr holds typed scalar expressions, the functions, operators, casts and aggregates they
// are made of, and the compiler that turns an expression into a vectorized evaluator.
//
// Expressions are immutable trees over column ids that are unique within a statement; rewrites
// build new trees. Compile binds the ids to positions in a batch.
//
// No compatibility promise: use the root package.
package expr
