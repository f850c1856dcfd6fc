package expr

import (
	"time"
)

// sessionFunctions tell about the session and the clock.
func sessionFunctions() []*Function {
	transactionTime := intRow(func(r *row) (int64, error) { return r.env.now(), nil })
	statementTime := intRow(func(r *row) (int64, error) {
		if r.env.StatementNow != 0 {
			return r.env.StatementNow, nil
		}
		return r.env.Now, nil
	})
	text := func(f func(e *Env) string) builder {
		return textRow(func(r *row, dst []byte) ([]byte, error) { return append(dst, f(r.env)...), nil })
	}
	user := text(func(e *Env) string { return e.Role() })
	database := text(func(e *Env) string { return orElse(e.Database, "weft") })
	schema := text(func(e *Env) string {
		if len(e.SearchPath) > 0 {
			return e.SearchPath[0]
		}
		return "public"
	})
	list := []*Function{
		fn("now", "", "timestamptz", transactionTime, stable),
		fn("transaction_timestamp", "", "timestamptz", transactionTime, stable),
		fn("current_timestamp", "", "timestamptz", transactionTime, stable),
		fn("statement_timestamp", "", "timestamptz", statementTime, stable),
		fn("clock_timestamp", "", "timestamptz", intRow(func(*row) (int64, error) { return time.Now().UnixMicro(), nil }), volatile),
		fn("localtimestamp", "", "timestamp", intRow(func(r *row) (int64, error) { return toLocal(r.env.Now, r.env), nil }), stable),
		fn("current_date", "", "date", intRow(func(r *row) (int64, error) { return int64(timestampToDate(toLocal(r.env.Now, r.env))), nil }), stable),
		fn("timeofday", "", "text", textRow(func(r *row, dst []byte) ([]byte, error) {
			return time.Now().In(r.env.zone()).AppendFormat(dst, "Mon Jan 02 15:04:05.000000 2006 MST"), nil
		}), volatile),
		fn("current_database", "", "name", database, stable),
		fn("current_catalog", "", "name", database, stable),
		fn("current_schema", "", "name", schema, stable),
		fn("version", "", "text", text(func(e *Env) string { return orElse(e.Version, "PostgreSQL 15.0 (weft)") }), stable),
	}
	for _, name := range []string{"current_user", "session_user", "user", "current_role"} {
		list = append(list, fn(name, "", "name", user, stable))
	}
	return list
}

func orElse(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}
