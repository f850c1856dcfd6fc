package storage

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/cockroachdb/pebble/v2"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/decimal"
	"github.com/weftdb/weft/internal/utf8text"
	"github.com/weftdb/weft/vector"
)

// storeCheck checks the rows of one store. It reads keys and values by itself, so that a malformed
// one is a finding and not the end, and leaves decoding to a pageReader.
type storeCheck struct {
	*tableCheck
	node  uint32
	store catalog.StoreID
	rows  int64

	it      *pebble.Iterator
	ids     uint64       // row ids below may have been handed out
	numbers map[int]bool // groups that have the number of a last change
	reader  pageReader
	packed  []byte // copy of the packed page: the iterator's next step would invalidate it
	batch   vector.Batch
	sound   vector.Sel // rows of the batch of which keys can be made
	nodes   []uint32
	hashes  []uint32
}

func (s *storeCheck) run() (err error) {
	counters := s.counters[s.store]
	s.ids = counters.value[counterIDs]
	if s.numbers, err = s.groupNumbers(); err != nil {
		return err
	}
	cols := make([]int, len(s.tbl.Columns))
	for i := range cols {
		cols[i] = i
	}
	if err := s.reader.init(s.view, s.tbl, cols, PageRows, true); err != nil {
		return err
	}
	s.reader.store = s.store
	s.nodes, s.hashes = make([]uint32, PageRows), make([]uint32, PageRows)
	if err := s.groups(); err != nil {
		return err
	}
	if have := int64(counters.value[counterRows]); s.rows != have {
		s.at("", "%d rows are stored, the counter says %d", s.rows, have)
	}
	if have := s.inMemory[s.store]; s.rows != have {
		s.at("", "%d rows are stored, the open database counts %d", s.rows, have)
	}
	if counters.known[counterLast] || counters.known[counterCalled] {
		s.at("", "the store of a table has counters of a sequence")
	}
	return nil
}

// at reports something about a place in the store.
func (s *storeCheck) at(place, format string, args ...any) {
	if place != "" {
		place = " " + place
	}
	s.report("", fmt.Sprintf("store %d%s", s.store, place), format, args...)
}

// groupNumbers checks the numbers of the last changes of the store's groups.
func (s *storeCheck) groupNumbers() (map[int]bool, error) {
	numbers := map[int]bool{}
	low, high := storeBounds(kindGroup, uint32(s.store))
	commit := s.view.CommitNumber()
	err := s.scan(low, high, func(key, value []byte) {
		if len(key) != 8 || len(value) != 8 {
			s.at("", "malformed number of a group's last change: key=%x value=%x", key, value)
			return
		}
		group := int(key[5])<<16 | int(key[6])<<8 | int(key[7])
		number := binary.BigEndian.Uint64(value)
		place := fmt.Sprintf("group %d", group)
		numbers[group] = true
		if number == 0 || number > commit {
			s.at(place, "last change is by commit %d, the database is at commit %d", number, commit)
			return
		}
		if g := s.e.journal.find(groupID{s.store, group}); g != nil {
			if known := g.lastChange.Load(); known > s.e.journal.floor.Load() && known < number {
				s.at(place, "last change is by commit %d, the open database believes in commit %d", number, known)
			}
		}
	})
	return numbers, err
}

// groups checks the groups that there are.
func (s *storeCheck) groups() (err error) {
	low, high := storeBounds(kindRow, uint32(s.store))
	if s.it, err = s.view.snap.db.NewIter(&pebble.IterOptions{LowerBound: low, UpperBound: high}); err != nil {
		return ioError("check rows", err)
	}
	defer func() { _ = s.it.Close() }()
	group := 0
	for valid := s.it.First(); ; {
		if err := s.canceled(); err != nil {
			return err
		}
		if valid && len(s.it.Key()) < 8 {
			s.at("", "malformed row key %x", s.it.Key())
			valid = s.it.Next()
			continue
		}
		if valid {
			group = groupOfKey(s.it.Key())
			if !s.numbers[group] {
				s.at(fmt.Sprintf("group %d", group), "has rows, but no number of its last change")
			}
			s.group(group)
		}
		broken := s.it.Error()
		if broken == nil && !s.it.Valid() {
			return nil
		}
		if broken == nil {
			valid = true
			continue
		}
		s.at(fmt.Sprintf("group %d", group), "cannot be read: %v", oneLine{broken})
		s.unreadable[groupID{s.store, group}] = true
		// Behind the damage there may be more that is whole.
		if group++; uint64(group)<<16 >= s.ids {
			return nil
		}
		_ = s.it.Close()
		if s.it, err = s.view.snap.db.NewIter(&pebble.IterOptions{LowerBound: low, UpperBound: high}); err != nil {
			return ioError("check rows", err)
		}
		first, _ := appendGroupBounds(nil, nil, s.store, group)
		valid = s.it.SeekGE(first)
	}
}

