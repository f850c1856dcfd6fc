package weft_test

import (
	"context"
	"math"
	"runtime/debug"
	"testing"

	"github.com/weftdb/weft"
)

// TestRuntimeLimit checks that databases limit the Go runtime's memory where they are asked to, and
// only as long as they are open.
func TestRuntimeLimit(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	debug.SetMemoryLimit(math.MaxInt64)
	open := func(limitBytes int64, asks bool) *weft.DB {
		db, err := weft.Open(context.Background(), weft.InMemory, weft.Options{MemoryLimitBytes: limitBytes, LimitRuntime: asks})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	want := func(limit int64) {
		t.Helper()
		if got := debug.SetMemoryLimit(-1); got != limit {
			t.Errorf("the limit is %d, want %d", got, limit)
		}
	}
	silent := open(1000<<20, false)
	want(math.MaxInt64)
	a, b := open(2000<<20, true), open(3000<<20, true)
	want(3300 << 20)
	if _, err := a.Exec(context.Background(), "set memory_limit = '4000MB'"); err != nil {
		t.Fatal(err)
	}
	want(4400 << 20)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	want(3300 << 20)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	want(math.MaxInt64)
	debug.SetMemoryLimit(500 << 20) // set by the program: a higher one does not replace it
	c := open(2000<<20, true)
	want(500 << 20)
	for _, db := range []*weft.DB{c, silent} {
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	want(500 << 20)
}
