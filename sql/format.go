package sql

// Format returns n as canonical SQL text. Parsing the text yields a tree equal to n, spans aside.
func Format(n Node) string { return "" }
