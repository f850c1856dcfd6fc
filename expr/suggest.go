package expr

// nearestFunction returns the function whose name is within a small edit distance of name, "" if
// there is none.
func nearestFunction(name string) string {
	best, bestDistance := "", len(name)/3+1
	consider := func(candidate string) {
		d := editDistance(name, candidate, bestDistance)
		if d < bestDistance || d == bestDistance && best != "" && candidate < best {
			best, bestDistance = candidate, d
		}
	}
	for candidate := range registered.functions {
		consider(candidate)
	}
	for candidate := range specialCalls {
		consider(candidate)
	}
	return best
}

// editDistance is the Levenshtein distance, or limit+1 where that is smaller.
func editDistance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = min(diagonal, row[j], row[j+1]) + 1
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return min(row[len(b)], limit+1)
}
