-- Chinese is searched by its characters as well as by pairs of them.
UPDATE note_text SET content = (SELECT searched(notes.content) FROM notes WHERE notes.key = note_text.rowid)
    WHERE rowid IN (SELECT key FROM notes WHERE content GLOB '*[㐀-鿿]*');
