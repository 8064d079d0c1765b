"""The night shift: keeps the index in step with the truth, and checks both."""
