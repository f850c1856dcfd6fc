package main

// benchCommand is the home of the benchmarks.
type benchCommand struct{}
