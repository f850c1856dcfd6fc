package storage

// lockTable maps resources to what is held of them. It is a Go map in all but this: an entry is found by one
// step into memory instead of several, which matters to transactions that lock hundreds of thousands
// of rows and keys, and shrinks when it gets empty. Entries lie in the slot that their hash names or
// behind it, without a gap.
type lockTable struct {
	slots []lockSlot // a power of two, never full
	count int
}

type lockSlot struct {
	res resource // of no kind: the slot is free
	lockState
}

// leastLockSlots is what a table begins with, keptLockSlots how large an empty one may stay.
const (
	leastLockSlots = 8
	keptLockSlots  = 1 << 12
)

// hash spreads resources over shards by its highest bits, and over slots by those in the middle.
func (r resource) hash() uint64 {
	return (r.id ^ uint64(r.object)<<32 ^ uint64(r.kind)<<56) * 0x9E3779B97F4A7C15
}

func (t *lockTable) home(r resource) int { return int(r.hash()>>20) & (len(t.slots) - 1) }

// find returns what is held of a resource, nil if nothing is. It is valid until the next put or remove.
func (t *lockTable) find(r resource) *lockState {
	if t.count == 0 {
		return nil
	}
	for i := t.home(r); t.slots[i].res.kind != lockNone; i = (i + 1) & (len(t.slots) - 1) {
		if t.slots[i].res == r {
			return &t.slots[i].lockState
		}
	}
	return nil
}

// get returns a copy of what is held of a resource.
func (t *lockTable) get(r resource) (l lockState) {
	if held := t.find(r); held != nil {
		l = *held
	}
	return l
}

// put sets what is held of a resource.
func (t *lockTable) put(r resource, l lockState) {
	if held := t.find(r); held != nil {
		*held = l
		return
	}
	if 4*(t.count+1) > 3*len(t.slots) {
		t.resize(max(leastLockSlots, 2*len(t.slots)))
	}
	t.insert(r, l)
	t.count++
}

// insert puts an entry that is not there where there is room.
func (t *lockTable) insert(r resource, l lockState) {
	i := t.home(r)
	for t.slots[i].res.kind != lockNone {
		i = (i + 1) & (len(t.slots) - 1)
	}
	t.slots[i] = lockSlot{r, l}
}

func (t *lockTable) resize(slots int) {
	old := t.slots
	t.slots = make([]lockSlot, slots)
	for i := range old {
		if old[i].res.kind != lockNone {
			t.insert(old[i].res, old[i].lockState)
		}
	}
}

// remove removes a resource, and closes the gap: entries behind it move up unless they would come to lie
// in front of the slot that their hash names.
func (t *lockTable) remove(r resource) {
	if t.count == 0 {
		return
	}
	mask := len(t.slots) - 1
	gap := t.home(r)
	for t.slots[gap].res != r {
		if t.slots[gap].res.kind == lockNone {
			return
		}
		gap = (gap + 1) & mask
	}
	for i := (gap + 1) & mask; t.slots[i].res.kind != lockNone; i = (i + 1) & mask {
		if (i-t.home(t.slots[i].res))&mask >= (i-gap)&mask {
			t.slots[gap] = t.slots[i]
			gap = i
		}
	}
	t.slots[gap] = lockSlot{}
	if t.count--; t.count == 0 && len(t.slots) > keptLockSlots {
		t.slots = nil
	}
}
