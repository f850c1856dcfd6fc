package imcv

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/storage"
)

// pollInterval is how often the background loader looks for work when nobody wakes it.
const pollInterval = 200 * time.Millisecond

// Start begins loading in the background.
func (m *Manager) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	m.stop, m.done = cancel, make(chan struct{})
	m.Refresh()
	go m.run(ctx)
}

// Stop ends background loading and lets all units go.
func (m *Manager) Stop() {
	m.stop()
	<-m.done
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, v := range m.tables {
		v.drop()
		delete(m.tables, id)
	}
}

func (m *Manager) nudge() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

func (m *Manager) run(ctx context.Context) {
	defer close(m.done)
	timer := time.NewTicker(pollInterval)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.wake:
		case <-timer.C:
		}
		if _, err := m.round(ctx, nil, false); err != nil && !errors.Is(err, context.Canceled) {
			if log := m.currentOptions().Logger; log != nil {
				log.Warn("load column units", "error", err)
			}
		}
	}
}

// task is a row group to build.
type task struct {
	table  *catalog.Table
	store  catalog.StoreID
	number int
	view   *storeView
	slot   *slot
}

// Populate loads every row group of a table's view that has no units, and waits for it.
func (m *Manager) Populate(ctx context.Context, t *catalog.Table) error {
	_, err := m.round(ctx, t, false)
	return err
}

// Flush loads or rebuilds every row group of a table's view that is not up to date, waits for it,
// and returns the number of groups built.
func (m *Manager) Flush(t *catalog.Table) (int, error) {
	return m.round(context.Background(), t, true)
}

// round builds what is due: of one table at once when only is set, else what the options' limits
// say.
func (m *Manager) round(ctx context.Context, only *catalog.Table, all bool) (int, error) {
	m.building.Lock()
	defer m.building.Unlock()
	o := m.currentOptions()
	if !o.Enabled {
		return 0, nil
	}
	tasks, err := m.due(o, only, all)
	if err != nil || len(tasks) == 0 {
		return 0, err
	}
	return m.work(ctx, o, tasks)
}

// due lists the groups to build.
func (m *Manager) due(o Options, only *catalog.Table, all bool) ([]task, error) {
	m.mu.RLock()
	var views []*tableView
	for id, v := range m.tables {
		if only == nil || only.ID == id {
			views = append(views, v)
		}
	}
	m.mu.RUnlock()
	current := m.engine.View()
	defer current.Release()
	var tasks []task
	for _, v := range views {
		for store, s := range v.stores {
			groups, err := current.Groups(store)
			if err != nil {
				return nil, err
			}
			s.grow(groups)
			for number := range groups {
				t := task{v.table, store, number, s, s.slotAt(number)}
				if t.slot != nil && m.isDue(o, t, groups, only != nil, all) {
					tasks = append(tasks, t)
				}
			}
		}
	}
	return tasks, nil
}

// isDue decides on one group. A group that has never been loaded is, except the last one of a
// table that grows by small writes: it is left to rows until it fills or the interval has passed,
// so that trickling inserts do not make it be built over and over.
func (m *Manager) isDue(o Options, t task, groups int, now, all bool) bool {
	g := t.slot.newest()
	last := t.view.attempt(t.number)
	age := time.Now().Unix() - last.seconds
	if g == nil || g.journal.VoidedAt() != 0 {
		if last.seconds != 0 && g == nil {
			changed, err := m.engine.GroupLastChange(t.store, t.number)
			if err == nil && changed <= last.commit {
				return false // it held no rows, and still holds none
			}
		}
		return now || last.seconds == 0 || t.number < groups-1 || age >= int64(o.FlushSeconds)
	}
	touched := g.journal.TouchedCount()
	if touched == 0 {
		return false
	}
	if all {
		return true
	}
	return touchedPages(g) >= o.FlushPages || age >= int64(o.FlushSeconds)
}

// touchedPages counts the pages of 64 row ids with a change.
func touchedPages(g *group) int {
	var touched storage.GroupBits
	g.journal.Touched(&touched)
	n := 0
	for _, w := range touched {
		if w != 0 {
			n++
		}
	}
	return n
}

// work builds tasks with a number of workers and returns how many groups were published.
func (m *Manager) work(ctx context.Context, o Options, tasks []task) (int, error) {
	queue := make(chan task)
	var wg sync.WaitGroup
	var mu sync.Mutex // guards published and failed
	published := 0
	var failed error
	for range min(max(o.Workers, 1), len(tasks)) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for t := range queue {
				done, err := m.buildOne(ctx, o, t)
				mu.Lock()
				if done {
					published++
				}
				if err != nil && failed == nil {
					failed = err
				}
				mu.Unlock()
			}
		}()
	}
	for _, t := range tasks {
		if ctx.Err() != nil {
			break
		}
		queue <- t
	}
	close(queue)
	wg.Wait()
	if failed == nil {
		failed = ctx.Err()
	}
	return published, failed
}

// buildOne builds and publishes a group unless memory is short.
func (m *Manager) buildOne(ctx context.Context, o Options, t task) (bool, error) {
	old := t.slot.newest()
	if m.bytes.Load() >= o.BudgetBytes && old == nil {
		return false, nil // over budget: the group is read by rows
	}
	g, commit, err := m.build(ctx, t.table, t.store, t.number)
	t.view.tried(t.number, commit)
	if err != nil || g == nil {
		return false, err
	}
	m.bytes.Add(g.bytes)
	if m.bytes.Load() > o.BudgetBytes && old == nil {
		g.unpin()
		return false, nil
	}
	if !m.stillWanted(t) {
		g.unpin()
		return false, nil
	}
	t.slot.publish(g)
	if !m.stillWanted(t) { // redefined meanwhile: nobody will find the slot again to empty it
		t.slot.publish(nil)
		return false, nil
	}
	if old == nil {
		m.version.Add(1)
	}
	return true, nil
}

// stillWanted reports whether the view that a task was made for is still the table's.
func (m *Manager) stillWanted(t task) bool {
	v := m.view(t.table.ID)
	return v != nil && v.stores[t.store] == t.view && v.table.Epoch == t.table.Epoch
}
