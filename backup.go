package weft

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/weftdb/weft/internal/sqlerr"
)

// Backup writes a copy of the database into the directory target, which must not exist or be empty,
// while statements run. The copy holds every commit acknowledged before the call and no part of a
// transaction; it is opened like any database. On the same file system files are shared by hard
// links, so the copy takes little time and space at first; only a copy on another disk outlives the
// disk. A database in memory is written out in full. After an error target is as it was.
func (db *DB) Backup(ctx context.Context, target string) error { return db.backup(ctx, target) }

func (d *database) backup(ctx context.Context, target string) error {
	full, err := filepath.Abs(target)
	if err != nil {
		return sqlerr.New(sqlerr.UndefinedFile, "backup: %w", err)
	}
	return d.users.task(ctx, "backup", func(ctx context.Context) error { return d.engine.Backup(ctx, full) })
}

// Backup makes a copy of the database in dir as DB.Backup does. When another process has the
// database open, that process is asked to make it, with its rights and on its machine.
func Backup(ctx context.Context, dir, target string) error {
	if !Exists(dir) {
		return sqlerr.New(sqlerr.UndefinedFile, "there is no database: dir=%s", dir)
	}
	target, err := filepath.Abs(target)
	if err != nil {
		return sqlerr.New(sqlerr.UndefinedFile, "backup: %w", err)
	}
	// A process that is just opening or closing the database does not answer for a moment.
	const attempts, pause = 10, 200 * time.Millisecond
	for n := 1; ; n++ {
		db, err := Open(ctx, dir, Options{NoMaintenance: true})
		if err == nil {
			return errors.Join(db.Backup(ctx, target), db.Close())
		}
		if !hasCode(err, sqlerr.ObjectInUse) {
			return err
		}
		connected, asked := askForBackup(ctx, dir, target)
		if connected {
			return asked
		}
		if n == attempts {
			var held *Error
			errors.As(err, &held)
			return held.WithDetail("That process does not answer requests: %v", asked).
				WithHint("Back up in that process with DB.Backup, or close the database there.")
		}
		select {
		case <-ctx.Done():
			return canceled(ctx)
		case <-time.After(pause):
		}
	}
}
