"""Forgetting: notes move between the layers of memory, and what never mattered fades out of sight."""
