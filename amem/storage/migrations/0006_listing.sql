-- Lists of all notes, by time and of some statuses, kinds or layers, are read from this index alone, however long the
-- notes are. The key stands second so that notes of the same time are in the order of their arrival.
DROP INDEX notes_at;
CREATE INDEX notes_at ON notes (at, key, status, kind, layer);
