package weft

import (
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/weftdb/weft/expr"
)

// derivedSettings are settings in the forms that every statement needs, made once for a state of the
// settings: looking a dozen of them up by name would take longer than to read a row. They are
// immutable.
type derivedSettings struct {
	session, database uint64 // the versions they were made from

	statementTimeout time.Duration
	lockTimeout      time.Duration
	idleTimeout      time.Duration
	threads          int
	workBytes        int64
	runtimeFilters   bool
	noSyncWait       bool
	quiet            bool // notices are dropped
	verify           bool // htap_verify
	txOptions        TxOptions
	zone             *time.Location
	searchPath       []string
	planning         string // the values that shape plans
}

// settingsVersions numbers the states of settings of all sessions and databases.
var settingsVersions atomic.Uint64

// derived returns what the session's settings come to now. Sessions without settings of their own
// share it.
func (s *Session) derived() *derivedSettings {
	version := s.db.globalVersion.Load()
	d := s.settings
	if s.values.version == 0 {
		d = s.db.derived.Load()
	}
	if d != nil && d.session == s.values.version && d.database == version {
		return d
	}
	d = s.derive()
	d.session, d.database = s.values.version, version
	if s.settings = d; d.session == 0 {
		s.db.derived.Store(d)
	}
	return d
}

// derive reads the settings, all of which were checked when they were set.
func (s *Session) derive() *derivedSettings {
	d := &derivedSettings{
		statementTimeout: s.milliseconds(setStatementTimeout), lockTimeout: s.milliseconds(setLockTimeout), idleTimeout: s.milliseconds(setIdleTimeout),
		noSyncWait: s.setting(setSyncCommit) == "off",
		txOptions:  TxOptions{Isolation: isolationNamed(s.setting(setDefaultIsolation)), ReadOnly: s.on(setDefaultReadOnly), Deferrable: s.on(setDefaultDeferrable)},
	}
	level := s.setting(setClientMinMessages)
	d.quiet = level == "warning" || level == "error"
	d.verify = s.on(setVerify)
	threads, _ := strconv.Atoi(s.setting(setThreads))
	d.threads = max(threads, 1)
	d.workBytes = parseInt(s.setting(setWorkMem)) << 10
	d.runtimeFilters = s.on(setRuntimeFilter)
	d.zone, _ = expr.LoadZone(s.setting(setTimeZone))
	d.searchPath, _ = splitNames(s.setting(setSearchPath))
	var planning strings.Builder
	for _, name := range planningSettings {
		planning.WriteString(s.setting(name))
		planning.WriteByte(0)
	}
	d.planning = planning.String()
	return d
}

// milliseconds is the value of a setting that is a time.
func (s *Session) milliseconds(name string) time.Duration {
	ms, _ := strconv.ParseInt(s.setting(name), 10, 64)
	return time.Duration(ms) * time.Millisecond
}
