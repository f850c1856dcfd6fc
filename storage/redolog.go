package storage

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// redoLog makes small batches durable in the goroutine that waits for them: it writes what has been handed
// to the store since and syncs, in one file that keeps its place and, once full, its size. The store's own
// log takes the same batches, but is synced by a goroutine of the store, and to wake that up and be woken
// up takes longer than the rest of a commit. So it is synced only where this file does not do:
//
//   - for a batch that is too large for it, and what is waiting then,
//   - before the file is begun anew, because it is full,
//   - before a commit's files are ingested, a backup, and the end.
//
// All batches are numbered, in the order in which the store applies them, and each sets a key to its number.
// After a crash the store has all batches up to some number, and the file has a chain of consecutive
// ones; those of the chain that the store lacks are applied once more. The chain reaches back far enough,
// since the file is begun anew only when the store has made durable what was in it.
type redoLog struct {
	e *Engine

	// Guarded by mu, which is taken alone or under the commit mutex; last changes under that only.
	mu      sync.Mutex
	pending []byte // records to write
	last    uint64 // number of the last batch
	behind  bool   // there are batches, not durable, that are neither written nor pending
	restart bool   // pending begins the file anew, with its head
	chain   uint64 // names the chain that is pending
	writing bool   // somebody writes; others wait until written
	written sync.Cond

	// Of who writes.
	file   vfs.File // nil = there is none, the store's log does it all; set while opening
	spare  []byte
	end    int64 // of the chain
	filled int64 // size of the file
	// together is whether the last sync was for several batches.
	together bool

	durable atomic.Uint64 // every batch up to this one is
}

const (
	redoFile = "REDO"
	// redoBytes is where the file ends. Each time around costs a sync of the store's log.
	redoBytes = 4 << 20
	// redoFillBytes is how far zeros are written ahead while the file grows, so that most syncs have data
	// to write but no new file size, which spares the file system a record in its own journal.
	redoFillBytes = 128 << 10
	// maxRedoBatch is up to which size a batch is worth to be written twice.
	maxRedoBatch = 64 << 10
	// maxRedoPending bounds what nobody waits for.
	maxRedoPending = 1 << 20
	// redoFormat is the first format that has the file.
	redoFormat = 4
)

var redoZeros [redoFillBytes]byte

// The file's head is, little-endian: a random number that names the chain (8 bytes), its CRC-32C (4), zeros (4).
// A record is: length of the batch (4), CRC-32C of the chain's name, the length and what follows (4), the
// batch's number (8), the number up to which batches were durable when it was written (8), the batch,
// and zeros up to a multiple of eight bytes.
//
// The name tells the records of a chain from all else that may lie where one of them is expected: what is left
// of earlier chains, whose numbers a crash has let be used again, and whatever batches hold.
const (
	redoHead   = 16
	redoHeader = 24
	redoAlign  = 8
)

func appendRedoHead(dst []byte, chain uint64) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, chain)
	dst = binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[len(dst)-8:], castagnoli))
	return append(dst, 0, 0, 0, 0)
}

// readRedoHead reads the name of the file's chain. A file that nothing has been written to yet has none.
func readRedoHead(data []byte) (chain uint64, empty, ok bool) {
	if len(data) == 0 || len(data) >= redoHead && bytes.Equal(data[:redoHead], redoZeros[:redoHead]) {
		return 0, true, true
	}
	if len(data) < redoHead || binary.LittleEndian.Uint32(data[8:]) != crc32.Checksum(data[:8], castagnoli) {
		return 0, false, false
	}
	return binary.LittleEndian.Uint64(data), false, true
}

type redoRecord struct {
	number, durable uint64
	batch           []byte
}

func redoSize(batch int) int { return (redoHeader + batch + redoAlign - 1) &^ (redoAlign - 1) }

func appendRedo(dst []byte, chain uint64, r redoRecord) []byte {
	start := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(r.batch)))
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	dst = binary.LittleEndian.AppendUint64(dst, r.number)
	dst = binary.LittleEndian.AppendUint64(dst, r.durable)
	dst = append(dst, r.batch...)
	for (len(dst)-start)%redoAlign != 0 {
		dst = append(dst, 0)
	}
	binary.LittleEndian.PutUint32(dst[start+4:], redoSum(chain, dst[start:], len(r.batch)))
	return dst
}

func redoSum(chain uint64, record []byte, batch int) uint32 {
	var name [8]byte
	binary.LittleEndian.PutUint64(name[:], chain)
	sum := crc32.Update(crc32.Update(0, castagnoli, name[:]), castagnoli, record[:4])
	return crc32.Update(sum, castagnoli, record[8:redoHeader+batch])
}

