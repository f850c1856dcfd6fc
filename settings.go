package weft

import (
	"runtime"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
)

// setting describes one name of SET and SHOW.
type setting struct {
	name    string
	initial string // default, as SHOW prints it
	doc     string
	// normalize checks a value and returns it as SHOW prints it.
	normalize func(text string) (string, error)
	// global settings belong to the database, not to the session.
	global bool
	// fixed settings cannot be set while the database is open.
	fixed bool
}

// Setting names used by the code.
const (
	setEnableHTAP        = "enable_htap"
	setRouterMode        = "htap_router_mode"
	setImcvScan          = "enable_imcvscan"
	setHybridScan        = "enable_hybrid_imcvscan"
	setAsyncPopulate     = "enable_async_populate"
	setMaxMemSize        = "htap_max_mem_size"
	setMemPolicy         = "htap_memctl_policy"
	setFlushWorkers      = "htap_flush_workers"
	setFlushPages        = "htap_flush_pagenum"
	setFlushInterval     = "htap_flush_interval"
	setGroupPages        = "htap_rowgroup_pagenum"
	setMemoryLimit       = "memory_limit"
	setThreads           = "threads"
	setSyncCommit        = "synchronous_commit"
	setTimeZone          = "timezone"
	setSearchPath        = "search_path"
	setStatementTimeout  = "statement_timeout"
	setDisabledRules     = "disabled_rules"
	setHashJoin          = "enable_hashjoin"
	setIndexScan         = "enable_indexscan"
	setNestedLoop        = "enable_nestloop"
	setDefaultIsolation  = "default_transaction_isolation"
	setTransactionMode   = "transaction_isolation"
	setServerVersion     = "server_version"
	setServerVersionNum  = "server_version_num"
	setClientEncoding    = "client_encoding"
	setDateStyle         = "datestyle"
	setIntervalStyle     = "intervalstyle"
	setStandardStrings   = "standard_conforming_strings"
	setApplicationName   = "application_name"
	setExtraFloatDigits  = "extra_float_digits"
	setClientMinMessages = "client_min_messages"
)

// serverVersion is the PostgreSQL version whose behaviour weft follows.
const serverVersion = "15.0 (weft)"

var settings = makeSettings()

func makeSettings() map[string]*setting {
	list := []*setting{
		{name: setEnableHTAP, initial: "on", normalize: boolean, global: true, fixed: true, doc: "column views exist"},
		{name: setRouterMode, initial: "auto", normalize: oneOf("row", "column", "auto"), doc: "read rows, columns where they cover the query, or by cost"},
		{name: setImcvScan, initial: "on", normalize: boolean, doc: "allow column scans"},
		{name: setHybridScan, initial: "on", normalize: boolean, doc: "allow filtering on columns and fetching other columns from rows"},
		{name: setAsyncPopulate, initial: "on", normalize: boolean, doc: "load column views in the background"},
		{name: setMaxMemSize, initial: "1048576", normalize: kilobytes(102400, 1073741824), global: true, doc: "memory for column units, kB"},
		{name: setMemPolicy, initial: "swap", normalize: oneOf("swap", "delete", "escape"), global: true, doc: "what happens to units beyond that memory"},
		{name: setFlushWorkers, initial: "3", normalize: integer(1, 100), global: true, doc: "workers that load and rebuild units"},
		{name: setFlushPages, initial: "512", normalize: integer(1, 1000), global: true, doc: "changed pages of 64 rows after which a row group is rebuilt"},
		{name: setFlushInterval, initial: "300", normalize: integer(1, 36000), global: true, doc: "seconds after which changed row groups are rebuilt"},
		{name: setGroupPages, initial: "1024", normalize: integer(1024, 1024), global: true, fixed: true, doc: "pages of 64 rows in a row group"},
		{name: setMemoryLimit, initial: "0", normalize: memorySize, global: true, doc: "memory for everything, bytes"},
		{name: setThreads, initial: strconv.Itoa(runtime.GOMAXPROCS(0)), normalize: integer(1, 1024), doc: "workers a statement may use"},
		{name: setSyncCommit, initial: "on", normalize: boolean, doc: "COMMIT waits until it is durable"},
		{name: setTimeZone, initial: "UTC", normalize: timeZone, doc: "time zone of the session"},
		{name: setSearchPath, initial: "public", normalize: anyText, doc: "schemas to look names up in"},
		{name: setStatementTimeout, initial: "0", normalize: milliseconds, doc: "longest run of a statement, ms; 0 = no limit"},
		{name: setDisabledRules, initial: "", normalize: ruleNames, doc: "planner rules that are switched off"},
		{name: setHashJoin, initial: "on", normalize: boolean, doc: "allow hash joins"},
		{name: setIndexScan, initial: "on", normalize: boolean, doc: "allow index scans; rows by primary key are always looked up"},
		{name: setNestedLoop, initial: "on", normalize: boolean, doc: "allow joins that look rows up by an index for each row of the other side"},
		{name: setDefaultIsolation, initial: "read committed", normalize: isolation, doc: "isolation level of new transactions"},
		{name: setTransactionMode, initial: "read committed", normalize: isolation, doc: "isolation level of the transaction"},
		{name: setServerVersion, initial: serverVersion, fixed: true, doc: "PostgreSQL version followed"},
		{name: setServerVersionNum, initial: "150000", fixed: true, doc: "the same as a number"},
		{name: setClientEncoding, initial: "UTF8", normalize: oneOf("utf8"), doc: "encoding of texts"},
		{name: setDateStyle, initial: "ISO, MDY", normalize: anyText, doc: "only ISO output exists"},
		{name: setIntervalStyle, initial: "postgres", normalize: oneOf("postgres"), doc: "output of intervals"},
		{name: setStandardStrings, initial: "on", normalize: oneOf("on"), doc: "backslashes in strings are plain"},
		{name: setApplicationName, initial: "", normalize: anyText, doc: "free text"},
		{name: setExtraFloatDigits, initial: "1", normalize: integer(-15, 3), doc: "floats always print shortest exact"},
		{name: setClientMinMessages, initial: "notice", normalize: oneOf("debug5", "debug4", "debug3", "debug2", "debug1", "log", "notice", "warning", "error"), doc: "least message sent to the client"},
	}
	m := map[string]*setting{}
	for _, s := range list {
		m[s.name] = s
	}
	return m
}

