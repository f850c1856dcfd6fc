package planner

import (
	"slices"
	"strconv"
	"strings"

	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

// storageOption is a storage parameter of PostgreSQL's tables. None means anything here: values are
// checked, so that mistakes are found, and forgotten.
type storageOption struct {
	name      string
	kind      string // integer, floating point, boolean or enum
	low, high float64
}

var storageOptions = []storageOption{
	{"fillfactor", "integer", 10, 100},
	{"toast_tuple_target", "integer", 128, 8160},
	{"parallel_workers", "integer", 0, 1024},
	{"autovacuum_enabled", "boolean", 0, 0},
	{"vacuum_index_cleanup", "enum", 0, 0},
	{"vacuum_truncate", "boolean", 0, 0},
	{"user_catalog_table", "boolean", 0, 0},
	{"log_autovacuum_min_duration", "integer", -1, 2147483647},
	{"autovacuum_vacuum_threshold", "integer", 0, 2147483647},
	{"autovacuum_vacuum_insert_threshold", "integer", -1, 2147483647},
	{"autovacuum_analyze_threshold", "integer", 0, 2147483647},
	{"autovacuum_vacuum_cost_limit", "integer", 1, 10000},
	{"autovacuum_freeze_min_age", "integer", 0, 1000000000},
	{"autovacuum_freeze_max_age", "integer", 100000, 2000000000},
	{"autovacuum_freeze_table_age", "integer", 0, 2000000000},
	{"autovacuum_multixact_freeze_min_age", "integer", 0, 1000000000},
	{"autovacuum_multixact_freeze_max_age", "integer", 10000, 2000000000},
	{"autovacuum_multixact_freeze_table_age", "integer", 0, 2000000000},
	{"autovacuum_vacuum_cost_delay", "floating point", 0, 100},
	{"autovacuum_vacuum_scale_factor", "floating point", 0, 100},
	{"autovacuum_vacuum_insert_scale_factor", "floating point", 0, 100},
	{"autovacuum_analyze_scale_factor", "floating point", 0, 100},
}

// checkStorageOptions checks the WITH (…) or SET (…) of a table.
func checkStorageOptions(list []sql.Option) error {
	for i := range list {
		o := &list[i]
		if slices.ContainsFunc(list[:i], func(other sql.Option) bool { return other.Name == o.Name }) {
			return sqlerr.New(sqlerr.InvalidParameterValue, "parameter %q specified more than once", o.Name)
		}
		value := o.Value
		if !o.HasValue {
			value = "true"
		}
		if o.Name == "oids" && isBoolean(value) {
			if strings.HasPrefix("false", strings.ToLower(value)) || strings.EqualFold(value, "off") || value == "0" {
				continue
			}
			return sqlerr.New(sqlerr.FeatureNotSupported, "tables declared WITH OIDS are not supported").At(o.Start)
		}
		at := slices.IndexFunc(storageOptions, func(s storageOption) bool { return s.name == strings.TrimPrefix(o.Name, "toast.") })
		if at < 0 {
			return sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized parameter %q", o.Name)
		}
		if err := storageOptions[at].check(value); err != nil {
			return err
		}
	}
	return nil
}

func isBoolean(value string) bool {
	return slices.Contains([]string{"true", "false", "on", "off", "yes", "no", "1", "0", "t", "f"}, strings.ToLower(value))
}

func (s *storageOption) check(value string) error {
	invalid := sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for %s option %q: %s", s.kind, s.name, value)
	var number float64
	switch s.kind {
	case "boolean":
		if !isBoolean(value) {
			return invalid
		}
		return nil
	case "enum":
		if !isBoolean(value) && !strings.EqualFold(value, "auto") {
			return invalid.WithDetail(`Valid values are "on", "off", and "auto".`)
		}
		return nil
	case "integer":
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil {
			return invalid
		}
		number = float64(n)
	default:
		n, err := strconv.ParseFloat(value, 64)
		if err != nil || n != n {
			return invalid
		}
		number = n
	}
	if number >= s.low && number <= s.high {
		return nil
	}
	bound := func(f float64) string {
		if s.kind == "integer" {
			return strconv.FormatInt(int64(f), 10)
		}
		return strconv.FormatFloat(f, 'f', 6, 64)
	}
	return sqlerr.New(sqlerr.InvalidParameterValue, "value %s out of bounds for option %q", value, s.name).
		WithDetail("Valid values are between \"%s\" and \"%s\".", bound(s.low), bound(s.high))
}
