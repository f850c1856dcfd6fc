package weft

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	weftsql "github.com/weftdb/weft/sql"
)

// DriverName is the name under which database/sql finds weft.
const DriverName = "weft"

func init() { sql.Register(DriverName, sqlDriver{}) }

// sqlDriver is the database/sql driver. A data source name is a directory or :memory:, with
// settings as a query: path?htap_router_mode=column&memory_limit=2GB. The names datanodes and
// threads are options of Open.
type sqlDriver struct{}

func (d sqlDriver) Open(name string) (driver.Conn, error) {
	c, err := d.OpenConnector(name)
	if err != nil {
		return nil, err
	}
	return c.Connect(context.Background())
}

func (d sqlDriver) OpenConnector(name string) (driver.Connector, error) {
	dir, query, _ := strings.Cut(name, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "data source name: %w", err)
	}
	c := &connector{driver: d, dir: dir, settings: map[string]string{}}
	for key, list := range values {
		value := list[len(list)-1]
		switch key {
		case "datanodes", "threads":
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 {
				return nil, sqlerr.New(sqlerr.InvalidParameterValue, "data source name: %s must be a positive number, not %q", key, value)
			}
			if key == "datanodes" {
				c.options.DataNodes = n
			} else {
				c.options.Threads = n
			}
		default:
			c.settings[key] = value
		}
	}
	return c, nil
}

// connector opens the database with its first connection; sql.DB.Close closes it.
type connector struct {
	driver   sqlDriver
	dir      string
	options  Options
	settings map[string]string

	mu sync.Mutex // guards db
	db *DB
}

func (c *connector) Driver() driver.Driver { return c.driver }

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.db == nil {
		db, err := Open(ctx, c.dir, c.options)
		if err != nil {
			return nil, err
		}
		c.db = db
	}
	s := c.db.Session()
	for name, value := range c.settings {
		if err := s.set(name, value, false); err != nil {
			s.Close()
			return nil, err
		}
	}
	return &conn{s: s, initial: s.values}, nil
}

// Close is called by sql.DB.Close.
func (c *connector) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.db == nil {
		return nil
	}
	err := c.db.Close()
	c.db = nil
	return err
}

// conn is one session.
type conn struct {
	s       *Session
	initial sessionValues
	args    []any // memory of a call's arguments
}

// Prepare parses a statement; its plan is made when it first runs.
func (c *conn) Prepare(query string) (driver.Stmt, error) {
	parsed, err := weftsql.Parse(query)
	if err != nil {
		if lost := c.s.locked(func() error { c.s.fail(); return nil }); lost != nil {
			err = lost
		}
		return nil, err
	}
	s := &stmt{c: c, query: query, parsed: parsed}
	for _, p := range parsed {
		switch p.(type) {
		case *weftsql.Select, *weftsql.Insert, *weftsql.Update, *weftsql.Delete, *weftsql.Merge:
		default:
			s.parsed = nil // running it may change the tree
		}
	}
	return s, nil
}

func (c *conn) Close() error { return c.s.Close() }

func (c *conn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

func (c *conn) BeginTx(_ context.Context, o driver.TxOptions) (driver.Tx, error) {
	t := c.s.defaultTxOptions()
	t.ReadOnly = t.ReadOnly || o.ReadOnly
	switch sql.IsolationLevel(o.Isolation) {
	case sql.LevelDefault:
	case sql.LevelReadUncommitted, sql.LevelReadCommitted:
		t.Isolation = ReadCommitted
	case sql.LevelRepeatableRead, sql.LevelSnapshot:
		t.Isolation = RepeatableRead
	case sql.LevelSerializable:
		t.Isolation = Serializable
	default:
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "isolation level %s is not supported", sql.IsolationLevel(o.Isolation)).WithHint("Use sql.LevelSerializable.")
	}
	if err := c.s.locked(func() error { return c.s.begin(t) }); err != nil {
		return nil, err
	}
	return connTx{c.s}, nil
}

// Ping reports whether the session is open.
func (c *conn) Ping(context.Context) error {
	if !c.IsValid() {
		return driver.ErrBadConn
	}
	return nil
}

// ResetSession prepares a pooled connection for its next user.
func (c *conn) ResetSession(context.Context) error {
	err := c.s.locked(func() error {
		c.s.rollback()
		c.s.values = c.initial
		clear(c.s.prepared)
		return nil
	})
	if errors.Is(err, errClosed) {
		return driver.ErrBadConn
	}
	return err
}

// IsValid reports whether the connection can be used again.
func (c *conn) IsValid() bool { return c.s.locked(func() error { return nil }) == nil }

func (c *conn) CheckNamedValue(v *driver.NamedValue) error {
	if v.Name != "" {
		return sqlerr.New(sqlerr.FeatureNotSupported, "named arguments are not supported: use $1, $2, …")
	}
	return nil // any Go value; converted to the parameter's type when it is bound
}

