package storage

import (
	"encoding/binary"

	"github.com/weftdb/weft/catalog"
)

// The first byte of every key in the store underneath. docs/format.md has the layouts.
const (
	kindMeta    = 0x10 // named values of the database
	kindTable   = 0x20 // table u32: description
	kindStats   = 0x28 // table u32: statistics
	kindCounter = 0x30 // store u32, counter u8: numbers of a store
	kindGroup   = 0x38 // store u32, group u24: last change
	kindRow     = 0x40 // store u32, group u24, page u16, slot u8: rows and packed pages
	kindIndex   = 0x50 // index u32, key columns [, row reference u64]: index entries
	kindLoad    = 0x60 // load u64: stores and index key spaces of a running bulk load
)

// Counters of a store.
const (
	counterRows = 1 // live rows, as of the commit that wrote it
	counterIDs  = 2 // row ids below this one may have been handed out
	// Of a sequence: the last value that may have been handed out, and 1 if it was, 0 if it comes next.
	counterLast   = 3
	counterCalled = 4
)

// Names under kindMeta.
const (
	metaCommit  = "commit"  // number of the commit that wrote it: every commit does
	metaBatch   = "batch"   // number of the batch that wrote it: every batch does; see redoLog
	metaCatalog = "catalog" // version, schemas, next ids
)

// rowKeyLen is the fixed length of row keys.
const rowKeyLen = 1 + 4 + 3 + 2 + 1

// pageSlot is the slot of a packed page. It sorts behind the page's 64 row slots: a reader has seen
// every override when it reaches the page, and decodes the page straight from the store's memory,
// which the next step of the iterator would invalidate.
const pageSlot = PageRows

func metaKey(name string) []byte { return append([]byte{kindMeta}, name...) }

func tableKey(kind byte, id uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{kind}, id)
}

func counterKey(store catalog.StoreID, counter byte) []byte {
	return append(tableKey(kindCounter, uint32(store)), counter)
}

func groupKey(store catalog.StoreID, group int) []byte {
	return append(tableKey(kindGroup, uint32(store)), byte(group>>16), byte(group>>8), byte(group))
}

// appendPageKey appends the key of a packed page or, with another slot, of a row in it. page counts
// from the store's start: page>>10 is the group.
func appendPageKey(dst []byte, store catalog.StoreID, page uint64, slot int) []byte {
	group := page >> 10
	return append(dst, kindRow, byte(store>>24), byte(store>>16), byte(store>>8), byte(store),
		byte(group>>16), byte(group>>8), byte(group),
		byte(page>>8)&3, byte(page), byte(slot))
}

// appendRowKey appends the key of a row's override.
func appendRowKey(dst []byte, store catalog.StoreID, row uint64) []byte {
	return appendPageKey(dst, store, row>>6, int(row&63))
}

// splitRowKey reads the page and slot of a row key, whose store is known.
func splitRowKey(key []byte) (page uint64, slot int) {
	_ = key[rowKeyLen-1]
	group := uint64(key[5])<<16 | uint64(key[6])<<8 | uint64(key[7])
	return group<<10 | uint64(key[8])<<8 | uint64(key[9]), int(key[10])
}

// storeBounds returns the range of all keys of one kind that belong to a store, table or index.
func storeBounds(kind byte, id uint32) (low, high []byte) {
	low = tableKey(kind, id)
	if id == 1<<32-1 {
		return low, []byte{kind + 1}
	}
	return low, tableKey(kind, id+1)
}

// appendGroupBounds appends the bounds of a group's row keys.
func appendGroupBounds(low, high []byte, store catalog.StoreID, group int) (l, h []byte) {
	first := uint64(group) << 10
	return appendPageKey(low, store, first, 0), appendPageKey(high, store, first|1023, pageSlot+1)
}

// indexPrefixLen is the number of bytes in front of an index entry's columns.
const indexPrefixLen = 5

func appendIndexPrefix(dst []byte, index catalog.IndexID) []byte {
	return append(dst, kindIndex, byte(index>>24), byte(index>>16), byte(index>>8), byte(index))
}
