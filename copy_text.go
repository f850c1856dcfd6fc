package weft

import (
	"bufio"
	"bytes"
	"io"
	"os"

	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/vector"
)

// recordChunk is a run of complete records of a file, at most a batch.
type recordChunk struct {
	seq  uint64
	line int64 // number of the first record
	data []byte
}

// text loads a CSV or text file: one goroutine cuts it into chunks of whole records, the workers
// parse and load them.
func (l *copyLoad) text(f *os.File, o copyOptions) error {
	chunks := make(chan recordChunk, 2*l.threads)
	failed := make(chan error, 1)
	quit := make(chan struct{})
	go func() {
		defer close(chunks)
		failed <- cutRecords(bufio.NewReaderSize(f, 1<<20), o, quit, chunks)
	}()
	err := l.inParallel(func(w *copyWorker, stop <-chan struct{}) error {
		p := &recordParser{o: o, w: w}
		for c := range chunks {
			select {
			case <-stop:
				return nil
			default:
			}
			if err := l.ctx.Err(); err != nil {
				return err
			}
			n, err := p.parse(c)
			if err != nil {
				return err
			}
			if err := w.load(c.seq, n); err != nil {
				return err
			}
		}
		return nil
	})
	close(quit)
	for range chunks { // let the cutter see quit
	}
	if cut := <-failed; err == nil {
		err = cut
	}
	return err
}

// cutRecords reads a file and sends chunks of whole records until quit is closed.
func cutRecords(r *bufio.Reader, o copyOptions, quit <-chan struct{}, out chan<- recordChunk) error {
	var seq uint64
	line := int64(1)
	if o.header {
		if _, err := readRecord(r, o, nil); err != nil && err != io.EOF {
			return err
		}
		line++
	}
	for {
		c := recordChunk{seq: seq, line: line}
		n := 0
		var err error
		for n < vector.BatchCap && err == nil {
			before := len(c.data)
			c.data, err = readRecord(r, o, c.data)
			if len(c.data) > before {
				n++
			}
		}
		if n > 0 {
			select {
			case out <- c:
			case <-quit:
				return nil
			}
			seq++
			line += int64(n)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return sqlerr.New(sqlerr.IOError, "read from COPY file: %w", err)
		}
	}
}

// readRecord appends the next record with its newline: up to a newline outside of quotes.
func readRecord(r *bufio.Reader, o copyOptions, dst []byte) ([]byte, error) {
	quoted := false
	for {
		part, err := r.ReadSlice('\n')
		dst = append(dst, part...)
		if o.format == "csv" {
			for _, b := range part {
				if b == o.quote {
					quoted = !quoted
				}
			}
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF:
			if len(part) > 0 && dst[len(dst)-1] != '\n' {
				dst = append(dst, '\n')
			}
			return dst, err
		case err != nil:
			return dst, err
		}
		if !quoted {
			return dst, nil
		}
	}
}

// recordParser turns records into column values.
type recordParser struct {
	o     copyOptions
	w     *copyWorker
	field []byte
}

// parse fills the worker's file columns from a chunk and returns the number of rows.
func (p *recordParser) parse(c recordChunk) (int, error) {
	for _, v := range p.w.file {
		v.Reset(v.Kind, 0)
	}
	rows := 0
	data := c.data
	for len(data) > 0 {
		if p.o.format == "text" && bytes.HasPrefix(data, []byte("\\.\n")) {
			break
		}
		rest, err := p.record(data)
		if err != nil {
			return 0, copyError(err, p.w.l.table.Name, c.line+int64(rows))
		}
		data = rest
		rows++
	}
	return rows, nil
}

// copyError adds where in the file an error arose.
func copyError(err error, table string, line int64) error {
	e, ok := err.(*Error)
	if !ok {
		return err
	}
	detail := "COPY " + table + ", line " + itoa(line)
	if e.Detail != "" {
		detail = e.Detail + "\n" + detail
	}
	return e.WithDetail("%s", detail)
}

