"""Notes in and out: Markdown vaults, text, JSON Lines and LoCoMo conversations in, JSON Lines out."""
