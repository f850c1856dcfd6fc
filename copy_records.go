package weft

import (
	"bytes"
	"io"

	"github.com/weftdb/weft/internal/sqlerr"
)

// newlineStyle is how the lines of a file end; its first line decides.
type newlineStyle uint8

const (
	unknownNewline newlineStyle = iota
	lineFeed
	carriageReturn
	bothNewlines
)

// recordReader cuts a CSV or text file into records. Lines that hold nothing special, which are
// nearly all, are told by a few searches for bytes; the others are read byte by byte.
type recordReader struct {
	src     io.Reader
	buf     []byte
	at, end int // what of buf has been read and not been returned
	eof     bool
	err     error // of src
	o       copyOptions
	csv     bool
	quote   []byte
	newline newlineStyle
	last    byte  // the last byte of a newline, once its style is known
	inside  int64 // newlines inside the record that is in error, before the place in error
}

func newRecordReader(src io.Reader, o copyOptions) *recordReader {
	return &recordReader{src: src, buf: make([]byte, 1<<20), o: o, csv: o.format == "csv", quote: []byte{o.quote}}
}

// recordBounds returns where the record that holds the byte at starts and ends in a chunk.
func recordBounds(data []byte, at int, o copyOptions) (start, end int) {
	r := &recordReader{buf: data, end: len(data), eof: true, o: o, csv: o.format == "csv", quote: []byte{o.quote}, newline: lineFeed, last: '\n'}
	for end <= at {
		_, more, err := r.next()
		if !more || err != nil {
			return end, len(data)
		}
		start, end = end, r.at
	}
	return start, end
}

// next returns the next record without its newline, valid until the next call; more is false when
// there is none.
func (r *recordReader) next() (record []byte, more bool, err error) {
	if r.newline != unknownNewline {
		data := r.buf[r.at:r.end]
		if i := bytes.IndexByte(data, r.last); i >= 0 {
			if line, plain := r.plain(data[:i]); plain {
				r.at += i + 1
				return line, true, nil
			}
		}
	}
	return r.scan()
}

// plain reports whether a line is certainly a record, and returns it without what is left of its
// newline.
func (r *recordReader) plain(line []byte) ([]byte, bool) {
	switch r.newline {
	case lineFeed:
		if bytes.IndexByte(line, '\r') >= 0 {
			return nil, false
		}
	case carriageReturn:
		if bytes.IndexByte(line, '\n') >= 0 {
			return nil, false
		}
	default:
		if len(line) == 0 || bytes.IndexByte(line, '\r') != len(line)-1 {
			return nil, false
		}
		line = line[:len(line)-1]
	}
	if r.csv {
		quotes := bytes.Count(line, r.quote)
		special := len(line) > 0 && line[0] == '\\' || quotes%2 == 1 ||
			quotes > 0 && r.o.escape != r.o.quote && bytes.IndexByte(line, r.o.escape) >= 0
		return line, !special
	}
	for rest := line; ; {
		i := bytes.IndexByte(rest, '\\')
		if i < 0 {
			return line, true
		}
		if i+1 == len(rest) || rest[i+1] == '.' {
			return nil, false
		}
		rest = rest[i+2:]
	}
}

// scan reads a record byte by byte.
func (r *recordReader) scan() (record []byte, more bool, err error) {
	quoted, escaped := false, false
	for p := 0; ; p++ {
		b, ok := r.byteAt(p)
		if !ok {
			return r.take(p, p), p > 0, r.err
		}
		if r.csv {
			quoted, escaped = r.o.quoting(b, quoted, escaped)
		}
		switch {
		case b == '\\' && (!r.csv || p == 0):
			c, ok := r.byteAt(p + 1)
			switch {
			case !ok && !r.csv: // PostgreSQL drops a backslash before the end of the file
				return r.take(p, p+1), true, r.err
			case c == '.':
				used, marked, err := r.endMark(p + 2)
				if err != nil {
					return nil, false, r.failed(p, err)
				}
				if marked { // what stands before it is a record, and more may follow that
					return r.take(p, used), p > 0, nil
				}
			case !r.csv:
				p++
			}
		case !quoted && (b == '\r' || b == '\n'):
			used, err := r.lineEnd(b, p)
			if err != nil {
				return nil, false, r.failed(p, err)
			}
			return r.take(p, used), true, nil
		}
	}
}

