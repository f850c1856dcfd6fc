package exec

import (
	"sync"
	"sync/atomic"

	"github.com/weftdb/weft/join"
)

// tempFiles makes the temporary files of a query and removes those that are left when it ends.
type tempFiles struct {
	files   join.Files
	created atomic.Int64

	mu   sync.Mutex // guards open
	open map[*tempFile]struct{}
}

// tempFile is a file of a query.
type tempFile struct {
	join.File
	owner *tempFiles
}

func newTempFiles(files join.Files) *tempFiles {
	if files == nil {
		return nil
	}
	return &tempFiles{files: files, open: map[*tempFile]struct{}{}}
}

// Create makes a file.
func (t *tempFiles) Create() (join.File, error) {
	file, err := t.files.Create()
	if err != nil {
		return nil, err
	}
	t.created.Add(1)
	f := &tempFile{file, t}
	t.mu.Lock()
	t.open[f] = struct{}{}
	t.mu.Unlock()
	return f, nil
}

// Close removes the file.
func (f *tempFile) Close() error {
	f.owner.mu.Lock()
	delete(f.owner.open, f)
	f.owner.mu.Unlock()
	return f.File.Close()
}

// left returns the number of files that are there.
func (t *tempFiles) left() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.open)
}

// close removes what a query that ended early has left.
func (t *tempFiles) close() (first error) {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for f := range t.open {
		if err := f.File.Close(); first == nil {
			first = err
		}
	}
	clear(t.open)
	return first
}
