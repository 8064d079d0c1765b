"""What machines and people did, each operation undoable."""
