"""A note on its way in: analyse, find duplicates, link, evolve, commit; and every later change to it."""
