"""What is so, and since when: reckoned from what notes state, whatever order they came in. Pure functions, no I/O."""