// readRedo reads the record of a chain for a batch after number last at the start of data; n = 0 if there is
// none.
func readRedo(data []byte, chain, last uint64) (r redoRecord, n int) {
	if len(data) < redoHeader {
		return r, 0
	}
	size := int(binary.LittleEndian.Uint32(data))
	r.number, r.durable = binary.LittleEndian.Uint64(data[8:]), binary.LittleEndian.Uint64(data[16:])
	if size > maxRedoBatch || redoHeader+size > len(data) || r.number <= last || r.durable >= r.number {
		return r, 0
	}
	if redoSum(chain, data, size) != binary.LittleEndian.Uint32(data[4:]) {
		return r, 0
	}
	r.batch = data[redoHeader : redoHeader+size]
	return r, min(redoSize(size), len(data))
}

// add takes in batch number n, which the store has applied. The commit mutex is held.
func (r *redoLog) add(n uint64, batch []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = n
	switch {
	case r.behind:
	case r.file == nil || len(batch) == 0 || len(batch) > maxRedoBatch || len(r.pending)+redoSize(len(batch)) > maxRedoPending:
		r.behind, r.pending = true, r.pending[:0]
	default:
		r.pending = appendRedo(r.pending, r.chain, redoRecord{n, r.durable.Load(), batch})
	}
}

// ingested takes in batch number n, which came in files and is durable as those before are. The commit
// mutex is held.
func (r *redoLog) ingested(n uint64) {
	r.mu.Lock()
	r.last = n
	r.mu.Unlock()
	r.stored()
}

// stored notes that the store has made all batches durable. The commit mutex is held.
func (r *redoLog) stored() { r.durableUpTo(r.startOver()) }

// startOver lets the file begin with the next batch, and returns the number of the last. The commit mutex
// is held.
func (r *redoLog) startOver() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	var name [8]byte
	_, _ = rand.Read(name[:]) // never fails
	r.chain = binary.LittleEndian.Uint64(name[:])
	r.pending, r.behind, r.restart = appendRedoHead(r.pending[:0], r.chain), false, true
	return r.last
}

func (r *redoLog) durableUpTo(n uint64) {
	for old := r.durable.Load(); old < n && !r.durable.CompareAndSwap(old, n); old = r.durable.Load() {
	}
}

// lastNumber returns the number of the last batch.
func (r *redoLog) lastNumber() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// sync waits until batch n is durable. An error is the engine's failure. The commit mutex must not be held.
func (r *redoLog) sync(n uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.durable.Load() < n {
		if r.writing {
			r.written.Wait()
			continue
		}
		r.writing = true
		r.mu.Unlock()
		if r.together {
			runtime.Gosched() // for those whom the last sync has woken, and who may be about to commit again
		}
		err := r.write()
		r.mu.Lock()
		r.writing = false
		r.written.Broadcast()
		if err != nil {
			return err
		}
	}
	return r.e.failed()
}

// write makes all batches durable. One does so at a time.
func (r *redoLog) write() error {
	if err := r.e.failed(); err != nil {
		return err
	}
	r.mu.Lock()
	if r.restart {
		r.end, r.restart = 0, false
	}
	if r.behind || r.end+int64(len(r.pending)) > redoBytes {
		r.mu.Unlock()
		return r.syncStore()
	}
	chunk, last := r.pending, r.last
	r.pending, r.spare = r.spare[:0], chunk
	r.mu.Unlock()
	if err := r.writeChunk(chunk); err != nil {
		return r.e.fail("sync log", err)
	}
	r.together = last > r.durable.Load()+1
	r.durableUpTo(last)
	return nil
}

func (r *redoLog) writeChunk(chunk []byte) error {
	for r.end+int64(len(chunk)) > r.filled {
		if _, err := r.file.WriteAt(redoZeros[:], r.filled); err != nil {
			return err
		}
		r.filled += redoFillBytes
	}
	if _, err := r.file.WriteAt(chunk, r.end); err != nil {
		return err
	}
	r.e.fs.logSyncs.Add(1)
	if err := r.file.SyncData(); err != nil {
		return err
	}
	r.end += int64(len(chunk))
	return nil
}

// syncLog makes all batches durable in the store's log. The commit mutex is held.
func (e *Engine) syncLog() error {
	batch := e.newBatch()
	defer e.freeBatch(batch)
	if err := batch.LogData(nil, nil); err != nil {
		return ioError("sync log", err)
	}
	err := e.guard("sync log", func() error { return e.db.Apply(batch, pebble.Sync) })
	if err == nil {
		e.redo.stored()
	}
	return err
}

