package weft_test

import (
	"fmt"
	"strings"
)

// The values of a schema are lowestValue … highestValue.
const lowestValue, highestValue = -5, 12

// partitionKeyTypes are the types of keys, with how value number n of each is written. Where equal values have
// several forms, the form tells which.
var partitionKeyTypes = []struct {
	name  string
	value func(n, form int) string
	wider []string // types of the other side that compare with it
}{
	{"int", plainValue("%d"), []string{"int", "bigint", "smallint", "numeric", "double precision"}},
	{"bigint", plainValue("%d"), []string{"bigint", "int", "numeric"}},
	{"smallint", plainValue("%d"), []string{"smallint", "int", "double precision"}},
	{"date", plainValue("(date '2024-03-28' + %d)"), []string{"date", "timestamp", "timestamptz"}},
	{"timestamp", plainValue("(timestamp '2024-01-10' + %d * interval '1 day')"), []string{"timestamp", "date", "timestamptz"}},
	{"timestamp", plainValue("(timestamp '2024-10-27 00:30' + %d * interval '30 minutes')"), []string{"timestamp", "timestamptz"}},
	{"timestamptz", plainValue("(timestamptz '2024-03-31 00:00+00' + %d * interval '30 minutes')"), []string{"timestamptz", "timestamp", "date"}},
	{"timestamptz", plainValue("(timestamptz '2024-10-26 22:00+00' + %d * interval '30 minutes')"), []string{"timestamptz", "timestamp"}},
	{"timestamptz", plainValue("(timestamptz '2024-03-28 23:00+00' + %d * interval '1 day')"), []string{"timestamptz", "date", "timestamp"}},
	{"text", letterValue(0), []string{"text", "varchar(9)", "char(4)"}},
	{"varchar(5)", letterValue(0), []string{"varchar(5)", "text", "char(3)"}},
	{"char(3)", letterValue(2), []string{"char(3)", "char(5)", "text", "varchar(4)"}},
	{"numeric(8,2)", plainValue("%d.50"), []string{"numeric(8,2)", "numeric(9,3)", "numeric", "double precision"}},
	{"numeric", numericValue, []string{"numeric", "numeric(9,3)", "int", "double precision"}},
	{"boolean", func(n, _ int) string { return fmt.Sprint(n%2 == 0) }, []string{"boolean"}},
	{"double precision", floatValue, []string{"double precision", "real", "numeric", "int"}},
	{"real", floatValue, []string{"real", "double precision"}},
}

// partitionZones are time zones of sessions. In each of them some of the values above are hours that do not
// exist, or come twice.
var partitionZones = []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"}

func plainValue(format string) func(n, form int) string {
	return func(n, _ int) string { return fmt.Sprintf(format, n) }
}

// letterValue makes strings of a letter with up to so many blanks behind it.
func letterValue(blanks int) func(n, form int) string {
	return func(n, form int) string {
		return "'" + string(rune('f'+n)) + strings.Repeat(" ", form%(blanks+1)) + "'"
	}
}

// numericValue makes numbers in several scales, with NaN and infinity above all others.
func numericValue(n, form int) string {
	switch n {
	case highestValue:
		return "'NaN'"
	case highestValue - 1:
		return "'Infinity'"
	}
	return fmt.Sprintf("%d.%s", n, []string{"5", "50", "500000"}[form%3])
}

// floatValue makes numbers, with both zeros, NaN and infinity among them.
func floatValue(n, form int) string {
	switch n {
	case highestValue:
		return "'NaN'"
	case lowestValue:
		return "'-Infinity'"
	case 0:
		return []string{"'0'", "'-0'"}[form%2]
	}
	return fmt.Sprintf("'%d.%s'", n, []string{"25", "0"}[n&1])
}
