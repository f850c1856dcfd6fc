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
	name  string      // prefix of the files' paths
	spill *spillStore // the store the files are for; nil = the database's
	// overwrites says that the files go on top of what is stored. Without it deletions have no effect:
	// Pebble takes them for what the lowest level has no use for.
	overwrites bool
	w          *sstable.Writer
	paths      []string
	count      int   // keys in the open file
	bytes      int64 // of the closed files
}

// operation says in errors what is being done.
func (f *sstFiles) operation() string {
	if f.spill != nil {
		return "spill writes"
	}
	return "write sorted files"
}

func (f *sstFiles) fs() vfs.FS {
	if f.spill != nil {
		return f.spill.fs
	}
	return f.e.fs
}

// open opens the next file unless one is open.
func (f *sstFiles) open() error {
	if f.w != nil {
		return nil
	}
	path := fmt.Sprintf("%s-%d.sst", f.name, len(f.paths))
	file, err := f.fs().Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return ioError(f.operation(), err)
	}
	options := fileOptions(f.e.storeOpts)
	options.WritingToLowestLevel = !f.overwrites
	if f.spill != nil {
		options = f.spill.opts.MakeWriterOptions(0, pebbleVersion.MaxTableFormat())
		options.DisableValueBlocks = true // as in merging
	}
	f.paths = append(f.paths, path)
	f.w = sstable.NewWriter(objstorageprovider.NewFileWritable(file), options)
	f.count = 0
	return nil
}

func (f *sstFiles) set(key, value []byte) error {
	if err := f.open(); err != nil {
		return err
	}
	return f.written(f.w.Set(key, value))
}

// del writes that a key is deleted.
func (f *sstFiles) del(key []byte) error {
	if err := f.open(); err != nil {
		return err
	}
	return f.written(f.w.Delete(key))
}

// delRange writes that the keys low <= key < high of what was there before are deleted. Ranges ascend;
// keys within them may be written to the same file.
func (f *sstFiles) delRange(low, high []byte) error {
	if err := f.open(); err != nil {
		return err
	}
	return f.written(f.w.DeleteRange(low, high))
}

// written ends the file when it is large enough.
func (f *sstFiles) written(err error) error {
	if err != nil {
		return ioError(f.operation(), err)
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
	if info, infoErr := f.w.Metadata(); err == nil && infoErr == nil {
		f.bytes += int64(info.Size)
	}
	f.w = nil
	return ioError(f.operation(), err)
}

// remove deletes the files, as far as they exist.
func (f *sstFiles) remove() {
	_ = f.close()
	for _, p := range f.paths {
		_ = f.fs().Remove(p)
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
