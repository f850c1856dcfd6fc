package planner

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

var typeIDs = map[string]catalog.TypeID{
	"boolean": catalog.Bool, "smallint": catalog.Int2, "integer": catalog.Int4, "bigint": catalog.Int8,
	"real": catalog.Float4, "double precision": catalog.Float8, "numeric": catalog.Numeric,
	"number": catalog.Numeric, "char": catalog.Char, "bpchar": catalog.Char, "varchar": catalog.Varchar,
	"nvarchar2": catalog.Varchar, "varchar2": catalog.Varchar, "text": catalog.Text, "name": catalog.Name,
	"bytea": catalog.Bytea, "date": catalog.Date, "timestamp": catalog.Timestamp,
	"timestamptz": catalog.TimestampTZ, "interval": catalog.Interval, "int2vector": catalog.Int2Vector,
	"oid": catalog.Oid,
}

const maxCharLength = 10485760 // PostgreSQL's limit for char(n) and varchar(n)

// BindType resolves a type as written.
func BindType(n sql.TypeName) (catalog.Type, error) {
	id, ok := typeIDs[n.Name]
	if !ok || n.ArrayDims > 0 {
		if ok {
			return catalog.Type{}, sqlerr.New(sqlerr.FeatureNotSupported, "array types are not supported yet").At(n.Start)
		}
		err := sqlerr.New(sqlerr.UndefinedObject, "type %q does not exist", n.Name).At(n.Start)
		var names []string
		for name := range typeIDs {
			names = append(names, name)
		}
		if near := nearest(n.Name, names); near != "" {
			return catalog.Type{}, err.WithHint("Perhaps you meant the type %q.", near)
		}
		return catalog.Type{}, err
	}
	t := catalog.Type{ID: id}
	if len(n.Mods) == 0 {
		return t, nil
	}
	return bindTypeMods(n, t)
}

func bindTypeMods(n sql.TypeName, t catalog.Type) (catalog.Type, error) {
	invalid := func(format string, args ...any) (catalog.Type, error) {
		return t, sqlerr.New(sqlerr.InvalidParameterValue, format, args...).At(n.Start)
	}
	switch t.ID {
	case catalog.Numeric:
		if len(n.Mods) > 2 {
			return invalid("invalid NUMERIC type modifier")
		}
		if n.Mods[0] < 1 || n.Mods[0] > 1000 {
			return invalid("NUMERIC precision %d must be between 1 and 1000", n.Mods[0])
		}
		t.Prec = int16(n.Mods[0])
		if len(n.Mods) == 2 {
			if n.Mods[1] < -1000 || n.Mods[1] > 1000 {
				return invalid("NUMERIC scale %d must be between -1000 and 1000", n.Mods[1])
			}
			t.Scale = int16(n.Mods[1])
		}
		if t.Scale < 0 || t.Scale > t.Prec {
			return t, sqlerr.New(sqlerr.FeatureNotSupported, "numeric with a scale below 0 or above the precision is not supported yet").At(n.Start)
		}
	case catalog.Char, catalog.Varchar:
		if n.Mods[0] < 1 {
			return invalid("length for type %s must be at least 1", n.Name)
		}
		if n.Mods[0] > maxCharLength {
			return invalid("length for type %s cannot exceed %d", n.Name, maxCharLength)
		}
		if n.Mods[0] > 32767 {
			return t, sqlerr.New(sqlerr.FeatureNotSupported, "lengths above 32767 are not supported").At(n.Start).WithHint("Use text.")
		}
		t.Prec = int16(n.Mods[0])
	case catalog.Timestamp, catalog.TimestampTZ, catalog.Interval:
		t.Prec = int16(min(max(n.Mods[0], 0), 6)) + 1
	default:
		return t, sqlerr.New(sqlerr.SyntaxError, "type modifier is not allowed for type %q", n.Name).At(n.Start)
	}
	return t, nil
}
