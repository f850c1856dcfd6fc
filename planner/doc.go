// Package planner turns a syntax tree into a plan: it binds names and types, unnests subqueries,
// rewrites, orders joins by cost, chooses how each table is read and prints plans.
//
// Plan nodes are immutable trees over expr.ColID; rules build new trees. The planner never sees
// storage, column units or executors: what it needs to know of them arrives through World.
//
// No compatibility promise: use the root package.
package planner
