package storage

import (
	"sync"

	"github.com/weftdb/weft/vector"
)

// loadJob takes one batch through a bulk load: split it by nodes, encode pages and keys, write them.
// Only splitting and encoding are done by several goroutines at once.
type loadJob struct {
	dense         denser
	vecs          []*vector.Vector // the batch, dense
	total         int
	nodes, hashes []uint32
	parts         []loadPart
	keys          keyTable
}

var loadJobs = sync.Pool{New: func() any { return &loadJob{} }}

// loadPart is the part of a batch that goes to one node.
type loadPart struct {
	rows  int
	first uint64 // row id of the first one
	vecs  []*vector.Vector
	own   []*vector.Vector // memory for vecs when a batch goes to several nodes
	sel   vector.Sel
	enc   rowEncoder
	pages pageEntries // the pages that lie entirely in the part
	head  int         // rows before them: they complete a page begun by an earlier batch
	tail  int         // the first row behind them: a later batch completes its page
}

// pageEntries are entries of a store's row keys, in order.
type pageEntries struct {
	buf  []byte
	list []pageEntry
	key  []byte
}

type pageEntry struct {
	page uint64
	slot int
	end  int // of the value in buf
}

func (p *pageEntries) reset() { p.buf, p.list = p.buf[:0], p.list[:0] }

// split checks the batch and sorts its rows by node.
func (j *loadJob) split(l *Loader, b *vector.Batch) error {
	if err := l.codec.checkBatch(b); err != nil {
		return err
	}
	j.total = b.Live()
	j.vecs = j.dense.columns(b, len(l.tbl.Columns))
	if err := l.t.e.checkNotNull(l.codec, j.vecs, j.total); err != nil {
		return err
	}
	if cap(j.nodes) < j.total {
		j.nodes, j.hashes = make([]uint32, j.total), make([]uint32, j.total)
	}
	j.nodes, j.hashes = j.nodes[:j.total], j.hashes[:j.total]
	l.codec.nodes.Place(j.nodes, j.hashes, j.vecs, j.total)
	if len(j.parts) < len(l.nodes) {
		j.parts = make([]loadPart, len(l.nodes))
	}
	if l.codec.nodes.Single() {
		for n := range j.parts {
			j.parts[n].rows = 0
		}
		j.parts[0].rows, j.parts[0].vecs = j.total, j.vecs
		return nil
	}
	for n := range j.parts[:len(l.nodes)] {
		p := &j.parts[n]
		p.sel = p.sel[:0]
		for i, node := range j.nodes {
			if node == uint32(n) {
				p.sel = append(p.sel, uint16(i))
			}
		}
		p.rows = len(p.sel)
		for len(p.own) < len(j.vecs) {
			p.own = append(p.own, &vector.Vector{})
		}
		p.vecs = p.own[:len(j.vecs)]
		for c, v := range j.vecs {
			densify(p.vecs[c], v, p.sel, p.rows)
		}
	}
	return nil
}

// encode makes the pages and keys of the batch, whose row ids are known.
func (j *loadJob) encode(l *Loader) error {
	for n := range l.nodes {
		p := &j.parts[n]
		p.pages.reset()
		p.head = min(int(-p.first&63), p.rows)
		row := p.head
		for ; row+PageRows <= p.rows; row += PageRows {
			p.pages.addPage(l.codec, &p.enc, (p.first+uint64(row))>>6, p.vecs, row, PageRows)
		}
		p.tail = row
	}
	j.keys.reset(j.total, len(l.indexes))
	for k := range l.indexes {
		ix := l.indexes[k].ix
		if err := j.keys.fill(k, ix, j.vecs, ix.inputs, nil, j.total); err != nil {
			return err
		}
	}
	return nil
}

// addPage adds n rows from row first on as a packed page, or as single rows if they are too large.
func (p *pageEntries) addPage(c *tableCodec, enc *rowEncoder, page uint64, vecs []*vector.Vector, first, n int) {
	var ok bool
	if p.buf, ok = appendPage(p.buf, c.tableLayout, vecs, first, n, ^uint64(0)>>(64-n)); ok {
		p.list = append(p.list, pageEntry{page, pageSlot, len(p.buf)})
		return
	}
	b := vector.Batch{N: first + n, Vecs: vecs, Sel: make(vector.Sel, n)}
	for i := range b.Sel {
		b.Sel[i] = uint16(first + i)
	}
	rows := enc.encode(c.tableLayout, &b)
	for i := range n {
		p.buf = append(p.buf, rows.row(i)...)
		p.list = append(p.list, pageEntry{page, i, len(p.buf)})
	}
}

