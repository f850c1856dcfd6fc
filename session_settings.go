package weft

import (
	"fmt"
	"maps"

	"github.com/weftdb/weft/internal/sqlerr"
)

// sessionValues are the settings that differ from the database's. The maps are never changed, only
// replaced, so that a copy is a state to come back to.
type sessionValues struct {
	now     map[string]string
	kept    map[string]string // without SET LOCAL: what holds after COMMIT
	version uint64            // names what is in now; 0 = nothing
}

// with returns the values after SET, or with local SET LOCAL.
func (v sessionValues) with(name, value string, local bool) sessionValues {
	return v.changed(local, func(m map[string]string) { m[name] = value })
}

// without returns the values after RESET, or with local SET LOCAL … TO DEFAULT.
func (v sessionValues) without(name string, local bool) sessionValues {
	return v.changed(local, func(m map[string]string) { delete(m, name) })
}

func (v sessionValues) changed(local bool, change func(map[string]string)) sessionValues {
	edit := func(m map[string]string) map[string]string {
		m = maps.Clone(m)
		if m == nil {
			m = map[string]string{}
		}
		change(m)
		return m
	}
	v.now, v.version = edit(v.now), settingsVersions.Add(1)
	if !local {
		v.kept = edit(v.kept)
	}
	return v
}

// endTransaction drops what SET LOCAL set.
func (v *sessionValues) endTransaction() {
	if len(v.now) == 0 && len(v.kept) == 0 {
		return
	}
	v.now, v.version = v.kept, settingsVersions.Add(1)
}

// setting returns a setting's value in the session.
func (s *Session) setting(name string) string {
	if v, ok := s.values.now[name]; ok {
		return v
	}
	return s.db.setting(name)
}

func (s *Session) on(name string) bool { return s.setting(name) == "on" }

func (d *database) setting(name string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if v, ok := d.global[name]; ok {
		return v
	}
	switch name {
	case setMemoryLimit:
		return fmt.Sprint(d.options.MemoryLimitBytes)
	case setThreads:
		return fmt.Sprint(d.options.Threads)
	}
	return settings[name].initial
}

// changeable finds a setting for SET and RESET.
func (s *Session) changeable(name string, local bool) (*setting, error) {
	st, err := lookupSetting(name)
	if err != nil {
		return nil, err
	}
	if st.fixed || st.check == nil {
		return nil, sqlerr.New(sqlerr.CantChangeRuntimeParam, "parameter %q cannot be changed", displayName(st.name))
	}
	if st.global && local {
		return nil, sqlerr.New(sqlerr.CantChangeRuntimeParam, "parameter %q cannot be set locally", displayName(st.name)).
			WithDetail("It belongs to the database.")
	}
	return st, nil
}

// set changes a setting of the session, or of the database for global ones. Settings of the
// transaction are only checked here: outside of a transaction block they have no effect.
func (s *Session) set(name, text string, local bool) error {
	st, err := s.changeable(name, local)
	if err != nil {
		return err
	}
	value, err := st.check(st.name, text)
	switch {
	case err != nil || st.transaction || local && s.txn == nil:
	case st.global:
		s.db.setGlobal(st.name, &value)
	default:
		s.values = s.values.with(st.name, value, local)
	}
	return err
}

// reset gives a setting its default again.
func (s *Session) reset(name string, local bool) error {
	st, err := s.changeable(name, local)
	switch {
	case err != nil || st.transaction || local && s.txn == nil:
	case st.global:
		s.db.setGlobal(st.name, nil)
	default:
		s.values = s.values.without(st.name, local)
	}
	return err
}

// setGlobal changes a setting of the database, or gives it its default for a nil value.
func (d *database) setGlobal(name string, value *string) {
	d.mu.Lock()
	if value != nil {
		d.global[name] = *value
	} else {
		delete(d.global, name)
	}
	d.mu.Unlock()
	d.globalVersion.Store(settingsVersions.Add(1))
	d.applyGlobal(name)
}
