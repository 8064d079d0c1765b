"""The open note: its text and what there is around it, one page for each tab."""
