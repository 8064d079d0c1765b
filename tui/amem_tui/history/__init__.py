"""Every version of a note, side by side, each to be gone back to."""
