package weft_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// runTests runs the package's tests and then looks for goroutines of databases: all that the tests
// opened are closed, also after failures, so there may be none.
func runTests(m *testing.M) (code int) {
	code = m.Run()
	if left := goroutinesLeft(10 * time.Second); code == 0 && len(left) > 0 {
		fmt.Printf("FAIL: %d goroutines are left after all tests, such as\n%s\n", len(left), strings.Join(left[:min(len(left), 5)], "\n\n"))
		return 1
	}
	return code
}

// goroutinesLeft waits for the goroutines of weft and Pebble to end and returns the stacks of those that
// do not.
func goroutinesLeft(patience time.Duration) (left []string) {
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		left = left[:0]
		buf := make([]byte, 16<<20)
		stacks := strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
		for _, stack := range stacks[1:] { // the first is this one
			if strings.Contains(stack, "testing.(*M).Run") || strings.Contains(stack, "testing.tRunner(") {
				continue // the tests themselves
			}
			if strings.Contains(stack, "weftdb/weft") || strings.Contains(stack, "cockroachdb/pebble") {
				left = append(left, stack)
			}
		}
		if len(left) == 0 || time.Now().After(deadline) {
			return left
		}
	}
}

// TestNoGoroutineAfterClose closes databases that work and one whose disk has failed.
func TestNoGoroutineAfterClose(t *testing.T) {
	for _, f := range []*fault{{}, {at: 150, lasting: true}, {at: 150, lasting: true, full: true}} {
		run, err := openWorkload(errorfs.Wrap(vfs.NewCrashableMem(), f), "")
		if err != nil {
			t.Fatal(err)
		}
		if len(goroutinesLeft(0)) == 0 {
			t.Fatal("an open database has no goroutines")
		}
		var wg sync.WaitGroup
		for n := range 4 {
			wg.Go(func() {
				s := run.db.Session()
				defer s.Close()
				for i := range 20 {
					_, _ = s.Exec(t.Context(), fmt.Sprintf(`create table if not exists t%d (id serial primary key, b text) colview;
						insert into t%d (b) select 'b' || g from generate_series(1, 100) g; vacuum t%d`, n, n, n)) // may fail
					if i == 10 {
						_ = run.db.Backup(t.Context(), fmt.Sprint("/copy", n)) // may fail too
					}
				}
			})
		}
		wg.Wait()
		if err := run.close(); err != nil && f.at == 0 {
			t.Error(err)
		}
		if failed := f.failed.Load() != nil; failed != (f.at > 0) {
			t.Errorf("%s: failed is %t", f, failed)
		}
		if left := goroutinesLeft(10 * time.Second); len(left) > 0 {
			t.Errorf("%s: %d goroutines are left after Close, such as\n%s", f, len(left), left[0])
		}
	}
}
