package storage

import (
	"sync"

	"github.com/weftdb/weft/internal/sqlerr"
)

// maxMoves is how many rows that moved to another store are remembered.
const maxMoves = 1 << 16

// moveTable remembers the rows that commits moved to another store under a new reference. Whoever
// waited for the old one finds it deleted and must not take the row for gone.
type moveTable struct {
	mu    sync.Mutex
	refs  map[RowRef]uint64 // commit that moved the row
	order []RowRef          // oldest first
	// forgotten is the newest commit of which some move is not remembered any more.
	forgotten uint64
}

func (m *moveTable) add(refs []RowRef, commit uint64) {
	if len(refs) == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refs == nil {
		m.refs = map[RowRef]uint64{}
	}
	for _, ref := range refs {
		m.refs[ref] = commit
		m.order = append(m.order, ref)
	}
	if over := len(m.order) - maxMoves; over > 0 {
		for _, ref := range m.order[:over] {
			m.forgotten = max(m.forgotten, m.refs[ref])
			delete(m.refs, ref)
		}
		m.order = append([]RowRef(nil), m.order[over:]...)
	}
}

// moved reports whether a deleted row, last changed by a commit, may have been moved.
func (m *moveTable) moved(ref RowRef, changed uint64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.refs[ref]
	return ok || changed <= m.forgotten
}

var errMoved = sqlerr.New(sqlerr.SerializationFailure, "tuple to be locked was already moved to another partition due to concurrent update")
