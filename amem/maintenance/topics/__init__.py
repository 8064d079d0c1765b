"""Topic notes: what belongs together, gathered on a page of its own that cites the notes it stands on."""
