package catalog

import (
	"slices"
	"sync"
)

// ReferenceAction is what becomes of the rows that reference a key which goes or changes.
type ReferenceAction uint8

// The actions. NoAction and Restrict refuse the change: NoAction unless the key exists again at the
// end of the statement.
const (
	NoAction ReferenceAction = iota
	Restrict
	Cascade
	SetNull
	SetDefault
)

// String returns the action as SQL writes it.
func (a ReferenceAction) String() string {
	return [...]string{"NO ACTION", "RESTRICT", "CASCADE", "SET NULL", "SET DEFAULT"}[a]
}

// ForeignKey is a constraint of the table that holds it: the values of Columns, unless one of them
// is NULL, are those of RefColumns in some row of RefTable, which has a unique index on exactly
// those columns.
type ForeignKey struct {
	Name       string
	Columns    []ColumnID
	RefTable   TableID
	RefColumns []ColumnID
	OnDelete   ReferenceAction `json:",omitempty"`
	OnUpdate   ReferenceAction `json:",omitempty"`
	SetColumns []ColumnID      `json:",omitempty"` // those that OnDelete sets; nil = all
	MatchFull  bool            `json:",omitempty"` // all columns are NULL or none
	Deferrable bool            `json:",omitempty"`
	Deferred   bool            `json:",omitempty"` // checked at commit unless the transaction says otherwise
	NotValid   bool            `json:",omitempty"` // rows older than the constraint have not been checked
	Inherited  bool            `json:",omitempty"` // it is the parent's, which carries changes of the referenced keys over
}

// Equal reports whether two descriptions say the same.
func (k *ForeignKey) Equal(o *ForeignKey) bool {
	return k.Name == o.Name && k.RefTable == o.RefTable && slices.Equal(k.Columns, o.Columns) && slices.Equal(k.RefColumns, o.RefColumns) &&
		k.OnDelete == o.OnDelete && k.OnUpdate == o.OnUpdate && slices.Equal(k.SetColumns, o.SetColumns) &&
		k.MatchFull == o.MatchFull && k.Deferrable == o.Deferrable && k.Deferred == o.Deferred && k.NotValid == o.NotValid && k.Inherited == o.Inherited
}

// SameForeignKeys reports whether two tables have the same foreign keys.
func SameForeignKeys(a, b *Table) bool {
	return slices.EqualFunc(a.ForeignKeys, b.ForeignKeys, func(x, y ForeignKey) bool { return x.Equal(&y) })
}

// ForeignKey returns the foreign key of that name, nil if there is none.
func (t *Table) ForeignKey(name string) *ForeignKey {
	for i := range t.ForeignKeys {
		if t.ForeignKeys[i].Name == name {
			return &t.ForeignKeys[i]
		}
	}
	return nil
}

// UniqueOn returns the unique index on exactly these columns, in any order, nil if there is none; of
// several the primary key or else the first.
func (t *Table) UniqueOn(columns []ColumnID) *Index {
	var found *Index
	for i := range t.Indexes {
		x := &t.Indexes[i]
		if !x.Enforced() || len(x.Columns) != len(columns) || found != nil && !x.Primary {
			continue
		}
		if !slices.ContainsFunc(x.Columns, func(id ColumnID) bool { return !slices.Contains(columns, id) }) {
			found = x
		}
	}
	return found
}

// Reference is a foreign key with the table that holds it.
type Reference struct {
	Child *Table
	Key   *ForeignKey
}

// referenceIndex lists the foreign keys of a snapshot by the table they reference. It is made when
// it is first asked for: most snapshots never are.
type referenceIndex struct {
	once    sync.Once
	byTable map[TableID][]Reference
}

// References lists the foreign keys that reference a table, by the ids of the tables that hold
// them; its own are among them, those that partitions have from their parent are not. The result must
// not be changed.
func (s *Snapshot) References(id TableID) []Reference {
	s.references.once.Do(func() {
		s.references.byTable = map[TableID][]Reference{}
		var holders []*Table
		for _, t := range s.tables {
			if len(t.ForeignKeys) > 0 {
				holders = append(holders, t)
			}
		}
		slices.SortFunc(holders, func(a, b *Table) int { return int(a.ID) - int(b.ID) })
		for _, t := range holders {
			for i := range t.ForeignKeys {
				if t.ForeignKeys[i].Inherited {
					continue // the table above holds it for all its partitions
				}
				to := t.ForeignKeys[i].RefTable
				s.references.byTable[to] = append(s.references.byTable[to], Reference{t, &t.ForeignKeys[i]})
			}
		}
	})
	return s.references.byTable[id]
}

// ReferencesTo lists the foreign keys that rows of a table are referenced by: those that reference the
// table, or one that it is a partition of.
func (s *Snapshot) ReferencesTo(t *Table) []Reference {
	list := s.References(t.ID)
	for _, above := range s.Ancestors(t) {
		list = append(list[:len(list):len(list)], s.References(above.ID)...)
	}
	return list
}

// SameReferences reports whether two lists of References hold the same foreign keys of the same
// tables.
func SameReferences(a, b []Reference) bool {
	return slices.EqualFunc(a, b, func(x, y Reference) bool { return x.Child.ID == y.Child.ID && x.Key.Equal(y.Key) })
}
