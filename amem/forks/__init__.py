"""Forks: copies of a collection to try something in, what each side did since, and merging the one into the other."""
