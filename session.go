package weft

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/storage"
)

// Session is a connection: it has its own settings and at most one open transaction. It belongs to
// one goroutine at a time.
type Session struct {
	db       *database
	values   sessionValues
	settings *derivedSettings // of values; nil or old = to be made
	saved    sessionValues    // values when the transaction began
	notice   func(text string)

	txn       *storage.Txn // explicit transaction, nil outside
	failed    bool         // a statement of the transaction failed
	txUsed    bool         // a statement of the transaction has read or written
	txOptions TxOptions    // of the transaction
	txStart   int64        // now() of the transaction, microseconds
	viewDDL   bool         // column views changed in the transaction
	prepared  map[string]*preparedStatement
	saves     []namedSavepoint
	drawn     drawnValues
	temp      temporaries

	pending     []pendingKey    // of foreign keys checked at commit, so far in the transaction
	constraints constraintModes // of the transaction

	mu     sync.Mutex // held while a statement runs, so that closing the database waits for it
	closed bool
	ended  error // why it was closed, nil = by its user

	spare     *running // memory of a statement that has ended, nil = none
	spareRows *Rows    // memory of a result that is over, nil = none

	lastKey  planKey // of the plan that ran last
	lastPlan *cachedPlan
	// lockedPlan is the plan that last had its relations locked by the open transaction: run again, it has
	// nothing to wait for, and nobody can have changed what it uses.
	lockedPlan *cachedPlan

	idle        idleClock
	idleTimeout time.Duration // after the statement that ran last, 0 = none
}

type namedSavepoint struct {
	name        string
	at          storage.Savepoint
	values      sessionValues
	pending     int
	constraints constraintModes
	readOnly    bool
}

// Session opens a session.
func (db *DB) Session() *Session {
	s := &Session{db: db.database, prepared: map[string]*preparedStatement{}}
	s.temp.schema = planner.TempSchema(db.sessions.Add(1))
	s.closed = !db.users.addSession(s)
	return s
}

// locked runs f unless the session is closed. Nothing else runs in the session meanwhile.
func (s *Session) locked(f func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.gone()
	}
	return f()
}

// OnNotice sets the function that receives notices, without the word NOTICE.
func (s *Session) OnNotice(f func(text string)) { s.notice = f }

func (s *Session) notices(texts []string) {
	if len(texts) == 0 || s.notice == nil || s.derived().quiet {
		return
	}
	for _, t := range texts {
		s.notice(t)
	}
}

// Close ends the session; an open transaction is rolled back, and its temporary tables are dropped, for
// which rows that are still being read are ended.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.rollback()
	s.closed = true
	s.db.users.removeSession(s)
	if len(s.temp.relations(s.db.engine.Catalog())) == 0 {
		return nil
	}
	s.db.users.abortRows(s, s.gone())
	return s.dropTemporaries()
}

// InTransaction reports whether a transaction block is open, and whether it has failed.
func (s *Session) InTransaction() (open, failed bool) { return s.txn != nil, s.failed }

// Exec runs one or more statements and returns the last one's result.
func (s *Session) Exec(ctx context.Context, query string, args ...any) (Result, error) {
	return s.exec(ctx, query, nil, args)
}

// exec runs statements, which are parsed from query where they are not given.
func (s *Session) exec(ctx context.Context, query string, statements []sql.Statement, args []any) (last Result, err error) {
	err = s.drain(ctx, query, statements, args, func(r *Rows) { last = r.Result() })
	return last, err
}

// drain runs statements as exec does and shows each one's result, which is over then.
func (s *Session) drain(ctx context.Context, query string, statements []sql.Statement, args []any, over func(*Rows)) error {
	return s.each(ctx, query, statements, args, func(r *Rows) error {
		for r.NextBatch() != nil {
		}
		err := r.Close()
		over(r)
		if r.reusable {
			*r = Rows{}
			s.spareRows = r
		}
		return err
	})
}

// takeRows returns the memory for a result that no running plan yields.
func (s *Session) takeRows() *Rows {
	r := s.spareRows
	if r == nil {
		r = &Rows{}
	}
	s.spareRows, r.reusable = nil, true
	return r
}

// Query runs one or more statements and returns the rows of the last.
func (s *Session) Query(ctx context.Context, query string, args ...any) (*Rows, error) {
	return s.query(ctx, query, nil, args)
}

