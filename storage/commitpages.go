package storage

import (
	"encoding/binary"
	"math/bits"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
)

// packedRows is from how many rows on a commit looks for pages that are all its own: less need not have one.
const packedRows = 2*PageRows - 1

// pagePacker writes the rows of a commit of many. Pages whose rows the transaction has all inserted are written
// packed: nobody else has rows in them, so there is nothing to override, and folding has nothing left to do.
// Rows come in the order of their keys.
type pagePacker struct {
	p *pendingCommit

	store    catalog.StoreID
	codec    *tableCodec // of the store's table; nil = not known
	page     uint64
	inserted uint64 // slots that the transaction has inserted
	written  uint64 // slots to write
	rows     [PageRows][]byte
	copied   []byte // rows of callers who use their memory again
	packed   int    // rows written in packed pages
	key      []byte // scratch
	data     []byte // scratch
}

// begin starts the rows of a store.
func (k *pagePacker) begin(store catalog.StoreID) (err error) {
	if k.inserted|k.written != 0 {
		return sqlerr.New(sqlerr.InternalError, "rows of one store are left when another begins: store=%d", k.store)
	}
	k.store, k.page, k.codec = store, 0, nil
	if tbl := k.p.t.Catalog().Owner(store); tbl != nil {
		k.codec, err = k.p.t.e.codec(tbl)
	}
	return err
}

// add takes the newest version of a row: nil if it is deleted, inserted if the transaction has inserted it.
// The row's memory is kept until the next page.
func (k *pagePacker) add(page uint64, slot int, row []byte, inserted bool) error {
	if err := k.enter(page); err != nil {
		return err
	}
	bit := uint64(1) << slot
	if inserted {
		k.inserted |= bit
		if row == nil {
			return nil // came and went
		}
	}
	k.written |= bit
	k.rows[slot] = row
	return nil
}

// addCopy is add for a row whose memory is the caller's again afterwards.
func (k *pagePacker) addCopy(page uint64, slot int, row []byte, inserted bool) error {
	if err := k.enter(page); err != nil {
		return err
	}
	if row != nil {
		start := len(k.copied)
		k.copied = append(k.copied, row...)
		row = k.copied[start:len(k.copied):len(k.copied)]
	}
	return k.add(page, slot, row, inserted)
}

// enter begins a page, unless it is the one that is there.
func (k *pagePacker) enter(page uint64) error {
	if page == k.page {
		return nil
	}
	err := k.flush()
	k.page = page
	return err
}

// flush writes the rows of the page; after the last one of a group it is the caller's to call.
func (k *pagePacker) flush() error {
	if k.inserted == allSlots && k.written != 0 && k.codec != nil && k.pack() {
		k.key = appendPageKey(k.key[:0], k.store, k.page, pageSlot)
		if err := k.p.set(k.key, k.data); err != nil {
			return err
		}
		k.packed += bits.OnesCount64(k.written)
		k.written = 0
	}
	for ; k.written != 0; k.written &= k.written - 1 {
		slot := bits.TrailingZeros64(k.written)
		k.key = appendPageKey(k.key[:0], k.store, k.page, slot)
		if err := k.p.set(k.key, k.rows[slot]); err != nil {
			return err
		}
	}
	k.inserted, k.copied = 0, k.copied[:0]
	return nil
}

// pack makes data the packed page of the rows, unless they are of several schema versions or too large.
func (k *pagePacker) pack() bool {
	var rows [PageRows][]byte
	n, size := 0, 0
	for left := k.written; left != 0; left &= left - 1 {
		rows[n] = k.rows[bits.TrailingZeros64(left)]
		if len(rows[n]) < rowHeader || schemaVersionOf(rows[n]) != schemaVersionOf(rows[0]) {
			return false
		}
		size += len(rows[n])
		n++
	}
	lay, err := k.codec.ofRow(rows[0])
	if err != nil {
		return false // reading the row will tell
	}
	if size-n*(lay.row.fixedEnd+4*lay.row.nVar) > maxPageBytes {
		return false
	}
	var ok bool
	k.data, ok = appendPageOfRows(k.data[:0], lay.row, rows[:n], k.written)
	return ok
}

// appendPageOfRows is appendPage for rows in single form, which are all of the layout's version.
func appendPageOfRows(dst []byte, lay *rowLayout, rows [][]byte, present uint64) ([]byte, bool) {
	return appendPageAreas(dst, lay, len(rows), present, func(dst []byte, c int) (_ []byte, nulls uint64) {
		for i, row := range rows {
			nulls |= uint64(row[rowHeader+c>>3]>>(c&7)&1) << i
		}
		if nulls != 0 {
			dst = binary.LittleEndian.AppendUint64(dst, nulls)
		}
		return appendRowsArea(dst, lay, c, rows, nulls), nulls
	})
}

// appendRowsArea is appendArea for rows in single form.
func appendRowsArea(dst []byte, lay *rowLayout, col int, rows [][]byte, nulls uint64) []byte {
	offset, width := lay.cols[col].offset, lay.cols[col].width
	if width > 0 {
		at := len(dst)
		for _, row := range rows {
			dst = append(dst, row[offset:offset+width]...)
		}
		for ; nulls != 0; nulls &= nulls - 1 {
			i := at + bits.TrailingZeros64(nulls)*width
			clear(dst[i : i+width])
		}
		return dst
	}
	at := len(dst)
	dst = append(dst, make([]byte, 2*len(rows))...)
	begin := len(dst)
	for i, row := range rows {
		if nulls>>i&1 == 0 {
			dst = append(dst, lay.bytesOf(row, offset)...)
		}
		binary.LittleEndian.PutUint16(dst[at+2*i:], uint16(len(dst)-begin))
	}
	return dst
}
