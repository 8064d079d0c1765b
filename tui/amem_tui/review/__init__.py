"""What waits for a person: proposed changes, conflicts, notes that may be out of date."""
