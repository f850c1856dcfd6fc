package storage

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weftdb/weft/internal/sqlerr"
)

// Versions of what is on disk. A database written by a later version is refused; an earlier one is
// migrated when it is opened. docs/format.md describes them.
const (
	formatVersion    = 4 // directory, key kinds, what the catalog describes
	rowCodecVersion  = 1 // rows and packed pages
	keyCodecVersion  = 1 // memcomparable keys
	unitFilesVersion = 1 // column unit files
	// pebbleVersion pins the format of the store underneath, so that opening a database with a
	// newer library does not change it in passing.
	pebbleVersion = pebble.FormatTableFormatV6
)

const (
	formatFile  = "FORMAT"
	copyingFile = "COPYING" // without FORMAT: a backup that is not finished
)

// Exists reports whether dir holds a database. What cannot be looked at counts as one: opening it
// tells why.
func Exists(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, formatFile))
	return !errors.Is(err, os.ErrNotExist)
}

// formatInfo is the content of DIR/FORMAT.
type formatInfo struct {
	Format int `json:"format"`
	Rows   int `json:"rows"`
	Keys   int `json:"keys"`
	Units  int `json:"units"`
	Pebble int `json:"pebble"`
	// ID names the database for ever, copies included; Incarnation tells copies with a history of
	// their own apart: it is raised when a copy is opened as a database in its own right.
	ID          string `json:"id"`
	Incarnation uint64 `json:"incarnation"`
	Created     string `json:"created"`
	// Filled is set when the store's files are there: from then on their absence is damage.
	Filled bool `json:"filled,omitempty"`
}

func newFormatInfo() formatInfo {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	return formatInfo{Format: formatVersion, Rows: rowCodecVersion, Keys: keyCodecVersion, Units: unitFilesVersion,
		Pebble: int(pebbleVersion), ID: hex.EncodeToString(id[:]), Incarnation: 1,
		Created: time.Now().UTC().Format(time.RFC3339)}
}

// check refuses versions that this program does not know.
func (f *formatInfo) check(dir string) error {
	for _, v := range []struct {
		what        string
		have, known int
	}{
		{"format", f.Format, formatVersion},
		{"row codec", f.Rows, rowCodecVersion},
		{"key codec", f.Keys, keyCodecVersion},
		{"column unit", f.Units, unitFilesVersion},
		{"store", f.Pebble, int(pebbleVersion)},
	} {
		if v.have > v.known {
			return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState,
				"database was written by a newer version of weft: %s version %d, this program knows up to %d: dir=%s",
				v.what, v.have, v.known, dir).WithHint("Open it with a newer version of weft.")
		}
		if v.have < 1 {
			return sqlerr.New(sqlerr.DataCorrupted, "malformed FORMAT file: no %s version: dir=%s", v.what, dir)
		}
	}
	if id, err := hex.DecodeString(f.ID); err != nil || len(id) != 16 {
		return sqlerr.New(sqlerr.DataCorrupted, "malformed FORMAT file: no database id: dir=%s", dir)
	}
	return nil
}

// loadFormat reads DIR/FORMAT, or makes it for a new database.
func loadFormat(fs vfs.FS, dir string, rowsDir string) (formatInfo, error) {
	name := fs.PathJoin(dir, formatFile)
	b, err := readFile(fs, name)
	if err == nil {
		var f formatInfo
		if err := json.Unmarshal(b, &f); err != nil {
			return f, sqlerr.New(sqlerr.DataCorrupted, "malformed FORMAT file: %w: dir=%s", err, dir)
		}
		if err := f.check(dir); err != nil || !f.Filled {
			return f, err
		}
		return f, checkStoreFiles(fs, rowsDir)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return formatInfo{}, ioError("read FORMAT file", err)
	}
	if _, err := fs.Stat(fs.PathJoin(dir, copyingFile)); err == nil {
		return formatInfo{}, sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "the directory holds a backup that was not finished: dir=%s", dir).
			WithHint("Remove the directory and back up again.")
	}
	if list, err := fs.List(rowsDir); err == nil && hasStoreFiles(list) {
		return formatInfo{}, sqlerr.New(sqlerr.DataCorrupted, "the database's FORMAT file is missing: dir=%s", dir)
	}
	f := newFormatInfo()
	return f, writeFormat(fs, dir, f)
}

func hasStoreFiles(list []string) bool {
	for _, name := range list {
		if len(name) > 9 && name[:9] == "MANIFEST-" {
			return true
		}
	}
	return false
}

// checkStoreFiles makes sure that the files are there without which Pebble would make a new store, and
// remove what is left of the old one.
func checkStoreFiles(fs vfs.FS, rowsDir string) error {
	list, err := fs.List(rowsDir)
	if err != nil {
		return ioError("list store", err)
	}
	marked := slices.ContainsFunc(list, func(name string) bool { return strings.HasPrefix(name, "marker.manifest.") })
	if marked && hasStoreFiles(list) {
		return nil
	}
	return errCorrupt("open store", fmt.Errorf("files are missing: dir=%s", rowsDir))
}

// noteOpened notes in FORMAT that the store's files are there, and in an earlier version's database that
// this program may have written to it: from then on earlier programs refuse it.
func (e *Engine) noteOpened() error {
	if e.opts.InMemory || e.format.Filled && (e.format.Format == formatVersion || e.opts.NoMaintenance) {
		return nil
	}
	if e.format.Filled = true; !e.opts.NoMaintenance {
		e.format.Format = formatVersion
	}
	return writeFormat(e.fs, e.dirs.root, e.format)
}

// writeFormat replaces DIR/FORMAT atomically.
func writeFormat(fs vfs.FS, dir string, f formatInfo) error {
	b, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(fs, dir, formatFile, append(b, '\n'))
}

// replaceFile replaces a file of a directory atomically and makes it last.
func replaceFile(fs vfs.FS, dir, name string, content []byte) error {
	path := fs.PathJoin(dir, name)
	err := writeFileSynced(fs, path+".new", content)
	if err == nil {
		err = fs.Rename(path+".new", path)
	}
	if err != nil {
		return ioError("write "+name+" file", err)
	}
	return syncDir(fs, dir)
}

func readFile(fs vfs.FS, name string) ([]byte, error) {
	f, err := fs.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

func writeFileSynced(fs vfs.FS, name string, b []byte) error {
	f, err := fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	if _, err = f.Write(b); err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

func syncDir(fs vfs.FS, dir string) error {
	d, err := fs.OpenDir(dir)
	if err != nil {
		return ioError("sync directory", err)
	}
	err = d.Sync()
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	return ioError("sync directory", err)
}

// makeDirs makes a directory and those above it that are missing, and makes all of them last: a
// directory lasts once the one above it is synced. The one above dir is synced in any case, since a
// process that did not come to that may have made dir.
func makeDirs(fs vfs.FS, dir string) error {
	above := []string{fs.PathDir(dir)}
	for d := dir; ; d = fs.PathDir(d) {
		if _, err := fs.Stat(d); err == nil || d == fs.PathDir(d) {
			break // what cannot be looked at may be missing
		}
		if d != dir {
			above = append(above, fs.PathDir(d))
		}
	}
	if err := fs.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, d := range above {
		// A directory that may not be opened belongs to somebody else.
		if err := syncDir(fs, d); err != nil && !errors.Is(err, os.ErrPermission) {
			return err
		}
	}
	return nil
}
