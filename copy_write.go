package weft

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/sql"
)

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
		if t := (&planner.DDL{Input: r.s.input(r.s.Catalog())}).FindTable(n.Table); t != nil {
			if t.Kind == catalog.PartitionedTable {
				return nil, sqlerr.New(sqlerr.WrongObjectType, "cannot copy from partitioned table %q", t.Name).WithHint("Try the COPY (SELECT ...) TO variant.")
			}
			at, err := copiedColumns(t, n.Columns)
			if err != nil {
				return nil, err
			}
			for _, pos := range at {
				id := sql.Ident{Span: n.Span, Name: t.Columns[pos].Name}
				core.Targets = append(core.Targets, sql.Target{Span: id.Span, Expr: &sql.ColumnRef{Span: id.Span, Parts: []sql.Ident{id}}})
			}
		}
		if core.Targets == nil { // not a table: reading it says what is wrong
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

// writeFile writes rows to a file, which replaces an older one only when it is complete. What is no file, a
// device or a pipe, is written to as the rows come.
func writeFile(n *sql.Copy, o copyOptions, rows *Rows) (int64, error) {
	if isDirectory(n.File) {
		return 0, sqlerr.New(sqlerr.WrongObjectType, "could not open file %q for writing: is a directory", n.File).At(n.Start)
	}
	f, target, err := createCopy(n.File)
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
	if target == "" {
		return count, err
	}
	if err == nil {
		if err = os.Rename(f.Name(), target); err != nil {
			err = sqlerr.New(sqlerr.IOError, "write COPY file: %w", err)
		}
	}
	if err != nil {
		os.Remove(f.Name()) // the error that matters is err
	}
	return count, err
}

func isDirectory(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// createCopy opens what COPY writes to in place of name: a new file beside target, where links lead to, whose
// place it is to take, with its mode; target = "" if it is the thing itself.
func createCopy(name string) (f *os.File, target string, err error) {
	if target, err = followLinks(name); err != nil {
		return nil, "", err
	}
	info, err := os.Lstat(target)
	switch {
	case errors.Is(err, os.ErrNotExist):
		f, err = createBeside(target)
		return f, target, err
	case err != nil:
		return nil, "", err
	}
	// What cannot be written to is not to be replaced either.
	if f, err = os.OpenFile(target, os.O_WRONLY|os.O_APPEND, 0); err != nil || !info.Mode().IsRegular() || ofSystem(name) {
		return f, "", err
	}
	if err = f.Close(); err != nil {
		return nil, "", err
	}
	if f, err = createBeside(target); err != nil {
		return nil, "", err
	}
	if err = f.Chmod(info.Mode().Perm()); err != nil {
		return nil, "", errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return f, target, nil
}

// ofSystem reports whether a name is of something that the system has opened, such as /dev/stdout, which is written
// to where it is, even if it is a file.
func ofSystem(name string) bool {
	clean := filepath.ToSlash(filepath.Clean(name))
	return strings.HasPrefix(clean, "/dev/") || strings.HasPrefix(clean, "/proc/")
}

// followLinks returns where links lead to from a name, also if nothing is there.
func followLinks(name string) (string, error) {
	for range 40 { // as many as systems follow
		link, err := os.Readlink(name)
		if err != nil || ofSystem(name) {
			return name, nil // it is no link
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(name), link)
		}
		name = link
	}
	return "", errors.New("too many links")
}

// createBeside makes a new file next to one.
func createBeside(target string) (f *os.File, err error) {
	part := target + ".part"
	for i := 1; ; i++ {
		f, err = os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, os.ErrExist) {
			return f, err
		}
		part = target + ".part" + strconv.Itoa(i)
	}
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
	if string(field) != o.null && string(field) != endOfData && bytes.IndexByte(field, o.delimiter) < 0 && bytes.IndexByte(field, o.quote) < 0 && !bytes.ContainsAny(field, "\r\n") {
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
