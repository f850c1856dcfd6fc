package storage

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
)

// Finding is one thing that is wrong in a database.
type Finding struct {
	Table string // schema and name; "" = no relation's
	Index string // "" = not about an index
	Place string // where in it: a store with a row, page or group, a key, a column; "" = all of it
	What  string
}

// String puts a finding into one line.
func (f Finding) String() string {
	where := "database"
	if f.Table != "" {
		where = f.Table
	}
	if f.Index != "" {
		where += ", index " + f.Index
	}
	if f.Place != "" {
		where += ", " + f.Place
	}
	return where + ": " + f.What
}

// CheckOptions say whom a check tells. Both functions are called by the goroutine that checks.
type CheckOptions struct {
	Report   func(Finding)           // nil = findings are only counted
	Progress func(done, total int64) // rows and index entries looked at; nil = nobody watches
}

// CheckSummary says what a check looked at.
type CheckSummary struct {
	Tables, Indexes, Sequences int
	Rows, Entries              int64
	Findings                   int64 // all of them, also those beyond what was reported
}

// maxTableFindings is how many findings of one table are reported: more tell nothing new, and a lost
// index has one for each row.
const maxTableFindings = 100

// Check verifies the latest committed state: the catalog, every row, every index entry, the numbers
// kept of stores, groups and sequences, and that there is nothing else. What is wrong goes to
// o.Report; the error says only that the check could not go on. Memory is bounded, whatever the size
// of the database, and others may read and write meanwhile.
func (e *Engine) Check(ctx context.Context, o CheckOptions) (CheckSummary, error) {
	c := &check{e: e, ctx: ctx, o: o, inMemory: map[catalog.StoreID]int64{}}
	// The counts are those of the view only while no commit goes between.
	e.commitMu.Lock()
	c.view = e.View()
	for _, s := range e.stores.all() {
		c.inMemory[s.id] = s.rows.Load()
	}
	e.commitMu.Unlock()
	defer c.view.Release()
	err := c.run()
	return c.summary, err
}

// check is one run of Check.
type check struct {
	e    *Engine
	ctx  context.Context
	o    CheckOptions
	view *View
	// inMemory are the row counts that planning and commits go by.
	inMemory map[catalog.StoreID]int64
	counters map[catalog.StoreID]storeCounters
	summary  CheckSummary
	done     int64
	total    int64
	reported map[string]int // findings by table
}

// storeCounters are the stored numbers of a store.
type storeCounters struct {
	value [counterCalled + 1]uint64
	known [counterCalled + 1]bool
}

func (c *check) run() error {
	c.reported = map[string]int{}
	if err := c.readCounters(); err != nil {
		return err
	}
	if err := c.checkCatalog(); err != nil {
		return err
	}
	relations := c.view.Catalog().Relations()
	for _, r := range relations {
		for _, s := range r.Stores {
			c.total += max(c.inMemory[s], 0) * int64(1+len(r.Indexes))
		}
	}
	for _, r := range relations {
		if err := c.relation(r); err != nil {
			return err
		}
	}
	if err := c.checkSpaces(); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(c.reported)) {
		if n := c.reported[name]; n > maxTableFindings && c.o.Report != nil {
			c.o.Report(Finding{Table: name, What: fmt.Sprintf("%d more findings", n-maxTableFindings)})
		}
	}
	c.progress(0)
	return nil
}

func (c *check) relation(r *catalog.Table) error {
	if r.Kind == catalog.SequenceRelation {
		c.summary.Sequences++
		c.checkSequence(r)
		return nil
	}
	c.summary.Tables++
	if r.Kind == catalog.PartitionedTable {
		return nil // its rows and index entries are its partitions'
	}
	c.summary.Indexes += len(r.Indexes)
	codec, err := c.e.codec(r)
	if err != nil { // it says which column or index is wrong
		c.report(Finding{Table: relationName(r), What: err.Error()})
		return nil
	}
	t := &tableCheck{check: c, tbl: r, name: relationName(r), codec: codec, unreadable: map[groupID]bool{}}
	return t.run()
}

func relationName(r *catalog.Table) string { return r.Schema + "." + r.Name }

func (c *check) report(f Finding) {
	c.summary.Findings++
	c.reported[f.Table]++
	if c.o.Report != nil && c.reported[f.Table] <= maxTableFindings {
		c.o.Report(f)
	}
}

// progress counts n rows or entries and tells so now and then.
func (c *check) progress(n int64) {
	const every = 4096 // seldom enough to cost nothing, often enough to look alive
	before := c.done
	c.done += n
	if c.o.Progress != nil && (n == 0 || before/every != c.done/every) {
		c.o.Progress(min(c.done, c.total), c.total)
	}
}

func (c *check) canceled() error {
	if c.ctx.Err() == nil {
		return nil
	}
	return sqlerr.New(sqlerr.QueryCanceled, "canceling check: %w", context.Cause(c.ctx))
}

// scan calls fn for the keys in a range. What cannot be read is a finding.
func (c *check) scan(low, high []byte, fn func(key, value []byte)) error {
	it, err := c.view.snap.db.NewIter(&pebble.IterOptions{LowerBound: low, UpperBound: high})
	if err != nil {
		return ioError("check", err)
	}
	for it.First(); it.Valid(); it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			break // the iterator has it too
		}
		fn(it.Key(), value)
	}
	if err := errors.Join(it.Error(), it.Close()); err != nil {
		c.report(Finding{What: fmt.Sprintf("keys from %x on cannot be read: %v", low, oneLine{err})})
	}
	return nil
}

// tableCheck checks one table.
type tableCheck struct {
	*check
	tbl    *catalog.Table
	name   string
	codec  *tableCodec
	rows   int64
	probes []*entryProbe // as codec.indexes
	// unreadable are the groups of which something could not be read from disk.
	unreadable map[groupID]bool
}

func (c *tableCheck) report(index, place, format string, args ...any) {
	c.check.report(Finding{Table: c.name, Index: index, Place: place, What: fmt.Sprintf(format, args...)})
}

func (c *tableCheck) run() error {
	for k := range c.codec.indexes {
		if c.codec.indexes[k].index.State != catalog.IndexReady {
			continue // it has what entries it has, and nobody reads them
		}
		p, err := newEntryProbe(c, &c.codec.indexes[k])
		if err != nil {
			return err
		}
		defer p.close()
		c.probes = append(c.probes, p)
	}
	for node, store := range c.tbl.Stores {
		s := &storeCheck{tableCheck: c, node: uint32(node), store: store}
		if err := s.run(); err != nil {
			return err
		}
		c.rows += s.rows
	}
	c.summary.Rows += c.rows
	for _, p := range c.probes {
		if err := p.entries(); err != nil {
			return err
		}
	}
	return nil
}
