package imcv

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/klauspost/compress/s2"
	"github.com/zeebo/xxh3"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// unitFiles keeps units on disk: one file for each version of a row group, written once. Files make
// units readable again that had to leave memory, and are taken over after a restart. They are
// never needed: what is missing or damaged is built again from rows. So nothing is synced; a
// file that the power cut short fails its checksum.
type unitFiles struct {
	fs  vfs.FS
	dir string
	ok  bool // false in memory
	id  fileIdentity

	mu   sync.Mutex
	made bool                    // the directory exists
	left map[groupKey]*groupFile // of an earlier run, not taken over yet
}

// fileIdentity is what a file must agree with to belong to a database.
type fileIdentity struct {
	database    [16]byte
	incarnation uint64
}

type groupKey struct {
	store  catalog.StoreID
	number int
}

// groupFile is a file and what its header says.
type groupFile struct {
	name    string
	bytes   int64
	id      fileIdentity
	table   catalog.TableID
	epoch   uint64
	store   catalog.StoreID
	number  int
	builtAt uint64
	rows    int
	limit   int
	present []uint64
	units   []fileUnit
}

// fileUnit is a unit's entry in the header.
type fileUnit struct {
	facts unitFacts
	place place
}

// place is where in a file a unit is.
type place struct {
	offset, length int64
	raw            int // bytes before compression, 0 = it is not compressed
	sum            uint64
	rows           int
}

// A file is magic, version (u32), length and checksum of the header (u32, u64), the compressed header, then
// the units.
const (
	fileMagic   = "weftunit"
	fileVersion = 1
	prefixBytes = 24
	fileSuffix  = ".units"
)

func newUnitFiles(e *storage.Engine) *unitFiles {
	f := &unitFiles{left: map[groupKey]*groupFile{}}
	f.fs, f.dir, f.ok = e.UnitFiles()
	f.id = fileIdentity{e.DatabaseID(), e.Incarnation()}
	return f
}

func (f *unitFiles) path(name string) string { return f.fs.PathJoin(f.dir, name) }

// encodeFile lays a group's units out as a file.
func encodeFile(file *groupFile, units []*unit) []byte {
	var body []byte
	for i, u := range units {
		p := &file.units[i].place
		raw := writeUnit(u)
		stored := s2.Encode(nil, raw)
		if p.raw = len(raw); len(stored) >= len(raw)-len(raw)/16 {
			stored, p.raw = raw, 0
		}
		p.offset, p.length, p.sum, p.rows = int64(len(body)), int64(len(stored)), xxh3.Hash(stored), u.rows
		body = append(body, stored...)
	}
	header := s2.Encode(nil, file.header())
	out := make([]byte, 0, prefixBytes+len(header)+len(body))
	out = append(out, fileMagic...)
	out = binary.LittleEndian.AppendUint32(out, fileVersion)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(header)))
	out = binary.LittleEndian.AppendUint64(out, xxh3.Hash(header))
	out = append(append(out, header...), body...)
	file.bytes = int64(len(out))
	for i := range file.units {
		file.units[i].place.offset += int64(prefixBytes + len(header))
	}
	return out
}

func (g *groupFile) header() []byte {
	w := &unitWriter{}
	w.bytes(g.id.database[:])
	for _, x := range []uint64{g.id.incarnation, uint64(g.table), g.epoch, uint64(g.store), uint64(g.number), g.builtAt, uint64(g.rows), uint64(g.limit)} {
		w.uint(x)
	}
	w.words(g.present)
	w.int(len(g.units))
	for i := range g.units {
		c, p := &g.units[i].facts, &g.units[i].place
		for _, x := range []uint64{uint64(c.id), uint64(c.kind), uint64(c.encoding), uint64(c.bytes), uint64(c.plain), uint64(c.zone.Nulls), uint64(c.zone.Rows)} {
			w.uint(x)
		}
		w.datum(c.zone.Min)
		w.datum(c.zone.Max)
		w.words(c.bloom)
		for _, x := range []uint64{uint64(p.offset), uint64(p.length), uint64(p.raw), uint64(p.rows)} {
			w.uint(x)
		}
		w.word(p.sum)
	}
	return w.b
}

func (g *groupFile) readHeader(b []byte) error {
	r := &unitReader{b: b}
	if copy(g.id.database[:], r.view()) != len(g.id.database) {
		return errBadUnit
	}
	g.id.incarnation, g.table, g.epoch = r.uint(), catalog.TableID(r.uint()), r.uint()
	g.store, g.number, g.builtAt, g.rows, g.limit = catalog.StoreID(r.uint()), r.int(), r.uint(), r.int(), r.int()
	g.present = readSlice[uint64](r, storage.GroupRows/64)
	n := r.int()
	for i := 0; i < n && !r.bad; i++ {
		g.units = append(g.units, fileUnit{})
		c, p := &g.units[i].facts, &g.units[i].place
		c.id, c.kind, c.encoding = catalog.ColumnID(r.uint()), vector.Kind(r.uint()), Encoding(r.uint())
		c.bytes, c.plain, c.zone.Nulls, c.zone.Rows = int64(r.int()), int64(r.int()), r.int(), r.int()
		c.zone.Min, c.zone.Max = r.datum(), r.datum()
		if b := r.bytes(); len(b) > 0 {
			c.bloom = asSlice[uint64](b)
		}
		p.offset, p.length, p.raw, p.rows = int64(r.int()), int64(r.int()), r.int(), r.int()
		p.sum = r.word()
	}
	if r.bad || len(r.b) != 0 || g.limit > storage.GroupRows {
		return errBadUnit
	}
	return nil
}

