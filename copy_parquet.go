package weft

import (
	"fmt"
	"io"
	"math/big"
	"os"
	"reflect"
	"strings"
	"sync/atomic"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/internal/utf8text"
	"github.com/weftdb/weft/vector"
)

// parquet loads a Parquet file. File columns go to the target columns of the same name, else by
// position. Workers take whole row groups.
func (l *copyLoad) parquet(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return sqlerr.New(sqlerr.IOError, "read Parquet file: %w", err)
	}
	file, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return sqlerr.New(sqlerr.BadCopyFileFormat, "file %q is not a readable Parquet file: %w", f.Name(), err)
	}
	readers, err := l.parquetColumns(file)
	if err != nil {
		return err
	}
	groups := file.RowGroups()
	firstSeq, firstRow := make([]uint64, len(groups)+1), make([]int64, len(groups)+1)
	for i, g := range groups {
		firstRow[i+1] = firstRow[i] + g.NumRows()
		firstSeq[i+1] = firstSeq[i] + uint64((g.NumRows()+int64(vector.BatchCap)-1)/int64(vector.BatchCap))
	}
	var next atomic.Int64
	return l.inParallel(func(w *copyWorker, stop <-chan struct{}) error {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(groups) {
				return nil
			}
			if err := w.parquetGroup(groups[i], readers, firstSeq[i], firstRow[i], stop); err != nil {
				return err
			}
		}
	})
}

// parquetColumn says how a file column becomes a table column.
type parquetColumn struct {
	leaf   int
	name   string
	source catalog.Type // the file's type
	target catalog.Type
}

func (l *copyLoad) parquetColumns(file *parquet.File) ([]parquetColumn, error) {
	fields := file.Schema().Fields()
	byName := map[string]int{}
	for i, f := range fields {
		if !f.Leaf() || f.Repeated() {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "column %q of the Parquet file is nested", f.Name())
		}
		byName[strings.ToLower(f.Name())] = i
	}
	var out []parquetColumn
	for i, pos := range l.targets {
		c := &l.table.Columns[pos]
		leaf, ok := byName[strings.ToLower(c.Name)]
		if !ok {
			if leaf = i; i >= len(fields) || len(fields) != len(l.targets) {
				return nil, sqlerr.New(sqlerr.BadCopyFileFormat, "the Parquet file has no column %q", c.Name)
			}
		}
		source, err := parquetType(fields[leaf])
		if err != nil {
			return nil, err
		}
		out = append(out, parquetColumn{leaf: leaf, name: c.Name, source: source, target: c.Type})
	}
	return out, nil
}

// parquetType maps a Parquet column to the SQL type of its values.
func parquetType(f parquet.Field) (catalog.Type, error) {
	t := f.Type()
	if lt := t.LogicalType(); lt != nil {
		switch lt := lt.Value.(type) {
		case *format.DecimalType:
			return catalog.Type{ID: catalog.Numeric, Prec: int16(lt.Precision), Scale: int16(lt.Scale)}, nil
		case *format.DateType:
			return catalog.Type{ID: catalog.Date}, nil
		case *format.TimestampType:
			id := catalog.Timestamp
			if lt.IsAdjustedToUTC {
				id = catalog.TimestampTZ
			}
			return catalog.Type{ID: id, Scale: timestampDigits(lt.Unit)}, nil
		}
	}
	switch t.Kind() {
	case parquet.Boolean:
		return catalog.Type{ID: catalog.Bool}, nil
	case parquet.Int32:
		return catalog.Type{ID: catalog.Int4}, nil
	case parquet.Int64:
		return catalog.Type{ID: catalog.Int8}, nil
	case parquet.Float:
		return catalog.Type{ID: catalog.Float4}, nil
	case parquet.Double:
		return catalog.Type{ID: catalog.Float8}, nil
	case parquet.ByteArray, parquet.FixedLenByteArray:
		if t.LogicalType() == nil {
			return catalog.Type{ID: catalog.Bytea}, nil // some writers leave texts like this, too
		}
		return catalog.Type{ID: catalog.Text}, nil
	}
	return catalog.Type{}, sqlerr.New(sqlerr.FeatureNotSupported, "column %q of the Parquet file has type %s, which is not supported", f.Name(), t)
}

// timestampDigits returns the digits of a second that a timestamp unit keeps.
func timestampDigits(unit format.TimeUnit) int16 {
	switch unit.Value.(type) {
	case *format.MilliSeconds:
		return 3
	case *format.NanoSeconds:
		return 9
	}
	return 6
}

