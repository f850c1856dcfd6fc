package weft

// fallbackMemoryBytes is assumed where the machine's memory cannot be learnt.
const fallbackMemoryBytes = 4 << 30
