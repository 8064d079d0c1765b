-- What the judges of conflicts read in a note's text, so that it is not taken apart anew for each note that comes near it.
-- `reader` stands for the code and word lists that read, `text` is the hash of what was read, `found`
-- compressed JSON.
CREATE TABLE readings (
    note INTEGER PRIMARY KEY REFERENCES notes (key) ON DELETE CASCADE,
    reader TEXT NOT NULL,
    text BLOB NOT NULL,
    found BLOB NOT NULL
);
CREATE TRIGGER readings_of_old_texts AFTER UPDATE OF content, overturned ON notes BEGIN
    DELETE FROM readings WHERE note = old.key;
END;
