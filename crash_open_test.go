package weft

import (
	"github.com/cockroachdb/pebble/v2/vfs"
)

// OpenOn opens a database on a file system of its own, for tests of crashes.
func OpenOn(fs vfs.FS, dir string) (*DB, error) {
	d, err := openDatabase(dir, Options{fs: fs})
	if err != nil {
		return nil, err
	}
	return &DB{database: d}, nil
}
