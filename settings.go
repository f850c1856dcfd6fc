package weft

import (
	"math"
	"runtime"
	"sort"
	"strconv"
	"strings"

	"github.com/weftdb/weft/internal/sqlerr"
)

// setting describes one name of SET and SHOW.
type setting struct {
	name    string
	initial string // default, in the form that check returns
	doc     string
	// check reads a value in its many spellings and returns the one that is kept.
	check checker
	// show writes a kept value as SHOW prints it; nil = as it is.
	show func(value string) string
	// list settings take several values, which SET joins by commas.
	list listKind
	// global settings belong to the database, not to the session: they take effect at once and
	// outlive the transaction.
	global bool
	// fixed settings cannot be set while the database is open.
	fixed bool
	// transaction settings belong to the transaction alone and are kept in its options.
	transaction bool
}

// checker reads a value given for the setting of a name.
type checker func(name, text string) (string, error)

type listKind uint8

const (
	singleValue listKind = iota
	plainList            // values are words
	nameList             // values are identifiers, quoted where they need it
)

// Setting names used by the code.
const (
	setEnableHTAP          = "enable_htap"
	setRouterMode          = "htap_router_mode"
	setImcvScan            = "enable_imcvscan"
	setHybridScan          = "enable_hybrid_imcvscan"
	setAsyncPopulate       = "enable_async_populate"
	setMaxMemSize          = "htap_max_mem_size"
	setMemPolicy           = "htap_memctl_policy"
	setFlushWorkers        = "htap_flush_workers"
	setFlushPages          = "htap_flush_pagenum"
	setFlushInterval       = "htap_flush_interval"
	setGroupPages          = "htap_rowgroup_pagenum"
	setCompression         = "htap_compression_methods"
	setDeployMode          = "htap_deploy_mode"
	setVerify              = "htap_verify"
	setMemoryLimit         = "memory_limit"
	setWorkMem             = "work_mem"
	setThreads             = "threads"
	setSyncCommit          = "synchronous_commit"
	setTimeZone            = "timezone"
	setSearchPath          = "search_path"
	setStatementTimeout    = "statement_timeout"
	setLockTimeout         = "lock_timeout"
	setIdleTimeout         = "idle_in_transaction_session_timeout"
	setDisabledRules       = "disabled_rules"
	setHashJoin            = "enable_hashjoin"
	setMergeJoin           = "enable_mergejoin"
	setSeqScan             = "enable_seqscan"
	setIndexScan           = "enable_indexscan"
	setIndexOnlyScan       = "enable_indexonlyscan"
	setBitmapScan          = "enable_bitmapscan"
	setNestedLoop          = "enable_nestloop"
	setPartitionPruning    = "enable_partition_pruning"
	setPartitionwiseJoin   = "enable_partitionwise_join"
	setPartitionwiseGroup  = "enable_partitionwise_aggregate"
	setRuntimeFilter       = "enable_runtime_filter"
	setDefaultIsolation    = "default_transaction_isolation"
	setDefaultReadOnly     = "default_transaction_read_only"
	setDefaultDeferrable   = "default_transaction_deferrable"
	setTransactionMode     = "transaction_isolation"
	setTransactionReadOnly = "transaction_read_only"
	setTransactionDefer    = "transaction_deferrable"
	setServerVersion       = "server_version"
	setServerVersionNum    = "server_version_num"
	setClientEncoding      = "client_encoding"
	setDateStyle           = "datestyle"
	setIntervalStyle       = "intervalstyle"
	setStandardStrings     = "standard_conforming_strings"
	setApplicationName     = "application_name"
	setExtraFloatDigits    = "extra_float_digits"
	setClientMinMessages   = "client_min_messages"
)

// serverVersion is the PostgreSQL version whose behaviour weft follows.
const serverVersion = "15.0 (weft)"

var settings = makeSettings()

