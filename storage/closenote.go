package storage

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// closedFile is written when a database has been closed in order, and removed before it is opened. It
// describes the files of the store whose damage nobody else would notice: Pebble reads its logs and its
// manifest up to the first record that makes no sense, since after a crash that is where they end.
const closedFile = "CLOSED"

// closeNote is the content of DIR/CLOSED.
type closeNote struct {
	Files []closedStoreFile `json:"files"`
	// Sum is the checksum of the note without it. A damaged note says nothing about the store.
	Sum uint32 `json:"sum"`
}

type closedStoreFile struct {
	Name      string `json:"name"`
	SizeBytes int64  `json:"sizeBytes"`
	Sum       uint32 `json:"sum"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum computes the note's checksum.
func (n closeNote) sum() uint32 {
	n.Sum = 0
	return crc32.Checksum([]byte(fmt.Sprint(n)), castagnoli)
}

// writeCloseNote describes the files of a store that has been closed.
func writeCloseNote(fs vfs.FS, dir, rowsDir string) error {
	list, err := fs.List(rowsDir)
	if err != nil {
		return ioError("list store", err)
	}
	var note closeNote
	for _, name := range list {
		if !strings.HasPrefix(name, "MANIFEST-") && !strings.HasSuffix(name, ".log") {
			continue
		}
		file, err := sumFile(fs, rowsDir, name)
		if err != nil {
			return ioError("read "+name, err)
		}
		note.Files = append(note.Files, file)
	}
	note.Sum = note.sum()
	b, err := json.Marshal(note)
	if err != nil {
		return err
	}
	return replaceFile(fs, dir, closedFile, append(b, '\n'))
}

func sumFile(fs vfs.FS, dir, name string) (closedStoreFile, error) {
	file := closedStoreFile{Name: name}
	f, err := fs.Open(fs.PathJoin(dir, name))
	if err != nil {
		return file, err
	}
	defer f.Close()
	sum := crc32.New(castagnoli)
	file.SizeBytes, err = io.Copy(sum, f)
	file.Sum = sum.Sum32()
	return file, err
}

// takeCloseNote compares the store with what it was when it was closed, if it was, and removes the
// note: from now on it would not be true. It reports whether the store is as it was closed.
func takeCloseNote(fs vfs.FS, dir, rowsDir string) (closed bool, err error) {
	path := fs.PathJoin(dir, closedFile)
	b, err := readFile(fs, path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, ioError("read CLOSED file", err)
	}
	var note closeNote
	if json.Unmarshal(b, &note) == nil && note.Sum == note.sum() {
		closed = true
		for _, want := range note.Files {
			have, err := sumFile(fs, rowsDir, want.Name)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				return false, ioError("read "+want.Name, err)
			}
			if err != nil || have != want {
				return false, errCorrupt("open store", fmt.Errorf("%s is not what it was when the database was closed", want.Name)).
					WithDetail("File: %s, to be opened as it is once %s is removed: later changes may be missing then.",
						fs.PathJoin(rowsDir, want.Name), path)
			}
		}
	}
	if err := fs.Remove(path); err != nil {
		return false, ioError("remove CLOSED file", err)
	}
	return closed, syncDir(fs, dir)
}
