package expr

import (
	"sync/atomic"
	"time"

	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// Env is what an expression may depend on besides its columns. It does not change while a
// statement runs. Evaluators of several workers may share one.
type Env struct {
	Params []vector.Datum // value of $i at i-1, of the parameter's type's kind
	// ParamErrors holds at i-1 why $i has no value; the first row that needs it fails with that.
	// Nil when every parameter has one.
	ParamErrors  []error
	Now          int64          // microseconds since 1970: start of the transaction
	StatementNow int64          // start of the statement; 0 = Now
	TimeZone     *time.Location // nil = UTC

	User       string // session_user, current_user; "" = weft
	Database   string // current_database(); "" = weft
	SearchPath []string
	Version    string // version(); "" = a default
	Sequences  Sequences

	// Stop ends evaluations that take long when it is set, with context.Canceled; nil = never.
	Stop *atomic.Bool
}

// Role returns the name of the session's user.
func (e *Env) Role() string { return orElse(e.User, "weft") }

// Param returns the value of $index, counted from 1, or why it has none.
func (e *Env) Param(index int) (vector.Datum, error) {
	if e == nil || index < 1 || index > len(e.Params) {
		return vector.Datum{}, sqlerr.New(sqlerr.UndefinedParameter, "there is no parameter $%d", index)
	}
	if e.ParamErrors != nil && e.ParamErrors[index-1] != nil {
		return vector.Datum{}, e.ParamErrors[index-1]
	}
	return e.Params[index-1], nil
}

func (e *Env) stopped() bool { return e != nil && e.Stop != nil && e.Stop.Load() }

func (e *Env) zone() *time.Location {
	if e == nil || e.TimeZone == nil {
		return time.UTC
	}
	return e.TimeZone
}

func (e *Env) now() int64 {
	if e == nil {
		return 0
	}
	return e.Now
}
