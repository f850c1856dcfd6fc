package imcv

import (
	"cmp"
	"context"
	"errors"
	"slices"
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
	if m.currentOptions().Enabled {
		m.Counters.Damaged.Add(int64(m.files.find(m.engine.CommitNumber())))
		m.files.sweep(storeExists(m.engine.Catalog()))
	}
	m.Refresh()
	m.adoptFound(ctx, time.Now().Add(maxAdoptTime))
	go m.run(ctx)
}

// maxAdoptTime bounds how long opening a database waits for groups to be taken over from files. What is left is
// done in the background.
const maxAdoptTime = 200 * time.Millisecond

// adoptFound takes over the groups that an earlier run left files of, so that the first query finds them. What has
// changed since is not built from rows while the database opens.
func (m *Manager) adoptFound(ctx context.Context, until time.Time) {
	m.building.Lock()
	defer m.building.Unlock()
	o := m.currentOptions()
	if !o.Enabled || !m.files.found() {
		return
	}
	tasks, err := m.due(o, nil, false)
	for i := 0; i < len(tasks) && err == nil && time.Now().Before(until); i++ {
		t := tasks[i]
		if file := m.files.of(t.store, t.number); file != nil && m.fits(file, t.table) {
			_, err = m.buildOne(ctx, o, t)
		}
	}
	if err != nil {
		m.warn("take over column units", err)
	}
}

// storeExists tells whether a store belongs to a table with a column view.
func storeExists(c *catalog.Snapshot) func(catalog.StoreID) bool {
	stores := map[catalog.StoreID]bool{}
	for _, t := range c.Tables() {
		for _, s := range t.Stores {
			stores[s] = stores[s] || t.HasView
		}
	}
	return func(s catalog.StoreID) bool { return stores[s] }
}

// Stop ends background loading, writes what the next start can use, and lets all units go.
func (m *Manager) Stop() {
	m.stop()
	<-m.done
	m.save(time.Now().Add(maxSaveTime))
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keepFiles.Store(true)
	for id, v := range m.tables {
		v.drop()
		delete(m.tables, id)
	}
}

// maxSaveTime bounds how long closing a database writes units. Units are written then and not while the
// database works, because most groups of a busy table would have changed until it is closed; after a
// crash the rest is built from rows.
const maxSaveTime = 2 * time.Second

// save writes the files of unchanged groups, those that scans read most first, and removes files that
// changes have made useless.
func (m *Manager) save(until time.Time) {
	for _, g := range m.hottest(func(*group) bool { return true }) {
		file := g.file.Load()
		switch useful := g.journal.TouchedCount() == 0 && g.journal.VoidedAt() == 0 && g.whole(); {
		case file != nil && (!useful || len(file.units) < len(g.columns)):
			m.files.remove(file)
		case file == nil && useful && m.currentOptions().Enabled && time.Now().Before(until):
			m.spill(g)
		}
	}
}

// hottest lists the newest versions of groups that are wanted, those that scans read most first.
func (m *Manager) hottest(wanted func(*group) bool) []*group {
	var groups []*group
	m.mu.RLock()
	for _, v := range m.tables {
		for _, s := range v.stores {
			for _, sl := range s.all() {
				if g := sl.newest(); g != nil && wanted(g) {
					groups = append(groups, g)
				}
			}
		}
	}
	m.mu.RUnlock()
	slices.SortStableFunc(groups, func(a, b *group) int { return cmp.Compare(b.slot.heat.Load(), a.slot.heat.Load()) })
	return groups
}

// bringBack reads units back into memory that have a file, as long as there is room: those of an earlier run, and
// those that had to leave when there was less. A scan of units on disk would be planned as one that reads them each
// time, so that waiting for scans to bring them back could last for ever. It ends early when other work is due, and
// goes on after that.
func (m *Manager) bringBack(ctx context.Context) {
	if o := m.currentOptions(); !o.Enabled || !m.hasRoom(o, 0) {
		return
	}
	until, back := time.Now().Add(pollInterval), 0
	for _, g := range m.hottest(func(g *group) bool { return g.swapped() && g.journal.VoidedAt() == 0 }) {
		if !g.pin() {
			continue
		}
		giveWay(ctx)
		units, all := m.fetchAll(ctx, g)
		g.unpin()
		back += units
		if !all || len(m.wake) > 0 || time.Now().After(until) {
			break
		}
	}
	if back > 0 {
		m.version.Add(1)
	}
}

// fetchAll reads a pinned group's units that are in a file alone, and reports how many it has and whether there was
// room for all.
func (m *Manager) fetchAll(ctx context.Context, g *group) (units int, all bool) {
	for _, c := range g.columns {
		if !c.swapped() {
			continue
		}
		if o := m.currentOptions(); ctx.Err() != nil || !o.Enabled || !m.hasRoom(o, c.bytes) {
			return units, false
		}
		if m.fetch(c) != nil {
			units++
		}
	}
	return units, true
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
		if _, err := m.round(ctx, nil); err != nil && !errors.Is(err, context.Canceled) {
			m.warn("load column units", err)
		}
		m.bringBack(ctx)
	}
}

// task is a row group to build.
type task struct {
	table  *catalog.Table
	store  catalog.StoreID
	number int
	view   *storeView
	slot   *slot

	urgency float64
}

// Populate loads every row group of a table's view that has no units, and waits for it.
func (m *Manager) Populate(ctx context.Context, t *catalog.Table) error {
	_, err := m.round(ctx, t)
	return err
}

