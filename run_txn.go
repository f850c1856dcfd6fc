package weft

import (
	"context"

	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/storage"
)

// defaultTxOptions are the options of a transaction that names none.
func (s *Session) defaultTxOptions() TxOptions { return s.derived().txOptions }

// isolationNamed returns the level that keeps what a level of SQL promises.
func isolationNamed(name string) Isolation {
	switch name {
	case "serializable":
		return Serializable
	case "repeatable read":
		return RepeatableRead
	}
	return ReadCommitted
}

// String returns the level as SHOW transaction_isolation prints it.
func (i Isolation) String() string {
	switch i {
	case Serializable:
		return "serializable"
	case RepeatableRead:
		return "repeatable read"
	}
	return "read committed"
}

var storedLevels = map[Isolation]storage.Isolation{ReadCommitted: storage.ReadCommitted, RepeatableRead: storage.Snapshot,
	Serializable: storage.Serializable}

func (s *Session) txnOptions(o TxOptions) storage.TxnOptions {
	return storage.TxnOptions{Isolation: storedLevels[o.Isolation], ReadOnly: o.ReadOnly, Deferrable: o.Deferrable,
		NoSyncWait: s.derived().noSyncWait, Session: s, Memory: s.db.budget}
}

// begin opens a transaction block.
func (s *Session) begin(o TxOptions) error {
	if s.txn != nil {
		return sqlerr.New(sqlerr.ActiveTransaction, "there is already a transaction in progress")
	}
	if o.Isolation > Serializable {
		return sqlerr.New(sqlerr.InvalidParameterValue, "unknown isolation level %d", uint8(o.Isolation))
	}
	s.txn = s.db.engine.Begin(s.txnOptions(o))
	s.failed, s.viewDDL, s.saves, s.txOptions, s.txUsed, s.lockedPlan = false, false, nil, o, false, nil
	s.saved = s.values
	return nil
}

// commit ends the transaction block; a failed one is rolled back, which is an error.
func (s *Session) commit(ctx context.Context) error {
	if s.txn == nil {
		return sqlerr.New(sqlerr.NoActiveTransaction, "there is no transaction in progress")
	}
	if s.failed {
		s.rollback()
		return sqlerr.New(sqlerr.InFailedTransaction, "the transaction was rolled back: a statement in it failed")
	}
	if err := s.checkDeferred(ctx); err != nil {
		s.rollback()
		return contextError(ctx, err)
	}
	if err := s.atCommit(ctx, s.txn); err != nil {
		s.rollback()
		return contextError(ctx, err)
	}
	txn, viewDDL := s.txn, s.viewDDL
	txn.SetNoSyncWait(s.derived().noSyncWait)
	s.endTxn()
	defer txn.Rollback()
	if err := txn.Commit(ctx); err != nil {
		s.values = s.saved
		return contextError(ctx, err)
	}
	s.values.endTransaction()
	if err := s.syncSequences(); err != nil {
		return err
	}
	if viewDDL {
		return s.db.populateChanged(ctx, s.on(setAsyncPopulate))
	}
	return nil
}

// rollback undoes and ends the transaction block, if there is one.
func (s *Session) rollback() {
	if s.txn != nil {
		s.txn.Rollback()
		s.endTxn()
		s.values = s.saved
	}
}

func (s *Session) endTxn() {
	s.txn, s.failed, s.viewDDL, s.saves = nil, false, false, nil
	s.pending, s.constraints = nil, constraintModes{}
}

// withModes changes the options that transaction modes name.
func withModes(o TxOptions, m sql.TxModes) TxOptions {
	switch m.Isolation {
	case sql.ReadUncommitted, sql.ReadCommitted:
		o.Isolation = ReadCommitted
	case sql.RepeatableRead:
		o.Isolation = RepeatableRead
	case sql.Serializable:
		o.Isolation = Serializable
	}
	if m.ReadOnly != sql.Unset {
		o.ReadOnly = m.ReadOnly == sql.Yes
	}
	if m.Deferrable != sql.Unset {
		o.Deferrable = m.Deferrable == sql.Yes
	}
	return o
}

func (r *running) begin(n *sql.Begin) (*Rows, error) {
	if r.s.txn != nil {
		r.warn("there is already a transaction in progress")
		return done("BEGIN"), nil
	}
	return done("BEGIN"), r.s.begin(withModes(r.s.defaultTxOptions(), n.Modes))
}

// warn sends a warning, which client_min_messages may drop only with everything but errors.
func (r *running) warn(text string) {
	if r.s.notice != nil && r.s.setting(setClientMinMessages) != "error" {
		r.s.notice(text)
	}
}

func (r *running) commit(n *sql.Commit) (*Rows, error) {
	if r.s.txn == nil {
		return r.noTransaction("COMMIT", n.Chain)
	}
	chained := r.s.txOptions
	if r.s.failed {
		r.s.rollback()
		return r.ended("ROLLBACK", n.Chain, chained)
	}
	if err := r.s.commit(r.ctx); err != nil {
		return nil, err
	}
	return r.ended("COMMIT", n.Chain, chained)
}

func (r *running) rollback(n *sql.Rollback) (*Rows, error) {
	if r.s.txn == nil {
		return r.noTransaction("ROLLBACK", n.Chain)
	}
	chained := r.s.txOptions
	if len(r.s.saves) > 0 { // what SET TRANSACTION READ ONLY did after a savepoint is undone
		chained.ReadOnly = r.s.saves[0].readOnly
	}
	r.s.rollback()
	return r.ended("ROLLBACK", n.Chain, chained)
}