// quoting follows the quotes of a CSV record over a byte: an escape counts in quotes only, unless
// it is the quote itself, which as a pair leaves and enters them.
func (o *copyOptions) quoting(b byte, quoted, escaped bool) (nowQuoted, nowEscaped bool) {
	apart := o.escape != o.quote
	if apart && quoted && b == o.escape {
		escaped = !escaped
	}
	if b == o.quote && !escaped {
		quoted = !quoted
	}
	return quoted, escaped && apart && b == o.escape
}

// lineEnd returns what a record takes with its newline, which starts with b at p.
func (r *recordReader) lineEnd(b byte, p int) (used int, err error) {
	style := lineFeed
	if b == '\r' {
		style = carriageReturn
		if r.newline == unknownNewline || r.newline == bothNewlines {
			if c, ok := r.byteAt(p + 1); ok && c == '\n' {
				style, b = bothNewlines, '\n'
				p++
			}
		}
	}
	if r.newline == unknownNewline {
		r.newline, r.last = style, b
	}
	if r.newline == style {
		return p + 1, nil
	}
	name, escape := "newline", `\n`
	if b == '\r' {
		name, escape = "carriage return", `\r`
	}
	if r.csv {
		return 0, sqlerr.New(sqlerr.BadCopyFileFormat, "unquoted %s found in data", name).
			WithHint("Use quoted CSV field to represent %s.", name)
	}
	return 0, sqlerr.New(sqlerr.BadCopyFileFormat, "literal %s found in data", name).
		WithHint(`Use "%s" to represent %s.`, escape, name)
}

// endMark looks behind a \. that ends at p: with a newline, it is the mark of the end. Anything
// else makes it a value in CSV and is wrong in text.
func (r *recordReader) endMark(p int) (used int, marked bool, err error) {
	corrupt := sqlerr.New(sqlerr.BadCopyFileFormat, "end-of-copy marker corrupt")
	style := sqlerr.New(sqlerr.BadCopyFileFormat, "end-of-copy marker does not match previous newline style")
	c, _ := r.byteAt(p)
	if r.newline == bothNewlines {
		switch {
		case c != '\r' && r.csv:
			return 0, false, nil
		case c == '\n':
			return 0, false, style
		case c != '\r':
			return 0, false, corrupt
		}
		p++
		c, _ = r.byteAt(p)
	}
	switch {
	case c == '\r' || c == '\n':
		if r.newline != unknownNewline && c != r.last {
			return 0, false, style
		}
		return p + 1, true, nil
	case r.csv:
		return 0, false, nil
	}
	return 0, false, corrupt
}

// take returns the first bytes of what has been read and consumes used.
func (r *recordReader) take(n, used int) []byte {
	record := r.buf[r.at : r.at+n]
	r.at += used
	return record
}

// failed notes where in a record err arose.
func (r *recordReader) failed(p int, err error) error {
	r.inside = countLines(r.buf[r.at : r.at+p])
	return err
}

// byteAt returns a byte of what has not been returned, reading on as needed; ok is false behind
// the end.
func (r *recordReader) byteAt(p int) (b byte, ok bool) {
	for r.at+p >= r.end {
		if r.eof {
			return 0, false
		}
		r.fill()
	}
	return r.buf[r.at+p], true
}

// fill reads on, into a larger buffer if a record fills it.
func (r *recordReader) fill() {
	copy(r.buf, r.buf[r.at:r.end])
	r.at, r.end = 0, r.end-r.at
	if r.end == len(r.buf) {
		r.buf = append(r.buf, make([]byte, len(r.buf))...)
	}
	n, err := r.src.Read(r.buf[r.end:])
	r.end += n
	if err == nil {
		return
	}
	r.eof = true
	if err != io.EOF {
		r.err = sqlerr.New(sqlerr.IOError, "read COPY file: %w", err)
	}
}
