package storage

import (
	"errors"
	"strings"
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