// noTransaction answers the end of a transaction block outside of one.
func (r *running) noTransaction(tag string, chain bool) (*Rows, error) {
	if chain {
		return nil, sqlerr.New(sqlerr.NoActiveTransaction, "%s AND CHAIN can only be used in transaction blocks", tag)
	}
	r.warn("there is no transaction in progress")
	return done(tag), nil
}

// ended answers the end of a transaction block; with AND CHAIN the next one begins with its options.
func (r *running) ended(tag string, chain bool, o TxOptions) (*Rows, error) {
	if chain {
		if err := r.s.begin(o); err != nil {
			return nil, err
		}
	}
	return done(tag), nil
}

func (r *running) setTransaction(n *sql.SetTransaction) (*Rows, error) {
	if n.Session {
		var err error
		o := withModes(r.s.defaultTxOptions(), n.Modes)
		if n.Modes.Isolation != sql.IsolationDefault {
			err = r.s.set(setDefaultIsolation, o.Isolation.String(), false)
		}
		if err == nil && n.Modes.ReadOnly != sql.Unset {
			err = r.s.set(setDefaultReadOnly, onOff(o.ReadOnly), false)
		}
		if err == nil && n.Modes.Deferrable != sql.Unset {
			err = r.s.set(setDefaultDeferrable, onOff(o.Deferrable), false)
		}
		return done("SET"), err
	}
	if r.s.txn == nil {
		r.warn("SET TRANSACTION can only be used in transaction blocks")
	}
	err := r.s.setTxOptions(withModes(r.s.currentTxOptions(), n.Modes), n.Modes.Deferrable != sql.Unset)
	return done("SET"), err
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// currentTxOptions are the options of the open transaction, or of what the next one would be.
func (s *Session) currentTxOptions() TxOptions {
	if s.txn == nil {
		return s.defaultTxOptions()
	}
	return s.txOptions
}

// setTxOptions changes the options of the open transaction, if there is one. A snapshot that has
// been used cannot be taken back. deferrable tells that the statement names that mode, which
// PostgreSQL refuses late even where nothing changes.
func (s *Session) setTxOptions(o TxOptions, deferrable bool) error {
	switch was := s.txOptions; {
	case s.txn == nil:
		return nil
	case o.Isolation != was.Isolation && s.txUsed:
		return sqlerr.New(sqlerr.ActiveTransaction, "SET TRANSACTION ISOLATION LEVEL must be called before any query")
	case o.Isolation != was.Isolation && len(s.saves) > 0:
		return sqlerr.New(sqlerr.ActiveTransaction, "SET TRANSACTION ISOLATION LEVEL must not be called in a subtransaction")
	case was.ReadOnly && !o.ReadOnly && s.txUsed:
		return sqlerr.New(sqlerr.ActiveTransaction, "transaction read-write mode must be set before any query")
	case deferrable && len(s.saves) > 0:
		return sqlerr.New(sqlerr.ActiveTransaction, "SET TRANSACTION [NOT] DEFERRABLE cannot be called within a subtransaction")
	case deferrable && s.txUsed:
		return sqlerr.New(sqlerr.ActiveTransaction, "SET TRANSACTION [NOT] DEFERRABLE must be called before any query")
	}
	s.txn.SetModes(storedLevels[o.Isolation], o.ReadOnly, o.Deferrable)
	s.txOptions = o
	return nil
}

// restoreReadOnly ends what SET TRANSACTION READ ONLY did after a savepoint, whichever way that ends.
func (s *Session) restoreReadOnly(p namedSavepoint) {
	s.txOptions.ReadOnly = p.readOnly
	s.txn.SetModes(storedLevels[s.txOptions.Isolation], s.txOptions.ReadOnly, s.txOptions.Deferrable)
}

// savepoint runs SAVEPOINT, RELEASE and ROLLBACK TO.
func (r *running) savepoint() (*Rows, error) {
	s := r.s
	if s.txn == nil {
		name := "SAVEPOINT"
		switch r.stmt.(type) {
		case *sql.Release:
			name = "RELEASE SAVEPOINT"
		case *sql.RollbackTo:
			name = "ROLLBACK TO SAVEPOINT"
		}
		return nil, sqlerr.New(sqlerr.NoActiveTransaction, "%s can only be used in transaction blocks", name)
	}
	find := func(id sql.Ident) (int, error) {
		for i := len(s.saves) - 1; i >= 0; i-- {
			if s.saves[i].name == id.Name {
				return i, nil
			}
		}
		return 0, sqlerr.New(sqlerr.InvalidSavepoint, "savepoint %q does not exist", id.Name).At(id.Start)
	}
	switch n := r.stmt.(type) {
	case *sql.Savepoint:
		s.saves = append(s.saves, namedSavepoint{n.Name.Name, s.txn.Savepoint(), s.values, len(s.pending), s.constraints, s.txOptions.ReadOnly})
		return done("SAVEPOINT"), nil
	case *sql.Release:
		i, err := find(n.Name)
		if err != nil {
			return nil, err
		}
		s.restoreReadOnly(s.saves[i])
		s.saves = s.saves[:i]
		return done("RELEASE"), nil
	case *sql.RollbackTo:
		i, err := find(n.Name)
		if err != nil {
			return nil, err
		}
		s.txn.RollbackTo(s.saves[i].at)
		s.values = s.saves[i].values
		s.pending, s.constraints = s.pending[:s.saves[i].pending:s.saves[i].pending], s.saves[i].constraints
		s.restoreReadOnly(s.saves[i])
		s.saves = s.saves[:i+1]
		s.failed = false
		return done("ROLLBACK"), nil
	}
	panic("weft: unknown savepoint statement")
}
