package weft

import (
	"bufio"
	"bytes"
	"io"
	"os"

	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/internal/utf8text"
	"github.com/weftdb/weft/vector"
)

// recordChunk is a run of complete records of a file, at most a batch.
type recordChunk struct {
	seq  uint64
	line int64 // number of the first line
	data []byte
}

// endOfData is the line that ends a file's data, whatever may follow.
const endOfData = `\.`

// text loads a CSV or text file: one goroutine cuts it into chunks of whole records, the workers
// parse and load them.
func (l *copyLoad) text(f *os.File, o copyOptions) error {
	chunks := make(chan recordChunk, 2*l.threads)
	failed := make(chan error, 1)
	quit := make(chan struct{})
	go func() {
		defer close(chunks)
		failed <- l.cutRecords(bufio.NewReaderSize(f, 1<<20), o, quit, chunks)
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
func (l *copyLoad) cutRecords(r *bufio.Reader, o copyOptions, quit <-chan struct{}, out chan<- recordChunk) error {
	var seq uint64
	line := int64(1)
	if o.header {
		names, err := readRecord(r, o, nil)
		if err != nil && err != io.EOF {
			return sqlerr.New(sqlerr.IOError, "read COPY file: %w", err)
		}
		if at := utf8text.Invalid(names); at >= 0 {
			return copyError(utf8text.Error(names, at), l.table.Name, "line", line+countLines(names[:at]))
		}
		line += countLines(names)
	}
	for {
		c := recordChunk{seq: seq, line: line}
		n := 0
		var err error
		for n < vector.BatchCap && err == nil {
			before := len(c.data)
			c.data, err = readRecord(r, o, c.data)
			switch record := c.data[before:]; {
			case isEndOfData(record):
				c.data, err = c.data[:before], io.EOF
			case len(record) > 0:
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
			line += countLines(c.data)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return sqlerr.New(sqlerr.IOError, "read COPY file: %w", err)
		}
	}
}

func countLines(data []byte) int64 { return int64(bytes.Count(data, []byte{'\n'})) }

func isEndOfData(record []byte) bool {
	return len(record) <= len(endOfData)+2 && string(bytes.TrimRight(record, "\r\n")) == endOfData
}

// recordBounds returns where the record that holds the byte at starts and ends.
func recordBounds(data []byte, at int, o copyOptions) (start, end int) {
	r := bufio.NewReader(bytes.NewReader(data))
	for end <= at {
		record, err := readRecord(r, o, nil)
		start, end = end, end+len(record)
		if err != nil {
			break
		}
	}
	return start, end
}

// readRecord appends the next record with its newline: up to a newline outside of quotes, or
// without a backslash before it.
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
		} else {
			line := bytes.TrimSuffix(dst, []byte{'\n'})
			quoted = (len(line)-len(bytes.TrimRight(line, `\`)))%2 == 1
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
	table := p.w.l.table.Name
	data := c.data
	bad := utf8text.Invalid(data)
	if bad >= 0 { // errors of the records before come first
		start, _ := recordBounds(data, bad, p.o)
		data = data[:start]
	}
	rows, whole := 0, data
	for len(data) > 0 {
		rest, err := p.record(data)
		if err != nil {
			_, end := recordBounds(data, 0, p.o)
			if err == errUnterminatedQuote { // the record has swallowed the rest of the file
				end = bytes.IndexByte(data, '\n') + 1
			}
			read := len(whole) - len(data) + end
			return 0, copyError(err, table, "line", c.line+countLines(whole[:read])-1)
		}
		data = rest
		rows++
	}
	if bad >= 0 {
		return 0, copyError(utf8text.Error(c.data, bad), table, "line", c.line+countLines(c.data[:bad]))
	}
	return rows, nil
}

// copyError adds where in the file an error arose, in lines or rows.
func copyError(err error, table, unit string, number int64) error {
	e, ok := err.(*Error)
	if !ok {
		return err
	}
	detail := "COPY " + table + ", " + unit + " " + itoa(number)
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

var errUnterminatedQuote error = sqlerr.New(sqlerr.BadCopyFileFormat, "unterminated CSV quoted field")

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
	return nil, false, nil, true, errUnterminatedQuote
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
				if field, err = p.unescape(field); err != nil {
					return nil, false, nil, true, err
				}
			}
			return field, null, data[i+1:], b == '\n', nil
		}
	}
	return nil, false, nil, true, sqlerr.New(sqlerr.BadCopyFileFormat, "unterminated record")
}

var textEscapes = map[byte]byte{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v'}

// unescape resolves the backslashes of a text field. Bytes given by number must make characters.
func (p *recordParser) unescape(field []byte) ([]byte, error) {
	p.field = p.field[:0]
	numbers := false
	for i := 0; i < len(field); i++ {
		b := field[i]
		if b == '\\' && i+1 < len(field) {
			i++
			b = field[i]
			if e, ok := textEscapes[b]; ok {
				b = e
			} else if n, digits := escapedByte(field[i:]); digits > 0 {
				b, numbers = n, true
				i += digits - 1
			}
		}
		p.field = append(p.field, b)
	}
	if at := utf8text.Invalid(p.field); numbers && at >= 0 {
		return nil, utf8text.Error(p.field, at)
	}
	return p.field, nil
}

// escapedByte reads a byte written as up to three octal digits, or as x and up to two hexadecimal
// ones; used is 0 for anything else.
func escapedByte(s []byte) (b byte, used int) {
	if s[0] != 'x' {
		for used < min(3, len(s)) && s[used] >= '0' && s[used] <= '7' {
			b = b<<3 | (s[used] - '0')
			used++
		}
		return b, used
	}
	for used = 1; used < min(3, len(s)); used++ {
		digit := bytes.IndexByte([]byte("0123456789abcdef"), s[used]|0x20)
		if digit < 0 || s[used] < '0' {
			break
		}
		b = b<<4 | byte(digit)
	}
	if used == 1 {
		return 0, 0
	}
	return b, used
}