// record parses one record.
func (p *recordParser) record(data []byte) ([]byte, error) {
	for i := range p.w.file {
		field, null, rest, end, err := p.next(data)
		if err != nil {
			return nil, err
		}
		data = rest
		last := i == len(p.w.file)-1
		if end && !last {
			t := p.w.l.table
			return nil, sqlerr.New(sqlerr.BadCopyFileFormat, "missing data for column %q", t.Columns[p.w.l.targets[i+1]].Name)
		}
		if !end && last {
			// dbgen ends each line with a delimiter; anything else behind the last column is wrong.
			if p.o.format == "text" && len(data) > 0 && data[0] == '\n' {
				data = data[1:]
			} else {
				return nil, sqlerr.New(sqlerr.BadCopyFileFormat, "extra data after last expected column")
			}
		}
		if err := p.store(i, field, null); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// store converts a field to its column's type.
func (p *recordParser) store(i int, field []byte, null bool) error {
	column := &p.w.l.table.Columns[p.w.l.targets[i]]
	v := p.w.file[i]
	if null {
		vector.AppendDatum(v, vector.NullDatum(v.Kind))
		return nil
	}
	err := expr.AppendParsed(v, column.Type, vector.StringOf(field), p.w.l.env)
	if e, ok := err.(*Error); ok {
		return e.WithColumn(column.Name)
	}
	return err
}

// next cuts the next field off data; end tells that it ended the record.
func (p *recordParser) next(data []byte) (field []byte, null bool, rest []byte, end bool, err error) {
	if p.o.format == "text" {
		return p.nextText(data)
	}
	if len(data) > 0 && data[0] == p.o.quote {
		return p.nextQuoted(data[1:])
	}
	for i, b := range data {
		if b == p.o.delimiter || b == '\n' {
			field = data[:i]
			if b == '\n' && i > 0 && field[i-1] == '\r' {
				field = field[:i-1]
			}
			return field, string(field) == p.o.null, data[i+1:], b == '\n', nil
		}
	}
	return nil, false, nil, true, sqlerr.New(sqlerr.BadCopyFileFormat, "unterminated record")
}

func (p *recordParser) nextQuoted(data []byte) (field []byte, null bool, rest []byte, end bool, err error) {
	p.field = p.field[:0]
	for i := 0; i < len(data); i++ {
		b := data[i]
		switch {
		case b == p.o.escape && i+1 < len(data) && (data[i+1] == p.o.quote || data[i+1] == p.o.escape && p.o.escape != p.o.quote):
			i++
			p.field = append(p.field, data[i])
		case b == p.o.quote:
			i++
			if i < len(data) && data[i] == '\r' {
				i++
			}
			if i < len(data) && (data[i] == p.o.delimiter || data[i] == '\n') {
				return p.field, false, data[i+1:], data[i] == '\n', nil
			}
			return nil, false, nil, true, sqlerr.New(sqlerr.BadCopyFileFormat, "unexpected data after a quoted field")
		default:
			p.field = append(p.field, b)
		}
	}
	return nil, false, nil, true, sqlerr.New(sqlerr.BadCopyFileFormat, "unterminated CSV quoted field")
}

// nextText reads a field of the text format with its backslash escapes.
func (p *recordParser) nextText(data []byte) (field []byte, null bool, rest []byte, end bool, err error) {
	escaped := false
	for i := 0; i < len(data); i++ {
		switch b := data[i]; {
		case b == '\\' && i+1 < len(data):
			escaped = true
			i++
		case b == p.o.delimiter || b == '\n':
			field = data[:i]
			if b == '\n' && i > 0 && field[i-1] == '\r' {
				field = field[:i-1]
			}
			null = string(field) == p.o.null
			if escaped && !null {
				field = p.unescape(field)
			}
			return field, null, data[i+1:], b == '\n', nil
		}
	}
	return nil, false, nil, true, sqlerr.New(sqlerr.BadCopyFileFormat, "unterminated record")
}

var textEscapes = map[byte]byte{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v'}

func (p *recordParser) unescape(field []byte) []byte {
	p.field = p.field[:0]
	for i := 0; i < len(field); i++ {
		b := field[i]
		if b == '\\' && i+1 < len(field) {
			i++
			b = field[i]
			if e, ok := textEscapes[b]; ok {
				b = e
			}
		}
		p.field = append(p.field, b)
	}
	return p.field
}

// copyTo writes a table or a query's result to a file.
func (r *running) copyTo(n *sql.Copy, o copyOptions) (*Rows, error) {
	inner := *r
	if n.Query != nil {
		sel, ok := n.Query.(*sql.Select)
		if !ok {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "COPY of this statement is not supported").At(n.Start)
		}
		inner.stmt = sel
	} else {
		core := &sql.SelectCore{Span: n.Span, From: []sql.TableRef{&sql.TableName{Span: n.Table.Span, Name: n.Table}}}
		for _, id := range n.Columns {
			core.Targets = append(core.Targets, sql.Target{Span: id.Span, Expr: &sql.ColumnRef{Span: id.Span, Parts: []sql.Ident{id}}})
		}
		if n.Columns == nil {
			core.Targets = []sql.Target{{Span: n.Span, Expr: &sql.Star{Span: n.Span}}}
		}
		inner.stmt = &sql.Select{Span: n.Span, Body: core}
	}
	rows, err := inner.read()
	if err != nil {
		return nil, err
	}
	count, err := writeFile(n, o, rows)
	if cerr := rows.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, err
	}
	return &Rows{done: true, affected: count, tag: "COPY " + itoa(count)}, nil
}

// writeFile writes rows to a file, which replaces an older one only when it is complete.
func writeFile(n *sql.Copy, o copyOptions, rows *Rows) (int64, error) {
	temp := n.File + ".part"
	f, err := os.Create(temp)
	if err != nil {
		return 0, sqlerr.New(sqlerr.UndefinedFile, "could not open file %q for writing: %w", n.File, err).At(n.Start)
	}
	var count int64
	if o.format == "parquet" {
		count, err = writeParquet(f, rows)
	} else {
		count, err = writeRecords(f, o, rows)
	}
	if cerr := f.Close(); err == nil && cerr != nil {
		err = sqlerr.New(sqlerr.IOError, "write COPY file: %w", cerr)
	}
	if err == nil {
		if err = os.Rename(temp, n.File); err != nil {
			err = sqlerr.New(sqlerr.IOError, "write COPY file: %w", err)
		}
	}
	if err != nil {
		os.Remove(temp) // the error that matters is err
	}
	return count, err
}

func writeRecords(f io.Writer, o copyOptions, rows *Rows) (int64, error) {
	w := bufio.NewWriterSize(f, 1<<20)
	cols := rows.Columns()
	var line []byte
	if o.header {
		for i, c := range cols {
			line = appendField(line, o, []byte(c.Name), i > 0)
		}
		line = append(line, '\n')
	}
	var count int64
	for rows.Next() {
		at := rows.position()
		for i := range cols {
			v := rows.batch.Vecs[i]
			if v.IsNull(at) {
				if i > 0 {
					line = append(line, o.delimiter)
				}
				line = append(line, o.null...)
				continue
			}
			text, _ := rows.Text(i)
			line = appendField(line, o, []byte(text), i > 0)
		}
		line = append(line, '\n')
		count++
		if _, err := w.Write(line); err != nil {
			return count, sqlerr.New(sqlerr.IOError, "write COPY file: %w", err)
		}
		line = line[:0]
	}
	if err := rows.Err(); err != nil {
		return count, err
	}
	if _, err := w.Write(line); err != nil { // a header without rows
		return count, sqlerr.New(sqlerr.IOError, "write COPY file: %w", err)
	}
	if err := w.Flush(); err != nil {
		return count, sqlerr.New(sqlerr.IOError, "write COPY file: %w", err)
	}
	return count, nil
}

// appendField writes a value in the format's escaping.
func appendField(dst []byte, o copyOptions, field []byte, delimit bool) []byte {
	if delimit {
		dst = append(dst, o.delimiter)
	}
	if o.format == "text" {
		for _, b := range field {
			switch b {
			case '\\', o.delimiter:
				dst = append(dst, '\\', b)
			case '\n':
				dst = append(dst, `\n`...)
			case '\r':
				dst = append(dst, `\r`...)
			default:
				dst = append(dst, b)
			}
		}
		return dst
	}
	if string(field) != o.null && bytes.IndexByte(field, o.delimiter) < 0 && bytes.IndexByte(field, o.quote) < 0 && !bytes.ContainsAny(field, "\r\n") {
		return append(dst, field...)
	}
	dst = append(dst, o.quote)
	for _, b := range field {
		if b == o.quote || b == o.escape {
			dst = append(dst, o.escape)
		}
		dst = append(dst, b)
	}
	return append(dst, o.quote)
}
