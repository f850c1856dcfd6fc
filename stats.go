package weft

// Stats are counters of an open database since it was opened.
type Stats struct {
	// Row groups of tables with a column view, by the way scans answered them.
	GroupsFromUnits   int64 // from column units
	GroupsWithTouched int64 // of these, with changed rows merged from the row store
	GroupsPruned      int64 // skipped because no row could pass the filter
	GroupsFromRows    int64 // from the row store
	// UnitBytes is the memory that column units take now.
	UnitBytes int64
	// QueryBytes is the memory that running queries hold now.
	QueryBytes int64
	// Commits is the number of transactions that changed something and were committed.
	Commits int64
	// SpilledBytes is what transactions with more writes than fit in memory wrote to temporary files.
	SpilledBytes int64
	// LoadedRows is the number of rows that COPY, BulkLoad and INSERTs of many rows wrote into the files of a table that
	// had none.
	LoadedRows int64
	// LockWaits is the number of times a statement had to wait for another transaction's lock,
	// Deadlocks of those that ended with 40P01.
	LockWaits, Deadlocks int64
	// SerializableKept is the number of serializable transactions that something is remembered of
	// now: those that run, and those that have committed while one of these ran.
	SerializableKept int64
}

// Stats returns the database's counters.
func (db *DB) Stats() Stats {
	v, m := &db.views.Served, db.engine.Metrics()
	return Stats{GroupsFromUnits: v.Units.Load(), GroupsWithTouched: v.Touched.Load(), GroupsPruned: v.Pruned.Load(), GroupsFromRows: v.Rows.Load(),
		UnitBytes: db.views.MemoryBytes(), QueryBytes: db.budget.Used(), Commits: int64(m.Commits), SpilledBytes: int64(m.SpilledBytes),
		LoadedRows: int64(m.LoadedRows),
		LockWaits:  int64(m.LockWaits), Deadlocks: int64(m.Deadlocks), SerializableKept: int64(m.SerialActive + m.SerialDone)}
}
