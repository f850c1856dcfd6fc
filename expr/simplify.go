package expr

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector"
)

// SimplifyComparison rewrites a comparison so that a column is compared as it is stored, where that
// changes no result: date against a timestamp constant becomes date against date. Other
// expressions come back as they are. Compiling does this by itself; planners use it to find
// conditions that prune.
func SimplifyComparison(e Expr) Expr {
	call, ok := e.(*Call)
	if !ok || len(call.Args) != 2 || !call.Fn.Operator {
		return e
	}
	op, ok := compareOps[call.Fn.Name]
	if !ok {
		return e
	}
	if _, isConst := call.Args[0].(*Const); isConst {
		if out := simplifyDate(call, op.Swap(), call.Args[1], call.Args[0]); out != nil {
			return out
		}
		return e
	}
	if out := simplifyDate(call, op, call.Args[0], call.Args[1]); out != nil {
		return out
	}
	return e
}

// simplifyDate handles CAST(date AS timestamp) op constant.
func simplifyDate(call *Call, op vector.CmpOp, side, other Expr) Expr {
	cast, ok := side.(*Cast)
	if !ok || cast.Arg.Type().ID != catalog.Date || cast.Typ.ID != catalog.Timestamp {
		return nil
	}
	c, ok := other.(*Const)
	if !ok || c.Value.Null {
		return nil
	}
	day := int64(timestampToDate(c.Value.I))
	whole := c.Value.I == tsInfinity || c.Value.I == tsNegInfinity || c.Value.I%microsPerDay == 0
	if !whole {
		switch op {
		case vector.Eq, vector.Ne:
			return nil
		case vector.Lt: // before some time on the day: on or before the day
			op = vector.Le
		case vector.Ge:
			op = vector.Gt
		}
	}
	date := catalog.Type{ID: catalog.Date}
	value := &Const{Value: vector.IntDatum(vector.I32, day), Typ: date}
	f := exactMatch(registered.binary[opName(op)], []catalog.TypeID{catalog.Date, catalog.Date})
	return &Call{Fn: f, Args: []Expr{cast.Arg, value}, Typ: call.Typ, Pos: call.Pos}
}

func opName(op vector.CmpOp) string {
	return [...]string{"=", "<>", "<", "<=", ">", ">="}[op]
}