// query runs statements as exec does.
func (s *Session) query(ctx context.Context, query string, statements []sql.Statement, args []any) (*Rows, error) {
	var last *Rows
	err := s.each(ctx, query, statements, args, func(r *Rows) error {
		if last != nil {
			if err := last.Close(); err != nil {
				return err
			}
		}
		last = r
		return nil
	})
	if err != nil {
		if last != nil {
			_ = last.Close() // the statement's error counts
		}
		return nil, err
	}
	if last == nil {
		last = &Rows{done: true}
	}
	return last, nil
}

// each runs statements in turn, which are parsed from query where they are not given.
func (s *Session) each(ctx context.Context, query string, statements []sql.Statement, args []any, use func(*Rows) error) error {
	if statements == nil {
		var err error
		if statements, err = sql.Parse(query); err != nil {
			s.fail()
			return err
		}
	}
	if len(statements) > 1 && len(args) > 0 {
		return sqlerr.New(sqlerr.SyntaxError, "cannot insert multiple commands into a prepared statement")
	}
	for _, stmt := range statements {
		rows, err := s.Run(ctx, stmt, query, args...)
		if err != nil {
			return err
		}
		if err := use(rows); err != nil {
			s.fail()
			return err
		}
	}
	return nil
}

// fail marks an open transaction as failed. Without a savepoint to go back to it can only end, so
// its locks are given back at once.
func (s *Session) fail() {
	if s.txn == nil {
		return
	}
	s.failed = true
	if len(s.saves) == 0 {
		s.txn.Rollback()
	}
}

// Run runs one parsed statement of query. A panic becomes an XX000 error that names the statement:
// the statement dies, session and database live.
func (s *Session) Run(ctx context.Context, stmt sql.Statement, query string, args ...any) (rows *Rows, err error) {
	s.idle.stop() // before the lock: the clock's end would wait for it
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, s.gone()
	}
	ctx, leave := s.db.users.join(ctx)
	r := s.takeSpare()
	defer func() {
		if p := recover(); p != nil {
			err = sqlerr.Panicked(p, statementText(stmt, query))
		} else if rows == nil || rows.env == nil {
			s.spare = r // nothing that the statement leaves behind knows of it
		}
		if err != nil {
			s.fail()
			err = contextError(ctx, err)
		}
		s.idleTimeout = 0
		if s.txn != nil {
			s.idleTimeout = s.derived().idleTimeout
		}
		if rows == nil || !rows.streams(s, leave) {
			s.release(leave)
		}
	}()
	if s.failed && !endsTransaction(stmt) {
		return nil, sqlerr.New(sqlerr.InFailedTransaction, "current transaction is aborted, commands ignored until end of transaction block")
	}
	if r.args, err = bindArguments(r.args[:0], args); err != nil {
		return nil, err
	}
	r.s, r.ctx, r.stmt, r.text, r.now = s, ctx, stmt, statementText(stmt, query), time.Now().UnixMicro()
	if s.txn == nil || s.txStart == 0 {
		s.txStart = r.now
	}
	return r.run()
}

// takeSpare returns the memory for a statement, of one that has ended if there is any.
func (s *Session) takeSpare() *running {
	r := s.spare
	if r == nil {
		return &running{}
	}
	s.spare = nil
	clear(r.args)
	clear(r.params)
	*r = running{args: r.args, params: r.params}
	return r
}

// release ends what a statement, with the rows it yields, keeps of the session.
func (s *Session) release(leave func()) {
	leave()
	if s.idleTimeout > 0 {
		s.idle.start(s.idleTimeout, s.endIdle)
	}
}

func statementText(stmt sql.Statement, query string) string {
	span := stmt.SourceSpan()
	if span.Start < 0 || span.End > len(query) || span.Start > span.End {
		return query
	}
	return query[span.Start:span.End]
}

func endsTransaction(stmt sql.Statement) bool {
	switch stmt.(type) {
	case *sql.Commit, *sql.Rollback, *sql.RollbackTo:
		return true
	}
	return false
}

// canceled is the error of a statement whose context ended.
func canceled(ctx context.Context) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, errClosed) {
		return errClosed
	}
	if errors.Is(cause, context.DeadlineExceeded) || errors.Is(cause, errStatementTimeout) {
		return sqlerr.New(sqlerr.QueryCanceled, "canceling statement due to statement timeout: %w", cause)
	}
	return sqlerr.New(sqlerr.QueryCanceled, "canceling statement due to user request: %w", cause)
}

var errStatementTimeout = errors.New("statement timeout")

// contextError makes an error that came from the context carry 57014.
func contextError(ctx context.Context, err error) error {
	if errors.Is(err, errClosed) {
		return errClosed
	}
	var e *Error
	if errors.As(err, &e) {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errStatementTimeout) {
		return canceled(ctx)
	}
	return err
}
