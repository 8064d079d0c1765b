-- What an undone operation did counts no more, in these tables as in the versions of notes: each row is its operation's
-- own, none overwrites that of another, and of the rows about one thing the last of an operation that stands holds.

-- Who owns a field since this version, as JSON: {field: "given", "edited" or null}. What older notes have is their first.
ALTER TABLE versions ADD COLUMN owned TEXT;
UPDATE versions SET owned = (SELECT edited FROM notes WHERE notes.key = versions.note) WHERE version = 1;

-- A flag is raised (dismissed 0) and dismissed (1).
ALTER TABLE flags RENAME TO flags_before;
CREATE TABLE flags (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    note INTEGER NOT NULL REFERENCES notes (key) ON DELETE CASCADE,
    because TEXT NOT NULL,
    reason TEXT NOT NULL,
    at TEXT NOT NULL,
    operation INTEGER NOT NULL REFERENCES operations (id),
    dismissed INTEGER NOT NULL
);
CREATE INDEX flags_note ON flags (note, because);
CREATE INDEX flags_operation ON flags (operation);
INSERT INTO flags SELECT id, note, because, reason, at, operation, 0 FROM flags_before ORDER BY id;
INSERT INTO flags (note, because, reason, at, operation, dismissed)
SELECT note, because, reason, operations.at, dismissed_by, 1
FROM flags_before JOIN operations ON operations.id = dismissed_by ORDER BY dismissed_by, flags_before.id;
DROP TABLE flags_before;

-- Who said the same, once for each operation that said so.
ALTER TABLE corroborations RENAME TO corroborations_before;
CREATE TABLE corroborations (
    note INTEGER NOT NULL REFERENCES notes (key) ON DELETE CASCADE,
    who TEXT NOT NULL,
    at TEXT NOT NULL,
    operation INTEGER NOT NULL REFERENCES operations (id),
    PRIMARY KEY (note, who, operation)
) WITHOUT ROWID;
INSERT INTO corroborations SELECT note, who, at, operation FROM corroborations_before;
DROP TABLE corroborations_before;

-- What became of a proposal: accepted, rejected, or replaced by another.
ALTER TABLE reviews RENAME TO reviews_before;
CREATE TABLE reviews (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    note INTEGER NOT NULL REFERENCES notes (key) ON DELETE CASCADE,
    operation INTEGER NOT NULL REFERENCES operations (id),
    base_version INTEGER NOT NULL,
    changes TEXT NOT NULL,
    reason TEXT NOT NULL,
    confidence REAL NOT NULL,
    made_by TEXT NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL
);
INSERT INTO reviews SELECT id, note, operation, base_version, changes, reason, confidence, made_by, created_at, expires_at
FROM reviews_before ORDER BY id;
CREATE INDEX reviews_note ON reviews (note);
CREATE INDEX reviews_operation ON reviews (operation);
CREATE TABLE decisions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    review INTEGER NOT NULL REFERENCES reviews (id) ON DELETE CASCADE,
    state TEXT NOT NULL,
    operation INTEGER NOT NULL REFERENCES operations (id)
);
CREATE INDEX decisions_review ON decisions (review);
CREATE INDEX decisions_operation ON decisions (operation);
INSERT INTO decisions (review, state, operation)
SELECT id, state, decided_by FROM reviews_before
WHERE state NOT IN ('open', 'withdrawn') AND decided_by IS NOT NULL ORDER BY decided_by;
-- One that an undo had opened again had forgotten by which operation it was decided.
INSERT INTO decisions (review, state, operation)
SELECT item.id, CASE decided.action WHEN 'accept' THEN 'accepted' ELSE 'rejected' END, decided.id
FROM reviews_before AS item JOIN operations AS undone ON undone.id = item.decided_by
JOIN operations AS decided ON decided.id = undone.undoes
WHERE item.state = 'open' AND decided.action IN ('accept', 'reject') ORDER BY decided.id;
DROP TABLE reviews_before;

-- What an operation did by itself, what an undo took back, and which operations are undos, is asked of each undo.
CREATE INDEX corroborations_operation ON corroborations (operation);
CREATE INDEX operations_undone_by ON operations (undone_by) WHERE undone_by IS NOT NULL;
CREATE INDEX operations_undoes ON operations (id) WHERE undoes IS NOT NULL;

-- A link that comes back does so under its own key, which no other link has had meanwhile.
ALTER TABLE links RENAME TO links_before;
CREATE TABLE links (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    source TEXT NOT NULL,
    target TEXT NOT NULL,
    type TEXT NOT NULL,
    reason TEXT NOT NULL,
    confidence REAL NOT NULL,
    made_by TEXT NOT NULL,
    at TEXT NOT NULL,
    operation INTEGER NOT NULL REFERENCES operations (id),
    weight REAL NOT NULL DEFAULT 1.0,
    UNIQUE (source, target, type)
);
INSERT INTO links SELECT key, source, target, type, reason, confidence, made_by, at, operation, weight FROM links_before;
DROP TABLE links_before;
CREATE INDEX links_target ON links (target);
