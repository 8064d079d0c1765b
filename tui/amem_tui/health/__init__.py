"""How the collection is, its maintenance, and what waits for a model."""