// syncStore does the same without the commit mutex, which it holds for a moment only.
func (r *redoLog) syncStore() error {
	e := r.e
	batch := e.newBatch()
	defer e.freeBatch(batch)
	if err := batch.LogData(nil, nil); err != nil {
		return ioError("sync log", err)
	}
	e.commitMu.Lock()
	last := r.startOver()
	err := e.guard("sync log", func() error { return e.db.ApplyNoSyncWait(batch, pebble.Sync) })
	e.commitMu.Unlock()
	if err != nil {
		return err
	}
	if err := batch.SyncWait(); err != nil {
		return e.fail("sync log", err)
	}
	if err := e.failed(); err != nil { // what the store says then is not to be relied on
		return err
	}
	r.durableUpTo(last)
	return nil
}

// openRedo applies what the store has lost in a crash, and opens the file for more. Where damage has stopped
// the engine, the batches are applied in memory alone: what can be read is to be complete.
func (e *Engine) openRedo(closed bool) error {
	r := &e.redo
	stored, err := readU64(e.db, metaKey(metaBatch))
	if err != nil {
		return err
	}
	r.last = stored
	r.durable.Store(stored)
	if e.opts.InMemory || e.format.Format < redoFormat && e.opts.NoMaintenance {
		return nil
	}
	path := e.fs.PathJoin(e.dirs.root, redoFile)
	data, err := readFile(e.fs, path)
	switch {
	case errors.Is(err, os.ErrNotExist) && (e.format.Format < redoFormat || !e.format.Filled):
		if err = nil; e.failed() == nil {
			if err = writeFileSynced(e.fs, path, nil); err == nil {
				err = syncDir(e.fs, e.dirs.root)
			}
		}
	case errors.Is(err, os.ErrNotExist):
		return errCorrupt("open store", fmt.Errorf("the database's REDO file is missing: dir=%s", e.dirs.root))
	case err == nil && !closed: // else the store has everything
		if err := e.replay(data, stored); err != nil {
			return err
		}
	}
	if err != nil || e.failed() != nil { // where there is damage nothing is written any more
		return ioError("open REDO file", err)
	}
	if r.file, err = e.fs.OpenReadWrite(path, vfs.WriteCategoryUnspecified); err != nil && e.failed() == nil {
		return ioError("open REDO file", err)
	}
	r.filled = int64(len(data))
	r.startOver()
	return nil
}

// replay applies the batches of a redo file that the store lacks, which has all up to number stored.
func (e *Engine) replay(data []byte, stored uint64) error {
	r := &e.redo
	chain, empty, ok := readRedoHead(data)
	switch {
	case empty:
		return nil
	case !ok:
		return errCorrupt("open store", fmt.Errorf("the database's REDO file is damaged: dir=%s", e.dirs.root))
	}
	at := redoHead
	for last := uint64(0); ; {
		record, n := readRedo(data[at:], chain, last)
		if n == 0 || last > 0 && record.number != last+1 {
			break
		}
		if record.number > r.last+1 {
			return e.errBatchesMissing(record.number - 1)
		}
		if record.number == r.last+1 {
			if err := e.applyAgain(record.batch); err != nil {
				return err
			}
			r.last++
		}
		last = record.number
		at += n
	}
	// A record behind the end of the chain tells whether the chain has been longer.
	for ; at+redoHeader <= len(data); at += redoAlign {
		if record, n := readRedo(data[at:], chain, r.last); n > 0 && record.durable > r.last {
			return e.errBatchesMissing(record.durable)
		}
	}
	if r.last == stored || e.failed() != nil {
		return nil
	}
	e.commitMu.Lock()
	defer e.commitMu.Unlock()
	return e.syncLog()
}

// errBatchesMissing is the error of a redo file that does not follow on what the store has.
func (e *Engine) errBatchesMissing(upTo uint64) error {
	return errCorrupt("open store", fmt.Errorf("changes %d to %d are missing from the REDO file: dir=%s", e.redo.last+1, upTo, e.dirs.root))
}

// applyAgain applies a batch of the redo file, also when damage has stopped the engine.
func (e *Engine) applyAgain(batch []byte) (err error) {
	b := e.newBatch()
	defer e.freeBatch(b)
	if err := b.SetRepr(bytes.Clone(batch)); err != nil {
		return errCorrupt("open store", err)
	}
	defer func() {
		if p := recover(); p != nil {
			err = e.fail("apply changes of the REDO file", fmt.Errorf("%v", p))
		}
	}()
	if err := e.db.Apply(b, pebble.NoSync); err != nil {
		return e.fail("apply changes of the REDO file", err)
	}
	return nil
}
