package tpch

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Null is how answers write NULL.
const Null = `\N`

// Answer is the result of a query as text.
type Answer struct {
	Query       int
	Columns     []string
	Approximate []bool // columns that are compared with a tolerance
	Rows        [][]string
}

//go:embed answers/*/*.csv answers/*/*.gz
var answerFiles embed.FS

// RecordedScales lists the scale factors whose answers are recorded.
func RecordedScales() []float64 { return []float64{0.01, 0.1, 1} }

// Recorded returns the recorded answer of a query at a scale factor, nil if there is none.
func Recorded(scale float64, query int) (*Answer, error) {
	if !slices.Contains(RecordedScales(), scale) {
		return nil, nil
	}
	file := fmt.Sprintf("answers/sf%v/q%02d.csv", scale, query)
	text, err := answerFiles.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = unzipped(file + ".gz")
	}
	if err != nil {
		return nil, fmt.Errorf("tpch: recorded answer: %w", err)
	}
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(lines) == 0 {
		return nil, fmt.Errorf("tpch: recorded answer %s: %w", file, err)
	}
	a := NewAnswer(query, lines[0])
	a.Rows = lines[1:]
	return a, nil
}

// Approximate tells which columns of a query's answer are compared with a tolerance.
func Approximate(query int) ([]bool, error) {
	a, err := Recorded(RecordedScales()[0], query)
	if err != nil {
		return nil, err
	}
	return a.Approximate, nil
}

func unzipped(file string) ([]byte, error) {
	packed, err := answerFiles.Open(file)
	if err != nil {
		return nil, err
	}
	defer packed.Close()
	r, err := gzip.NewReader(packed)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	_, err = text.ReadFrom(r)
	return text.Bytes(), err
}

// NewAnswer returns an answer without rows. A ~ before a name marks an approximate column.
func NewAnswer(query int, columns []string) *Answer {
	a := &Answer{Query: query}
	for _, c := range columns {
		name, approximate := strings.CutPrefix(c, "~")
		a.Columns = append(a.Columns, name)
		a.Approximate = append(a.Approximate, approximate)
	}
	return a
}

// tolerance is the relative difference allowed in approximate columns: engines divide with
// different numbers of digits.
const tolerance = 1e-9

// Compare reports the first difference between an answer and the expected one, nil if they agree.
// Columns are compared by position, blanks at the end of texts do not count, and rows that the
// query's order leaves tied may come in any order.
func (a *Answer) Compare(want *Answer) error {
	if len(a.Columns) != len(want.Columns) {
		return fmt.Errorf("%d columns, want %d", len(a.Columns), len(want.Columns))
	}
	if len(a.Rows) != len(want.Rows) {
		return fmt.Errorf("%d rows, want %d", len(a.Rows), len(want.Rows))
	}
	have := a.tiesSorted(want)
	expected := want.tiesSorted(want)
	for i, row := range have {
		for j, value := range row {
			if !sameValue(value, expected[i][j], want.Approximate[j]) {
				return fmt.Errorf("row %d, column %s: %q, want %q", i+1, want.Columns[j], value, expected[i][j])
			}
		}
	}
	return nil
}

// tiesSorted returns the rows with each run of tied rows in the order of their other columns.
func (a *Answer) tiesSorted(want *Answer) [][]string {
	keys := orderKeys[a.Query]
	if keys == nil {
		return a.Rows
	}
	tied := func(x, y []string) bool {
		for _, k := range keys {
			if !sameValue(x[k], y[k], false) {
				return false
			}
		}
		return true
	}
	rows := slices.Clone(a.Rows)
	for from := 0; from < len(rows); {
		to := from + 1
		for to < len(rows) && tied(rows[from], rows[to]) {
			to++
		}
		slices.SortFunc(rows[from:to], func(x, y []string) int {
			for j := range x {
				if c := strings.Compare(x[j], y[j]); c != 0 && !want.Approximate[j] {
					return c
				}
			}
			return 0
		})
		from = to
	}
	return rows
}

// sameValue compares two values: as numbers when their texts differ.
func sameValue(a, b string, approximate bool) bool {
	if a = strings.TrimRight(a, " "); a == strings.TrimRight(b, " ") {
		return true
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX != nil || errY != nil {
		return false
	}
	if approximate {
		return math.Abs(x-y) <= tolerance*max(math.Abs(x), math.Abs(y))
	}
	return trimmedDecimal(a) == trimmedDecimal(b)
}

// trimmedDecimal removes the zeros at the end of a decimal fraction.
func trimmedDecimal(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
