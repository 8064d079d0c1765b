"""Notes by day, and how they are forgotten."""
