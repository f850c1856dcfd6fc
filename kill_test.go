package weft_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/weftdb/weft"
)

var kills = flag.Int("kills", 10, "times that TestKillUnderLoad kills a process")

// loadCSV and loadCopies are where a database under load has the file it copies from and its backups.
func loadCSV(dir string) string { return filepath.Join(filepath.Dir(dir), "load.csv") }

func loadCopy(dir string, n int) string {
	return filepath.Join(filepath.Dir(dir), "copies", fmt.Sprint(os.Getpid(), "-", n))
}

// load works on a database in every way at once: transfers between accounts, random statements, indexes
// and column views that come and go under the transfers, and backups.
func load(ctx context.Context, db *weft.DB, dir string, acknowledge func(writer, n int)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	work := []func() error{
		func() error { return transfer(ctx, db, acknowledge) },
		func() error { return churn(ctx, db, rand.New(rand.NewPCG(rand.Uint64(), 3)), 1<<30, loadCSV(dir)) },
		func() error { return redefine(ctx, db) },
		func() error { return copyAgain(ctx, db, dir) },
	}
	ended := make(chan error, len(work))
	for _, w := range work {
		go func() {
			err := w()
			if err != nil {
				stop()
			}
			ended <- err
		}()
	}
	var failed []error
	for range work {
		failed = append(failed, <-ended)
	}
	return errors.Join(failed...)
}

// redefine changes what belongs to the table of accounts.
func redefine(ctx context.Context, db *weft.DB) error {
	s := db.Session()
	defer s.Close()
	statements := []string{
		"create index account_note on account (note, id desc)",
		"drop index account_note",
		"create index concurrently account_note on account (note)",
		"drop index if exists account_note",
		"alter table account nocolview colview (amount)",
		"select * from gs_imcv_flush('account')",
		"vacuum account",
		"checkpoint",
		"alter table account add column extra int default 7",
		"alter table account alter column extra type numeric(9,2)",
		"alter table account drop column extra",
		"analyze account",
	}
	for n := 0; ctx.Err() == nil; n++ {
		_, err := s.Exec(context.Background(), statements[n%len(statements)])
		if err != nil && !refused(err) && !weft.IsSerializationFailure(err) {
			return err
		}
	}
	return nil
}

// copyAgain backs up into a new directory again and again and removes the backup before the last.
func copyAgain(ctx context.Context, db *weft.DB, dir string) error {
	for n := 0; ctx.Err() == nil; n++ {
		err := db.Backup(ctx, loadCopy(dir, n))
		if err != nil && ctx.Err() == nil {
			return err
		}
		if n > 0 { // renamed first, so that half of it is not taken for a backup
			gone := filepath.Join(filepath.Dir(dir), "gone")
			if err := errors.Join(os.RemoveAll(gone), os.Rename(loadCopy(dir, n-1), gone), os.RemoveAll(gone)); err != nil {
				return err
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil
}

// TestKillUnderLoad kills a process that works on a database in every way. Each time Check must find
// nothing, the accounts must add up, and no acknowledged transfer may be missing, in the database and
// in the backups that are complete.
func TestKillUnderLoad(t *testing.T) {
	n := *kills
	if testing.Short() {
		n = min(n, 2)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	dir := filepath.Join(t.TempDir(), "db")
	csv, err := os.ReadFile(makeChurn(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(loadCSV(dir), csv, 0o644); err != nil {
		t.Fatal(err)
	}
	db := sound(t, dir)
	makeAccounts(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	var transfers, copies int64
	var last [transferWriters]int64
	for i := range n {
		if i > 0 && i%50 == 0 {
			t.Logf("%d kills so far", i)
		}
		c := startChild(t, "load", dir)
		time.Sleep(time.Duration(20+r.IntN(250)) * time.Millisecond)
		c.kill(t)
		for w := range last {
			if acked := c.acked[w].Load(); acked > last[w] {
				transfers += acked - last[w]
				last[w] = acked
			}
		}
		checkTransfers(t, dir, last)
		copies += checkCopies(t, filepath.Join(filepath.Dir(dir), "copies"))
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Logf("%d kills, %d transfers acknowledged, %d complete backups found", n, transfers, copies)
}

// checkCopies checks the backups that are complete, removes all, and returns how many it checked.
func checkCopies(t *testing.T, parent string) (checked int64) {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(parent, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, "FORMAT")); err == nil {
			checkTransfers(t, dir, [transferWriters]int64{})
			checked++
		} else if _, err := os.Stat(filepath.Join(dir, "COPYING")); err == nil {
			_, err := weft.Open(context.Background(), dir, weft.Options{})
			wantState(t, err, "55000")
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	return checked
}
