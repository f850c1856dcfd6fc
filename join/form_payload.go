package join

import "github.com/weftdb/weft/vector"

// payloadTable is an inline table of unique keys that holds, instead of their rows, the only column that
// is read of them: one cache miss finds both. What it finds has no row numbers; build rows are named by
// the positions of the probe rows that found them, and Prober.payload has their values there.
type payloadTable struct {
	inlineTable
	none uint64 // the key of empty slots: no build row has it
}

func (f *payloadTable) name() string { return "inline-payload" }

// payloadColumn returns the column that slots can hold instead of rows; nil if there is none.
func (t *Table) payloadColumn() *vector.Vector {
	// Every packed key is less than span: span itself is free, unless all 2^64 values are packed keys.
	if !t.spec.Payload || t.spec.SetOnly || t.pack.span == 0 {
		return nil
	}
	v := t.Column(0)
	if v.Kind == vector.Bytes || v.Kind.Width() > 8 || v.Form != vector.Flat || v.Valid != nil {
		return nil
	}
	return v
}

// enterPayload is enter for entries with payload, whose keys are different. Empty slots get the key none.
func (f *inlineTable) enterPayload(part int, entries []slot, none uint64) int {
	slots, mask, shift := f.of(part), f.region, f.shift
	if len(entries) > len(slots)*fullOf/fullPer {
		return -1
	}
	for i := range slots {
		slots[i].key = none
	}
	for _, e := range entries {
		at := uint32(e.key*spread>>shift) & mask
		for slots[at].key != none {
			at = (at + 1) & mask
		}
		slots[at] = e
	}
	return len(entries)
}

// payloadValues reads the payload of n rows.
func payloadValues(dst *[BlockRows]uint64, column *vector.Vector, from, n int) {
	switch column.Kind.Width() {
	case 1:
		widen(dst, vector.Of[uint8](column)[from:from+n])
	case 2:
		widen(dst, vector.Of[uint16](column)[from:from+n])
	case 4:
		widen(dst, vector.Of[uint32](column)[from:from+n])
	default:
		copy(dst[:], vector.Of[uint64](column)[from:from+n])
	}
}

func widen[T uint8 | uint16 | uint32](dst *[BlockRows]uint64, values []T) {
	for i, x := range values {
		dst[i] = uint64(x)
	}
}

// replaceRows makes of a finished table of unique keys one that holds their payload.
func (b *inlineBuild) replaceRows(workers int) error {
	form := &payloadTable{inlineTable: *b.table, none: b.t.pack.span}
	b.t.form = form
	if b.direct {
		return nil
	}
	return b.parts(workers, func(part int) error {
		slots := form.of(part)
		switch b.payload.Kind.Width() {
		case 1:
			replaceValues(slots, vector.Of[uint8](b.payload), form.none)
		case 2:
			replaceValues(slots, vector.Of[uint16](b.payload), form.none)
		case 4:
			replaceValues(slots, vector.Of[uint32](b.payload), form.none)
		default:
			replaceValues(slots, vector.Of[uint64](b.payload), form.none)
		}
		return nil
	})
}

func replaceValues[T uint8 | uint16 | uint32 | uint64](slots []slot, column []T, none uint64) {
	for i := range slots {
		s := &slots[i]
		if s.value == 0 {
			s.key = none
			continue
		}
		s.value = uint64(column[uint32(s.value)])
	}
}

// find is inlineTable.find for values instead of rows.
func (f *payloadTable) find(p *Prober) {
	if p.payload == nil {
		p.payload = vector.New(p.t.Column(0).Kind, BlockRows)
		p.payload.Reset(p.t.Column(0).Kind, BlockRows)
	}
	switch p.payload.Kind.Width() {
	case 1:
		findPayload(f, p, vector.Of[uint8](p.payload))
	case 2:
		findPayload(f, p, vector.Of[uint16](p.payload))
	case 4:
		findPayload(f, p, vector.Of[uint32](p.payload))
	default:
		findPayload(f, p, vector.Of[uint64](p.payload))
	}
}

func findPayload[T uint8 | uint16 | uint32 | uint64](f *payloadTable, p *Prober, payload []T) {
	in := f.home(p)
	slots, out, open := f.slots, payload[:BlockRows], in
	for len(open) > 0 {
		left := 0
		for k, i := range open {
			i &= BlockRows - 1
			at := p.home[k&(BlockRows-1)]
			s := &slots[at]
			key, code := s.key, p.codes[i]
			out[i] = T(s.value)
			p.rowCount[i] = uint32(b2i(key == code))
			p.open[left&(BlockRows-1)] = i
			p.home[left&(BlockRows-1)] = f.after(at)
			left += b2i(key != code) & b2i(key != f.none)
		}
		open = p.open[:left]
	}
	k := 0
	for _, i := range in {
		i &= BlockRows - 1
		p.rowBuf[k&(BlockRows-1)] = i
		p.first[k&(BlockRows-1)] = uint32(i)
		k += int(p.rowCount[i]) & b2i(p.codes[i] != f.none)
	}
	p.rows = p.rowBuf[:k]
}
