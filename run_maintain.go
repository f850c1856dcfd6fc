package weft

import (
	"slices"
	"strconv"
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/storage"
)

// maintenance is what the options of VACUUM and ANALYZE say. Those that are about PostgreSQL's ways of
// keeping rows are checked and mean nothing here.
type maintenance struct{ analyze, verbose bool }

func maintenanceOptions(list []sql.Option, command string) (m maintenance, err error) {
	for i := range list {
		o := &list[i]
		known := o.Name == "verbose" || o.Name == "skip_locked"
		if command == "VACUUM" {
			switch o.Name {
			case "analyze", "full", "freeze", "disable_page_skipping", "process_toast", "truncate":
				known = true
			case "parallel":
				if n, err := strconv.Atoi(o.Value); err != nil || n < 0 || n > 1024 {
					return m, sqlerr.New(sqlerr.SyntaxError, "parallel workers for vacuum must be between 0 and 1024").At(o.Start)
				}
				continue
			case "index_cleanup":
				if strings.EqualFold(o.Value, "auto") {
					continue
				}
				known = true
			}
		}
		if !known {
			return m, sqlerr.New(sqlerr.SyntaxError, "unrecognized %s option %q", command, o.Name).At(o.Start)
		}
		on := "on"
		if o.HasValue {
			if on, err = boolean(o.Name, o.Value); err != nil {
				return m, sqlerr.New(sqlerr.SyntaxError, "%s requires a Boolean value", o.Name)
			}
		}
		switch o.Name {
		case "analyze":
			m.analyze = on == "on"
		case "verbose":
			m.verbose = on == "on"
		}
	}
	return m, nil
}

// vacuum packs the rows of tables that were stored one by one, drops what deleted ones left behind, and
// refreshes the statistics.
func (d *definition) vacuum(n *sql.Vacuum) error {
	m, err := maintenanceOptions(n.Options, "VACUUM")
	if err != nil {
		return err
	}
	if !d.w.own {
		return sqlerr.New(sqlerr.ActiveTransaction, "VACUUM cannot run inside a transaction block")
	}
	for i := range n.Tables {
		if len(n.Tables[i].Columns) > 0 && !m.analyze {
			return sqlerr.New(sqlerr.FeatureNotSupported, "ANALYZE option must be specified when a column list is provided")
		}
	}
	tables, err := d.maintained(n.Tables, "vacuum")
	if err != nil {
		return err
	}
	for _, t := range tables {
		pages, err := d.fold(t)
		if err != nil {
			return err
		}
		if m.verbose {
			d.ddl.Notices = append(d.ddl.Notices, sqlerr.Text("table %q: %d pages packed", t.Schema+"."+t.Name, pages))
		}
	}
	return d.collectAll(tables)
}

// fold packs the pages of a table and returns how many there were to pack.
func (d *definition) fold(t *catalog.Table) (pages int, err error) {
	engine := d.r.s.db.engine
	view := engine.View()
	defer view.Release()
	for _, store := range t.Stores {
		groups, err := view.Groups(store)
		if err != nil {
			return pages, err
		}
		for g := range groups {
			n, err := engine.FoldGroup(d.r.ctx, t, store, g, view.CommitNumber())
			pages += n
			if sqlerr.CodeOf(err) == sqlerr.UndefinedTable {
				return pages, nil // dropped meanwhile
			}
			if err != nil {
				return pages, err
			}
		}
	}
	return pages, nil
}

// analyze refreshes the statistics of tables. They are of all columns: naming some saves nothing.
func (d *definition) analyze(n *sql.Analyze) error {
	if _, err := maintenanceOptions(n.Options, "ANALYZE"); err != nil {
		return err
	}
	tables, err := d.maintained(n.Tables, "analyze")
	if err != nil {
		return err
	}
	return d.collectAll(tables)
}

// maintained looks up the tables that VACUUM or ANALYZE names, and their columns; without names all
// tables are meant.
func (d *definition) maintained(names []sql.MaintenanceTable, verb string) ([]*catalog.Table, error) {
	if len(names) == 0 {
		return slices.DeleteFunc(d.ddl.Catalog.TableDefinitions(), func(t *catalog.Table) bool { return !d.r.s.Sees(t) }), nil
	}
	var tables []*catalog.Table
	for i := range names {
		r := d.ddl.FindRelation(names[i].Name)
		switch {
		case r == nil:
			return nil, sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", names[i].Name.Raw())
		case !r.IsTable():
			d.r.warn(sqlerr.Text("skipping %q --- cannot %s non-tables or special system tables", r.Name, verb))
			continue
		}
		seen := map[string]bool{}
		for _, c := range names[i].Columns {
			switch {
			case r.ColumnIndex(c.Name) < 0:
				return nil, sqlerr.New(sqlerr.UndefinedColumn, "column %q of relation %q does not exist", c.Name, r.Name)
			case seen[c.Name]:
				return nil, sqlerr.New(sqlerr.DuplicateColumn, "column %q of relation %q appears more than once", c.Name, r.Name)
			}
			seen[c.Name] = true
		}
		tables = append(append(tables, r), d.ddl.Catalog.Descendants(r.ID)...)
	}
	return tables, nil
}

// collectAll stores new statistics of tables.
func (d *definition) collectAll(tables []*catalog.Table) error {
	for _, t := range tables {
		if err := d.lockIn(t, storage.ShareUpdateExclusive); err != nil {
			return err
		}
		if t = d.ddl.Catalog.Table(t.ID); t == nil {
			continue // dropped meanwhile
		}
		stats, err := d.r.collect(t, d.w.txn.View())
		if err != nil {
			return err
		}
		if err := d.w.txn.SetStats(t.ID, stats); err != nil {
			return err
		}
	}
	return nil
}
