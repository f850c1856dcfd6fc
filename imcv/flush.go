package imcv

import (
	"context"

	"github.com/weftdb/weft/catalog"
)

// FlushOptions say what Flush does.
type FlushOptions struct {
	Workers     int  // 0 = htap_flush_workers
	MissingOnly bool // leave groups alone that have units, however old
}

// Flush loads the row groups of a table's view that have no units, those let go by Unload too, and
// rebuilds those that are not up to date. It returns the number of groups built.
func (m *Manager) Flush(ctx context.Context, t *catalog.Table, f FlushOptions) (int, error) {
	m.building.Lock()
	defer m.building.Unlock()
	o := m.currentOptions()
	if !o.Enabled {
		return 0, nil
	}
	if f.Workers > 0 {
		o.Workers = f.Workers
	}
	if v := m.view(t.ID); v != nil {
		for _, s := range v.stores {
			s.retry()
		}
	}
	tasks, err := m.due(o, t, !f.MissingOnly)
	if err != nil {
		return 0, err
	}
	if f.MissingOnly {
		var missing []task
		for _, t := range tasks {
			if t.slot.newest() == nil {
				missing = append(missing, t)
			}
		}
		tasks = missing
	}
	if len(tasks) == 0 {
		return 0, nil
	}
	return m.work(ctx, o, tasks, false)
}

// retry forgets when groups without units were last looked at.
func (s *storeView) retry() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.attempts {
		if s.slots[i].newest() == nil {
			s.attempts[i] = attempt{}
		}
	}
}

// Unload lets the units of a table's view go and returns how many row groups had some. They are read
// by rows until Flush, or until they change and the interval between rebuilds has passed.
func (m *Manager) Unload(t *catalog.Table) int {
	m.building.Lock()
	defer m.building.Unlock()
	v := m.view(t.ID)
	if v == nil {
		return 0
	}
	n := 0
	now := m.engine.CommitNumber()
	for _, s := range v.stores {
		for number, sl := range s.all() {
			g := sl.newest()
			if g == nil {
				continue
			}
			if file := g.file.Load(); file != nil {
				m.files.remove(file)
			}
			sl.publish(nil, nil, nil)
			s.tried(number, now)
			n++
		}
	}
	m.version.Add(1)
	return n
}
