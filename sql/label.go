package sql

// UnnamedColumn is the name of a result column whose expression suggests none.
const UnnamedColumn = "?column?"

// ColumnLabel returns the name a result column gets from its expression when it has no alias: that
// of the column, function or type, as in PostgreSQL.
func ColumnLabel(e Expr) string {
	if name, strength := label(e); strength != noLabel {
		return name
	}
	return UnnamedColumn
}

// labelStrength says how good a name is: a weak one gives way to the name of an enclosing cast or
// CASE.
type labelStrength uint8

const (
	noLabel labelStrength = iota
	weakLabel
	strongLabel
)

func label(e Expr) (string, labelStrength) {
	switch e := e.(type) {
	case *ColumnRef:
		return e.Parts[len(e.Parts)-1].Name, strongLabel
	case *FieldSelect:
		if e.Star {
			return label(e.Expr)
		}
		return e.Field.Name, strongLabel
	case *Subscript:
		return label(e.Expr)
	case *Collate:
		return label(e.Expr)
	case *FuncCall:
		return e.Name.Name, strongLabel
	case *Extract:
		return "extract", strongLabel
	case *AtTimeZone:
		return "timezone", strongLabel
	case *Exists:
		return "exists", strongLabel
	case *Array:
		return "array", strongLabel
	case *Row:
		return "row", strongLabel
	case *BoolLit:
		return "bool", weakLabel
	case *TypedLit:
		return internalTypeName(e.Type), weakLabel
	case *Cast:
		if name, strength := label(e.Expr); strength == strongLabel {
			return name, strength
		}
		return internalTypeName(e.Type), weakLabel
	case *Case:
		if e.Else != nil {
			if name, strength := label(e.Else); strength == strongLabel {
				return name, strength
			}
		}
		return "case", weakLabel
	case *ScalarSubquery:
		return bodyLabel(e.Query.Body), strongLabel
	}
	return "", noLabel
}

// bodyLabel returns the name of the first column of a query.
func bodyLabel(b SelectBody) string {
	switch b := b.(type) {
	case *SelectCore:
		if len(b.Targets) == 0 {
			return UnnamedColumn
		}
		if t := b.Targets[0]; t.Alias.Name != "" {
			return t.Alias.Name
		}
		return ColumnLabel(b.Targets[0].Expr)
	case *SetOp:
		return bodyLabel(b.Left)
	case *Select:
		return bodyLabel(b.Body)
	case *Values:
		return "column1"
	}
	return UnnamedColumn
}

// internalTypeNames are the names of types in the system catalog, where they differ.
var internalTypeNames = map[string]string{
	"boolean": "bool", "smallint": "int2", "integer": "int4", "bigint": "int8", "real": "float4",
	"double precision": "float8", "char": "bpchar", `"char"`: "char",
}

func internalTypeName(t TypeName) string {
	if name, ok := internalTypeNames[t.Name]; ok {
		return name
	}
	return t.Name
}