func groupOfKey(key []byte) int { return int(key[5])<<16 | int(key[6])<<8 | int(key[7]) }

// group checks the pages of a group, on whose first key the iterator stands.
func (s *storeCheck) group(group int) {
	const none = ^uint64(0)
	page := none // the page being collected
	for ; s.it.Valid() && len(s.it.Key()) >= 8 && groupOfKey(s.it.Key()) == group; s.it.Next() {
		key := s.it.Key()
		if len(key) != rowKeyLen || key[8] > 3 || key[10] > pageSlot {
			s.at("", "malformed row key %x", key)
			continue
		}
		p, slot := splitRowKey(key)
		if p != page {
			if page != none {
				s.page()
			}
			page = p
			s.begin(p)
		}
		value, err := s.it.ValueAndErr()
		if err != nil {
			break
		}
		s.collect(slot, value)
	}
	if page != none {
		s.page()
	}
}

// begin starts collecting a page.
func (s *storeCheck) begin(page uint64) {
	r := &s.reader
	r.page, r.live, r.single, r.gone, r.copied = page, 0, 0, 0, r.copied[:0]
	r.packed.n, r.packed.present = 0, 0
}

// collect takes one entry of the page. A malformed one is reported and left out, with what it
// overrides.
func (s *storeCheck) collect(slot int, value []byte) {
	r := &s.reader
	if slot == pageSlot {
		s.packed = append(s.packed[:0], value...)
		if err := r.packed.parse(s.packed, s.codec.tableLayout); err != nil {
			r.packed.n, r.packed.present = 0, 0
			s.at(fmt.Sprintf("page %d", r.page), "malformed packed page of %d bytes", len(value))
		}
		return
	}
	bit := uint64(1) << slot
	if len(value) == 0 {
		r.gone |= bit
		return
	}
	start := len(r.copied)
	r.copied = append(r.copied, value...)
	row := r.copied[start:len(r.copied):len(r.copied)]
	if _, err := s.codec.ofRow(row); err != nil {
		r.gone |= bit
		what := "malformed row"
		if len(row) >= rowHeader && schemaVersionOf(row) > s.tbl.SchemaVersion {
			what = fmt.Sprintf("row has schema version %d, the table %d", schemaVersionOf(row), s.tbl.SchemaVersion)
		}
		s.at(fmt.Sprintf("row %d", r.page<<6|uint64(slot)), "%s: %d bytes", what, len(row))
		return
	}
	r.rows[slot] = row
	r.single |= bit
}

// page checks the rows of the collected page.
func (s *storeCheck) page() {
	r := &s.reader
	r.live = (r.packed.present | r.single) &^ r.gone
	if r.live == 0 {
		return
	}
	n := bits.OnesCount64(r.live)
	s.rows += int64(n)
	s.progress(int64(n))
	r.begin()
	if _, err := r.emit(0, PageRows); err != nil {
		s.at(fmt.Sprintf("page %d", r.page), "cannot be decoded: %v", oneLine{err})
		r.live = 0
		return
	}
	r.finish(&s.batch, n)
	s.codec.nodes.Place(s.nodes, s.hashes, s.batch.Vecs, n)
	refs := vector.Of[int64](s.batch.Vecs[len(s.tbl.Columns)])
	s.sound = s.sound[:0]
	for i := range n {
		row := RowRef(refs[i]).Row()
		place := func() string { return fmt.Sprintf("row %d", row) }
		if row >= s.ids {
			s.at(place(), "its id was never handed out: ids end at %d", s.ids)
		}
		if s.nodes[i] != s.node {
			s.at(place(), "belongs to data node %s", catalog.NodeName(int(s.nodes[i])))
		}
		if s.values(i, place) {
			s.sound = append(s.sound, uint16(i))
		}
	}
	if len(s.sound) == 0 {
		return
	}
	for _, p := range s.probes {
		p.page(&s.batch, s.sound, refs)
	}
}

// values checks the values of a row and reports whether keys can be made of them.
func (s *storeCheck) values(i int, place func() string) bool {
	for _, col := range s.codec.notNull {
		if s.batch.Vecs[col].IsNull(i) {
			s.at(place(), "NULL in column %s, which is NOT NULL", s.tbl.Columns[col].Name)
		}
	}
	good := true
	for col := range s.tbl.Columns {
		v, c := s.batch.Vecs[col], &s.tbl.Columns[col]
		if v.IsNull(i) || v.Kind != vector.Bytes && v.Kind != vector.Bool {
			continue
		}
		switch {
		case v.Kind == vector.Bool:
			good = vector.Of[uint8](v)[i] <= 1
		case c.Type.ID == catalog.Numeric:
			good = decimal.ValidBytes(v.BytesAt(i))
		case c.Type.IsString():
			good = utf8text.Invalid(v.BytesAt(i)) < 0
		}
		if !good {
			s.at(place(), "malformed value in column %s of type %s", c.Name, c.Type)
			return false
		}
	}
	return good
}
