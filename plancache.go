package weft

import (
	"fmt"
	"strings"
	"sync"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/planner"
)

// planCache keeps the plans of recent statements of the whole database. A plan is found again under
// the same text, planning settings and catalog version.
type planCache struct {
	mu    sync.Mutex // guards plans
	plans map[string]*planner.Plan
}

// planCacheSize bounds the cache: it is emptied when full, which costs a replanning of what is in
// use and needs no bookkeeping per execution.
const planCacheSize = 1024

func newPlanCache() *planCache { return &planCache{plans: map[string]*planner.Plan{}} }

func (c *planCache) get(key string) *planner.Plan {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.plans[key]
}

func (c *planCache) put(key string, p *planner.Plan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.plans) >= planCacheSize {
		clear(c.plans)
	}
	c.plans[key] = p
}

// planningSettings are the settings that shape plans.
var planningSettings = []string{setSearchPath, setRouterMode, setImcvScan, setHybridScan, setHashJoin, setSeqScan, setIndexScan, setIndexOnlyScan, setBitmapScan, setNestedLoop, setDisabledRules, setEnableHTAP, setTimeZone}

// plan returns the plan of the statement and tells the client what planning noticed.
func (r *running) plan(c *catalog.Snapshot) (*planner.Plan, error) {
	p, err := r.cachedPlan(c)
	if err == nil {
		r.s.notices(p.Notices)
	}
	return p, err
}

// cachedPlan returns a plan, made anew or before. Only statements with parameters come from the
// cache: they are the ones that are prepared to be run again, and constants let a plan be better
// than general.
func (r *running) cachedPlan(c *catalog.Snapshot) (*planner.Plan, error) {
	s := r.s
	in := s.input(c)
	in.ParamTypes = r.types
	if !strings.Contains(r.text, "$") || c != s.db.engine.Catalog() {
		return planner.Build(r.stmt, in)
	}
	var key strings.Builder
	fmt.Fprintf(&key, "%d/%d\x00", in.Catalog.Version, s.db.views.Version())
	for _, name := range planningSettings {
		key.WriteString(s.setting(name))
		key.WriteByte(0)
	}
	for _, t := range r.types {
		key.WriteString(t.String())
		key.WriteByte(0)
	}
	key.WriteString(r.text)
	if p := s.db.plans.get(key.String()); p != nil {
		return p, nil
	}
	p, err := planner.Build(r.stmt, in)
	if err == nil {
		s.db.plans.put(key.String(), p)
	}
	return p, err
}
