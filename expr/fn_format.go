package expr

func formatFunctions() []*Function { return nil }
