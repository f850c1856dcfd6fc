package storage

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// sstFileBytes is the size at which a bulk load begins a new file. Smaller files make the store
// track more of them, larger ones make each later compaction of a part dearer.
const sstFileBytes = 32 << 20

// sstFiles writes ascending keys into files for Pebble to ingest. It belongs to one goroutine at a
// time.
type sstFiles struct {
	e     *Engine
	name  string // prefix of the files' paths
	w     *sstable.Writer
	paths []string
	count int // keys in the open file
}

func (f *sstFiles) set(key, value []byte) error {
	if f.w == nil {
		path := fmt.Sprintf("%s-%d.sst", f.name, len(f.paths))
		file, err := f.e.fs.Create(path, vfs.WriteCategoryUnspecified)
		if err != nil {
			return ioError("write bulk load", err)
		}
		f.paths = append(f.paths, path)
		f.w = sstable.NewWriter(objstorageprovider.NewFileWritable(file), fileOptions(f.e.storeOpts))
		f.count = 0
	}
	if err := f.w.Set(key, value); err != nil {
		return ioError("write bulk load", err)
	}
	// Asking for the size costs more than counting.
	if f.count++; f.count&255 == 0 && f.w.Raw().EstimatedSize() >= sstFileBytes {
		return f.close()
	}
	return nil
}

// close ends the open file; the next key begins another.
func (f *sstFiles) close() error {
	if f.w == nil {
		return nil
	}
	err := f.w.Close()
	f.w = nil
	return ioError("write bulk load", err)
}

// remove deletes the files, as far as they exist.
func (f *sstFiles) remove() {
	_ = f.close()
	for _, p := range f.paths {
		_ = f.e.fs.Remove(p)
	}
	f.paths = nil
}

// iterator reads the files written so far, which must be closed, in key order.
func (f *sstFiles) iterator() (*pebble.Iterator, error) {
	files := make([]sstable.ReadableFile, len(f.paths))
	for i, p := range f.paths {
		file, err := f.e.fs.Open(p)
		if err != nil {
			return nil, ioError("read bulk load", err)
		}
		files[i] = file
	}
	it, err := pebble.NewExternalIter(f.e.storeOpts, &pebble.IterOptions{}, [][]sstable.ReadableFile{files})
	return it, ioError("read bulk load", err)
}

// fileOptions are those of files in the lowest level, where a bulk load's files belong.
func fileOptions(o *pebble.Options) sstable.WriterOptions {
	const lowestLevel = 6
	return o.MakeWriterOptions(lowestLevel, pebbleVersion.MaxTableFormat())
}
