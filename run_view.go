package weft

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/storage"
)

func (d *definition) createView(n *sql.CreateView) (*Rows, error) {
	v, err := d.ddl.CreateView(n)
	if err != nil {
		return nil, err
	}
	for _, id := range v.View.Uses { // so that none is dropped meanwhile
		if err := d.w.txn.LockTable(d.r.ctx, id, storage.AccessShare, storage.Wait); err != nil {
			return nil, err
		}
		if d.w.txn.Catalog().Table(id) == nil {
			return nil, sqlerr.New(sqlerr.UndefinedTable, "a relation that view %q reads was dropped", v.Name)
		}
	}
	return done("CREATE VIEW"), d.put(v)
}

func (d *definition) dropView(n *sql.Drop) (*Rows, error) {
	for _, name := range n.Names {
		v, err := d.dropped(n, name, catalog.ViewRelation)
		if err != nil {
			return nil, err
		}
		if v == nil {
			continue
		}
		if err := d.dropDependentViews(v, n.Cascade); err != nil {
			return nil, err
		}
		if err := d.dropRelation(v); err != nil {
			return nil, err
		}
	}
	return done("DROP VIEW"), nil
}

// dropDependentViews drops the views that read a relation which is about to go, or refuses.
func (d *definition) dropDependentViews(r *catalog.Table, cascade bool) error {
	dependents := d.dependents(r, map[catalog.TableID]bool{})
	if len(dependents) == 0 {
		return nil
	}
	if !cascade {
		var lines []string
		for _, dep := range dependents {
			lines = append(lines, d.ddl.Describe(dep.view)+" depends on "+d.ddl.Describe(dep.on))
		}
		return sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop %s because other objects depend on it", d.ddl.Describe(r)).
			WithDetail("%s", strings.Join(lines, "\n")).WithHint("Use DROP ... CASCADE to drop the dependent objects too.")
	}
	var lines []string
	for _, dep := range dependents {
		lines = append(lines, "drop cascades to "+d.ddl.Describe(dep.view))
	}
	notice := strings.Join(lines, "\n")
	if len(lines) > 1 {
		notice = fmt.Sprintf("drop cascades to %d other objects\nDETAIL:  %s", len(lines), notice)
	}
	d.ddl.Notices = append(d.ddl.Notices, notice)
	for _, dep := range slices.Backward(dependents) {
		if err := d.dropRelation(dep.view); err != nil {
			return err
		}
	}
	return nil
}

// dependent is a view that reads a relation.
type dependent struct{ view, on *catalog.Table }

// dependents lists the views that read a relation, those that read these, and so on.
func (d *definition) dependents(r *catalog.Table, seen map[catalog.TableID]bool) []dependent {
	var list []dependent
	for _, v := range d.ddl.DependentViews(r.ID, "") {
		if !seen[v.ID] {
			seen[v.ID] = true
			list = append(append(list, dependent{v, r}), d.dependents(v, seen)...)
		}
	}
	return list
}
