-- The words of a text in half a byte a number, and in a table of their own: two vectors fill a page, and four notes' words
-- another, where one vector with its words took a page alone.
ALTER TABLE vectors RENAME TO vectors_with_words;
CREATE TABLE vectors (
    key INTEGER PRIMARY KEY,
    space INTEGER NOT NULL REFERENCES spaces (id),
    hash BLOB NOT NULL,
    vector BLOB NOT NULL,
    UNIQUE (space, hash)
);
INSERT INTO vectors SELECT key, space, hash, vector FROM vectors_with_words;
CREATE TABLE words (
    vector INTEGER PRIMARY KEY REFERENCES vectors (key) ON DELETE CASCADE,
    packed BLOB NOT NULL
);
INSERT INTO words SELECT key, halved(tokens) FROM vectors_with_words WHERE tokens IS NOT NULL;
DROP TABLE vectors_with_words;
UPDATE spaces SET tokens = 'words-128-4' WHERE tokens = 'words-128';
