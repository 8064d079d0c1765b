"""Notes that say the same become one, derived from all of them; what is said in only one of them is kept in it."""
