"""The night shift: forgetting, merging, compressing, topics, and upkeep of the index and the files."""
