package imcv

import (
	"sync"
	"sync/atomic"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector"
)

// column is the place of one unit in a version of a row group. What decides whether a query needs the
// values stays in memory; the values themselves come and go.
type column struct {
	unitFacts
	group *group

	unit atomic.Pointer[unit] // nil = not in memory
	used atomic.Bool          // by a query since the clock's hand came by
	// place is where the group's file holds the unit, nil = nowhere.
	place atomic.Pointer[place]
	// reading makes those who need the unit from the file at the same time read it once.
	reading sync.Mutex
}

// unitFacts are what is known of a unit without its values.
type unitFacts struct {
	id       catalog.ColumnID
	kind     vector.Kind
	encoding Encoding
	zone     Zone
	bloom    bloom
	bytes    int64 // of the values in memory
	plain    int64 // what they would take without encoding
}

// newColumn takes a unit that has just been built.
func newColumn(g *group, id catalog.ColumnID, u *unit) *column {
	c := &column{group: g, unitFacts: unitFacts{id: id, kind: u.kind, encoding: u.values.encoding(), zone: u.zone, bloom: u.bloom, bytes: u.sizeBytes(), plain: u.plainBytes()}}
	c.unit.Store(u)
	return c
}

// available reports whether the unit can be read at all.
func (c *column) available() bool { return c.unit.Load() != nil || c.place.Load() != nil }

// swapped reports whether the unit is in a file alone.
func (c *column) swapped() bool { return c.unit.Load() == nil && c.place.Load() != nil }

// evict takes the unit out of memory and returns the bytes that gives back. Readers that use it keep it
// alive for as long as they do.
func (c *column) evict() int64 {
	if c.unit.Swap(nil) == nil {
		return 0
	}
	return c.bytes
}