// fullChunk is a chunk of index keys that waits to be sorted.
type fullChunk struct {
	load  *indexLoad
	chunk *sortChunk
}

// write adds the batch to the load's files. It runs in the order of the batches.
func (j *loadJob) write(l *Loader) (full []fullChunk, err error) {
	for n := range l.nodes {
		if err := l.nodes[n].write(l.codec, &j.parts[n]); err != nil {
			return nil, err
		}
	}
	var next [8]uint64 // per node: the id of its next row
	ids := next[:0]
	for n := range l.nodes {
		ids = append(ids, j.parts[n].first)
	}
	for i := range j.total {
		node := j.nodes[i]
		ref := MakeRowRef(l.nodes[node].store, ids[node])
		ids[node]++
		for k, load := range l.indexes {
			entry := j.keys.get(i, k)
			if !entry.present {
				continue
			}
			chunk, err := load.add(entry, ref)
			if err != nil {
				return full, err
			}
			if chunk != nil {
				full = append(full, fullChunk{load, chunk})
			}
		}
	}
	return full, nil
}

// write adds the node's part of a batch.
func (n *nodeLoad) write(c *tableCodec, p *loadPart) error {
	if p.head > 0 {
		n.addEdge(p, 0, p.head)
		if n.edgeRows == PageRows {
			if err := n.flushEdge(c); err != nil {
				return err
			}
		}
	}
	if err := n.put(&p.pages); err != nil {
		return err
	}
	if p.tail < p.rows {
		n.edgePage = (p.first + uint64(p.tail)) >> 6
		n.addEdge(p, p.tail, p.rows)
	}
	return nil
}

// put writes entries.
func (n *nodeLoad) put(p *pageEntries) error {
	start := 0
	for _, x := range p.list {
		p.key = appendPageKey(p.key[:0], n.store, x.page, x.slot)
		if err := n.files.set(p.key, p.buf[start:x.end]); err != nil {
			return err
		}
		start = x.end
	}
	return nil
}

// addEdge keeps rows of a page that is not complete yet.
func (n *nodeLoad) addEdge(p *loadPart, from, to int) {
	for c, v := range p.vecs {
		appendRange(n.edge[c], v, from, to)
	}
	n.edgeRows += to - from
}

// flushEdge writes the rows kept as the first ones of their page.
func (n *nodeLoad) flushEdge(c *tableCodec) error {
	if n.edgeRows == 0 {
		return nil
	}
	var enc rowEncoder
	n.entries.reset()
	n.entries.addPage(c, &enc, n.edgePage, n.edge, 0, n.edgeRows)
	for _, v := range n.edge {
		v.Reset(v.Kind, 0)
	}
	n.edgeRows = 0
	return n.put(&n.entries)
}

// appendRange appends rows of a flat vector to another of at most a page's rows.
func appendRange(dst, src *vector.Vector, from, to int) {
	at := dst.Len
	switch src.Kind.Width() {
	case 1:
		appendElems[uint8](dst, src, from, to)
	case 2:
		appendElems[uint16](dst, src, from, to)
	case 4:
		appendElems[uint32](dst, src, from, to)
	case 8:
		appendElems[uint64](dst, src, from, to)
	case 16:
		appendElems[vector.Int128](dst, src, from, to)
	default:
		for i := from; i < to; i++ {
			dst.AppendBytes(src.BytesAt(i))
		}
	}
	if src.Valid == nil {
		return
	}
	for i := from; i < to; i++ {
		if !src.Valid.Get(i) {
			dst.SetNull(at+i-from, PageRows)
		}
	}
}

func appendElems[T vector.Elem](dst, src *vector.Vector, from, to int) {
	for _, x := range vector.Of[T](src)[from:to] {
		vector.Append(dst, x)
	}
}
