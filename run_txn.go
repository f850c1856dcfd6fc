package weft

import (
	"context"

	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/storage"
)

func (s *Session) defaultIsolation() Isolation {
	if s.setting(setDefaultIsolation) == "repeatable read" {
		return RepeatableRead
	}
	return ReadCommitted
}

func (s *Session) txnOptions(o TxOptions) storage.TxnOptions {
	level := storage.ReadCommitted
	if o.Isolation == RepeatableRead {
		level = storage.Snapshot
	}
	return storage.TxnOptions{Isolation: level, ReadOnly: o.ReadOnly, NoSyncWait: !s.on(setSyncCommit)}
}

// begin opens a transaction block.
func (s *Session) begin(o TxOptions) error {
	if s.txn != nil {
		return sqlerr.New(sqlerr.ActiveTransaction, "there is already a transaction in progress")
	}
	s.txn = s.db.engine.Begin(s.txnOptions(o))
	s.failed, s.viewDDL, s.saves, s.txOptions, s.txUsed = false, false, nil, o, false
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
	txn, viewDDL := s.txn, s.viewDDL
	s.endTxn()
	defer txn.Rollback()
	if err := txn.Commit(ctx); err != nil {
		return contextError(ctx, err)
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
	}
}

// readOnly reports whether the open transaction may not write.
func (s *Session) readOnly() bool { return s.txn != nil && s.txOptions.ReadOnly }

func (s *Session) endTxn() {
	s.txn, s.failed, s.viewDDL, s.saves = nil, false, false, nil
	s.pending, s.constraints = nil, constraintModes{}
	for name, value := range s.local {
		s.values[name] = value
	}
	s.local = nil
}

// modes turns transaction modes into options.
func (r *running) modes(m sql.TxModes, n sql.Node) (TxOptions, error) {
	o := TxOptions{Isolation: r.s.defaultIsolation(), ReadOnly: m.ReadOnly == sql.Yes}
	switch m.Isolation {
	case sql.ReadUncommitted, sql.ReadCommitted:
		o.Isolation = ReadCommitted
	case sql.RepeatableRead:
		o.Isolation = RepeatableRead
	case sql.Serializable:
		return o, sqlerr.New(sqlerr.FeatureNotSupported, "isolation level SERIALIZABLE is not supported yet").At(n.SourceSpan().Start).WithHint("Use REPEATABLE READ.")
	}
	return o, nil
}

func (r *running) begin(n *sql.Begin) (*Rows, error) {
	if r.s.txn != nil {
		r.warn("there is already a transaction in progress")
		return done("BEGIN"), nil
	}
	o, err := r.modes(n.Modes, n)
	if err != nil {
		return nil, err
	}
	return done("BEGIN"), r.s.begin(o)
}

func (r *running) warn(text string) { r.s.notices([]string{text}) }

func (r *running) commit(n *sql.Commit) (*Rows, error) {
	if n.Chain {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "AND CHAIN is not supported yet").At(n.Start)
	}
	if r.s.txn == nil {
		r.warn("there is no transaction in progress")
		return done("COMMIT"), nil
	}
	if r.s.failed {
		r.s.rollback()
		return done("ROLLBACK"), nil
	}
	if err := r.s.commit(r.ctx); err != nil {
		return nil, err
	}
	return done("COMMIT"), nil
}

func (r *running) rollback(n *sql.Rollback) (*Rows, error) {
	if n.Chain {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "AND CHAIN is not supported yet").At(n.Start)
	}
	if r.s.txn == nil {
		r.warn("there is no transaction in progress")
	}
	r.s.rollback()
	return done("ROLLBACK"), nil
}

func (r *running) setTransaction(n *sql.SetTransaction) (*Rows, error) {
	if n.Session {
		name := map[sql.Isolation]string{sql.ReadUncommitted: "read committed", sql.ReadCommitted: "read committed", sql.RepeatableRead: "repeatable read", sql.Serializable: "serializable"}[n.Modes.Isolation]
		if name == "" {
			return done("SET"), nil
		}
		if _, err := r.modes(n.Modes, n); err != nil {
			return nil, err
		}
		return done("SET"), r.s.set(setDefaultIsolation, name, false)
	}
	if r.s.txn == nil {
		r.warn("SET TRANSACTION can only be used in transaction blocks")
		return done("SET"), nil
	}
	o, err := r.modes(n.Modes, n)
	if err != nil {
		return nil, err
	}
	if r.s.txUsed {
		return nil, sqlerr.New(sqlerr.ActiveTransaction, "SET TRANSACTION must be called before any query").At(n.Start)
	}
	r.s.txn.Rollback()
	r.s.txOptions = o
	r.s.txn = r.s.db.engine.Begin(r.s.txnOptions(o))
	return done("SET"), nil
}

// savepoint runs SAVEPOINT, RELEASE and ROLLBACK TO.
func (r *running) savepoint() (*Rows, error) {
	s := r.s
	if s.txn == nil {
		return nil, sqlerr.New(sqlerr.NoActiveTransaction, "SAVEPOINT can only be used in transaction blocks").At(r.stmt.SourceSpan().Start)
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
		s.saves = append(s.saves, namedSavepoint{n.Name.Name, s.txn.Savepoint(), len(s.pending), s.constraints})
		return done("SAVEPOINT"), nil
	case *sql.Release:
		i, err := find(n.Name)
		if err != nil {
			return nil, err
		}
		s.saves = s.saves[:i]
		return done("RELEASE"), nil
	case *sql.RollbackTo:
		i, err := find(n.Name)
		if err != nil {
			return nil, err
		}
		s.txn.RollbackTo(s.saves[i].at)
		s.pending, s.constraints = s.pending[:s.saves[i].pending:s.saves[i].pending], s.saves[i].constraints
		s.saves = s.saves[:i+1]
		s.failed = false
		return done("ROLLBACK"), nil
	}
	panic("weft: unknown savepoint statement")
}
