package weft

import (
	"strings"
	"sync"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/exec"
	"github.com/weftdb/weft/planner"
)

// planCache keeps the plans of recent statements of the whole database.
type planCache struct {
	mu    sync.Mutex // guards plans
	plans map[planKey]*cachedPlan
}

// planKey is what a plan depends on besides the database's contents.
type planKey struct {
	text     string
	settings string // that shape plans
	types    string // of the parameters, where they are declared
	temp     string // schema of the session's temporary relations, if it has any
	catalog  uint64 // version
	views    uint64 // version
}

// cachedPlan is a plan with what runs it again without building operators.
type cachedPlan struct {
	*planner.Plan
	columns []Column // of the result
	direct  bool
	pool    sync.Pool // of *exec.Direct, if direct
}

// planCacheSize bounds the cache: it is emptied when full, which costs a replanning of what is in
// use and needs no bookkeeping per execution.
const planCacheSize = 1024

func newCachedPlan(p *planner.Plan) *cachedPlan {
	return &cachedPlan{Plan: p, columns: resultColumns(p)}
}

func newPlanCache() *planCache { return &planCache{plans: map[planKey]*cachedPlan{}} }

func (c *planCache) get(key planKey) *cachedPlan {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.plans[key]
}

func (c *planCache) put(key planKey, p *cachedPlan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.plans) >= planCacheSize {
		clear(c.plans)
	}
	c.plans[key] = p
}

// planningSettings are the settings that shape plans.
var planningSettings = []string{setSearchPath, setRouterMode, setImcvScan, setHybridScan, setHashJoin, setMergeJoin, setSeqScan, setIndexScan, setIndexOnlyScan, setBitmapScan, setNestedLoop, setPartitionPruning, setPartitionwiseJoin, setPartitionwiseGroup, setDisabledRules, setEnableHTAP, setTimeZone}

// plan returns the plan of the statement and tells the client what planning noticed.
func (r *running) plan(c *catalog.Snapshot) (*cachedPlan, error) {
	p, err := r.cachedPlan(c)
	if err == nil {
		r.s.notices(p.Notices)
	}
	return p, err
}

// cachedPlan returns a plan, made anew or before. Only statements with parameters come from the
// cache: they are the ones that are prepared to be run again, and constants let a plan be better
// than general.
func (r *running) cachedPlan(c *catalog.Snapshot) (*cachedPlan, error) {
	s := r.s
	cached := strings.IndexByte(r.text, '$') >= 0 && c == s.db.engine.Catalog()
	key := planKey{text: r.text, catalog: c.Version, views: s.db.views.Version()}
	if cached {
		key.settings = s.derived().planning
		if s.temp.used {
			key.temp = s.temp.schema
		}
		for _, t := range r.types {
			key.types += t.String() + "\x00"
		}
		if s.lastPlan != nil && s.lastKey == key { // a statement run in a loop
			return s.lastPlan, nil
		}
		if p := s.db.plans.get(key); p != nil {
			s.lastKey, s.lastPlan = key, p
			return p, nil
		}
	}
	in := s.input(c)
	in.ParamTypes = r.types
	built, err := planner.Build(r.stmt, in)
	if err != nil {
		return nil, err
	}
	p := newCachedPlan(built)
	if cached {
		p.direct = exec.IsDirect(built)
		s.db.plans.put(key, p)
	}
	return p, nil
}
