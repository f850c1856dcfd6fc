package storage

import (
	"encoding/binary"

	"github.com/weftdb/weft/vector"
)

// payloadCodec encodes the included columns of an index, which entries carry in their value: a bitmap
// of the NULLs, then the other columns' values, of fixed width or behind their length. Unlike keys,
// values come back as they were. It is disk format.
type payloadCodec struct {
	kinds []vector.Kind
}

func (c *payloadCodec) nullBytes() int { return (len(c.kinds) + 7) / 8 }

// append appends the payload of row i of vecs, one vector of any form per column.
func (c *payloadCodec) append(dst []byte, vecs []*vector.Vector, i int) []byte {
	start := len(dst)
	for range c.nullBytes() {
		dst = append(dst, 0)
	}
	for n, v := range vecs {
		if v.IsNull(i) {
			dst[start+n/8] |= 1 << (n % 8)
			continue
		}
		row := i
		switch v.Form {
		case vector.Const:
			row = 0
		case vector.Dict:
			v, row = v.Dict, int(v.Codes()[i])
		}
		switch v.Kind.Width() {
		case 1:
			dst = append(dst, vector.Of[uint8](v)[row])
		case 2:
			dst = binary.LittleEndian.AppendUint16(dst, vector.Of[uint16](v)[row])
		case 4:
			dst = binary.LittleEndian.AppendUint32(dst, vector.Of[uint32](v)[row])
		case 8:
			dst = binary.LittleEndian.AppendUint64(dst, vector.Of[uint64](v)[row])
		case 16:
			x := vector.Of[vector.Int128](v)[row]
			dst = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(dst, x.Lo), uint64(x.Hi))
		default:
			b := v.BytesAt(row)
			dst = append(binary.AppendUvarint(dst, uint64(len(b))), b...)
		}
	}
	return dst
}

// decode appends a payload's values to the vectors of the columns that are wanted; others are nil.
func (c *payloadCodec) decode(payload []byte, dst []*vector.Vector) error {
	if len(payload) < c.nullBytes() {
		return errBadKey
	}
	nulls, b := payload[:c.nullBytes()], payload[c.nullBytes():]
	for n, kind := range c.kinds {
		if nulls[n/8]>>(n%8)&1 != 0 {
			if dst[n] != nil {
				appendNull(dst[n])
			}
			continue
		}
		size, width := kind.Width(), kind.Width()
		if width == 0 {
			length, used := binary.Uvarint(b)
			if used <= 0 || length > uint64(len(b)-used) {
				return errBadKey
			}
			size, b = int(length), b[used:]
		}
		if size > len(b) {
			return errBadKey
		}
		if dst[n] != nil {
			appendStored(dst[n], width, b[:size])
		}
		b = b[size:]
	}
	if len(b) > 0 {
		return errBadKey
	}
	return nil
}

// appendNull appends a NULL to a vector of at most a batch.
func appendNull(v *vector.Vector) {
	row := v.Len
	appendStored(v, v.Kind.Width(), make([]byte, v.Kind.Width()))
	v.SetNull(row, vector.BatchCap)
}

// appendStored appends a value of a width, 0 = variable, to a vector.
func appendStored(v *vector.Vector, width int, b []byte) {
	switch width {
	case 1:
		vector.Append(v, b[0])
	case 2:
		vector.Append(v, binary.LittleEndian.Uint16(b))
	case 4:
		vector.Append(v, binary.LittleEndian.Uint32(b))
	case 8:
		vector.Append(v, binary.LittleEndian.Uint64(b))
	case 16:
		vector.Append(v, vector.Int128{Lo: binary.LittleEndian.Uint64(b), Hi: int64(binary.LittleEndian.Uint64(b[8:]))})
	default:
		v.AppendBytes(b)
	}
}

// The value of an index entry. Without included columns it is the row's reference, or nothing where
// the key ends with that. With them a byte says which of the two, and the payload comes last.
const (
	refInKey   = 0
	refInValue = 1
)

// appendEntryValue appends the value of an entry.
func appendEntryValue(dst []byte, suffixed bool, ref RowRef, payload []byte) []byte {
	if payload != nil {
		tag := byte(refInValue)
		if suffixed {
			tag = refInKey
		}
		dst = append(dst, tag)
	}
	if !suffixed {
		dst = appendRef(dst, ref)
	}
	return append(dst, payload...)
}

// splitEntry reads the reference and the payload of an entry.
func (ix *indexCodec) splitEntry(key, value []byte) (ref RowRef, payload []byte, err error) {
	inKey := len(value) == 0
	if len(ix.includeAt) > 0 {
		if len(value) == 0 || value[0] > refInValue {
			return 0, nil, errBadKey
		}
		inKey, value = value[0] == refInKey, value[1:]
	}
	if inKey {
		if len(key) <= indexPrefixLen+8 {
			return 0, nil, errBadKey
		}
		return readRef(key[len(key)-8:]), value, nil
	}
	if len(value) < 8 || len(ix.includeAt) == 0 && len(value) > 8 {
		return 0, nil, errBadKey
	}
	return readRef(value), value[8:], nil
}

// uniqueRef reads the reference out of the value of an entry whose key has none.
func uniqueRef(value []byte) (RowRef, bool) {
	if len(value) == 8 {
		return readRef(value), true
	}
	if len(value) > 9 && value[0] == refInValue {
		return readRef(value[1:]), true
	}
	return 0, false
}
