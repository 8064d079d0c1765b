-- Folders of Markdown files that are kept in step with the notes. `identity` is what the folder says of itself; `counter`
-- and `operation` are how far the notes had come when files and notes were last found to agree.
CREATE TABLE vaults (
    id INTEGER PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE,
    path TEXT NOT NULL,
    counter INTEGER NOT NULL DEFAULT 0,
    operation INTEGER NOT NULL DEFAULT 0,
    synced_ns INTEGER NOT NULL DEFAULT 0
);

-- The file of a note as it was when both agreed last: its text, and what the links in it led to (JSON). `gone` is 1 where
-- they agreed that there is none. `digest` outlives a purge, so that the file of a purged note is known to be unchanged.
CREATE TABLE vault_files (
    vault INTEGER NOT NULL REFERENCES vaults (id) ON DELETE CASCADE,
    note TEXT NOT NULL,
    path TEXT NOT NULL,
    text TEXT NOT NULL,
    digest BLOB NOT NULL,
    mtime_ns INTEGER NOT NULL,
    size INTEGER NOT NULL,
    refs TEXT NOT NULL,
    gone INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (vault, note)
);
CREATE INDEX vault_files_note ON vault_files (note);

-- A purge takes the words of a note out of here, too.
CREATE TRIGGER vault_files_purged AFTER DELETE ON notes BEGIN
    UPDATE vault_files SET path = '', text = '', refs = '{}' WHERE note = old.id;
END;
