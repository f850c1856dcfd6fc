//go:build invariants

// Package invariants switches on checks and hostile behaviour that tests want and users do not.
package invariants

// Enabled is true in builds with the invariants tag; code behind it costs nothing otherwise.
const Enabled = true
