package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/weftdb/weft"
)

// backupCommand is `weft backup`.
type backupCommand struct {
	Dir    string `arg:"" help:"Database directory; the process that has it open is asked to make the copy."`
	Target string `arg:"" help:"Directory of the copy: new, or empty."`
}

// Run makes the copy.
func (c *backupCommand) Run(ctx context.Context, std *streams) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	if err := mustExist(c.Dir); err != nil {
		return err
	}
	if err := weft.Backup(ctx, c.Dir, c.Target); err != nil {
		return err
	}
	fmt.Fprintf(std.out, "%s is a copy of %s; open it like any database\n", c.Target, c.Dir)
	return nil
}