// parquetGroup loads one row group, whose batches are numbered from seq and rows from before+1.
func (w *copyWorker) parquetGroup(g parquet.RowGroup, columns []parquetColumn, seq uint64, before int64, stop <-chan struct{}) error {
	chunks := g.ColumnChunks()
	readers := make([]*chunkReader, len(columns))
	for i, c := range columns {
		readers[i] = &chunkReader{pages: chunks[c.leaf].Pages()}
		defer readers[i].pages.Close()
	}
	values := make([]parquet.Value, vector.BatchCap)
	for done := int64(0); done < g.NumRows(); seq++ {
		select {
		case <-stop:
			return nil
		default:
		}
		if err := w.l.ctx.Err(); err != nil {
			return err
		}
		n := int(min(g.NumRows()-done, int64(vector.BatchCap)))
		for i := range columns {
			if err := readers[i].read(values[:n]); err != nil {
				return sqlerr.New(sqlerr.BadCopyFileFormat, "read Parquet column %q: %w", columns[i].name, err)
			}
			v := w.file[i]
			v.Reset(v.Kind, 0)
			for k, value := range values[:n] {
				d, err := columns[i].datum(value, w.l.env)
				if err != nil {
					if e, ok := err.(*Error); ok {
						err = e.WithColumn(columns[i].name)
					}
					return copyError(err, w.l.table.Name, "row", before+done+int64(k)+1)
				}
				vector.AppendDatum(v, d)
			}
		}
		if err := w.load(seq, n); err != nil {
			return err
		}
		done += int64(n)
	}
	return nil
}

// chunkReader reads a column chunk's values across its pages.
type chunkReader struct {
	pages  parquet.Pages
	values parquet.ValueReader
}

