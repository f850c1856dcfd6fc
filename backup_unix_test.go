//go:build unix

package weft_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/weftdb/weft"
)

// TestCancelFromOutside gives up a request while the process that holds the database stands still:
// when that goes on, either the copy is whole or nothing of it is left.
func TestCancelFromOutside(t *testing.T) {
	dir := t.TempDir()
	source, target := filepath.Join(dir, "db"), filepath.Join(dir, "copy")
	db, err := weft.Open(context.Background(), source, weft.Options{})
	if err != nil {
		t.Fatal(err)
	}
	makeAccounts(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	c := startChild(t, "transfer", source)
	if err := c.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- weft.Backup(ctx, source, target) }()
	<-ctx.Done()
	time.Sleep(50 * time.Millisecond)
	if err := c.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		checkTransfers(t, target, [transferWriters]int64{})
	} else {
		wantState(t, err, "57014")
		if _, err := os.Stat(target); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a cancelled backup left its target: %v", err)
		}
	}
	c.stop(t)
}
