package weft

// Spilling returns the options with transactions that spill their writes above a number of bytes.
func (o Options) Spilling(bytes int64) Options {
	o.spillBytes = bytes
	return o
}

// LimitUnits bounds what column units may take, also below what settings accept, and returns what they take.
func (db *DB) LimitUnits(bytes int64) int64 {
	o := db.viewOptions()
	o.BudgetBytes = bytes
	db.views.SetOptions(o)
	return db.views.MemoryBytes()
}

// UnitReads counts the units that were read from files.
func (db *DB) UnitReads() int64 { return db.views.Counters.DiskReads.Load() }

// LeaveMemory takes all memory that queries share but for some bytes, until release is called.
func (db *DB) LeaveMemory(bytes int64) (release func(), err error) {
	taken := db.budget.Limit() - db.budget.Used() - bytes
	if err := db.budget.Reserve(taken); err != nil {
		return nil, err
	}
	return func() { db.budget.Release(taken) }, nil
}
