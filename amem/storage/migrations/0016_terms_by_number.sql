-- What sort of word a term is, by its number (`ROLE` in amem/storage/rows.py); how many notes carry it is kept for tags and
-- names. Nearly every keyword is that of one note: keywords are counted when that is asked.
DROP TRIGGER note_terms_added;
DROP TRIGGER note_terms_removed;
ALTER TABLE note_terms RENAME TO terms_by_name;
DROP INDEX note_terms_note;
CREATE TABLE note_terms (
    role INTEGER NOT NULL,
    term TEXT NOT NULL,
    note INTEGER NOT NULL REFERENCES notes (key) ON DELETE CASCADE,
    PRIMARY KEY (role, term, note)
) WITHOUT ROWID;
INSERT OR IGNORE INTO note_terms
    SELECT CASE role WHEN 'keyword' THEN 0 WHEN 'tag' THEN 1 WHEN 'entity' THEN 2 END AS number, term, note
    FROM terms_by_name WHERE note IN (SELECT key FROM notes) ORDER BY number, term, note;
DROP TABLE terms_by_name;
CREATE INDEX note_terms_note ON note_terms (note);

DROP TABLE term_counts;
CREATE TABLE term_counts (
    role INTEGER NOT NULL,
    term TEXT NOT NULL,
    notes INTEGER NOT NULL,
    PRIMARY KEY (role, term)
) WITHOUT ROWID;
INSERT INTO term_counts SELECT role, term, count(*) FROM note_terms WHERE role <> 0 GROUP BY role, term;
CREATE INDEX term_counts_used ON term_counts (role, notes DESC);
CREATE TRIGGER note_terms_added AFTER INSERT ON note_terms WHEN new.role <> 0 BEGIN
    INSERT INTO term_counts VALUES (new.role, new.term, 1)
    ON CONFLICT (role, term) DO UPDATE SET notes = notes + 1;
END;
CREATE TRIGGER note_terms_removed AFTER DELETE ON note_terms WHEN old.role <> 0 BEGIN
    UPDATE term_counts SET notes = notes - 1 WHERE role = old.role AND term = old.term;
    DELETE FROM term_counts WHERE role = old.role AND term = old.term AND notes <= 0;
END;

-- Full text without an index of its words' first two and three letters, which only somebody typing asked for: at 100,000
-- notes a beginning of two letters that 60,000 of them hold is found in 25 ms without it, and in 13 with it.
CREATE VIRTUAL TABLE text_without_prefixes USING fts5 (
    content, keywords, tags, context,
    tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* Co' tokenchars '_.-+#@'"
);
INSERT INTO text_without_prefixes (rowid, content, keywords, tags, context)
    SELECT rowid, content, keywords, tags, context FROM note_text ORDER BY rowid;
DROP TABLE note_vocabulary;
DROP TABLE note_text;
ALTER TABLE text_without_prefixes RENAME TO note_text;
CREATE VIRTUAL TABLE note_vocabulary USING fts5vocab (note_text, row);
