"""Compressing: what is old and about to fade becomes one short note that says where it came from."""
