package weft

import (
	"context"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector/arrow"
)

// QueryArrow runs a statement and returns its rows as Arrow records, without copying fixed-width
// data. The reader, an array.RecordReader, must be released.
func (db *DB) QueryArrow(ctx context.Context, query string, args ...any) (*arrow.Reader, error) {
	rows, err := db.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	columns := make([]arrow.Column, len(rows.columns))
	for i, c := range rows.columns {
		columns[i] = arrow.Column{Name: c.Name, Kind: c.Type.Kind(), Meaning: meaningOf(c.Type), Precision: int32(c.Type.Prec), Scale: int32(c.Type.Scale)}
	}
	return arrow.NewReader(columns, rows.NextBatch, rows.Close), nil
}

func meaningOf(t catalog.Type) arrow.Meaning {
	switch t.ID {
	case catalog.Numeric:
		return arrow.Decimal
	case catalog.Date:
		return arrow.Date
	case catalog.Timestamp:
		return arrow.Timestamp
	case catalog.TimestampTZ:
		return arrow.TimestampTZ
	case catalog.Bytea:
		return arrow.Binary
	}
	if t.Kind().Width() == 0 {
		return arrow.Text
	}
	return arrow.Plain
}