// write makes a file and returns it with its places filled in.
func (f *unitFiles) write(file *groupFile, units []*unit) error {
	if err := f.makeDir(); err != nil {
		return err
	}
	file.id = f.id
	file.name = fmt.Sprintf("%08x-%06x-%016x%s", uint32(file.store), file.number, file.builtAt, fileSuffix)
	data := encodeFile(file, units)
	temp := f.path(file.name + ".new")
	out, err := f.fs.Create(temp, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	if err = errors.Join(err, out.Close()); err == nil {
		err = f.fs.Rename(temp, f.path(file.name))
	}
	if err != nil {
		_ = f.fs.Remove(temp) // the next start removes it
	}
	return err
}

func (f *unitFiles) makeDir() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.made {
		return nil
	}
	err := f.fs.MkdirAll(f.dir, 0o755)
	f.made = err == nil
	return err
}

func (f *unitFiles) remove(file *groupFile) {
	_ = f.fs.Remove(f.path(file.name)) // the next start removes it
}

// readUnit reads one unit of a file.
func (f *unitFiles) readUnit(file *groupFile, p *place, c *column) (*unit, error) {
	in, err := f.fs.Open(f.path(file.name))
	if err != nil {
		return nil, err
	}
	defer in.Close()
	b := make([]byte, p.length)
	if _, err := in.ReadAt(b, p.offset); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if xxh3.Hash(b) != p.sum {
		return nil, errBadUnit
	}
	if p.raw > 0 {
		if b, err = s2.Decode(make([]byte, p.raw), b); err != nil {
			return nil, err
		}
	}
	return readUnit(b, c, p.rows)
}

// open reads the header of a file.
func (f *unitFiles) open(name string) (*groupFile, error) {
	in, err := f.fs.Open(f.path(name))
	if err != nil {
		return nil, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	var prefix [prefixBytes]byte
	if _, err := in.ReadAt(prefix[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	length := int64(binary.LittleEndian.Uint32(prefix[12:]))
	if string(prefix[:8]) != fileMagic || binary.LittleEndian.Uint32(prefix[8:]) != fileVersion || length > info.Size()-prefixBytes {
		return nil, errBadUnit
	}
	b := make([]byte, length)
	if _, err := in.ReadAt(b, prefixBytes); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if xxh3.Hash(b) != binary.LittleEndian.Uint64(prefix[16:]) {
		return nil, errBadUnit
	}
	header, err := s2.Decode(nil, b)
	if err != nil {
		return nil, err
	}
	file := &groupFile{name: name, bytes: info.Size()}
	if err := file.readHeader(header); err != nil {
		return nil, err
	}
	for i := range file.units {
		file.units[i].place.offset += prefixBytes + length
	}
	return file, nil
}

// find looks for files of an earlier run. Files that cannot be used are removed: damaged ones, those
// of another database or another history of it, and those built later than the state that was
// recovered, whose numbers may have been given out anew.
func (f *unitFiles) find(recovered uint64) (damaged int) {
	if !f.ok {
		return 0
	}
	names, err := f.fs.List(f.dir)
	if err != nil {
		return 0 // there are none
	}
	for _, name := range names {
		var file *groupFile
		err := errBadUnit
		if strings.HasSuffix(name, fileSuffix) {
			file, err = f.open(name)
		}
		if err != nil || file.id != f.id || file.builtAt > recovered {
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				damaged++
			}
			_ = f.fs.Remove(f.path(name)) // it is not used in any case
			continue
		}
		key := groupKey{file.store, file.number}
		if other := f.left[key]; other != nil {
			if other.builtAt > file.builtAt {
				file, other = other, file
			}
			f.remove(other)
		}
		f.left[key] = file
	}
	return damaged
}

// take returns the file of an earlier run for a group, once.
func (f *unitFiles) take(store catalog.StoreID, number int) *groupFile {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := groupKey{store, number}
	file := f.left[key]
	delete(f.left, key)
	return file
}

// found reports whether an earlier run has left files that nobody has taken.
func (f *unitFiles) found() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.left) > 0
}

// of returns the file of a group that an earlier run has left and nobody has taken, nil if there is none.
func (f *unitFiles) of(store catalog.StoreID, number int) *groupFile {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.left[groupKey{store, number}]
}

// sweep removes files of an earlier run whose tables no longer exist.
func (f *unitFiles) sweep(exists func(store catalog.StoreID) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for key, file := range f.left {
		if !exists(key.store) {
			delete(f.left, key)
			f.remove(file)
		}
	}
}

// spill writes the file of a group, unless it has one or its build is not durable yet: then a crash could
// give its number to another state. It reports whether there is a file.
func (m *Manager) spill(g *group) bool {
	g.spilling.Lock()
	defer g.spilling.Unlock()
	if g.file.Load() != nil || !m.files.ok {
		return g.file.Load() != nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxSyncWait)
	defer cancel()
	if m.engine.WaitDurable(ctx, g.journal.BuiltAt) != nil {
		return false
	}
	file := &groupFile{table: g.table, epoch: g.epoch, store: g.journal.Store, number: g.journal.Group, builtAt: g.journal.BuiltAt,
		rows: g.rows, limit: g.limit, present: g.present[:]}
	var units []*unit
	var columns []*column
	for _, c := range g.columns {
		if u := c.unit.Load(); u != nil {
			file.units = append(file.units, fileUnit{facts: c.unitFacts})
			units, columns = append(units, u), append(columns, c)
		}
	}
	if err := m.files.write(file, units); err != nil {
		m.warn("write column units", err)
		return false
	}
	g.file.Store(file)
	for i, c := range columns {
		c.place.Store(&file.units[i].place)
	}
	m.Counters.FilesBytes.Add(file.bytes)
	return true
}

// maxSyncWait bounds how long whoever makes room waits for the log: without a file units are given up.
const maxSyncWait = time.Second
