package catalog

import (
	"slices"
	"strconv"
	"strings"
	"sync"
)

// PartitionStrategy is how the rows of a partitioned table are divided.
type PartitionStrategy uint8

// The strategies.
const (
	PartitionByRange PartitionStrategy = iota
	PartitionByList
	PartitionByHash
)

// String returns the strategy as PARTITION BY writes it.
func (s PartitionStrategy) String() string { return [...]string{"RANGE", "LIST", "HASH"}[s] }

// Partitioning is what PARTITION BY says of a partitioned table.
type Partitioning struct {
	Strategy PartitionStrategy
	Keys     []PartitionKey
}

// PartitionKey is a column or an expression over the table's columns.
type PartitionKey struct {
	Column ColumnID `json:",omitempty"` // 0 = an expression
	Expr   string   `json:",omitempty"` // its text, in parentheses unless it is a function call
	Type   Type
}

// Definition prints what stands behind PARTITION BY; quote quotes a name where SQL needs it.
func (p *Partitioning) Definition(t *Table, quote func(string) string) string {
	parts := make([]string, len(p.Keys))
	for i, k := range p.Keys {
		parts[i] = k.Expr
		if k.Column != 0 {
			parts[i] = quote(t.Columns[t.ColumnByID(k.Column)].Name)
		}
	}
	return p.Strategy.String() + " (" + strings.Join(parts, ", ") + ")"
}

// PartitionBound says which rows of its parent a partition holds.
type PartitionBound struct {
	Default   bool         `json:",omitempty"` // those that no other partition holds
	In        []BoundValue `json:",omitempty"` // of a list
	From, To  []BoundValue `json:",omitempty"` // of a range: From is inside, To is not
	Modulus   int          `json:",omitempty"`
	Remainder int          `json:",omitempty"`
}

// BoundValue is a value in a bound. Text is its text form, in UTC, as the key's type prints it.
type BoundValue struct {
	Kind BoundKind `json:",omitempty"`
	Text string    `json:",omitempty"`
}

// BoundKind tells values from what stands in their place.
type BoundKind uint8

// The kinds. A NULL is in lists only, the others in ranges only.
const (
	BoundIsValue BoundKind = iota
	BoundIsNull
	BoundIsMin
	BoundIsMax
)

// Definition prints the bound as FOR VALUES does; print prints a value of a key.
func (b *PartitionBound) Definition(print func(key int, v BoundValue) string) string {
	list := func(values []BoundValue, key func(i int) int) string {
		parts := make([]string, len(values))
		for i, v := range values {
			switch v.Kind {
			case BoundIsNull:
				parts[i] = "NULL"
			case BoundIsMin:
				parts[i] = "MINVALUE"
			case BoundIsMax:
				parts[i] = "MAXVALUE"
			default:
				parts[i] = print(key(i), v)
			}
		}
		return "(" + strings.Join(parts, ", ") + ")"
	}
	at := func(i int) int { return i }
	switch {
	case b.Default:
		return "DEFAULT"
	case b.Modulus > 0:
		return "FOR VALUES WITH (modulus " + strconv.Itoa(b.Modulus) + ", remainder " + strconv.Itoa(b.Remainder) + ")"
	case b.In != nil:
		return "FOR VALUES IN " + list(b.In, func(int) int { return 0 })
	}
	return "FOR VALUES FROM " + list(b.From, at) + " TO " + list(b.To, at)
}

// IsTable reports whether the relation is a table, partitioned or not.
func (t *Table) IsTable() bool { return t.Kind == OrdinaryTable || t.Kind == PartitionedTable }

// IsPartition reports whether the table is a partition of another one.
func (t *Table) IsPartition() bool { return t.Parent != 0 }

// WithoutConstraints returns the table without indexes, checks and foreign keys.
func (t *Table) WithoutConstraints() *Table {
	c := *t
	c.Indexes, c.Checks, c.ForeignKeys = nil, nil, nil
	return &c
}

// IndexOf returns the index that is the part of a parent's index in this partition, nil if there is
// none.
func (t *Table) IndexOf(parent IndexID) *Index {
	for i := range t.Indexes {
		if t.Indexes[i].Parent == parent && parent != 0 {
			return &t.Indexes[i]
		}
	}
	return nil
}

// partitionIndex lists the partitions of a snapshot by their parent, and keeps what is derived from
// the snapshot. Both are made when they are first asked for.
type partitionIndex struct {
	once     sync.Once
	byParent map[TableID][]*Table
	derived  sync.Map
}

// Partitions lists the direct partitions of a table by their ids. The result must not be changed.
func (s *Snapshot) Partitions(parent TableID) []*Table {
	s.partitions.once.Do(func() {
		s.partitions.byParent = map[TableID][]*Table{}
		for _, t := range s.tables {
			if t.Parent != 0 {
				s.partitions.byParent[t.Parent] = append(s.partitions.byParent[t.Parent], t)
			}
		}
		for _, list := range s.partitions.byParent {
			slices.SortFunc(list, func(a, b *Table) int { return int(a.ID) - int(b.ID) })
		}
	})
	return s.partitions.byParent[parent]
}

// Descendants lists the partitions of a table and theirs, parents before their partitions.
func (s *Snapshot) Descendants(id TableID) []*Table {
	var all []*Table
	for _, p := range s.Partitions(id) {
		all = append(append(all, p), s.Descendants(p.ID)...)
	}
	return all
}

// Leaves lists the tables that hold the rows of a table: itself unless it is partitioned.
func (s *Snapshot) Leaves(t *Table) []*Table {
	if t.Kind != PartitionedTable {
		return []*Table{t}
	}
	return slices.DeleteFunc(s.Descendants(t.ID), func(p *Table) bool { return p.Kind == PartitionedTable })
}

// Ancestors lists the tables that a table is a partition of, the nearest first.
func (s *Snapshot) Ancestors(t *Table) []*Table {
	var all []*Table
	for t.Parent != 0 {
		parent := s.tables[t.Parent]
		if parent == nil {
			break
		}
		all = append(all, parent)
		t = parent
	}
	return all
}

// Derived returns what build makes of the snapshot for a key, making it once.
func (s *Snapshot) Derived(key any, build func() (any, error)) (any, error) {
	if v, ok := s.partitions.derived.Load(key); ok {
		return v, nil
	}
	v, err := build()
	if err != nil {
		return nil, err
	}
	v, _ = s.partitions.derived.LoadOrStore(key, v)
	return v, nil
}
