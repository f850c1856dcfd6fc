package weft

// Spilling returns the options with transactions that spill their writes above a number of bytes.
func (o Options) Spilling(bytes int64) Options {
	o.spillBytes = bytes
	return o
}
