package weft

import (
	"slices"
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/internal/sqlname"
)

// DescribeForeignKeys returns the lines of \d about a table's foreign keys and those that reference it.
func DescribeForeignKeys(c *catalog.Snapshot, t *catalog.Table) []string {
	var held, referencing []string
	for i := range t.ForeignKeys {
		held = append(held, sqlerr.Text("    %q %s", t.ForeignKeys[i].Name, keyDefinition(c, t, &t.ForeignKeys[i])))
	}
	for _, ref := range c.References(t.ID) {
		referencing = append(referencing, sqlerr.Text("    TABLE %q CONSTRAINT %q %s", sqlname.Quote(ref.Child.Name), ref.Key.Name, keyDefinition(c, ref.Child, ref.Key)))
	}
	slices.Sort(held)
	slices.Sort(referencing)
	var lines []string
	if held != nil {
		lines = append(append(lines, "Foreign-key constraints:"), held...)
	}
	if referencing != nil {
		lines = append(append(lines, "Referenced by:"), referencing...)
	}
	return lines
}

// keyDefinition is a foreign key as SQL writes it.
func keyDefinition(c *catalog.Snapshot, t *catalog.Table, k *catalog.ForeignKey) string {
	parent := c.Table(k.RefTable)
	text := "FOREIGN KEY (" + columnList(t, k.Columns) + ") REFERENCES " + sqlname.Quote(parent.Name) + "(" + columnList(parent, k.RefColumns) + ")"
	if k.MatchFull {
		text += " MATCH FULL"
	}
	if k.OnUpdate != catalog.NoAction {
		text += " ON UPDATE " + k.OnUpdate.String()
	}
	if k.OnDelete != catalog.NoAction {
		text += " ON DELETE " + k.OnDelete.String()
	}
	if k.SetColumns != nil {
		text += " (" + columnList(t, k.SetColumns) + ")"
	}
	if k.Deferrable {
		text += " DEFERRABLE"
	}
	if k.Deferred {
		text += " INITIALLY DEFERRED"
	}
	if k.NotValid {
		text += " NOT VALID"
	}
	return text
}

func columnList(t *catalog.Table, ids []catalog.ColumnID) string {
	var names []string
	for _, id := range ids {
		names = append(names, sqlname.Quote(t.Columns[t.ColumnByID(id)].Name))
	}
	return strings.Join(names, ", ")
}
