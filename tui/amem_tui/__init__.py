"""The terminal browser: a Textual app over amem's public API."""
