"""What every screen shares: writing, switching, help, and what to do when nothing can be read."""
