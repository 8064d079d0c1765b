"""The truth: notes, links, versions, operations, usage, sources, full text and vectors in one SQLite file."""
