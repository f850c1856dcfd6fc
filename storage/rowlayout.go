package storage

import (
	"encoding/binary"
	"sort"
	"sync"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// A row on disk:
//
//	flags u8 | schema version u24 | null bitmap | fixed-width values | end offsets | bytes
//
// The stored columns are those the schema version knows, dropped ones included (they are NULL in
// rows written later), in column id order. So where a fixed-width value lies depends on the schema
// version alone, and the ends of the variable-length values follow at a known place.
const (
	rowHeader   = 4
	rowWide     = 0x01 // end offsets take four bytes instead of two
	rowFlagMask = rowWide
	maxVersion  = 1<<24 - 1
)

var errBadRow = sqlerr.New(sqlerr.DataCorrupted, "malformed row")

// layoutColumn is a stored column.
type layoutColumn struct {
	id    catalog.ColumnID
	kind  vector.Kind
	width int // 0 = variable length
	// offset is the value's place in the row for fixed-width columns, the number among the
	// variable-length columns for others.
	offset int
}

// rowLayout says where the columns of one schema version lie. It is immutable.
type rowLayout struct {
	version  uint32
	cols     []layoutColumn
	fixedEnd int // header, null bitmap and fixed-width values
	nVar     int
}

// newRowLayout lays out the columns that exist in rows of a schema version.
func newRowLayout(tbl *catalog.Table, version uint32) *rowLayout {
	l := &rowLayout{version: version}
	for _, set := range [][]catalog.Column{tbl.Columns, tbl.Dropped} {
		for i := range set {
			if c := &set[i]; c.AddedIn <= version {
				kind := c.Type.Kind()
				l.cols = append(l.cols, layoutColumn{id: c.ID, kind: kind, width: kind.Width()})
			}
		}
	}
	sort.Slice(l.cols, func(i, j int) bool { return l.cols[i].id < l.cols[j].id })
	l.fixedEnd = rowHeader + (len(l.cols)+7)/8
	for i := range l.cols {
		c := &l.cols[i]
		if c.width == 0 {
			c.offset = l.nVar
			l.nVar++
			continue
		}
		c.offset = l.fixedEnd
		l.fixedEnd += c.width
	}
	return l
}

// column returns the index of a stored column, −1 if rows of this version lack it.
func (l *rowLayout) column(id catalog.ColumnID) int {
	i := sort.Search(len(l.cols), func(i int) bool { return l.cols[i].id >= id })
	if i < len(l.cols) && l.cols[i].id == id {
		return i
	}
	return -1
}

func schemaVersionOf(row []byte) uint32 { return binary.LittleEndian.Uint32(row) >> 8 }

// check verifies that every offset of a row stays inside it, so that decoding needs no checks.
func (l *rowLayout) check(row []byte) error {
	if len(row) < l.fixedEnd || row[0]&^rowFlagMask != 0 {
		return errBadRow
	}
	rest := row[l.fixedEnd:]
	prev := uint32(0)
	if row[0]&rowWide == 0 {
		if len(rest) < 2*l.nVar {
			return errBadRow
		}
		for i := range l.nVar {
			end := uint32(binary.LittleEndian.Uint16(rest[2*i:]))
			if end < prev {
				return errBadRow
			}
			prev = end
		}
		rest = rest[2*l.nVar:]
	} else {
		if len(rest) < 4*l.nVar {
			return errBadRow
		}
		for i := range l.nVar {
			end := binary.LittleEndian.Uint32(rest[4*i:])
			if end < prev {
				return errBadRow
			}
			prev = end
		}
		rest = rest[4*l.nVar:]
	}
	if uint64(prev) != uint64(len(rest)) {
		return errBadRow
	}
	return nil
}

// tableLayout connects a table's columns with what is stored. It is immutable but for the layouts
// of older schema versions, which are made when such a row is met.
type tableLayout struct {
	tbl     *catalog.Table
	current *readLayout
	// missing[i] is the value of tbl.Columns[i], as a constant, in rows written before the column
	// existed.
	missing []*vector.Vector

	mu    sync.RWMutex
	older map[uint32]*readLayout // guarded by mu
}

// readLayout maps the columns of a table to those of rows of one schema version.
type readLayout struct {
	row *rowLayout
	at  []int // per table column: index in row.cols, −1 = rows of this version lack it
	// from is the inverse: per stored column the position in tbl.Columns, −1 = dropped.
	from []int
}

// newTableLayout compiles a table. parse reads the columns' Missing texts.
func newTableLayout(tbl *catalog.Table, parse func(catalog.Type, string) (vector.Datum, error)) (*tableLayout, error) {
	if tbl.SchemaVersion > maxVersion {
		return nil, sqlerr.New(sqlerr.ProgramLimitExceeded, "table %q was altered too often", tbl.Name)
	}
	l := &tableLayout{tbl: tbl, missing: make([]*vector.Vector, len(tbl.Columns)), older: map[uint32]*readLayout{}}
	for i := range tbl.Columns {
		c := &tbl.Columns[i]
		missing := vector.NullDatum(c.Type.Kind())
		if c.Missing != "" {
			d, err := parse(c.Type, c.Missing)
			if err != nil {
				return nil, err
			}
			missing = d
		}
		l.missing[i] = vector.ConstOf(missing)
	}
	l.current = newReadLayout(tbl, tbl.SchemaVersion)
	return l, nil
}

func newReadLayout(tbl *catalog.Table, version uint32) *readLayout {
	r := &readLayout{row: newRowLayout(tbl, version), at: make([]int, len(tbl.Columns))}
	r.from = make([]int, len(r.row.cols))
	for i := range r.from {
		r.from[i] = -1
	}
	for i := range tbl.Columns {
		r.at[i] = r.row.column(tbl.Columns[i].ID)
		if r.at[i] >= 0 {
			r.from[r.at[i]] = i
		}
	}
	return r
}

// ofVersion returns the layout of rows of a schema version.
func (l *tableLayout) ofVersion(version uint32) *readLayout {
	if version == l.current.row.version {
		return l.current
	}
	l.mu.RLock()
	r := l.older[version]
	l.mu.RUnlock()
	if r != nil {
		return r
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if r = l.older[version]; r == nil {
		r = newReadLayout(l.tbl, version)
		l.older[version] = r
	}
	return r
}

// ofRow checks a row and returns its layout.
func (l *tableLayout) ofRow(row []byte) (*readLayout, error) {
	if len(row) < rowHeader {
		return nil, errBadRow
	}
	version := schemaVersionOf(row)
	if version > l.current.row.version {
		return nil, errBadRow
	}
	r := l.ofVersion(version)
	return r, r.row.check(row)
}