// round builds what is due by the options' limits: of all tables, or of one when only is set.
func (m *Manager) round(ctx context.Context, only *catalog.Table) (int, error) {
	m.building.Lock()
	defer m.building.Unlock()
	o := m.currentOptions()
	if !o.Enabled {
		return 0, nil
	}
	tasks, err := m.due(o, only, false)
	if err != nil || len(tasks) == 0 {
		return 0, err
	}
	return m.work(ctx, o, tasks, only == nil)
}

// due lists the groups to build, the most urgent first, and drops versions that no view needs any more.
func (m *Manager) due(o Options, only *catalog.Table, all bool) ([]task, error) {
	m.mu.RLock()
	var views []*tableView
	for id, v := range m.tables {
		if only == nil || only.ID == id {
			views = append(views, v)
		}
	}
	m.mu.RUnlock()
	live := m.engine.LiveViews()
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
				t := task{table: v.table, store: store, number: number, view: s, slot: s.slotAt(number)}
				if t.slot == nil {
					continue
				}
				t.slot.trim(live)
				if m.isDue(o, t, groups, only != nil, all) {
					t.urgency = urgency(t.slot)
					tasks = append(tasks, t)
				}
				if only == nil {
					t.slot.cool()
				}
			}
		}
	}
	slices.SortStableFunc(tasks, func(a, b task) int { return cmp.Compare(b.urgency, a.urgency) })
	return tasks, nil
}

// urgency is what building a group saves its readers: the share of its rows that they read by rows,
// times their number.
func urgency(s *slot) float64 {
	stale := 1.0
	if g := s.newest(); g != nil && g.whole() {
		stale = min(1, float64(g.journal.TouchedCount())/float64(max(g.rows, 1)))
	}
	return stale * float64(1+s.heat.Load())
}

// cool forgets a part of the scans that came by, so that lately read groups count more.
func (s *slot) cool() {
	if h := s.heat.Load(); h > 0 {
		s.heat.CompareAndSwap(h, h-(h+15)/16)
	}
}

// isDue decides on one group. A group that has never been loaded is, except the last one of a
// table that grows by small writes: it is left to rows until it fills or the interval has passed,
// so that trickling inserts do not make it be built over and over.
func (m *Manager) isDue(o Options, t task, groups int, now, all bool) bool {
	g := t.slot.newest()
	last := t.view.attempt(t.number)
	age := time.Now().Unix() - last.seconds
	if released := t.slot.released.Load(); released > 0 && !m.hasRoom(o, released) && (g == nil || !all) {
		return false
	}
	if g == nil || g.journal.VoidedAt() != 0 {
		if last.seconds != 0 && g == nil && t.slot.released.Load() == 0 {
			changed, err := m.engine.GroupLastChange(t.store, t.number)
			if err == nil && changed <= last.commit {
				return false // it held no rows, and still holds none
			}
		}
		return now || last.seconds == 0 || t.number < groups-1 || age >= int64(o.FlushSeconds)
	}
	if !g.whole() {
		return true
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

// work builds tasks with a number of workers and returns how many groups were published. In the background
// it gives way to statements.
func (m *Manager) work(ctx context.Context, o Options, tasks []task, background bool) (int, error) {
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
				if background {
					giveWay(ctx)
				}
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

const (
	maxLateness = 2 * time.Millisecond
	longestWait = 16 * time.Millisecond
)

// giveWay waits while the processors have more to do than they can: a goroutine whose timer rings is then
// late, as statements are that wait for a processor. After about 30 ms building goes on
// regardless, so that a busy database still gets its units.
func giveWay(ctx context.Context) {
	for wait := time.Millisecond; wait <= longestWait && ctx.Err() == nil; wait *= 2 {
		start := time.Now()
		time.Sleep(wait)
		if time.Since(start)-wait < maxLateness {
			return
		}
	}
}

// buildOne builds and publishes a group unless memory is short.
func (m *Manager) buildOne(ctx context.Context, o Options, t task) (bool, error) {
	old := t.slot.newest()
	if old == nil && o.Policy != PolicySwap && m.bytes.Load() >= o.BudgetBytes {
		t.slot.released.CompareAndSwap(0, 1) // how much it would take is not known
		return false, nil
	}
	g, commit, err := m.build(ctx, t)
	t.view.tried(t.number, commit)
	if err != nil || g == nil {
		return false, err
	}
	size := g.memoryBytes()
	m.bytes.Add(size)
	if old == nil && o.Policy != PolicySwap && m.bytes.Load() > o.BudgetBytes {
		// What is in memory is as good as what would come in its place.
		m.Counters.Escapes.Add(1)
		t.slot.released.Store(size)
		g.unpin()
		return false, nil
	}
	t.slot.released.Store(0)
	if !m.stillWanted(t) {
		g.unpin()
		return false, nil
	}
	t.slot.publish(g, m.engine.LiveViews(), func(v *group) { m.engine.UnregisterVersion(v.journal) })
	for _, c := range g.columns {
		if c.unit.Load() != nil {
			m.clock.add(c)
		}
	}
	m.shrink()
	if !m.stillWanted(t) { // redefined meanwhile: nobody will find the slot again to empty it
		t.slot.publish(nil, nil, nil)
		return false, nil
	}
	if old == nil {
		m.version.Add(1)
		m.Counters.Builds.Add(1)
	} else {
		m.Counters.Rebuilds.Add(1)
	}
	return true, nil
}

// stillWanted reports whether the view that a task was made for is still the table's.
func (m *Manager) stillWanted(t task) bool {
	v := m.view(t.table.ID)
	return v != nil && v.stores[t.store] == t.view && v.table.Epoch == t.table.Epoch
}