// plainArgs returns the values of arguments until the connection's next call: a statement keeps its own
// copy of them.
func (c *conn) plainArgs(args []driver.NamedValue) []any {
	c.args = c.args[:0]
	for _, a := range args {
		c.args = append(c.args, a.Value)
	}
	return c.args
}

// run runs statements, parsed from query where they are not given, and returns how many rows the last
// one was about.
func (c *conn) run(ctx context.Context, query string, parsed []weftsql.Statement, args []driver.NamedValue) (driver.Result, error) {
	var n int64
	err := c.s.drain(ctx, query, parsed, c.plainArgs(args), func(r *Rows) { n = r.rowsAffected() })
	clear(c.args)
	if err != nil {
		return nil, err
	}
	return execResult(n), nil
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.run(ctx, query, nil, args)
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	r, err := c.s.Query(ctx, query, c.plainArgs(args)...)
	clear(c.args)
	if err != nil {
		return nil, err
	}
	return &driverRows{r}, nil
}

type execResult int64

func (r execResult) RowsAffected() (int64, error) { return int64(r), nil }

func (r execResult) LastInsertId() (int64, error) {
	return 0, sqlerr.New(sqlerr.FeatureNotSupported, "LastInsertId is not supported").WithHint("Use INSERT ... RETURNING.")
}

// connTx is the transaction of a connection.
type connTx struct{ s *Session }

func (t connTx) Commit() error {
	return t.s.locked(func() error { return t.s.commit(context.Background()) })
}

func (t connTx) Rollback() error {
	return t.s.locked(func() error {
		t.s.rollback()
		return nil
	})
}

// stmt is a prepared statement: its plan is found by its text.
type stmt struct {
	c      *conn
	query  string
	parsed []weftsql.Statement // nil = to be parsed at each run
}

func (s *stmt) Close() error  { return nil }
func (s *stmt) NumInput() int { return -1 }

func (s *stmt) Exec([]driver.Value) (driver.Result, error) { return nil, driver.ErrSkip }
func (s *stmt) Query([]driver.Value) (driver.Rows, error)  { return nil, driver.ErrSkip }

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return s.c.run(ctx, s.query, s.parsed, args)
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	r, err := s.c.s.query(ctx, s.query, s.parsed, s.c.plainArgs(args))
	clear(s.c.args)
	if err != nil {
		return nil, err
	}
	return &driverRows{r}, nil
}

func (s *stmt) CheckNamedValue(v *driver.NamedValue) error { return s.c.CheckNamedValue(v) }

// driverRows adapts Rows.
type driverRows struct{ r *Rows }

func (d *driverRows) Columns() []string {
	names := make([]string, len(d.r.columns))
	for i, c := range d.r.columns {
		names[i] = c.Name
	}
	return names
}

func (d *driverRows) Close() error {
	err := d.r.Close()
	if errors.Is(err, context.Canceled) {
		return nil // closing early is not an error
	}
	return err
}

func (d *driverRows) Next(dest []driver.Value) error {
	if !d.r.Next() {
		if err := d.r.Err(); err != nil {
			return err
		}
		return io.EOF
	}
	for i := range dest {
		dest[i] = d.r.Value(i)
	}
	return nil
}

var scanTypes = map[catalog.TypeID]reflect.Type{
	catalog.Bool: reflect.TypeFor[bool](), catalog.Int2: reflect.TypeFor[int64](), catalog.Int4: reflect.TypeFor[int64](),
	catalog.Int8: reflect.TypeFor[int64](), catalog.Oid: reflect.TypeFor[int64](), catalog.Float4: reflect.TypeFor[float64](),
	catalog.Float8: reflect.TypeFor[float64](), catalog.Bytea: reflect.TypeFor[[]byte](), catalog.Date: reflect.TypeFor[time.Time](),
	catalog.Timestamp: reflect.TypeFor[time.Time](), catalog.TimestampTZ: reflect.TypeFor[time.Time](),
}

func (d *driverRows) ColumnTypeScanType(i int) reflect.Type {
	if t, ok := scanTypes[d.r.columns[i].Type.ID]; ok {
		return t
	}
	return reflect.TypeFor[string]()
}

func (d *driverRows) ColumnTypeDatabaseTypeName(i int) string {
	return strings.ToUpper(d.r.columns[i].Type.Base().String())
}

func (d *driverRows) ColumnTypeLength(i int) (int64, bool) {
	t := d.r.columns[i].Type
	if t.ID == catalog.Char || t.ID == catalog.Varchar {
		return int64(t.Prec), t.Prec > 0
	}
	return 0, false
}

func (d *driverRows) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	t := d.r.columns[i].Type
	return int64(t.Prec), int64(t.Scale), t.ID == catalog.Numeric && t.Prec > 0
}
