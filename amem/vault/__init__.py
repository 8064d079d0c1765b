"""Notes and a folder of Markdown files, kept in step both ways."""
