package imcv

import (
	"context"
	"fmt"
	"math/rand/v2"

	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// views is a table of some row groups with a column view.
type views struct {
	t      testing.TB
	fs     *vfs.MemFS
	e      *storage.Engine
	m      *Manager
	tbl    *catalog.Table
	groups int
}

var testOptions = Options{Enabled: true, BudgetBytes: 1 << 30, Workers: 2, FlushPages: 1 << 20, FlushSeconds: 1 << 20, Policy: PolicySwap}

// newViews makes a database with a table of a number, a text and a null or a number, and loads its view.
func newViews(t testing.TB, groups int, o Options) *views {
	t.Helper()
	return newViewsOn(t, vfs.NewMem(), groups, o)
}

func newViewsOn(t testing.TB, fs *vfs.MemFS, groups int, o Options) *views {
	t.Helper()
	v := &views{t: t, fs: fs, groups: groups}
	v.open(o)
	v.tbl = &catalog.Table{ID: v.e.NewTableID(), Schema: "public", Name: "t", SchemaVersion: 1, NextColumn: 4, HasView: true, Stores: []catalog.StoreID{v.e.NewStoreID()},
		Columns: []catalog.Column{{ID: 1, Name: "a", Type: catalog.Type{ID: catalog.Int8}, AddedIn: 1, Covered: true},
			{ID: 2, Name: "b", Type: catalog.Type{ID: catalog.Text}, AddedIn: 1, Covered: true},
			{ID: 3, Name: "c", Type: catalog.Type{ID: catalog.Int4}, AddedIn: 1, Covered: true}}}
	v.commit(func(x *storage.Txn) error { return x.SetCatalog(context.Background(), x.Catalog().WithTable(v.tbl)) })
	for g := range groups {
		v.commit(func(x *storage.Txn) error {
			_, err := x.Insert(context.Background(), v.tbl, testRows(g*storage.GroupRows, storage.GroupRows))
			return err
		})
	}
	v.m.Refresh()
	v.populate()
	return v
}

func (v *views) open(o Options) {
	v.t.Helper()
	var err error
	if v.e, err = storage.Open(storage.Options{Dir: "db", FS: v.fs, NoFold: true}); err != nil {
		v.t.Fatal(err)
	}
	v.m = NewManager(v.e, o)
	v.m.Start()
}

func (v *views) close() {
	v.t.Helper()
	v.m.Stop()
	if n := v.m.MemoryBytes(); n != 0 {
		v.t.Errorf("%d bytes are in use after everything was let go", n)
	}
	if err := v.e.Close(); err != nil {
		v.t.Error(err)
	}
}

func (v *views) reopen(o Options) {
	v.t.Helper()
	v.close()
	v.open(o)
	v.tbl = v.e.Catalog().Table(v.tbl.ID)
	v.populate()
}

func (v *views) populate() {
	v.t.Helper()
	if err := v.m.Populate(context.Background(), v.tbl); err != nil {
		v.t.Fatal(err)
	}
}

func (v *views) commit(change func(x *storage.Txn) error) {
	v.t.Helper()
	x := v.e.Begin(storage.TxnOptions{})
	if err := change(x); err != nil {
		v.t.Fatal(err)
	}
	if err := x.Commit(context.Background()); err != nil {
		v.t.Fatal(err)
	}
}

func testRows(first, n int) *vector.Batch {
	a, b, c := vector.New(vector.I64, n), vector.New(vector.Bytes, n), vector.New(vector.I32, n)
	for i := first; i < first+n; i++ {
		vector.Append(a, int64(i)*int64(i%7))
		b.AppendString(fmt.Sprint("text ", i, " of many"))
		vector.Append(c, int32(i%1000))
	}
	return &vector.Batch{N: n, Vecs: []*vector.Vector{a, b, c}}
}

// change updates a row of a group.
func (v *views) change(group, position int) {
	v.t.Helper()
	v.commit(func(x *storage.Txn) error {
		ref := storage.MakeRowRef(v.tbl.Stores[0], uint64(group*storage.GroupRows+position))
		_, err := x.Update(context.Background(), v.tbl, []storage.RowRef{ref}, testRows(position+1, 1))
		return err
	})
}

// sum adds column a and the lengths of b over all rows that the view sees, by units where there are any, and
// returns how many groups were answered by them.
func (v *views) sum(view *storage.View) (total int64, byUnits int) {
	v.t.Helper()
	cols := []catalog.ColumnID{1, 2, 3}
	var r GroupReader
	var flat [3]vector.Vector
	add := func(b *vector.Batch) {
		var vecs [3]*vector.Vector
		for i := range vecs {
			vecs[i] = vector.Flatten(&flat[i], b.Vecs[i], b.N)
		}
		x, lengths, y := vector.Of[int64](vecs[0]), vecs[1].Offsets(), vector.Of[int32](vecs[2])
		for k := range b.Live() {
			i := k
			if b.Sel != nil {
				i = int(b.Sel[k])
			}
			total += x[i] + int64(lengths[i+1]-lengths[i]) + int64(y[i])
		}
	}
	rows := func(group int, positions *storage.GroupBits) {
		cursor, err := view.ScanGroup(v.tbl, v.tbl.Stores[0], group, []int{0, 1, 2}, storage.ScanOptions{Positions: positions})
		if err != nil {
			v.t.Error(err)
			return
		}
		defer cursor.Close()
		var b vector.Batch
		for {
			more, err := cursor.Next(&b)
			if err != nil {
				v.t.Error(err)
			}
			if !more || err != nil {
				return
			}
			add(&b)
		}
	}
	n, err := view.Groups(v.tbl.Stores[0])
	if err != nil {
		v.t.Error(err)
	}
	for group := range n {
		if !v.m.Pin(&r, view, v.tbl, v.tbl.Stores[0], group, cols) {
			rows(group, nil)
			continue
		}
		if !v.m.Load(&r, cols) {
			r.Unpin()
			rows(group, nil)
			continue
		}
		byUnits++
		vecs := []*vector.Vector{{}, {}, {}}
		for from := 0; from < r.Limit(); from += vector.BatchCap {
			n := min(vector.BatchCap, r.Limit()-from)
			sel, all := r.Select(from, n, nil)
			for i, id := range cols {
				r.Read(id, vecs[i], from, n, nil)
			}
			if all {
				sel = nil
			} else if len(sel) == 0 {
				continue
			}
			add(&vector.Batch{N: n, Sel: sel, Vecs: vecs})
		}
		if r.TouchedRows > 0 {
			rows(group, &r.Touched)
		}
		r.Unpin()
	}
	return total, byUnits
}

// check compares what units and rows give.
func (v *views) check(wantUnits int) {
	v.t.Helper()
	view := v.e.View()
	defer view.Release()
	got, byUnits := v.sum(view)
	m := v.m
	v.m = NewManager(v.e, testOptions) // knows no view: reads rows
	want, _ := v.sum(view)
	v.m = m
	if got != want || byUnits != wantUnits {
		v.t.Errorf("sum %d by %d groups of units, want %d by %d", got, byUnits, want, wantUnits)
	}
}

// TestSwap keeps a fraction of the units in memory: the others are read from files and give the same
// answers.
func TestSwap(t *testing.T) {
	v := newViews(t, 4, testOptions)
	defer v.close()
	v.check(4)
	o := testOptions
	o.BudgetBytes = v.m.MemoryBytes() / 2
	v.m.SetOptions(o)
	if n := v.m.MemoryBytes(); n > o.BudgetBytes {
		t.Errorf("%d bytes in memory, the limit is %d", n, o.BudgetBytes)
	}
	for range 3 {
		v.check(4)
		if n := v.m.MemoryBytes(); n > o.BudgetBytes {
			t.Errorf("%d bytes in memory, the limit is %d", n, o.BudgetBytes)
		}
	}
	info := v.m.Info(v.tbl)[0]
	if info.UnitsOnDisk == 0 || info.DiskBytes == 0 || info.LoadedGroups != 4 || info.UnitsInMemory+info.UnitsOnDisk != 16 {
		t.Errorf("%+v", info)
	}
	if v.m.Counters.DiskReads.Load() == 0 || v.m.Counters.Evictions.Load() == 0 {
		t.Errorf("%d disk reads, %d evictions", v.m.Counters.DiskReads.Load(), v.m.Counters.Evictions.Load())
	}
	// A file that is gone or damaged: the group is read by rows, built again, and right all the time.
	names, err := v.fs.List("db/units")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for i, name := range names {
		if i == 0 {
			err = v.fs.Remove("db/units/" + name)
		} else {
			damage(t, v.fs, "db/units/"+name, func(b []byte) []byte {
				for at := len(b) / 2; at < len(b); at += 100 {
					b[at] ^= 1
				}
				return b
			})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	view := v.e.View()
	defer view.Release()
	_, byUnits := v.sum(view)
	if byUnits == 4 {
		t.Error("damaged files were read")
	}
	// Damage of what is in memory now comes to light when it has left and is needed again.
	for range 4 {
		v.populate()
		_, byUnits = v.sum(view)
	}
	v.check(4)
	if v.m.Counters.Damaged.Load() == 0 {
		t.Error("no damage was counted")
	}
}

// TestBringBackStops has work waiting while units come back: after a group it is its turn, plans learn of that group,
// and the rest follows later; groups that nobody may use any more do not.
func TestBringBackStops(t *testing.T) {
	v := newViews(t, 4, testOptions)
	defer v.close()
	v.m.stop()
	<-v.m.done // what the background would do is done here
	o := testOptions
	o.BudgetBytes = 1
	v.m.SetOptions(o)
	v.m.SetOptions(testOptions)
	reads := &v.m.Counters.DiskReads
	perGroup := int64(len(v.m.slot(v.tbl.ID, v.tbl.Stores[0], 0).newest().columns))
	version := v.m.Version()
	v.m.bringBack(context.Background())
	if n := reads.Load(); n != perGroup || v.m.Version() == version || len(v.m.wake) != 1 {
		t.Errorf("%d units came back, the version is %d after %d, %d waits", n, v.m.Version(), version, len(v.m.wake))
	}
	<-v.m.wake
	off := testOptions
	off.Enabled = false
	for _, c := range []struct {
		name   string
		change func()
		groups int64
	}{
		{"disabled", func() { v.m.SetOptions(off); <-v.m.wake }, 1},
		{"no room", func() { o.BudgetBytes = v.m.MemoryBytes(); v.m.SetOptions(o); <-v.m.wake }, 1},
		{"room again", func() { v.m.SetOptions(testOptions); <-v.m.wake }, 4},
		{"void groups", func() {
			o.BudgetBytes = 1
			v.m.SetOptions(o)
			v.m.SetOptions(testOptions)
			<-v.m.wake
			v.commit(func(x *storage.Txn) error {
				t := *v.tbl
				t.Epoch++
				return x.SetCatalog(context.Background(), x.Catalog().WithTable(&t))
			})
		}, 4},
	} {
		c.change()
		for range 100 { // a slice of time may not do for all
			v.m.bringBack(context.Background())
		}
		if n := reads.Load(); n != c.groups*perGroup {
			t.Errorf("%s: %d units came back, want %d", c.name, n, c.groups*perGroup)
		}
	}
}

// damage rewrites a file.
func damage(t testing.TB, fs vfs.FS, name string, change func([]byte) []byte) {
	t.Helper()
	in, err := fs.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	info, err := in.Stat()
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, info.Size())
	if _, err := in.ReadAt(b, 0); err != nil {
		t.Fatal(err)
	}
	in.Close()
	out, err := fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Write(change(b)); err != nil {
		t.Fatal(err)
	}
	out.Close()
}

// TestGivenUp lets units and groups go without files, and takes them back when there is room.
func TestGivenUp(t *testing.T) {
	for _, policy := range []string{PolicyDelete, PolicyEscape} {
		if testing.Short() && policy == PolicyDelete {
			continue
		}
		t.Run(policy, func(t *testing.T) {
			o := testOptions
			o.Policy = policy
			v := newViews(t, 4, o)
			defer v.close()
			v.check(4)
			full := v.m.MemoryBytes()
			o.BudgetBytes = full / 2
			v.m.SetOptions(o)
			view := v.e.View()
			_, byUnits := v.sum(view)
			view.Release()
			if byUnits == 4 || policy == PolicyEscape && byUnits == 0 {
				t.Errorf("%d groups by units", byUnits)
			}
			v.check(byUnits)
			v.populate() // there is no room for more
			v.check(byUnits)
			if n := v.m.MemoryBytes(); n > o.BudgetBytes {
				t.Errorf("%d bytes in memory, the limit is %d", n, o.BudgetBytes)
			}
			if v.m.Counters.Deletions.Load()+v.m.Counters.Escapes.Load() == 0 {
				t.Error("nothing was counted")
			}
			o.BudgetBytes = 2 * full
			v.m.SetOptions(o)
			v.populate()
			v.check(4)
			if names, _ := v.fs.List("db/units"); len(names) > 0 {
				t.Errorf("files %v", names)
			}
		})
	}
}

// TestRestart takes over the files of groups that have not changed, and no other.
func TestRestart(t *testing.T) {
	if testing.Short() {
		t.Skip("one thing after the other: the race detector has nothing to find")
	}
	v := newViews(t, 4, testOptions)
	defer func() { v.close() }()
	built := func(adopted, builds int64) {
		t.Helper()
		if a, b := v.m.Counters.Adopted.Load(), v.m.Counters.Builds.Load(); a != adopted || b-a != builds {
			t.Errorf("%d groups adopted, %d built, want %d and %d", a, b-a, adopted, builds)
		}
		v.check(4)
	}
	v.close()
	v.open(testOptions)
	if n := v.m.Counters.Adopted.Load(); n != 4 {
		t.Errorf("%d groups were taken over while opening", n)
	}
	v.tbl = v.e.Catalog().Table(v.tbl.ID)
	built(4, 0)
	v.change(2, 100)
	v.reopen(testOptions)
	built(3, 1)

	// Files cut short or with a bit turned over, in the header or in a unit.
	v.close()
	names, err := v.fs.List("db/units")
	if err != nil || len(names) != 4 {
		t.Fatal(names, err)
	}
	r := newRand(t)
	for i, name := range names {
		damage(t, v.fs, "db/units/"+name, func(b []byte) []byte {
			switch i {
			case 0:
				return b[:r.IntN(len(b))]
			case 1:
				b[r.IntN(prefixBytes+20)] ^= 1 << r.IntN(8)
			case 2:
				b[len(b)-1-r.IntN(1000)] ^= 1 << r.IntN(8)
			}
			return b
		})
	}
	v.open(testOptions)
	v.tbl = v.e.Catalog().Table(v.tbl.ID)
	v.populate()
	view := v.e.View()
	v.sum(view) // finds the damage within a unit
	view.Release()
	v.populate()
	v.check(4)
	if a := v.m.Counters.Adopted.Load(); a < 1 || a > 3 {
		t.Errorf("%d groups adopted", a)
	}

	// Another policy, a change of the definition, and a table that is no more.
	v.close()
	v.open(testOptions)
	v.commit(func(x *storage.Txn) error {
		next := *v.e.Catalog().Table(v.tbl.ID)
		next.Epoch++
		v.tbl = &next
		return x.SetCatalog(context.Background(), x.Catalog().WithTable(&next))
	})
	v.m.Refresh()
	v.populate()
	v.check(4)
	v.close()
	if names, _ := v.fs.List("db/units"); len(names) != 4 {
		t.Errorf("files of the earlier definition are left: %v", names)
	}
	v.open(testOptions)
	v.populate()
}

// TestForeignFiles puts another database's files, and those of a later state, into a database.
func TestForeignFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("one thing after the other: the race detector has nothing to find")
	}
	v := newViews(t, 2, testOptions)
	v.close()
	other := newViews(t, 2, testOptions)
	other.close()
	names, err := other.fs.List("db/units")
	if err != nil || len(names) != 2 {
		t.Fatal(names, err)
	}
	data := map[string][]byte{}
	for _, name := range names {
		damage(t, other.fs, "db/units/"+name, func(b []byte) []byte { data[name] = b; return b })
	}
	for name, b := range data {
		out, err := v.fs.Create("db/units/"+name, vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := out.Write(b); err != nil {
			t.Fatal(err)
		}
		out.Close()
	}
	v.open(testOptions)
	v.tbl = v.e.Catalog().Table(v.tbl.ID)
	v.populate()
	if n := v.m.Counters.Adopted.Load(); n != 0 {
		t.Errorf("%d files of another database were taken over", n)
	}
	v.check(2)
	v.close()

	f := newUnitFiles(v.e)
	if f.find(0); len(f.left) != 0 {
		t.Error("files from after the recovered state were kept")
	}
	if names, _ := v.fs.List("db/units"); len(names) != 0 {
		t.Errorf("files %v", names)
	}
}

// TestOldVersions keeps a view open while groups are built over and over: its scans go on to use units, and
// versions do not pile up.
func TestOldVersions(t *testing.T) {
	v := newViews(t, 1, testOptions)
	defer v.close()
	old := v.e.View()
	want, _ := v.sum(old)
	for i := range 10 {
		v.change(0, i)
		if n, err := v.m.Flush(context.Background(), v.tbl, FlushOptions{}); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		got, byUnits := v.sum(old)
		if got != want || byUnits != 1 {
			t.Fatalf("after %d builds the old view sees %d by %d groups of units, want %d by 1", i+1, got, byUnits, want)
		}
		if info := v.m.Groups(v.tbl)[0]; info.Versions != 2 {
			t.Errorf("%d versions", info.Versions)
		}
		v.check(1)
	}
	// The old version's journal has only what happened until the second was built.
	var r GroupReader
	if !v.m.Pin(&r, old, v.tbl, v.tbl.Stores[0], 0, []catalog.ColumnID{1}) {
		t.Fatal("no units")
	}
	if r.TouchedRows > 1 {
		t.Errorf("%d rows are read by rows", r.TouchedRows)
	}
	r.Unpin()
	old.Release()
	v.populate()
	if info := v.m.Groups(v.tbl)[0]; info.Versions != 1 {
		t.Errorf("%d versions after the view was closed", info.Versions)
	}
}

// TestClockForgets builds a group again and again while memory suffices: the clock does not keep the units that
// have left.
func TestClockForgets(t *testing.T) {
	k := &clock{}
	live := &column{}
	live.unit.Store(&unit{})
	k.add(live)
	for range 10 * minSweep {
		c := &column{}
		c.unit.Store(&unit{})
		k.add(c)
		c.evict()
	}
	if len(k.ring) > 2*minSweep {
		t.Errorf("%d columns are kept", len(k.ring))
	}
	if c := k.next(); c != live || k.next() != nil {
		t.Error("what is in memory was not found, or something else")
	}
}

// TestWithdraw leaves a group to rows while an old view holds its version before: the group is built again
// when there is room, and changes are seen meanwhile and afterwards.
func TestWithdraw(t *testing.T) {
	o := testOptions
	o.Policy = PolicyEscape
	v := newViews(t, 1, o)
	defer v.close()
	old := v.e.View()
	defer old.Release()
	v.change(0, 7)
	if _, err := v.m.Flush(context.Background(), v.tbl, FlushOptions{}); err != nil {
		t.Fatal(err)
	}
	o.BudgetBytes = 1
	v.m.SetOptions(o)
	v.change(0, 8)
	v.check(0)
	o.BudgetBytes = 1 << 30
	v.m.SetOptions(o)
	v.populate()
	v.change(0, 9)
	v.check(1)
}

// TestBudget lets readers and writers work while memory is too short for all units.
func TestBudget(t *testing.T) {
	v := newViews(t, 3, testOptions)
	defer v.close()
	full := v.m.MemoryBytes()
	for _, policy := range []string{PolicySwap, PolicyDelete, PolicyEscape} {
		for _, percent := range []int64{25, 50, 100} {
			if testing.Short() && (percent != 50 || policy == PolicyDelete) {
				continue
			}
			t.Run(fmt.Sprint(policy, percent), func(t *testing.T) {
				v.m.SetOptions(testOptions)
				v.populate()
				o := testOptions
				o.Policy, o.FlushPages, o.BudgetBytes = policy, 8, full*percent/100
				v.m.SetOptions(o)
				testBudget(t, v, o, full)
			})
		}
	}
}

func testBudget(t *testing.T, v *views, o Options, full int64) {
	stop := time.Now().Add(200 * time.Millisecond)
	var work sync.WaitGroup
	var reads, most atomic.Int64
	work.Add(3)
	go func() {
		defer work.Done()
		r := rand.New(rand.NewPCG(1, 2))
		for time.Now().Before(stop) && !t.Failed() {
			v.change(r.IntN(3), r.IntN(storage.GroupRows))
			most.Store(max(most.Load(), v.m.MemoryBytes()))
		}
	}()
	for range 2 {
		go func() {
			defer work.Done()
			rows := &views{t: t, e: v.e, tbl: v.tbl, m: NewManager(v.e, testOptions)}
			for (time.Now().Before(stop) || reads.Load() < 4) && !t.Failed() {
				view := v.e.View()
				got, _ := v.sum(view)
				if want, _ := rows.sum(view); got != want {
					t.Errorf("sum %d by units, %d by rows", got, want)
				}
				view.Release()
				reads.Add(1)
			}
		}()
	}
	work.Wait()
	// A rebuild holds a new version beside the old one for a moment, one for each worker.
	if limit := o.BudgetBytes + int64(o.Workers)*full/3; most.Load() > limit {
		t.Errorf("%d bytes in memory, the limit is %d", most.Load(), o.BudgetBytes)
	}
	// A worker may still be writing the file of a unit that it is about to give up.
	for end := time.Now().Add(10 * time.Second); v.m.MemoryBytes() > o.BudgetBytes && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if n := v.m.MemoryBytes(); n > o.BudgetBytes {
		t.Errorf("%d bytes in memory at the end, the limit is %d", n, o.BudgetBytes)
	}
}
