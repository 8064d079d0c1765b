"""The start screen: what there is, the list of notes or of hits, and the open note."""