func makeSettings() map[string]*setting {
	list := []*setting{
		{name: setEnableHTAP, initial: "on", check: boolean, global: true, fixed: true, doc: "column views exist"},
		{name: setRouterMode, initial: "auto", check: oneOf("row", "column", "auto"), doc: "read rows, columns where they cover the query, or by cost"},
		{name: setImcvScan, initial: "on", check: boolean, doc: "allow column scans"},
		{name: setHybridScan, initial: "on", check: boolean, doc: "allow filtering on columns and fetching other columns from rows"},
		{name: setAsyncPopulate, initial: "on", check: boolean, doc: "load column views in the background"},
		{name: setMaxMemSize, initial: "1048576", check: integer(102400, 1073741824, inKilobytes), show: inKilobytes.show, global: true, doc: "memory for column units"},
		{name: setMemPolicy, initial: "swap", check: oneOf("swap", "delete", "escape"), global: true, doc: "what happens to units beyond that memory"},
		{name: setFlushWorkers, initial: "3", check: integer(1, 100, nil), global: true, doc: "workers that load and rebuild units"},
		{name: setFlushPages, initial: "512", check: integer(1, 1000, nil), global: true, doc: "changed pages of 64 rows after which a row group is rebuilt"},
		{name: setFlushInterval, initial: "300", check: integer(1, 36000, inSeconds), show: inSeconds.show, global: true, doc: "time after which changed row groups are rebuilt"},
		{name: setGroupPages, initial: "1024", check: integer(1024, 1024, nil), global: true, fixed: true, doc: "pages of 64 rows in a row group"},
		{name: setCompression, initial: "all", check: oneOf("all"), global: true, doc: "encodings that units may choose from"},
		{name: setDeployMode, initial: "primary", check: oneOf("primary", "all"), global: true, doc: "where column views are kept; a database in one process has no standby"},
		{name: setVerify, initial: "off", check: boolean, doc: "run queries by rows and by columns and fail where the results differ"},
		{name: setMemoryLimit, initial: "0", check: integer(16<<20, 1<<60, inBytes), show: inBytes.show, global: true, doc: "memory for everything"},
		{name: setWorkMem, initial: "0", check: integer(0, math.MaxInt32, inKilobytes), show: inKilobytes.show, doc: "memory of a join, beyond which it goes to disk; 0 = a share of memory_limit"},
		{name: setThreads, initial: strconv.Itoa(runtime.GOMAXPROCS(0)), check: integer(1, 1024, nil), doc: "workers a statement may use"},
		{name: setSyncCommit, initial: "on", check: syncCommit, doc: "COMMIT waits until it is durable"},
		{name: setTimeZone, initial: "UTC", check: timeZone, doc: "time zone of the session"},
		{name: setSearchPath, initial: "public", check: nameListText, list: nameList, doc: "schemas to look names up in"},
		{name: setStatementTimeout, initial: "0", check: integer(0, math.MaxInt32, inMilliseconds), show: inMilliseconds.show, doc: "longest run of a statement; 0 = no limit"},
		{name: setLockTimeout, initial: "0", check: integer(0, math.MaxInt32, inMilliseconds), show: inMilliseconds.show, doc: "longest wait for a lock; 0 = no limit"},
		{name: setIdleTimeout, initial: "0", check: integer(0, math.MaxInt32, inMilliseconds), show: inMilliseconds.show, doc: "longest time between statements of a transaction, after which the session ends; 0 = no limit"},
		{name: setDisabledRules, initial: "", check: ruleNames, list: plainList, doc: "planner rules that are switched off"},
		{name: setHashJoin, initial: "on", check: boolean, doc: "allow hash joins"},
		{name: setMergeJoin, initial: "on", check: boolean, doc: "allow joins that merge two ordered inputs"},
		{name: setSeqScan, initial: "on", check: boolean, doc: "allow reading tables by rows from end to end where there is another way"},
		{name: setIndexOnlyScan, initial: "on", check: boolean, doc: "allow reading index entries without their rows"},
		{name: setBitmapScan, initial: "on", check: boolean, doc: "allow combining indexes"},
		{name: setIndexScan, initial: "on", check: boolean, doc: "allow index scans; rows by primary key are always looked up"},
		{name: setNestedLoop, initial: "on", check: boolean, doc: "allow joins that look rows up by an index for each row of the other side"},
		{name: setPartitionPruning, initial: "on", check: boolean, doc: "leave out partitions in which a query's conditions are true for no row"},
		{name: setPartitionwiseJoin, initial: "on", check: boolean, doc: "join partitioned tables a group of partitions at a time where memory does not take the whole build"},
		{name: setPartitionwiseGroup, initial: "on", check: boolean, doc: "group the rows of partitioned tables some partitions at a time where memory or the processor's cache does not take all groups"},
		{name: setRuntimeFilter, initial: "on", check: boolean, doc: "let scans drop rows that find no match in a hash join above them"},
		{name: setDefaultIsolation, initial: "read committed", check: isolationLevel, doc: "isolation level of new transactions"},
		{name: setDefaultReadOnly, initial: "off", check: boolean, doc: "new transactions do not write"},
		{name: setDefaultDeferrable, initial: "off", check: boolean, doc: "new serializable transactions that do not write wait for a safe snapshot"},
		{name: setTransactionMode, initial: "read committed", check: isolationLevel, transaction: true, doc: "isolation level of the transaction"},
		{name: setTransactionReadOnly, initial: "off", check: boolean, transaction: true, doc: "the transaction does not write"},
		{name: setTransactionDefer, initial: "off", check: boolean, transaction: true, doc: "the transaction, if serializable and without writing, waits for a safe snapshot"},
		{name: setServerVersion, initial: serverVersion, fixed: true, doc: "PostgreSQL version followed"},
		{name: setServerVersionNum, initial: "150000", fixed: true, doc: "the same as a number"},
		{name: setClientEncoding, initial: "UTF8", check: clientEncoding, doc: "encoding of texts"},
		{name: setDateStyle, initial: "ISO, MDY", check: dateStyle, list: plainList, doc: "output and field order of dates; only ISO, MDY exists"},
		{name: setIntervalStyle, initial: "postgres", check: only("postgres", oneOf("postgres", "postgres_verbose", "sql_standard", "iso_8601")), doc: "output of intervals"},
		{name: setStandardStrings, initial: "on", check: only("on", boolean), doc: "backslashes in strings are plain"},
		{name: setApplicationName, initial: "", check: anyText, doc: "free text"},
		{name: setExtraFloatDigits, initial: "1", check: extraFloatDigits, doc: "floats always print shortest exact"},
		{name: setClientMinMessages, initial: "notice", check: messageLevel, doc: "least message sent to the client"},
	}
	m := map[string]*setting{}
	for _, s := range list {
		m[s.name] = s
	}
	return m
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

// shownValue is a kept value as SHOW prints it.
func (s *setting) shownValue(value string) string {
	if s.show == nil {
		return value
	}
	return s.show(value)
}
