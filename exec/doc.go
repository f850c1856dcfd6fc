// Package exec runs plans: it turns plan nodes into pipelines, and pipelines push batches of rows
// from a source through operators into a sink, on as many workers as asked for.
//
// Reading order: pipeline.go (the interfaces and how a pipeline runs), query.go (what a query is
// and how its pipelines follow one another), build.go (plan node to pipelines), then the op_ files,
// one per operator.
//
// No compatibility promise: use the root package.
package exec
