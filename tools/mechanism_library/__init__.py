"""The mechanisms of the catalogue, a file each: `mechanism()` builds it, `SOURCES` tells where its numbers are from."""
