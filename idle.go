package weft

import (
	"sync"
	"time"

	"github.com/weftdb/weft/internal/sqlerr"
)

var errIdleInTransaction = sqlerr.New(sqlerr.IdleInTransactionTimeout, "terminating session due to idle-in-transaction timeout").
	WithHint("The transaction was rolled back. Open a new session.")

// idleClock ends a session whose open transaction has had no statement for too long: its locks keep
// others waiting.
type idleClock struct {
	mu    sync.Mutex
	timer *time.Timer
	turn  int // of stops: a timer that fires after one does nothing
}

func (c *idleClock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turn++
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
}

// start calls end after a time without stop.
func (c *idleClock) start(after time.Duration, end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	turn := c.turn
	c.timer = time.AfterFunc(after, func() {
		c.mu.Lock()
		current := c.turn == turn
		c.mu.Unlock()
		if current {
			end()
		}
	})
}

// endIdle ends the session if a transaction is open and no statement has begun meanwhile.
func (s *Session) endIdle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.txn == nil {
		return
	}
	s.rollback()
	s.closed, s.ended = true, errIdleInTransaction
	s.db.users.removeSession(s)
	if err := s.dropTemporaries(); err != nil && s.db.options.Logger != nil {
		s.db.options.Logger.Warn("dropping temporary tables failed; they go when the database is opened", "error", err)
	}
}

// gone is why a closed session cannot be used.
func (s *Session) gone() error {
	if s.ended != nil {
		return s.ended
	}
	return errClosed
}
