package planner

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/weftdb/weft/expr"
)

// Fact is something EXPLAIN says of a node: in text a line "Key: Value" under it, in JSON a member. There is one
// description of it, from which both come.
type Fact struct {
	Key string
	// Value is a string, an int64, a bool or a list of strings, under the key as it is. Facts of weft's own that
	// consist of several figures are Parts or a List, whose key JSON writes in snake_case.
	Value any
	// Item, where set, puts the Parts into a list of that name in JSON: a node may have several.
	Item string
	// Verbose facts are shown with VERBOSE only.
	Verbose bool
}

// Parts are the figures of a fact. JSON makes an object of them, text a line of all that print.
type Parts []Part

// Part is one figure of a fact.
type Part struct {
	Name string // in JSON, in snake_case
	// Value is a string, an int64, a float64, a bool, a list of strings, a list of expressions, Bytes, a
	// time.Duration, a RowsBound, Parts or a List.
	Value any
	// Text is how text prints the value, which stands in place of %s; "" = not at all.
	Text string
}

// Bytes is an amount of memory or disk.
type Bytes int64

// List is a list of objects, which text prints with a separator in between: if that is a line's end, each on a
// line of its own below the key.
type List struct {
	Items     []Parts
	Separator string
}

// Counts are figures of PostgreSQL's that text prints on one line, those that are not 0 as name=count, and that
// are members of their own in JSON, the key in front of the name.
type Counts []Count

// Count is one of them. Its name is a word in lower case.
type Count struct {
	Name string
	N    int64
}

// own reports whether a fact is one of weft's own that consists of several figures.
func (f Fact) own() bool {
	switch f.Value.(type) {
	case Parts, List:
		return true
	}
	return false
}

// jsonKey is the key of the fact's member in JSON.
func (f Fact) jsonKey() string {
	key := f.Key
	if f.Item != "" {
		key = f.Item
	}
	if !f.own() {
		return key
	}
	return strings.ToLower(strings.NewReplacer(" ", "_", "-", "_").Replace(key))
}

// line is what text prints of a value, on one line.
func (e *explainer) line(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case []string:
		return strings.Join(v, ", ")
	case []expr.Expr:
		return strings.Join(e.printed(v), ", ")
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case Bytes:
		return sizeText(float64(v))
	case time.Duration:
		return fmt.Sprintf("%.2f ms", float64(v)/float64(time.Millisecond))
	case RowsBound:
		return v.String()
	case Counts:
		var counted []string
		for _, c := range v {
			if c.N != 0 {
				counted = append(counted, fmt.Sprintf("%s=%d", c.Name, c.N))
			}
		}
		return strings.Join(counted, " ")
	case Parts:
		var b strings.Builder
		for _, p := range v {
			b.WriteString(strings.Replace(p.Text, "%s", e.line(p.Value), 1))
		}
		return b.String()
	case List:
		lines := make([]string, len(v.Items))
		for i, item := range v.Items {
			lines[i] = e.line(item)
		}
		text := strings.Join(lines, v.Separator)
		if v.Separator == "\n" {
			return v.Separator + text
		}
		return text
	}
	panic(fmt.Sprintf("planner: EXPLAIN has a value of type %T", value))
}

// jsonValue is what JSON has of a value; nil where that is not known.
func (e *explainer) jsonValue(value any) any {
	switch v := value.(type) {
	case []expr.Expr:
		return e.printed(v)
	case float64:
		return decimals(v, 1)
	case Bytes:
		return int64(v)
	case time.Duration:
		return milliseconds(v.Nanoseconds(), 1)
	case RowsBound:
		if !v.Known() {
			return nil
		}
		return decimals(v.rows, 0)
	case Parts:
		out := object{}
		for _, p := range v {
			if have := e.jsonValue(p.Value); have != nil {
				out = append(out, property{p.Name, have})
			}
		}
		return out
	case List:
		out := []object{}
		for _, item := range v.Items {
			out = append(out, e.jsonValue(item).(object))
		}
		return out
	}
	return value
}

const (
	kibibyte = 1 << 10
	mebibyte = 1 << 20
	gibibyte = 1 << 30
)

// sizeText prints a number of bytes: whole kilobytes from one on, then megabytes and gigabytes with a decimal.
func sizeText(bytes float64) string {
	decimal := func(unit float64) string {
		return strings.TrimSuffix(fmt.Sprintf("%.1f", math.Min(bytes, maxJSONNumber)/unit), ".0")
	}
	switch {
	case bytes < kibibyte:
		return fmt.Sprintf("%.0f B", bytes)
	case bytes < mebibyte:
		return fmt.Sprintf("%.0f kB", math.Ceil(bytes/kibibyte))
	case bytes < gibibyte:
		return decimal(mebibyte) + " MB"
	}
	return decimal(gibibyte) + " GB"
}

// wholeBytes is an estimate of bytes, which may be without limit.
func wholeBytes(bytes float64) Bytes { return Bytes(math.Min(bytes, math.MaxInt64/2)) }
