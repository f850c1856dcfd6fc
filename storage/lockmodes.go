package storage

// LockMode is a row or table lock mode.
type LockMode uint8

// The row modes, weakest first, with PostgreSQL's conflicts. Keys of indexes are locked in KeyShare
// (by foreign keys) or Update (by whoever writes them).
const (
	KeyShare LockMode = iota
	Share
	NoKeyUpdate
	Update
)

// The table modes, weakest first, with PostgreSQL's conflicts.
const (
	AccessShare LockMode = iota
	RowShare
	RowExclusive
	ShareUpdateExclusive
	TableShare
	ShareRowExclusive
	Exclusive
	AccessExclusive
)

// modeSet is a set of lock modes, one bit each.
type modeSet uint8

func (m LockMode) bit() modeSet { return 1 << m }

func modes(list ...LockMode) (s modeSet) {
	for _, m := range list {
		s |= m.bit()
	}
	return s
}

// rowConflicts[m] are the row modes that m cannot be held with.
var rowConflicts = [8]modeSet{
	KeyShare:    modes(Update),
	Share:       modes(NoKeyUpdate, Update),
	NoKeyUpdate: modes(Share, NoKeyUpdate, Update),
	Update:      modes(KeyShare, Share, NoKeyUpdate, Update),
}

// tableConflicts[m] are the table modes that m cannot be held with.
var tableConflicts = [8]modeSet{
	AccessShare:          modes(AccessExclusive),
	RowShare:             modes(Exclusive, AccessExclusive),
	RowExclusive:         modes(TableShare, ShareRowExclusive, Exclusive, AccessExclusive),
	ShareUpdateExclusive: modes(ShareUpdateExclusive, TableShare, ShareRowExclusive, Exclusive, AccessExclusive),
	TableShare:           modes(RowExclusive, ShareUpdateExclusive, ShareRowExclusive, Exclusive, AccessExclusive),
	ShareRowExclusive:    modes(RowExclusive, ShareUpdateExclusive, TableShare, ShareRowExclusive, Exclusive, AccessExclusive),
	Exclusive: modes(RowShare, RowExclusive, ShareUpdateExclusive, TableShare, ShareRowExclusive,
		Exclusive, AccessExclusive),
	AccessExclusive: modes(AccessShare, RowShare, RowExclusive, ShareUpdateExclusive, TableShare,
		ShareRowExclusive, Exclusive, AccessExclusive),
}

// WaitPolicy says what to do when a lock is held by another transaction.
type WaitPolicy uint8

// The policies: wait, fail with 55P03, or leave the row out.
const (
	Wait WaitPolicy = iota
	NoWait
	SkipLocked
)

// lockKind tells what a resource is. It is as wide as what follows in a resource, which without a gap is
// hashed and compared as plain memory.
type lockKind uint32

const (
	lockNone       lockKind = iota
	lockRelation            // object = table id
	lockRow                 // id = row reference
	lockKey                 // object = index id, id = hash of the key
	lockDefinition          // object = table id: its indexes, which those who add one change one after the other
)

// resource is something that can be locked. Keys are named by a 64-bit hash: two keys that share
// one wait for each other needlessly, which no test of a lifetime will see.
type resource struct {
	kind   lockKind
	object uint32
	id     uint64
}

func (r resource) conflicts(m LockMode) modeSet {
	if r.kind == lockRelation {
		return tableConflicts[m]
	}
	return rowConflicts[m]
}

// covers reports whether holding the modes of held makes asking for m unnecessary: m conflicts with
// nothing that held does not conflict with.
func (r resource) covers(held modeSet, m LockMode) bool {
	if held&m.bit() != 0 {
		return true
	}
	all := modeSet(0)
	for h := LockMode(0); h < 8; h++ {
		if held&h.bit() != 0 {
			all |= r.conflicts(h)
		}
	}
	return held != 0 && r.conflicts(m)&^all == 0
}
