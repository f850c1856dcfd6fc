// Package sqlname writes identifiers as PostgreSQL's messages do.
package sqlname

import "strings"

// MaxBytes is the longest identifier; longer ones are cut.
const MaxBytes = 63

// keywords are those of PostgreSQL that are not free to use as any name; they are quoted.
var keywords = func() map[string]bool {
	m := map[string]bool{}
	for _, word := range strings.Fields(`all analyse analyze and any array as asc asymmetric authorization between bigint binary bit
		boolean both case cast char character check coalesce collate collation column concurrently constraint create cross
		current_catalog current_date current_role current_schema current_time current_timestamp current_user dec decimal default
		deferrable desc distinct do else end except exists extract false fetch float for foreign freeze from full grant greatest
		group grouping having ilike in initially inner inout int integer intersect interval into is isnull join lateral leading
		least left like limit localtime localtimestamp national natural nchar none normalize not notnull null nullif numeric
		offset on only or order out outer overlaps overlay placing position precision primary real references returning right
		row select session_user setof similar smallint some substring symmetric table tablesample then time timestamp to trailing
		treat trim true union unique user using values varchar variadic verbose when where window with xmlattributes xmlconcat
		xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable`) {
		m[word] = true
	}
	return m
}()

// Keyword reports whether a name is quoted for being a keyword.
func Keyword(name string) bool { return keywords[name] }

// Quote writes a name as SQL text, in double quotes where PostgreSQL's quote_identifier puts them.
func Quote(name string) string {
	plain := name != "" && !keywords[name]
	for i := range len(name) {
		c := name[i]
		plain = plain && (c >= 'a' && c <= 'z' || c == '_' || i > 0 && c >= '0' && c <= '9')
	}
	if plain {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// Clip cuts a name to at most n bytes, between two characters.
func Clip(name string, n int) string {
	if len(name) <= n {
		return name
	}
	for n > 0 && name[n]&0xC0 == 0x80 {
		n--
	}
	return name[:n]
}

// Made puts the name of an object together that belongs to a table: table_column_label, or
// table_label without a column. Where that is too long, the longer of table and column is cut, byte
// by byte, as PostgreSQL's makeObjectName does it.
func Made(table, column, label string) string {
	space := MaxBytes - len(label) - 1
	if column != "" {
		space--
	}
	n, m := len(table), len(column)
	for n+m > space {
		if n > m {
			n--
		} else {
			m--
		}
	}
	name := Clip(table, n)
	if column != "" {
		name += "_" + Clip(column, m)
	}
	return name + "_" + label
}
