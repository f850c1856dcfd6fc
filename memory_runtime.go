package weft

import (
	"math"
	"runtime/debug"
	"sync"
)

// runtimeLimit is the Go runtime's memory limit as open databases want it.
var runtimeLimit struct {
	sync.Mutex
	wanted map[*database]int64
	before int64 // the limit without them
}

// limitRuntime makes the Go runtime's memory limit a tenth more than a database's: with it the
// collector holds on to less garbage the nearer the limit is. Of several databases the largest limit
// counts. A limit that was there before and is lower stays.
func limitRuntime(d *database, limitBytes int64) {
	l := &runtimeLimit
	l.Lock()
	defer l.Unlock()
	if len(l.wanted) == 0 {
		l.wanted, l.before = map[*database]int64{}, debug.SetMemoryLimit(-1)
	}
	l.wanted[d] = limitBytes + limitBytes/10
	setRuntimeLimit()
}

// releaseRuntime ends a database's say in the limit.
func releaseRuntime(d *database) {
	l := &runtimeLimit
	l.Lock()
	defer l.Unlock()
	if _, ok := l.wanted[d]; ok {
		delete(l.wanted, d)
		setRuntimeLimit()
	}
}

// setRuntimeLimit sets what is wanted. The mutex is held.
func setRuntimeLimit() {
	l := &runtimeLimit
	limit := int64(0)
	for _, w := range l.wanted {
		limit = max(limit, w)
	}
	if len(l.wanted) == 0 {
		limit = math.MaxInt64
	}
	debug.SetMemoryLimit(min(limit, l.before))
}
