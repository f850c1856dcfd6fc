package weft

import (
	"github.com/weftdb/weft/join"
	"github.com/weftdb/weft/storage"
)

// tempFiles makes temporary files in the database's directory for queries that memory_limit leaves too
// little memory.
type tempFiles struct{ engine *storage.Engine }

// Create makes a file.
func (t tempFiles) Create() (join.File, error) {
	file, err := t.engine.NewTempFile()
	if err != nil {
		return nil, err
	}
	return file, nil
}
