package storage

import (
	"errors"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weftdb/weft/internal/sqlerr"
)

// tightFS has as many bytes free as it says.
type tightFS struct {
	vfs.FS
	availBytes uint64
}

func (f tightFS) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{AvailBytes: f.availBytes, TotalBytes: 1 << 30, UsedBytes: 1<<30 - f.availBytes}, nil
}

func TestOpenOnFullDisk(t *testing.T) {
	disk := vfs.NewCrashableMem()
	e := openTest(t, Options{Dir: "db", FS: disk})
	tbl := createTable(t, e, kvTable(e, "t"))
	insertKV(t, e, tbl, 1, "kept")
	crashed := disk.CrashClone(vfs.CrashCloneCfg{})

	_, err := Open(Options{Dir: "db", FS: tightFS{crashed, 10}})
	wantCode(t, err, sqlerr.DiskFull)
	var known *sqlerr.Error
	if !errors.As(err, &known) || known.Hint == "" {
		t.Errorf("error %v does not say what to do", err)
	}

	again := openTest(t, Options{Dir: "db", FS: tightFS{crashed, 1 << 20}})
	defer again.Close()
	if rows := dumpRows(t, again); !strings.Contains(rows, `"kept"`) {
		t.Errorf("after the refused opening the database holds %s", rows)
	}
	must(t, e.Close())
}

// fullFS has room for so many bytes of log.
type fullFS struct {
	vfs.FS
	room *atomic.Int64
}

type fullFile struct {
	vfs.File
	room *atomic.Int64
}

func (f fullFile) Write(p []byte) (int, error) {
	if f.room.Add(-int64(len(p))) < 0 {
		return 0, syscall.ENOSPC
	}
	return f.File.Write(p)
}

func (f fullFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.Create(name, c)
	if err == nil && strings.HasSuffix(name, ".log") {
		if f.room.Load() <= 0 {
			return nil, errors.Join(syscall.ENOSPC, file.Close())
		}
		file = fullFile{file, f.room}
	}
	return file, err
}

func (f fullFS) ReuseForWrite(_, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return f.Create(name, c)
}

// TestFullDisk lets the disk fill at many places, the change from one log to the next among them.
// The commit that meets it fails, and nothing that was reported is gone afterwards.
func TestFullDisk(t *testing.T) {
	if *spillFlag > 0 {
		t.Skip("commits take no room in the log")
	}
	payload := strings.Repeat("x", 3000)
	for room := int64(20_000); room < 160_000; room += 3_500 {
		disk := vfs.NewCrashableMem()
		var left atomic.Int64
		left.Store(1 << 40)
		e := openTest(t, Options{Dir: "db", FS: fullFS{disk, &left}, MemTableBytes: 64 << 10})
		tbl := createTable(t, e, kvTable(e, "t"))
		left.Store(room)
		commits := 0
		var err error
		for ; err == nil && commits < 200; commits++ {
			x := e.Begin(TxnOptions{})
			if _, err = x.Insert(bg, tbl, kv(commits, payload)); err == nil {
				err = x.Commit(bg)
			}
			x.Rollback()
		}
		wantCode(t, err, sqlerr.DiskFull)
		_ = e.Close() // it tells of the failure once more
		again := openTest(t, Options{Dir: "db", FS: disk.CrashClone(vfs.CrashCloneCfg{})})
		if rows := strings.Count(dumpRows(t, again), payload); rows < commits-1 {
			t.Errorf("with room for %d bytes %d rows are left of %d committed", room, rows, commits-1)
		}
		must(t, again.Close())
	}
}
