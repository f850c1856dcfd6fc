package storage

import (
	"slices"
	"sync"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// maxLayouts bounds the layout cache; it is emptied when it is full. Databases have fewer tables
// in use, and an emptied cache fills again in microseconds.
const maxLayouts = 4096

// layoutCache holds the compiled form of tables. Descriptions are immutable, so their address is
// their identity.
type layoutCache struct {
	mu     sync.RWMutex
	tables map[*catalog.Table]*tableCodec // guarded by mu
}

// tableCodec is everything about a table that is worked out once: the layout of its rows and the
// codecs of its indexes.
type tableCodec struct {
	*tableLayout
	indexes []indexCodec // those of tbl.Indexes that are written
	nodes   catalog.Distribution
	notNull []int // positions of NOT NULL columns
	// keyCols are the positions of the columns that indexes are made of; inputAt[k] says where in it
	// the inputs of index k are.
	keyCols []int
	inputAt [][]int
}

// codec returns the compiled form of a table.
func (e *Engine) codec(tbl *catalog.Table) (*tableCodec, error) {
	c := &e.layouts
	c.mu.RLock()
	t := c.tables[tbl]
	c.mu.RUnlock()
	if t != nil {
		return t, nil
	}
	t, err := e.newTableCodec(tbl)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.tables) >= maxLayouts || c.tables == nil {
		c.tables = map[*catalog.Table]*tableCodec{}
	}
	if old := c.tables[tbl]; old != nil {
		return old, nil
	}
	c.tables[tbl] = t
	return t, nil
}

func (e *Engine) newTableCodec(tbl *catalog.Table) (*tableCodec, error) {
	layout, err := newTableLayout(tbl, e.ParseValue)
	if err != nil {
		return nil, err
	}
	t := &tableCodec{tableLayout: layout}
	for i := range tbl.Indexes {
		if !tbl.Indexes[i].Written() {
			continue
		}
		ix, err := e.newIndexCodec(tbl, &tbl.Indexes[i])
		if err != nil {
			return nil, err
		}
		t.indexes = append(t.indexes, ix)
	}
	t.findKeyColumns()
	if t.nodes, err = catalog.NewDistribution(tbl, len(tbl.Stores)); err != nil {
		return nil, err
	}
	for i := range tbl.Columns {
		if tbl.Columns[i].NotNull {
			t.notNull = append(t.notNull, i)
		}
	}
	return t, nil
}

// indexCodec returns the codec of one of the table's indexes.
func (t *tableCodec) indexCodec(index *catalog.Index) (*indexCodec, error) {
	for i := range t.indexes {
		if t.indexes[i].index.ID == index.ID {
			return &t.indexes[i], nil
		}
	}
	return nil, errNoIndex(t.tbl, index)
}

// checkBatch verifies that a batch has the table's columns.
func (t *tableCodec) checkBatch(b *vector.Batch) error {
	if len(b.Vecs) < len(t.tbl.Columns) {
		return sqlerr.New(sqlerr.InternalError, "batch has %d columns, table %s has %d", len(b.Vecs), t.tbl.Name, len(t.tbl.Columns))
	}
	for i := range t.tbl.Columns {
		if have, want := b.Vecs[i].Kind, t.tbl.Columns[i].Type.Kind(); have != want {
			return sqlerr.New(sqlerr.InternalError, "batch has kind %v for column %s of table %s, which is %v",
				have, t.tbl.Columns[i].Name, t.tbl.Name, want)
		}
	}
	return nil
}

func (t *tableCodec) findKeyColumns() {
	for k := range t.indexes {
		var places []int
		for _, col := range t.indexes[k].inputs {
			place := slices.Index(t.keyCols, col)
			if place < 0 {
				place = len(t.keyCols)
				t.keyCols = append(t.keyCols, col)
			}
			places = append(places, place)
		}
		t.inputAt = append(t.inputAt, places)
	}
}
