package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

// Temporary relations live in the catalog like others, in a schema of their session that is no entry
// of it: its name, which users cannot give, says whose they are. Statements name it pg_temp.
const (
	tempAlias  = "pg_temp"
	tempPrefix = "pg_temp_"
)

// TempSchema is the name of the schema of a session's temporary relations.
func TempSchema(session uint64) string { return fmt.Sprint(tempPrefix, session) }

func isTempSchema(name string) bool { return strings.HasPrefix(name, tempPrefix) }

// LookupPath lists the schemas in which relations are looked up: the session's temporary ones come
// first unless the search path says where.
func (s *Settings) LookupPath() []string {
	if !s.TempUsed && !slices.Contains(s.SearchPath, tempAlias) {
		return s.SearchPath
	}
	var path []string
	if !slices.Contains(s.SearchPath, tempAlias) {
		path = append(path, s.TempSchema)
	}
	for _, name := range s.SearchPath {
		if name == tempAlias {
			name = s.TempSchema
		}
		path = append(path, name)
	}
	return path
}

// namedSchema is the schema that a statement names, "" where it can see nothing in it: temporary
// relations are their session's alone.
func namedSchema(path []string, schema string) string {
	if schema != tempAlias && !isTempSchema(schema) {
		return schema
	}
	for _, p := range path {
		if isTempSchema(p) && (schema == tempAlias || schema == p) {
			return p
		}
	}
	return ""
}

// sees reports whether a relation is not another session's temporary one.
func (s *Settings) sees(r *catalog.Table) bool { return !r.Temp || r.Schema == s.TempSchema }

// creationSchema is the schema that a relation is created in.
func (d *DDL) creationSchema(name sql.ObjectName, temporary bool) (string, error) {
	schema, own := name.Schema, d.Settings.TempSchema
	if schema == "" {
		if schema = d.firstSchema(); temporary {
			schema = own
		}
		if schema == "" {
			return "", sqlerr.New(sqlerr.InvalidSchemaName, "no schema has been selected to create in").At(name.Start)
		}
	}
	switch {
	case schema == tempAlias || schema == own:
		return own, nil
	case temporary:
		return "", sqlerr.New(sqlerr.InvalidTableDefinition, "cannot create temporary relation in non-temporary schema").At(name.Start)
	case isTempSchema(schema):
		return "", sqlerr.New(sqlerr.InvalidTableDefinition, "cannot create relations in temporary schemas of other sessions").At(name.Start)
	case !d.Catalog.HasSchema(schema):
		return "", sqlerr.New(sqlerr.InvalidSchemaName, "schema %q does not exist", schema).At(name.Start)
	}
	return schema, nil
}

// firstSchema is the first schema of the search path that exists, "" if none does.
func (d *DDL) firstSchema() string {
	if len(d.Settings.SearchPath) == 0 {
		return catalog.DefaultSchema
	}
	for _, name := range d.Settings.SearchPath {
		if name == tempAlias || name == d.Settings.TempSchema || d.Catalog.HasSchema(name) {
			return name
		}
	}
	return ""
}

// setOnCommit notes what becomes of a temporary table when a transaction commits.
func setOnCommit(t *catalog.Table, clause sql.OnCommit) error {
	if clause != sql.OnCommitUnset && !t.Temp {
		return sqlerr.New(sqlerr.InvalidTableDefinition, "ON COMMIT can only be used on temporary tables")
	}
	switch clause {
	case sql.OnCommitDeleteRows:
		t.OnCommit = catalog.DeleteRowsOnCommit
	case sql.OnCommitDrop:
		t.OnCommit = catalog.DropOnCommit
	}
	return nil
}

// samePersistence refuses foreign keys between temporary and permanent tables.
func samePersistence(t, parent *catalog.Table) error {
	switch {
	case t.Temp == parent.Temp:
		return nil
	case t.Temp:
		return sqlerr.New(sqlerr.InvalidTableDefinition, "constraints on temporary tables may reference only temporary tables")
	}
	return sqlerr.New(sqlerr.InvalidTableDefinition, "constraints on permanent tables may reference only permanent tables")
}