func invalidValue(text, hint string) error {
	err := sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for parameter: %q", text)
	if hint != "" {
		return err.WithHint("%s", hint)
	}
	return err
}

func anyText(text string) (string, error) { return text, nil }

func boolean(text string) (string, error) {
	switch strings.ToLower(text) {
	case "on", "true", "yes", "1", "t", "y":
		return "on", nil
	case "off", "false", "no", "0", "f", "n":
		return "off", nil
	}
	return "", invalidValue(text, "Use on or off.")
}

func oneOf(values ...string) func(string) (string, error) {
	return func(text string) (string, error) {
		for _, v := range values {
			if strings.EqualFold(v, text) {
				return v, nil
			}
		}
		return "", invalidValue(text, "Available values: "+strings.Join(values, ", ")+".")
	}
}

func integer(low, high int64) func(string) (string, error) {
	return func(text string) (string, error) {
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err != nil {
			return "", invalidValue(text, "Use a whole number.")
		}
		if n < low || n > high {
			return "", sqlerr.New(sqlerr.InvalidParameterValue, "%d is outside the valid range for parameter (%d .. %d)", n, low, high)
		}
		return strconv.FormatInt(n, 10), nil
	}
}

// sizeUnits are the suffixes of sizes, in bytes.
var sizeUnits = []struct {
	suffix string
	bytes  int64
}{{"tb", 1 << 40}, {"gb", 1 << 30}, {"mb", 1 << 20}, {"kb", 1 << 10}, {"b", 1}}

// parseSize reads a number with an optional unit.
func parseSize(text string, unit int64) (int64, error) {
	t := strings.ToLower(strings.TrimSpace(text))
	for _, u := range sizeUnits {
		if strings.HasSuffix(t, u.suffix) {
			t, unit = strings.TrimSpace(strings.TrimSuffix(t, u.suffix)), u.bytes
			break
		}
	}
	n, err := strconv.ParseFloat(t, 64)
	if err != nil || n < 0 || n*float64(unit) > 1<<60 {
		return 0, invalidValue(text, `Use a number with an optional unit: kB, MB, GB, TB.`)
	}
	return int64(n * float64(unit)), nil
}

func kilobytes(low, high int64) func(string) (string, error) {
	check := integer(low, high)
	return func(text string) (string, error) {
		n, err := parseSize(text, 1<<10)
		if err != nil {
			return "", err
		}
		return check(strconv.FormatInt(n>>10, 10))
	}
}

func memorySize(text string) (string, error) {
	n, err := parseSize(text, 1)
	if err != nil {
		return "", err
	}
	if n < 16<<20 {
		return "", sqlerr.New(sqlerr.InvalidParameterValue, "memory_limit must be at least 16MB")
	}
	return strconv.FormatInt(n, 10), nil
}

func milliseconds(text string) (string, error) {
	t := strings.ToLower(strings.TrimSpace(text))
	if n, err := strconv.ParseInt(t, 10, 64); err == nil && n >= 0 {
		return strconv.FormatInt(n, 10), nil
	}
	d, err := time.ParseDuration(strings.ReplaceAll(t, "min", "m"))
	if err != nil || d < 0 {
		return "", invalidValue(text, "Use milliseconds, or a number with a unit: ms, s, min, h.")
	}
	return strconv.FormatInt(d.Milliseconds(), 10), nil
}

func timeZone(text string) (string, error) {
	if _, err := expr.LoadZone(text); err != nil {
		return "", sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for parameter \"TimeZone\": %q", text)
	}
	return text, nil
}

func isolation(text string) (string, error) {
	return oneOf("read uncommitted", "read committed", "repeatable read", "serializable")(text)
}

func ruleNames(text string) (string, error) {
	known := map[string]bool{}
	for _, name := range planner.RuleNames() {
		known[name] = true
	}
	for _, name := range splitList(text) {
		if !known[name] {
			return "", invalidValue(name, "Rules: "+strings.Join(planner.RuleNames(), ", ")+".")
		}
	}
	return text, nil
}

func splitList(text string) []string {
	var out []string
	for _, part := range strings.Split(text, ",") {
		if part = strings.Trim(strings.TrimSpace(part), `"`); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// lookupSetting finds a setting by any case of its name.
func lookupSetting(name string) (*setting, error) {
	if s, ok := settings[strings.ToLower(name)]; ok {
		return s, nil
	}
	return nil, sqlerr.New(sqlerr.UndefinedObject, "unrecognized configuration parameter %q", name)
}

// settingNames lists all settings in order.
func settingNames() []string {
	var names []string
	for name := range settings {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// displayName is a setting's name in PostgreSQL's spelling.
func displayName(name string) string {
	switch name {
	case setTimeZone:
		return "TimeZone"
	case setDateStyle:
		return "DateStyle"
	case setIntervalStyle:
		return "IntervalStyle"
	}
	return name
}
