-- A vector in two bytes a number and the size of its step, where it was in four bytes a number; five fill a page.
CREATE TABLE short_vectors (
    key INTEGER PRIMARY KEY,
    space INTEGER NOT NULL REFERENCES spaces (id),
    hash BLOB NOT NULL,
    vector BLOB NOT NULL,
    UNIQUE (space, hash)
);
INSERT INTO short_vectors SELECT key, space, hash, repacked(vector) FROM vectors;
-- Which go with their vectors, and would go with the table of these.
CREATE TABLE words_of_short_vectors (
    vector INTEGER PRIMARY KEY REFERENCES short_vectors (key) ON DELETE CASCADE,
    packed BLOB NOT NULL
);
INSERT INTO words_of_short_vectors SELECT vector, packed FROM words;
DROP TABLE words;
DROP TABLE vectors;
ALTER TABLE short_vectors RENAME TO vectors;
ALTER TABLE words_of_short_vectors RENAME TO words;
-- Only tags are listed by how many notes carry them; of keywords, most of which one note has, nobody asks for such a list.
DROP INDEX term_counts_used;
CREATE INDEX term_counts_used ON term_counts (notes DESC, term) WHERE role = 'tag';
