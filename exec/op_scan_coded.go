package exec

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/imcv"
)

// codedFilter splits a scan's filter, for each row group anew, into the conjuncts that its units answer
// from codes and the rest, which compiled expressions answer from values. Row groups differ in their
// encodings, so the rest differs; each that occurs is compiled once.
type codedFilter struct {
	units *imcv.UnitFilter
	rest  *restFilter // of the bound group; nil = nothing is left
	made  map[uint64]*restFilter
	scan  *scanSource
}

// restFilter is the compiled rest of a filter.
type restFilter struct {
	filter expr.Filter
	tested []bool // scan columns it uses
}

func newCodedFilter(s *scanSource, ids map[expr.ColID]catalog.ColumnID) codedFilter {
	column := func(id expr.ColID) (catalog.ColumnID, bool) {
		c, ok := ids[id]
		return c, ok
	}
	return codedFilter{units: imcv.NewUnitFilter(s.node.Filter, column, s.run.env), made: map[uint64]*restFilter{}, scan: s}
}

// bind prepares the filter for a loaded group.
func (f *codedFilter) bind(g *imcv.GroupReader) error {
	left := f.units.Bind(g)
	rest, ok := f.made[left]
	if !ok {
		var err error
		if rest, err = f.compile(imcv.Rest(f.scan.node.Filter, left)); err != nil {
			return err
		}
		f.made[left] = rest
	}
	f.rest = rest
	return nil
}

func (f *codedFilter) compile(conjuncts []expr.Expr) (*restFilter, error) {
	cond := conjunction(conjuncts)
	if cond == nil {
		return nil, nil
	}
	filter, err := expr.CompileFilter(cond, f.scan.layout, f.scan.run.env)
	if err != nil {
		return nil, err
	}
	out := &restFilter{filter: filter}
	used := expr.Columns(cond)
	for i := range f.scan.node.Columns {
		out.tested = append(out.tested, used.Has(f.scan.node.Columns[i].Col.ID))
	}
	return out, nil
}
