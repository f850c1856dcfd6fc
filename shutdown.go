package weft

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/weftdb/weft/internal/sqlerr"
)

// errClosed ends what still runs when a database is closed.
var errClosed = sqlerr.New(sqlerr.AdminShutdown, "the database is closed")

// users knows what must end before a database can be closed.
type users struct {
	ctx     context.Context // done when the database is being closed
	cancel  context.CancelCauseFunc
	closing atomic.Bool // set with it

	mu       sync.Mutex // guards the rest
	closed   bool
	sessions map[*Session]struct{}
	rows     map[*Rows]*Session
	tasks    sync.WaitGroup // added to under mu
}

func newUsers() *users {
	u := &users{sessions: map[*Session]struct{}{}, rows: map[*Rows]*Session{}}
	u.ctx, u.cancel = context.WithCancelCause(context.Background())
	return u
}

// addSession registers a session, or reports that the database is closed.
func (u *users) addSession(s *Session) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.closed {
		u.sessions[s] = struct{}{}
	}
	return !u.closed
}

func (u *users) removeSession(s *Session) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.sessions, s)
}

func (u *users) addRows(s *Session, r *Rows) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.rows[r] = s
}

func (u *users) removeRows(r *Rows) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.rows, r)
}

// end cancels running statements, waits for them, ends open rows and rolls open transactions back.
func (u *users) end() {
	u.mu.Lock()
	u.closed = true
	var sessions []*Session
	for s := range u.sessions {
		sessions = append(sessions, s)
	}
	u.mu.Unlock()
	u.closing.Store(true)
	u.cancel(errClosed)
	for _, s := range sessions {
		s.Close() // waits for the statement in it
	}
	u.tasks.Wait()
	u.abortRows(nil, errClosed)
}

// abortRows ends the open rows of a session, nil = of all.
func (u *users) abortRows(s *Session, err error) {
	u.mu.Lock()
	var rows []*Rows
	for r, of := range u.rows {
		if s == nil || s == of {
			rows = append(rows, r)
		}
	}
	u.mu.Unlock()
	for _, r := range rows {
		r.abort(err)
	}
}

// task runs work that is no statement. As with statements, closing the database cancels it and waits
// for it, and a panic becomes an error.
func (u *users) task(ctx context.Context, name string, run func(ctx context.Context) error) (err error) {
	u.mu.Lock()
	if u.closed {
		u.mu.Unlock()
		return errClosed
	}
	u.tasks.Add(1)
	u.mu.Unlock()
	defer u.tasks.Done()
	ctx, release := u.join(ctx)
	defer release()
	defer func() {
		if p := recover(); p != nil {
			err = sqlerr.Panicked(p, name)
		}
		if err != nil {
			err = contextError(ctx, err)
		}
	}()
	return run(ctx)
}

// join returns a context that also ends when the database is closed, and a function that releases
// it.
func (u *users) join(ctx context.Context) (context.Context, func()) {
	if ctx.Done() == nil {
		return u.ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	unwatch := context.AfterFunc(u.ctx, func() { cancel(errClosed) })
	return ctx, func() {
		unwatch()
		cancel(nil)
	}
}

// stop is set when a context that join returned ends, where nothing else ends it; nil for others.
func (u *users) stop(ctx context.Context) *atomic.Bool {
	if ctx == u.ctx {
		return &u.closing
	}
	return nil
}
