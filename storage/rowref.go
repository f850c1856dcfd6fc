package storage

import "github.com/weftdb/weft/catalog"

// The arithmetic of row ids. Groups are what column units, scans and the journal align to; pages
// are the unit in which cold rows are stored.
const (
	GroupRows  = 1 << 16               // row ids a group
	PageRows   = 64                    // row ids a page
	GroupPages = GroupRows / PageRows  // pages a group
	MaxRow     = 1<<rowRefRowBits - 1  // largest row id of a store
	MaxStore   = 1<<rowRefStoreBit - 1 // largest store id

	rowRefRowBits  = 40
	rowRefStoreBit = 24
)

// RowRef names a row for ever: 24 bits store id, 40 bits row id. It is never used for another row.
// An update keeps a row's reference unless it moves the row to another store.
type RowRef uint64

// MakeRowRef composes a reference.
func MakeRowRef(store catalog.StoreID, row uint64) RowRef {
	return RowRef(uint64(store)<<rowRefRowBits | row)
}

// Store returns the store the row lives in.
func (r RowRef) Store() catalog.StoreID { return catalog.StoreID(r >> rowRefRowBits) }

// Row returns the row's id in its store.
func (r RowRef) Row() uint64 { return uint64(r) & MaxRow }

// Group returns the number of the group the row belongs to.
func (r RowRef) Group() int { return int(r.Row() >> 16) }

// GroupBits is a bit per row of a group: bit i of word w speaks of row id group·65,536 + 64w + i.
type GroupBits [GroupPages]uint64

// Get reports the bit of an in-group position.
func (g *GroupBits) Get(pos int) bool { return g[pos>>6]>>(uint(pos)&63)&1 != 0 }

// Set sets the bit of an in-group position.
func (g *GroupBits) Set(pos int) { g[pos>>6] |= 1 << (uint(pos) & 63) }
