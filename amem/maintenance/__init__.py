"""Maintenance: forgetting, merging, compressing, topics, and upkeep of the index and the files."""
