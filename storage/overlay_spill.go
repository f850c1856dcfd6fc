package storage

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
)

// bytes returns about how much memory the versions in memory take. mu is held.
func (o *overlay) bytes() int64 {
	const perRow, perKey = 40, 72 // versions, positions, list entries
	return int64(o.arena.total) + perRow*int64(o.rows.len()) + perKey*int64(o.keys.len())
}

// spilledBytes returns about how much memory the spilled versions take. mu is held.
func (o *overlay) spilledBytes() int64 {
	if o.spill == nil {
		return 0
	}
	const perGroup = GroupRows/8 + 64
	return spillCacheBytes + perGroup*int64(len(o.spill.groups))
}

// retain counts a user.
func (o *overlay) retain() { o.users.Add(1) }

// release ends a use; the last one removes what was spilled.
func (o *overlay) release() {
	if o.users.Add(-1) == 0 && o.spill != nil {
		o.spill.close()
	}
}

// moveToDisk spills all versions in memory. If it fails the overlay is as it was. mu is held.
func (o *overlay) moveToDisk(ctx context.Context, e *Engine) (err error) {
	if o.rows.len() == 0 && o.keys.len() == 0 {
		return nil
	}
	if err := e.failed(); err != nil {
		return err
	}
	if o.spill == nil {
		if o.spill, err = e.newSpillStore(); err != nil {
			return err
		}
	}
	s := o.spill
	written, err := s.add(ctx, func(out *sstFiles) error { return o.writeRun(ctx, out) })
	if err != nil {
		return err
	}
	e.metrics.spilledBytes.Add(uint64(written))
	s.note(o)
	o.stores, o.groupAt, o.recent, o.indexes, o.arena = nil, nil, nil, nil, byteArena{}
	o.rows, o.keys = versionList[rowVersion]{}, versionList[keyVersion]{}
	return nil
}

// note takes over what is to be known in memory of the versions of o.
func (s *spillStore) note(o *overlay) {
	if s.rows.next == 0 && s.keys.next == 0 {
		s.firstCmd = ^uint32(0)
	}
	if o.rows.len() > 0 { // commands never decrease
		s.firstCmd = min(s.firstCmd, o.rows.at(0).cmd)
	}
	if o.keys.len() > 0 {
		s.firstCmd = min(s.firstCmd, o.keys.at(0).cmd)
	}
	s.rows.next += o.rows.len()
	s.keys.next += o.keys.len()
	for _, store := range o.stores {
		for number, g := range store.groups {
			id := groupID{store.id, number}
			set := s.groups[id]
			if set == nil {
				set = &GroupBits{}
				s.groups[id] = set
			}
			for i, pos := range g.pos {
				if g.head[i] >= 0 {
					set.Set(int(pos))
				}
			}
			s.stores[store.id] = max(s.stores[store.id], number+1)
		}
	}
	for id, ix := range o.indexes {
		low, high, ok := ix.list.bounds()
		if !ok {
			continue
		}
		if known := s.indexes[id]; known != nil {
			known.low, known.high = minKey(known.low, low), maxKey(known.high, high)
		} else {
			s.indexes[id] = &spilledKeys{bytes.Clone(low), bytes.Clone(high)}
		}
	}
}

func minKey(old, key []byte) []byte {
	if bytes.Compare(key, old) < 0 {
		return bytes.Clone(key)
	}
	return old
}

func maxKey(old, key []byte) []byte {
	if bytes.Compare(key, old) > 0 {
		return bytes.Clone(key)
	}
	return old
}

// hasStore reports whether rows of a store were spilled.
func (s *spillStore) hasStore(id catalog.StoreID) bool {
	return s != nil && s.stores[id] > 0
}

// bounds returns the first and the last key of the list.
func (l *keyList) bounds() (low, high []byte, ok bool) {
	if len(l.leaves) == 0 {
		return nil, nil, false
	}
	last := l.leaves[len(l.leaves)-1].keys
	return l.arena.at(l.leaves[0].keys[0]), l.arena.at(last[len(last)-1]), true
}

// runWriter writes the versions of an overlay as a run. cancelCheck versions go by between two looks
// at the context.
type runWriter struct {
	ctx        context.Context
	out        *sstFiles
	key, value []byte
	count      int
}

const cancelCheck = 1 << 12

func (w *runWriter) add() error {
	if w.count++; w.count%cancelCheck == 0 && w.ctx.Err() != nil {
		return sqlerr.New(sqlerr.QueryCanceled, "canceling statement while spilling its writes: %w", context.Cause(w.ctx))
	}
	return w.out.set(w.key, w.value)
}

// writeRun writes all versions in memory in the order of their keys, of each chain the newest first.
func (o *overlay) writeRun(ctx context.Context, out *sstFiles) error {
	w := &runWriter{ctx: ctx, out: out}
	for _, id := range slices.Sorted(maps.Keys(o.stores)) {
		if err := o.writeRows(w, o.stores[id]); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(o.indexes)) {
		var err error
		o.indexes[id].list.scan(nil, func(key []byte, head int32) bool {
			for ; head >= 0 && err == nil; head = o.keys.at(head).prev {
				w.key = appendVersionKey(append(w.key[:0], key...), o.spill.keys.next+int(head))
				w.value = o.keys.at(head).appendSpilled(w.value[:0], &o.arena)
				err = w.add()
			}
			return err == nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (o *overlay) writeRows(w *runWriter, s *overlayStore) error {
	for _, number := range slices.Sorted(maps.Keys(s.groups)) {
		g := s.groups[number]
		for i, pos := range g.pos {
			for head := g.head[i]; head >= 0; head = o.rows.at(head).prev {
				w.key = appendVersionKey(appendRowKey(w.key[:0], s.id, uint64(number)<<16|uint64(pos)), o.spill.rows.next+int(head))
				w.value = o.rows.at(head).appendSpilled(w.value[:0], &o.arena)
				if err := w.add(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
