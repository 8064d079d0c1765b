-- Which collection this is, also after a purge: a copy gets an identity of its own and remembers that of its origin.
INSERT OR IGNORE INTO meta VALUES ('identity', lower(hex(randomblob(16))));

-- The columns of the key come first: `PRAGMA integrity_check` of SQLite 3.40 takes a column between them for NULL, so that
-- a collection in which anything was said twice could not be copied, and was said to be damaged.
ALTER TABLE corroborations RENAME TO corroborations_before;
CREATE TABLE corroborations (
    note INTEGER NOT NULL REFERENCES notes (key) ON DELETE CASCADE,
    who TEXT NOT NULL,
    operation INTEGER NOT NULL REFERENCES operations (id),
    at TEXT NOT NULL,
    PRIMARY KEY (note, who, operation)
) WITHOUT ROWID;
INSERT INTO corroborations (note, who, operation, at) SELECT note, who, operation, at FROM corroborations_before;
DROP TABLE corroborations_before;
CREATE INDEX corroborations_operation ON corroborations (operation);
