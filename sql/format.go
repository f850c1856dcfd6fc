package sql

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weftdb/weft/internal/sqlname"
)

// Format returns n as canonical SQL text on one line. Parsing the text yields a tree equal to n,
// spans aside, if n came from the parser; a tree made by code must be one the grammar has.
func Format(n Node) string {
	f := formatter{}
	f.node(n)
	return string(f.buf)
}

// QuoteIdent returns name as an identifier in SQL text, in double quotes where they are needed.
func QuoteIdent(name string) string {
	f := formatter{}
	f.name(name)
	return string(f.buf)
}

// QuoteString returns s as a string constant.
func QuoteString(s string) string {
	f := formatter{}
	f.str(s)
	return string(f.buf)
}

// formatter appends SQL text to buf.
type formatter struct{ buf []byte }

// node writes any node.
func (f *formatter) node(n Node) {
	switch n := n.(type) {
	case Expr:
		f.expr(n)
	case Statement:
		f.statement(n)
	case SelectBody:
		f.body(n)
	case TableRef:
		f.tableRef(n)
	case AlterAction:
		f.alterAction(n)
	case Ident:
		f.ident(n)
	case *Ident:
		f.ident(*n)
	case ObjectName:
		f.object(n)
	case *ObjectName:
		f.object(*n)
	case TypeName:
		f.typeName(n)
	case *TypeName:
		f.typeName(*n)
	default:
		f.part(n)
	}
}

// part writes the nodes that only occur inside others.
func (f *formatter) part(n Node) {
	switch n := n.(type) {
	case *With:
		f.with(n)
	case *WindowSpec:
		f.windowSpec(n)
	case *PartitionBy:
		f.partitionBy(n)
	case *PartitionBound:
		f.bound(n, false)
	case *DistributeBy:
		f.distributeBy(n)
	case *OnConflict:
		f.onConflict(n)
	case *Identity:
		f.identity(n)
	case Target:
		f.target(n)
	case OrderItem:
		f.orderItem(n)
	case GroupItem:
		f.groupItem(n)
	case ColumnDef:
		f.columnDef(n)
	case *ColumnDef:
		f.columnDef(*n)
	case Constraint:
		f.constraint(n)
	case *Constraint:
		f.constraint(*n)
	case IndexElem:
		f.indexElem(n)
	case PartitionDef:
		f.partitionDef(n)
	case PartitionKey:
		f.partitionKey(n)
	case Assignment:
		f.assignment(n)
	default:
		panic(fmt.Sprintf("sql: Format of %T", n))
	}
}

// w writes text as it is.
func (f *formatter) w(parts ...string) {
	for _, s := range parts {
		f.buf = append(f.buf, s...)
	}
}

// when writes text if cond holds.
func (f *formatter) when(cond bool, text string) {
	if cond {
		f.w(text)
	}
}

func (f *formatter) int(n int64) { f.buf = strconv.AppendInt(f.buf, n, 10) }

// str writes a string constant.
func (f *formatter) str(s string) {
	f.w("'", strings.ReplaceAll(s, "'", "''"), "'")
}

// commonNames are keywords that are usual names and can stand as such without quotes wherever the
// formatter writes a name. All other keywords are quoted, though many would not have to be.
var commonNames = map[string]bool{
	"data": true, "day": true, "first": true, "hour": true, "key": true, "last": true, "level": true, "minute": true,
	"mode": true, "month": true, "names": true, "next": true, "owner": true, "role": true, "second": true,
	"start": true, "type": true, "value": true, "year": true, "zone": true,
}

// plainName reports whether name reads back as itself when written without quotes as an ordinary
// name.
func plainName(name string) bool {
	return plainWord(name) && (keywordOf(name) == tokIdent || commonNames[name])
}

// plainWord reports whether name has the form of an identifier in lower case.
func plainWord(name string) bool {
	if name == "" || len(name) > sqlname.MaxBytes {
		return false
	}
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z' || c == '_':
		case i > 0 && (c >= '0' && c <= '9' || c == '$'):
		default:
			return false
		}
	}
	return true
}

func (f *formatter) name(name string) {
	if plainName(name) {
		f.w(name)
		return
	}
	f.w(`"`, strings.ReplaceAll(name, `"`, `""`), `"`)
}

func (f *formatter) ident(id Ident) { f.name(id.Name) }

func (f *formatter) object(o ObjectName) {
	if o.Schema != "" {
		f.name(o.Schema)
		f.w(".")
	}
	f.name(o.Name)
}

// list writes items separated by commas.
func list[T any](f *formatter, items []T, write func(T)) {
	for i, item := range items {
		if i > 0 {
			f.w(", ")
		}
		write(item)
	}
}

// parens writes items separated by commas in parentheses.
func parens[T any](f *formatter, items []T, write func(T)) {
	f.w("(")
	list(f, items, write)
	f.w(")")
}

// optColumns writes a parenthesised list of names after a blank unless it is empty.
func (f *formatter) optColumns(columns []Ident) {
	if columns != nil {
		f.w(" ")
		parens(f, columns, f.ident)
	}
}

// typeName writes a type; all canonical names read back as themselves.
func (f *formatter) typeName(t TypeName) {
	if t.Schema != "" {
		f.name(t.Schema)
		f.w(".")
	}
	switch {
	case t.Schema != "" || !typeWords[t.Name]:
		f.name(t.Name)
	default:
		f.w(t.Name)
	}
	f.when(t.Fields != "", " "+t.Fields)
	f.typeMods(t.Mods)
	for range t.ArrayDims {
		f.w("[]")
	}
}

// typeWords are the canonical type names that are keywords, and "char", whose quotes belong to it.
var typeWords = map[string]bool{
	"boolean": true, "smallint": true, "integer": true, "bigint": true, "real": true, "double precision": true,
	"numeric": true, "char": true, "varchar": true, "time": true, "timestamp": true, "interval": true, "bit": true,
	`"char"`: true,
}

func (f *formatter) typeMods(mods []int) {
	if mods != nil {
		parens(f, mods, func(n int) { f.int(int64(n)) })
	}
}

// options writes a parenthesised list of options with sep between names and values.
func (f *formatter) options(options []Option, sep string) {
	parens(f, options, func(o Option) { f.option(o, sep) })
}

func (f *formatter) option(o Option, sep string) {
	for i, part := range strings.SplitN(o.Name, ".", 2) {
		f.when(i > 0, ".")
		f.label(part)
	}
	switch {
	case o.Star:
		f.w(" *")
	case o.Columns != nil:
		f.optColumns(o.Columns)
	case o.HasValue:
		f.w(sep)
		f.value(o.Value)
	}
}

// label writes a name where every keyword may stand.
func (f *formatter) label(name string) {
	if plainWord(name) {
		f.w(name)
		return
	}
	f.w(`"`, strings.ReplaceAll(name, `"`, `""`), `"`)
}

// value writes the text of an option or setting: bare when it is a number or a common word, quoted
// otherwise.
func (f *formatter) value(text string) {
	if plainNumber(text) || plainWord(text) && (keywordOf(text) == tokIdent || text == "on" || text == "true" || text == "false") {
		f.w(text)
		return
	}
	f.str(text)
}

// plainNumber reports whether text is digits, perhaps after a minus sign and with a decimal point.
func plainNumber(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	whole, frac, point := strings.Cut(digits, ".")
	return allDigits(whole) && (!point || allDigits(frac))
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
