package exec

import (
	"sync"

	"github.com/weftdb/weft/join"
	"github.com/weftdb/weft/planner"
)

// tempFiles makes the temporary files of a query and removes those that are left when it ends.
type tempFiles struct {
	files join.Files

	mu   sync.Mutex // guards open
	open map[*tempFile]struct{}
}

// nodeFiles makes files for a node of the plan.
type nodeFiles struct {
	*tempFiles
	stats *nodeStats
}

// tempFile is a file of a query.
type tempFile struct {
	join.File
	owner *tempFiles
	stats *nodeStats
}

func newTempFiles(files join.Files) *tempFiles {
	if files == nil {
		return nil
	}
	return &tempFiles{files: files, open: map[*tempFile]struct{}{}}
}

// of makes files for a node. Without files there is nothing that makes any.
func (t *tempFiles) of(stats *nodeStats) join.Files { return nodeFiles{t, stats} }

// Create makes a file.
func (t nodeFiles) Create() (join.File, error) {
	file, err := t.files.Create()
	if err != nil {
		return nil, err
	}
	f := &tempFile{file, t.tempFiles, t.stats}
	t.mu.Lock()
	t.open[f] = struct{}{}
	t.mu.Unlock()
	tallied(t.stats, factFiles, func(all *filesTally) { all.created++ })
	return f, nil
}

// Close removes the file.
func (f *tempFile) Close() error {
	f.owner.mu.Lock()
	delete(f.owner.open, f)
	f.owner.mu.Unlock()
	return f.remove()
}

func (f *tempFile) remove() error {
	err := f.File.Close()
	if err == nil {
		tallied(f.stats, factFiles, func(all *filesTally) { all.removed++ })
	}
	return err
}

// close removes what a query that ended early has left.
func (t *tempFiles) close() (first error) {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for f := range t.open {
		if err := f.remove(); first == nil {
			first = err
		}
	}
	clear(t.open)
	return first
}

// filesTally is how many temporary files a node has made and removed, in all executions together.
type filesTally struct{ created, removed int64 }

func (t *filesTally) facts(key string, _ int64) []planner.Fact {
	return oneFact(key, planner.Parts{{Name: "created", Value: t.created, Text: "%s created"}, {Name: "left", Value: t.created - t.removed, Text: ", %s left"}})
}
