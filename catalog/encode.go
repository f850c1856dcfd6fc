package catalog

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"sort"

	"github.com/weftdb/weft/internal/sqlerr"
)

// EncodeTable returns a table's stored form: JSON, so that a damaged database can be read by eye
// and an older reader skips fields that it does not know.
func EncodeTable(t *Table) ([]byte, error) {
	b, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("encode table: %w: table=%s", err, t.Name)
	}
	return b, nil
}

// DecodeTable reads EncodeTable's form.
func DecodeTable(b []byte) (*Table, error) {
	t := &Table{}
	if err := json.Unmarshal(b, t); err != nil {
		return nil, sqlerr.New(sqlerr.DataCorrupted, "malformed table description: %w", err)
	}
	return t, nil
}

// snapshotState is what a snapshot holds besides tables.
type snapshotState struct {
	Version   uint64
	Nodes     int
	NextTable TableID
	NextStore StoreID
	NextIndex IndexID
	Schemas   []string
}

// EncodeState returns the stored form of everything in s but its tables.
func (s *Snapshot) EncodeState() ([]byte, error) {
	state := snapshotState{Version: s.Version, Nodes: s.Nodes,
		NextTable: s.NextTable, NextStore: s.NextStore, NextIndex: s.NextIndex}
	for name := range s.schemas {
		state.Schemas = append(state.Schemas, name)
	}
	sort.Strings(state.Schemas)
	return json.Marshal(state)
}

// DecodeSnapshot puts a snapshot together from EncodeState's form and its tables.
func DecodeSnapshot(b []byte, tables []*Table) (*Snapshot, error) {
	var state snapshotState
	if err := json.Unmarshal(b, &state); err != nil {
		return nil, sqlerr.New(sqlerr.DataCorrupted, "malformed catalog: %w", err)
	}
	s := NewSnapshot(state.Nodes)
	s.Version, s.NextTable, s.NextStore, s.NextIndex = state.Version, state.NextTable, state.NextStore, state.NextIndex
	s.schemas = map[string]bool{}
	for _, name := range state.Schemas {
		s.schemas[name] = true
	}
	for _, t := range tables {
		s.tables[t.ID] = t
		s.byName[tableName{t.Schema, t.Name}] = t.ID
	}
	return s, nil
}

// Change is the difference of one table between two snapshots: Old nil = created, New nil =
// dropped.
type Change struct {
	Old, New *Table
}

// Diff lists the tables that differ between two snapshots, by id. Descriptions are immutable, so
// tables differ when their pointers do.
func Diff(base, next *Snapshot) []Change {
	if base == next {
		return nil
	}
	var changes []Change
	for id, old := range base.tables {
		if t := next.tables[id]; t != old {
			changes = append(changes, Change{old, t})
		}
	}
	for id, t := range next.tables {
		if base.tables[id] == nil {
			changes = append(changes, Change{nil, t})
		}
	}
	sort.Slice(changes, func(i, j int) bool { return changes[i].id() < changes[j].id() })
	return changes
}

func (c Change) id() TableID {
	if c.New != nil {
		return c.New.ID
	}
	return c.Old.ID
}

// Merge applies what changed from base to next to latest, which other transactions may have moved
// on. A table that both changed gives 40001, a name that both took 42P07.
func Merge(latest, base, next *Snapshot) (*Snapshot, error) {
	changes := Diff(base, next)
	merged := latest.next()
	for _, c := range changes {
		if id := c.id(); latest.tables[id] != base.tables[id] {
			return nil, sqlerr.New(sqlerr.SerializationFailure,
				"could not serialize access due to concurrent change of a table's definition")
		}
		if c.Old != nil {
			delete(merged.tables, c.Old.ID)
			delete(merged.byName, tableName{c.Old.Schema, c.Old.Name})
		}
	}
	for name, exists := range next.schemas {
		if exists && !base.schemas[name] {
			merged.schemas[name] = true
		}
	}
	for name := range base.schemas {
		if !next.schemas[name] {
			delete(merged.schemas, name)
		}
	}
	for _, c := range changes {
		t := c.New
		if t == nil {
			continue
		}
		key := tableName{t.Schema, t.Name}
		if _, taken := merged.byName[key]; taken {
			return nil, sqlerr.New(sqlerr.DuplicateTable, "relation %q already exists", t.Name).WithTable(t.Name)
		}
		if !merged.schemas[t.Schema] && !t.Temp {
			return nil, sqlerr.New(sqlerr.InvalidSchemaName, "schema %q does not exist", t.Schema)
		}
		merged.tables[t.ID] = t
		merged.byName[key] = t.ID
	}
	merged.NextTable = max(merged.NextTable, next.NextTable)
	merged.NextStore = max(merged.NextStore, next.NextStore)
	merged.NextIndex = max(merged.NextIndex, next.NextIndex)
	return merged, nil
}

// EncodeStats returns the stored form of statistics: gob, which keeps NaNs and bytes that are no
// text, as samples may hold.
func EncodeStats(s *Stats) ([]byte, error) {
	var buf bytes.Buffer
	if err := gob.NewEncoder(&buf).Encode(s); err != nil {
		return nil, fmt.Errorf("encode statistics: %w", err)
	}
	return buf.Bytes(), nil
}

// DecodeStats reads EncodeStats' form.
func DecodeStats(b []byte) (*Stats, error) {
	s := &Stats{}
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(s); err != nil {
		return nil, sqlerr.New(sqlerr.DataCorrupted, "malformed statistics: %w", err)
	}
	return s, nil
}
