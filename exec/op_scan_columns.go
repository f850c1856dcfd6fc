package exec

// newColumnReader returns the reader of a scan by columns, and whether it applies the scan's filter
// itself; nil when the scan reads rows. late are the filters that joins lend to the scan: a reader
// may use them to skip groups and rows, and need not.
func (s *scanSource) newColumnReader(w *Worker, late []*filterProbe) (reader groupReader, filtered bool, err error) {
	return nil, false, nil
}
