package join

import (
	"sync"
	"sync/atomic"

	"github.com/weftdb/weft/vector"
)

// Key describes one key column. Values of kind Bytes are compared by their bytes: the caller
// normalises what compares otherwise. NullSafe: NULL equals NULL instead of matching nothing.
type Key struct {
	Kind     vector.Kind
	NullSafe bool
}

// Spec says what a table is built for.
type Spec struct {
	Keys []Key
	// Columns are the kinds of the columns that are kept besides the keys.
	Columns []vector.Kind
	// KeepNulls keeps rows that can match nothing, because a key is NULL: for joins that yield
	// build rows without a match.
	KeepNulls bool
	// Unique promises that no two rows have equal keys.
	Unique bool
	// SetOnly tells that only the presence of keys matters: matches name no rows.
	SetOnly bool
	// Payload promises that of the build rows a Joiner finds, Columns[0] only is read, and that through
	// Joiner.Stored; and that build rows without a match are not asked for.
	Payload bool
	// Memory is asked by all workers and parts.
	Memory Memory
	// Spill lets build rows go to disk; nil = they all stay in memory.
	Spill *Spill
}

// Table is a hash table over build rows. Its life has two phases with a barrier between them: each
// worker fills a Builder of its own, then Finish puts them together, once; from then on the table
// is immutable and any number of Probers may read it.
type Table struct {
	spec     Spec
	store    *Store // key columns, then Columns
	nullKeys atomic.Bool
	form     form
	pack     *packing // nil when the form goes by hash
	adjacent []uint32 // rows by key, for exact forms; nil when each key has one row
	entries  []uint64 // candidates by bucket, for other forms
	rows     int      // in memory
	bytes    atomic.Int64
	spill    *spill // nil = never

	mu       sync.Mutex // guards builders while workers open
	builders []*Builder
	marking
}

// form is one way of finding rows by key. Exact forms deliver rows whose keys are equal, others
// candidates whose keys must be compared.
type form interface {
	// find looks up the rows of p.in, whose codes are in p.codes, and fills p.rows, p.first and
	// p.count.
	find(p *Prober)
	// name is how EXPLAIN calls the form.
	name() string
	// keys visits all keys of a table with one of their rows, and how many they have, 0 = that is not known.
	keys(t *Table, visit func(row uint32, rows int64))
}

// NewTable returns an empty table.
func NewTable(spec Spec) *Table {
	t := &Table{spec: spec}
	if spec.Spill != nil {
		t.spill = &spill{Spill: *spec.Spill}
	}
	return t
}

// kinds returns the kinds of the stored columns.
func (t *Table) kinds() []vector.Kind {
	kinds := make([]vector.Kind, 0, len(t.spec.Keys)+len(t.spec.Columns))
	for _, k := range t.spec.Keys {
		kinds = append(kinds, k.Kind)
	}
	return append(kinds, t.spec.Columns...)
}

// Builder collects one worker's build rows.
type Builder struct {
	table   *Table
	store   *Store
	scatter spreader // once the table is spilled
	vecs    []*vector.Vector
	sel     vector.Sel
}

// NewBuilder adds a worker. It may be called concurrently; the Builder belongs to its caller.
// memory, where not nil, replaces Spec.Memory for the worker's rows.
func (t *Table) NewBuilder(memory Memory) *Builder {
	if memory == nil {
		memory = t.spec.Memory
	}
	b := &Builder{table: t, store: NewStore(t.kinds(), memory), sel: make(vector.Sel, BlockRows)}
	t.mu.Lock()
	t.builders = append(t.builders, b)
	t.mu.Unlock()
	return b
}

// Append adds the live rows of a batch: keys[i] is the i-th key's values and columns[i] those of
// Spec.Columns[i].
func (b *Builder) Append(keys, columns []*vector.Vector, n int, sel vector.Sel) error {
	for i, k := range keys {
		if k.Valid == nil || b.table.spec.Keys[i].NullSafe {
			continue
		}
		live, constant := sel, k.Form == vector.Const
		switch {
		case constant && k.IsNull(0):
			live = b.sel[:0]
		case !constant:
			live = vector.SelectValid(k.Valid, n, sel, b.sel)
		}
		if live == nil || len(live) == n || sel != nil && len(live) == len(sel) {
			continue
		}
		b.table.nullKeys.Store(true)
		if !b.table.spec.KeepNulls {
			sel = live
		}
	}
	b.vecs = append(append(b.vecs[:0], keys...), columns...)
	return b.add(n, sel)
}

// Bytes is the memory of the rows added so far, roughly.
func (b *Builder) Bytes() int64 { return b.store.need }

// Rows returns the number of build rows in memory, those that can match nothing included if they were
// kept.
func (t *Table) Rows() int { return t.rows }

// HasNullKey reports whether some build row had NULL in a key that is not null-safe.
func (t *Table) HasNullKey() bool { return t.nullKeys.Load() }

// Unique reports whether no two rows have equal keys: every probe row has one match at most.
func (t *Table) Unique() bool {
	return t.spec.Unique || t.pack != nil && t.adjacent == nil && !t.spec.SetOnly
}

// exactRows reports whether find delivers at most one row for each probe row, and the right one.
func (t *Table) exactRows() bool { return t.pack != nil && t.adjacent == nil }

// Form names the form that was chosen, for EXPLAIN.
func (t *Table) Form() string { return t.form.name() }

// Bytes is the memory the table takes, roughly.
func (t *Table) Bytes() int64 { return t.bytes.Load() + t.store.Bytes() }

// Key and Column return a stored key or column of all rows.
func (t *Table) Key(i int) *vector.Vector { return t.store.Column(i) }

// Column returns the stored values of Spec.Columns[i] for all rows.
func (t *Table) Column(i int) *vector.Vector { return t.store.Column(len(t.spec.Keys) + i) }
