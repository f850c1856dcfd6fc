package weft_test

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"
)

const decimals = `create table %s (id int, a numeric(5,2), b numeric(9,0), c numeric(10,3), d numeric(18,18), e numeric(19,4), f numeric(38,10), g numeric)`

// TestParquetDecimals writes numerics as the type their precision asks for, reads them back, and
// makes sure that the library has nothing to say on the host's standard error.
func TestParquetDecimals(t *testing.T) {
	var logged bytes.Buffer
	log.SetOutput(&logged)
	defer log.SetOutput(os.Stderr)
	s := memorySession(t)
	mustExec(t, s, fmt.Sprintf(decimals, "t"))
	mustExec(t, s, `insert into t values
		(1, 123.45, -999999999, 1234567.891, 0.999999999999999999, 123456789012345.6789, -1234567890123456789012345678.0123456789, 1.50),
		(2, -999.99, 999999999, -9999999.999, -0.5, -0.0001, 0, 'NaN'),
		(3, null, null, null, null, null, null, null)`)
	file := filepath.Join(t.TempDir(), "t.parquet")
	mustExec(t, s, fmt.Sprintf("copy t to '%s' (format parquet)", file))
	kinds := []parquet.Kind{parquet.Int32, parquet.Int32, parquet.Int32, parquet.Int64, parquet.Int64, parquet.ByteArray, parquet.ByteArray, parquet.ByteArray}
	for i, f := range parquetFields(t, file) {
		if f.Type().Kind() != kinds[i] {
			t.Errorf("column %s is of type %s, want %s", f.Name(), f.Type(), kinds[i])
		}
	}
	mustExec(t, s, fmt.Sprintf(decimals, "u"))
	mustExec(t, s, fmt.Sprintf("copy u from '%s' (format parquet)", file))
	for _, query := range []string{"select * from t except select * from u", "select * from u except select * from t"} {
		if rows, err := queryText(s, query); err != nil || len(rows) != 0 {
			t.Errorf("%s: %v, %v", query, rows, err)
		}
	}
	if logged.Len() > 0 {
		t.Errorf("the library logged %q", logged.String())
	}
}

func parquetFields(t *testing.T, name string) []parquet.Field {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	file, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	return file.Schema().Fields()
}

// TestOldParquetDecimals loads a file in which decimals of few digits are INT64, as earlier versions
// and other programs write them.
func TestOldParquetDecimals(t *testing.T) {
	file, err := filepath.Abs(filepath.Join("testdata", "parquet", "decimal_int64.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	if k := parquetFields(t, file)[1].Type().Kind(); k != parquet.Int64 {
		t.Fatalf("the file's column a is %s", k)
	}
	s := memorySession(t)
	mustExec(t, s, `create table t (id int, a numeric(5,2), b numeric(9,0), c numeric(10,3), d numeric(18,18), e numeric(19,4), f numeric(38,10), g numeric)`)
	mustExec(t, s, fmt.Sprintf("copy t from '%s' (format parquet)", file))
	for id, want := range map[int]string{
		1: "1|123.45|-999999999|1234567.891|0.999999999999999999|123456789012345.6789|-1234567890123456789012345678.0123456789|1.50",
		2: "2|-0.01|7|-0.001|-0.500000000000000000|-0.0001|0.0000000000|NaN",
		3: "3|||||||",
	} {
		if got := oneRow(t, s, fmt.Sprintf("select * from t where id = %d", id)); got != want {
			t.Errorf("row %d: %s, want %s", id, got, want)
		}
	}
}
