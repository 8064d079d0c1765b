"""The local graph around a note, and the topics of the whole collection."""
