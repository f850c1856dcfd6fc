package catalog

import (
	"fmt"
	"iter"
	"slices"
	"sort"
	"sync"
)

// DefaultSchema is where unqualified tables live.
const DefaultSchema = "public"

// Snapshot is one immutable version of the whole catalog. A statement pins one; changes make the
// next.
type Snapshot struct {
	Version uint64
	Nodes   int // data nodes, fixed when the database is created

	NextTable TableID
	NextStore StoreID
	NextIndex IndexID

	tables  map[TableID]*Table
	byName  map[tableName]TableID
	schemas map[string]bool

	references *referenceIndex
	partitions *partitionIndex
	owners     *ownerIndex
}

// ownerIndex finds the tables of stores. It is made when it is first asked for.
type ownerIndex struct {
	once    sync.Once
	byStore map[StoreID]*Table
}

type tableName struct{ schema, name string }

// NewSnapshot returns an empty catalog for a database of the given number of data nodes.
func NewSnapshot(nodes int) *Snapshot {
	return &Snapshot{Version: 1, Nodes: nodes, NextTable: 1, NextStore: 1, NextIndex: 1,
		tables: map[TableID]*Table{}, byName: map[tableName]TableID{},
		schemas: map[string]bool{DefaultSchema: true}, references: &referenceIndex{}, partitions: &partitionIndex{}, owners: &ownerIndex{}}
}

// NodeName returns the name of data node i, counted from 0: dn_6001_6002, dn_6003_6004, ….
func NodeName(i int) string { return fmt.Sprintf("dn_%d_%d", 6001+2*i, 6002+2*i) }

// Table returns the table of that id, nil if there is none.
func (s *Snapshot) Table(id TableID) *Table { return s.tables[id] }

// Owner returns the relation that a store is of, nil if there is none.
func (s *Snapshot) Owner(store StoreID) *Table {
	s.owners.once.Do(func() {
		s.owners.byStore = map[StoreID]*Table{}
		for _, t := range s.tables {
			for _, id := range t.Stores {
				s.owners.byStore[id] = t
			}
		}
	})
	return s.owners.byStore[store]
}

// Lookup returns the named relation, nil if there is none.
func (s *Snapshot) Lookup(schema, name string) *Table {
	id, ok := s.byName[tableName{schema, name}]
	if !ok {
		return nil
	}
	return s.tables[id]
}

// HasSchema reports whether the schema exists.
func (s *Snapshot) HasSchema(name string) bool { return s.schemas[name] }

// TableDefinitions returns all tables, also partitioned ones, ordered by schema and name.
func (s *Snapshot) TableDefinitions() []*Table {
	return slices.DeleteFunc(s.Relations(), func(t *Table) bool { return !t.IsTable() })
}

// TablesIn goes through the tables of a schema, also partitioned ones, in no order.
func (s *Snapshot) TablesIn(schema string) iter.Seq[*Table] {
	return func(yield func(*Table) bool) {
		for _, t := range s.tables {
			if t.Schema == schema && t.IsTable() && !yield(t) {
				return
			}
		}
	}
}

// Tables returns all tables that hold rows, ordered by schema and name.
func (s *Snapshot) Tables() []*Table {
	return slices.DeleteFunc(s.Relations(), func(t *Table) bool { return t.Kind != OrdinaryTable })
}

// Relations returns all relations ordered by schema and name.
func (s *Snapshot) Relations() []*Table {
	all := make([]*Table, 0, len(s.tables))
	for _, t := range s.tables {
		all = append(all, t)
	}
	sort.Slice(all, func(i, j int) bool {
		if all[i].Schema != all[j].Schema {
			return all[i].Schema < all[j].Schema
		}
		return all[i].Name < all[j].Name
	})
	return all
}

// next returns a copy of s under the following version, with its own maps.
func (s *Snapshot) next() *Snapshot {
	n := *s
	n.Version++
	n.references, n.partitions, n.owners = &referenceIndex{}, &partitionIndex{}, &ownerIndex{}
	n.tables = make(map[TableID]*Table, len(s.tables)+1)
	for k, v := range s.tables {
		n.tables[k] = v
	}
	n.byName = make(map[tableName]TableID, len(s.byName)+1)
	for k, v := range s.byName {
		n.byName[k] = v
	}
	n.schemas = make(map[string]bool, len(s.schemas))
	for k, v := range s.schemas {
		n.schemas[k] = v
	}
	return &n
}

// WithTable returns the next version, in which t replaces the table of its id or is added.
func (s *Snapshot) WithTable(t *Table) *Snapshot {
	n := s.next()
	if old := n.tables[t.ID]; old != nil {
		delete(n.byName, tableName{old.Schema, old.Name})
	}
	n.tables[t.ID] = t
	n.byName[tableName{t.Schema, t.Name}] = t.ID
	n.NextTable = max(n.NextTable, t.ID+1)
	for _, store := range t.Stores {
		n.NextStore = max(n.NextStore, store+1)
	}
	for i := range t.Indexes {
		n.NextIndex = max(n.NextIndex, t.Indexes[i].ID+1)
	}
	return n
}

// WithoutTable returns the next version, without the table.
func (s *Snapshot) WithoutTable(id TableID) *Snapshot {
	n := s.next()
	if old := n.tables[id]; old != nil {
		delete(n.byName, tableName{old.Schema, old.Name})
		delete(n.tables, id)
	}
	return n
}

// WithSchema returns the next version, in which the schema exists or does not.
func (s *Snapshot) WithSchema(name string, exists bool) *Snapshot {
	n := s.next()
	if exists {
		n.schemas[name] = true
	} else {
		delete(n.schemas, name)
	}
	return n
}
