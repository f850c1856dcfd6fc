package weft

import (
	"bytes"
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

// endOfData is the line that ends a file's data, whatever may follow; as a value it is quoted.
const endOfData = `\.`

// text loads a CSV or text file: one goroutine cuts it into chunks of whole records, the workers
// parse and load them.
func (l *copyLoad) text(f *os.File, o copyOptions) error {
	chunks := make(chan recordChunk, 2*l.threads)
	failed := make(chan error, 1)
	quit := make(chan struct{})
	go func() {
		defer close(chunks)
		failed <- l.cutRecords(newRecordReader(f, o), quit, chunks)
	}()
	err := l.inParallel(func(w *copyWorker, stop <-chan struct{}) error {
		p := newRecordParser(o, w)
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
func (l *copyLoad) cutRecords(r *recordReader, quit <-chan struct{}, out chan<- recordChunk) error {
	line := int64(1)
	if r.o.header {
		record, _, err := r.next()
		if err != nil {
			return copyError(err, l.table.Name, "line", line+r.inside)
		}
		names := append(bytes.Clone(record), '\n')
		if at := utf8text.Invalid(names); at >= 0 {
			return copyError(utf8text.Error(names, at), l.table.Name, "line", line+countLines(names[:at]))
		}
		line += countLines(names)
	}
	for seq := uint64(0); ; seq++ {
		c := recordChunk{seq: seq, line: line}
		n, more := 0, true
		var err error
		for n < vector.BatchCap && more {
			var record []byte
			if record, more, err = r.next(); err != nil {
				break
			}
			if more {
				c.data = append(append(c.data, record...), '\n')
				n++
			}
		}
		line += countLines(c.data)
		if n > 0 { // also before an error: those of earlier records come first
			select {
			case out <- c:
			case <-quit:
				return nil
			}
		}
		if err != nil {
			return copyError(err, l.table.Name, "line", line+r.inside)
		}
		if !more {
			return nil
		}
	}
}

func countLines(data []byte) int64 { return int64(bytes.Count(data, []byte{'\n'})) }

// recordParser turns records into column values.
type recordParser struct {
	o     copyOptions
	w     *copyWorker
	field []byte
	stops [256]bool // the bytes that are more than a part of an unquoted field
}

func newRecordParser(o copyOptions, w *copyWorker) *recordParser {
	p := &recordParser{o: o, w: w}
	p.stops['\n'], p.stops[o.delimiter] = true, true
	if o.format == "csv" {
		p.stops[o.quote] = true
	} else {
		p.stops['\\'] = true
	}
	return p
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

var errExtraData error = sqlerr.New(sqlerr.BadCopyFileFormat, "extra data after last expected column")

// record parses one record. What is wrong with its form comes before what is wrong with a value.
func (p *recordParser) record(data []byte) ([]byte, error) {
	rest, err := p.fields(data)
	if err != nil {
		if malformed := p.malformed(data); malformed != nil {
			return nil, malformed
		}
	}
	return rest, err
}

// fields stores the fields of a record.
func (p *recordParser) fields(data []byte) ([]byte, error) {
	end := false
	for i := range p.w.file {
		if end {
			t := p.w.l.table
			return nil, sqlerr.New(sqlerr.BadCopyFileFormat, "missing data for column %q", t.Columns[p.w.l.targets[i]].Name)
		}
		var field []byte
		var null bool
		var err error
		if field, null, data, end, err = p.next(data); err != nil {
			return nil, err
		}
		if err := p.store(i, field, null); err != nil {
			return nil, err
		}
	}
	if !end && len(p.w.file) == 0 && data[0] == '\n' {
		return data[1:], nil
	}
	if !end {
		return nil, errExtraData
	}
	return data, nil
}

// malformed reports a record that cannot be cut into fields, or into too many.
func (p *recordParser) malformed(data []byte) error {
	n := 0
	for end := false; !end; n++ {
		var err error
		if _, _, data, end, err = p.next(data); err != nil {
			return err
		}
	}
	if n > len(p.w.file) {
		return errExtraData
	}
	return nil
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
	for i, b := range data {
		if !p.stops[b] {
			continue
		}
		if b == p.o.quote {
			return p.nextQuoted(data, i)
		}
		field = data[:i]
		return field, string(field) == p.o.null, data[i+1:], b == '\n', nil
	}
	return nil, false, nil, true, sqlerr.New(sqlerr.BadCopyFileFormat, "unterminated record")
}

var errUnterminatedQuote error = sqlerr.New(sqlerr.BadCopyFileFormat, "unterminated CSV quoted field")

// nextQuoted reads a field whose first quote is at first. Quotes begin and end anywhere.
func (p *recordParser) nextQuoted(data []byte, first int) (field []byte, null bool, rest []byte, end bool, err error) {
	if first == 0 { // a field quoted as a whole needs no copy, unless it has escapes
		n := bytes.IndexByte(data[1:], p.o.quote)
		if n >= 0 && n+2 < len(data) && (data[n+2] == p.o.delimiter || data[n+2] == '\n') &&
			(p.o.escape == p.o.quote || bytes.IndexByte(data[1:n+1], p.o.escape) < 0) {
			return data[1 : n+1], false, data[n+3:], data[n+2] == '\n', nil
		}
	}
	p.field = append(p.field[:0], data[:first]...)
	quoted := false
	for i := first; i < len(data); i++ {
		b := data[i]
		switch {
		case quoted && b == p.o.escape && i+1 < len(data) && (data[i+1] == p.o.quote || data[i+1] == p.o.escape):
			i++
			p.field = append(p.field, data[i])
		case b == p.o.quote:
			quoted = !quoted
		case !quoted && (b == p.o.delimiter || b == '\n'):
			return p.field, false, data[i+1:], b == '\n', nil
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
		b := data[i]
		if !p.stops[b] {
			continue
		}
		if b == '\\' {
			escaped = true
			i++
			continue
		}
		field = data[:i]
		null = string(field) == p.o.null
		if escaped && !null {
			if field, err = p.unescape(field); err != nil {
				return nil, false, nil, true, err
			}
		}
		return field, null, data[i+1:], b == '\n', nil
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
