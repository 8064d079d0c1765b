-- Statements of a note that no longer hold though the note does, as JSON: [{"text", "until", "by", "then", ...}, ...].
ALTER TABLE notes ADD COLUMN overturned TEXT NOT NULL DEFAULT '[]';
-- Which notes have such statements is asked when the note that overturned one is destroyed: they are few.
CREATE INDEX notes_overturned ON notes (key) WHERE overturned <> '[]';