func (r *chunkReader) read(dst []parquet.Value) error {
	for len(dst) > 0 {
		if r.values == nil {
			p, err := r.pages.ReadPage()
			if err == io.EOF {
				return io.ErrUnexpectedEOF
			}
			if err != nil {
				return err
			}
			r.values = p.Values()
		}
		n, err := r.values.ReadValues(dst)
		dst = dst[n:]
		if err == io.EOF {
			r.values = nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

// datum converts a Parquet value to the target column's type: directly where the representations
// agree, else as the value's text would be read.
func (c *parquetColumn) datum(v parquet.Value, env *expr.Env) (vector.Datum, error) {
	if v.IsNull() {
		return vector.NullDatum(c.target.Kind()), nil
	}
	var d vector.Datum
	switch v.Kind() {
	case parquet.Boolean:
		d = vector.BoolDatum(v.Boolean())
	case parquet.Int32:
		d = vector.IntDatum(c.source.Kind(), int64(v.Int32()))
	case parquet.Int64:
		d = vector.IntDatum(c.source.Kind(), v.Int64())
	case parquet.Float:
		d = vector.FloatDatum(vector.F32, float64(v.Float()))
	case parquet.Double:
		d = vector.FloatDatum(vector.F64, v.Double())
	default:
		if c.source.ID == catalog.Numeric {
			return expr.ParseDatum(c.target, bigDecimal(v.ByteArray(), int(c.source.Scale)), env)
		}
		text := string(v.ByteArray())
		if c.source.ID == catalog.Bytea && c.target.ID == catalog.Bytea {
			return vector.StringDatum(text), nil
		}
		if err := utf8text.Check(text); err != nil {
			return d, err
		}
		return expr.ParseDatum(c.target, text, env)
	}
	switch c.source.ID {
	case catalog.Timestamp, catalog.TimestampTZ:
		switch c.source.Scale {
		case 3:
			d.I *= 1000
		case 9:
			d.I /= 1000
		}
		if c.target.ID == c.source.ID && c.target.Prec == 0 {
			return d, nil
		}
		return expr.ParseDatum(c.target, expr.FormatDatum(c.source.Base(), d, env), env)
	case catalog.Numeric:
		if c.source.Kind() == c.target.Kind() && c.source.Scale == c.target.Scale && c.source.Prec <= c.target.Prec {
			return d, nil
		}
		return expr.ParseDatum(c.target, scaledText(big.NewInt(d.I), int(c.source.Scale)), env)
	}
	if c.source.ID == c.target.ID {
		return d, nil
	}
	if c.source.IsInteger() && c.target.IsInteger() {
		return intInRange(d.I, c.target)
	}
	return expr.ParseDatum(c.target, expr.FormatDatum(c.source, d, env), env)
}

func intInRange(i int64, t catalog.Type) (vector.Datum, error) {
	d, ok := intArgument(t, i)
	if !ok {
		return d, sqlerr.New(sqlerr.NumericValueOutOfRange, "value %d is out of range for type %s", i, t)
	}
	return d, nil
}

// bigDecimal prints a big-endian two's complement integer with its decimal scale.
func bigDecimal(b []byte, scale int) string {
	x := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0]&0x80 != 0 {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return scaledText(x, scale)
}

func scaledText(x *big.Int, scale int) string {
	text := new(big.Int).Abs(x).String()
	if scale > 0 {
		if len(text) <= scale {
			text = strings.Repeat("0", scale-len(text)+1) + text
		}
		text = text[:len(text)-scale] + "." + text[len(text)-scale:]
	}
	if x.Sign() < 0 {
		text = "-" + text
	}
	return text
}

// maxDigits32 is what an INT32 holds of any decimal. The library warns on the host's standard error
// of INT64 with fewer digits.
const maxDigits32 = 9

// parquetDigits is the precision of a numeric type that is written as a DECIMAL, 0 for others, which
// are written as text: the library keeps no valid bounds of decimals in byte arrays, and readers
// that trust them would lose negative numbers.
func parquetDigits(t catalog.Type) int {
	if t.ID != catalog.Numeric || t.Kind() != vector.I64 {
		return 0
	}
	return int(t.Prec)
}

// parquetField describes a result column as a struct field, from which the library makes its
// schema in column order.
func parquetField(i int, c Column) reflect.StructField {
	var goType reflect.Type
	tag := c.Name + ",optional"
	switch c.Type.ID {
	case catalog.Bool:
		goType = reflect.TypeFor[bool]()
	case catalog.Int2, catalog.Int4:
		goType = reflect.TypeFor[int32]()
	case catalog.Int8, catalog.Oid:
		goType = reflect.TypeFor[int64]()
	case catalog.Float4:
		goType = reflect.TypeFor[float32]()
	case catalog.Float8:
		goType = reflect.TypeFor[float64]()
	case catalog.Date:
		goType = reflect.TypeFor[int32]()
		tag += ",date"
	case catalog.Timestamp, catalog.TimestampTZ:
		goType = reflect.TypeFor[int64]()
		tag += ",timestamp(microsecond)"
	default:
		goType = reflect.TypeFor[string]()
		if digits := parquetDigits(c.Type); digits > 0 {
			goType = reflect.TypeFor[int64]()
			if digits <= maxDigits32 {
				goType = reflect.TypeFor[int32]()
			}
			tag += fmt.Sprintf(",decimal(%d:%d)", c.Type.Scale, digits)
		}
	}
	return reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: goType, Tag: reflect.StructTag(`parquet:"` + tag + `"`)}
}

// writeParquet writes rows as a Parquet file with zstd pages.
func writeParquet(f io.Writer, rows *Rows) (int64, error) {
	var fields []reflect.StructField
	for i, c := range rows.Columns() {
		if strings.ContainsAny(c.Name, ",\"`") {
			return 0, sqlerr.New(sqlerr.InvalidName, "column name %q cannot be written to Parquet", c.Name).WithHint("Give the column an alias.")
		}
		fields = append(fields, parquetField(i, c))
	}
	schema := parquet.SchemaOf(reflect.New(reflect.StructOf(fields)).Interface())
	w := parquet.NewWriter(f, schema, parquet.Compression(&parquet.Zstd))
	var count int64
	for rows.Next() {
		row := make(parquet.Row, len(fields))
		for i, c := range rows.Columns() {
			v := parquetValue(c.Type, rows, i)
			level := 1
			if v.IsNull() {
				level = 0
			}
			row[i] = v.Level(0, level, i)
		}
		if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
			return count, sqlerr.New(sqlerr.IOError, "write Parquet file: %w", err)
		}
		count++
	}
	if err := rows.Err(); err != nil {
		return count, err
	}
	if err := w.Close(); err != nil {
		return count, sqlerr.New(sqlerr.IOError, "write Parquet file: %w", err)
	}
	return count, nil
}

func parquetValue(t catalog.Type, rows *Rows, i int) parquet.Value {
	v, at := rows.batch.Vecs[i], rows.position()
	if v.IsNull(at) {
		return parquet.NullValue()
	}
	d := vector.DatumAt(v, at)
	switch t.ID {
	case catalog.Bool:
		return parquet.BooleanValue(d.I != 0)
	case catalog.Int2, catalog.Int4, catalog.Date:
		return parquet.Int32Value(int32(d.I))
	case catalog.Int8, catalog.Oid, catalog.Timestamp, catalog.TimestampTZ:
		return parquet.Int64Value(d.I)
	case catalog.Float4:
		return parquet.FloatValue(float32(d.F))
	case catalog.Float8:
		return parquet.DoubleValue(d.F)
	}
	switch digits := parquetDigits(t); {
	case digits > maxDigits32:
		return parquet.Int64Value(d.I)
	case digits > 0:
		return parquet.Int32Value(int32(d.I))
	}
	text, _ := rows.Text(i)
	return parquet.ByteArrayValue([]byte(text))
}
