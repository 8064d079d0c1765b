-- The whole truth of a collection. Times are UTC text 'YYYY-MM-DDTHH:MM:SS.ffffffZ', so that they sort as they read.

CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
-- Told apart from any other collection ever made, so that a cache left by another is never taken for this one's.
INSERT INTO meta VALUES ('collection', lower(hex(randomblob(8))));

-- One row, incremented in every writing transaction; stamps what changed so that caches can ask "since when".
CREATE TABLE counter (id INTEGER PRIMARY KEY CHECK (id = 1), value INTEGER NOT NULL);
INSERT INTO counter VALUES (1, 0);

CREATE TABLE operations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    parent INTEGER REFERENCES operations (id),
    action TEXT NOT NULL,
    actor TEXT NOT NULL,
    cause TEXT NOT NULL,
    at TEXT NOT NULL,
    undoes INTEGER REFERENCES operations (id),
    undone_by INTEGER REFERENCES operations (id)
);
CREATE INDEX operations_parent ON operations (parent);
CREATE INDEX operations_at ON operations (at);

CREATE TABLE notes (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    content TEXT NOT NULL,
    normal BLOB NOT NULL,
    keywords TEXT NOT NULL,
    tags TEXT NOT NULL,
    entities TEXT NOT NULL,
    context TEXT NOT NULL,
    category TEXT NOT NULL,
    timestamp TEXT NOT NULL,
    at TEXT NOT NULL,
    kind TEXT NOT NULL,
    layer TEXT NOT NULL,
    status TEXT NOT NULL,
    importance REAL NOT NULL,
    reliability REAL NOT NULL,
    pinned INTEGER NOT NULL,
    superseded_by TEXT,
    valid_from TEXT,
    valid_to TEXT,
    recorded_at TEXT NOT NULL,
    conversation_id TEXT,
    ordinal INTEGER,
    speaker TEXT,
    metadata TEXT NOT NULL,
    enrichment TEXT NOT NULL,
    analyst TEXT NOT NULL,
    version INTEGER NOT NULL,
    edited TEXT NOT NULL,
    text_hash BLOB,
    seq INTEGER NOT NULL,
    vector_seq INTEGER NOT NULL
);
CREATE INDEX notes_seq ON notes (seq);
CREATE INDEX notes_vector_seq ON notes (vector_seq);
CREATE INDEX notes_normal ON notes (normal);
CREATE INDEX notes_at ON notes (at);
CREATE INDEX notes_conversation ON notes (conversation_id, ordinal) WHERE conversation_id IS NOT NULL;
CREATE INDEX notes_enrichment ON notes (enrichment) WHERE enrichment <> 'done';
CREATE INDEX notes_text_hash ON notes (text_hash);

-- How many notes there are of each status, so that counting them costs nothing.
CREATE TABLE note_counts (status TEXT PRIMARY KEY, notes INTEGER NOT NULL) WITHOUT ROWID;
CREATE TRIGGER notes_added AFTER INSERT ON notes BEGIN
    INSERT INTO note_counts VALUES (new.status, 1) ON CONFLICT (status) DO UPDATE SET notes = notes + 1;
END;
CREATE TRIGGER notes_moved AFTER UPDATE OF status ON notes WHEN old.status <> new.status BEGIN
    UPDATE note_counts SET notes = notes - 1 WHERE status = old.status;
    INSERT INTO note_counts VALUES (new.status, 1) ON CONFLICT (status) DO UPDATE SET notes = notes + 1;
END;
CREATE TRIGGER notes_removed AFTER DELETE ON notes BEGIN
    UPDATE note_counts SET notes = notes - 1 WHERE status = old.status;
END;

-- Tags, entities and keywords of every note that is not deleted, case-folded, for filters and for the entity leg.
CREATE TABLE note_terms (
    role TEXT NOT NULL,
    term TEXT NOT NULL,
    note INTEGER NOT NULL REFERENCES notes (key) ON DELETE CASCADE,
    PRIMARY KEY (role, term, note)
) WITHOUT ROWID;
CREATE INDEX note_terms_note ON note_terms (note);

CREATE TABLE term_counts (
    role TEXT NOT NULL,
    term TEXT NOT NULL,
    notes INTEGER NOT NULL,
    PRIMARY KEY (role, term)
) WITHOUT ROWID;
CREATE INDEX term_counts_used ON term_counts (role, notes DESC);
CREATE TRIGGER note_terms_added AFTER INSERT ON note_terms BEGIN
    INSERT INTO term_counts VALUES (new.role, new.term, 1)
    ON CONFLICT (role, term) DO UPDATE SET notes = notes + 1;
END;
CREATE TRIGGER note_terms_removed AFTER DELETE ON note_terms BEGIN
    UPDATE term_counts SET notes = notes - 1 WHERE role = old.role AND term = old.term;
    DELETE FROM term_counts WHERE role = old.role AND term = old.term AND notes <= 0;
END;

-- The key keeps the order in which links were given: they are a list to whoever made them.
CREATE TABLE links (
    key INTEGER PRIMARY KEY,
    source TEXT NOT NULL,
    target TEXT NOT NULL,
    type TEXT NOT NULL,
    reason TEXT NOT NULL,
    confidence REAL NOT NULL,
    made_by TEXT NOT NULL,
    at TEXT NOT NULL,
    operation INTEGER NOT NULL REFERENCES operations (id),
    UNIQUE (source, target, type)
);
CREATE INDEX links_target ON links (target);

-- What each operation did: fields of notes, and links. `changes` is {field: [before, after]}.
CREATE TABLE versions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    operation INTEGER NOT NULL REFERENCES operations (id),
    note INTEGER NOT NULL REFERENCES notes (key) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    changes TEXT NOT NULL
);
CREATE INDEX versions_note ON versions (note, version);
CREATE INDEX versions_operation ON versions (operation);

CREATE TABLE link_changes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    operation INTEGER NOT NULL REFERENCES operations (id),
    source TEXT NOT NULL,
    target TEXT NOT NULL,
    type TEXT NOT NULL,
    before TEXT,
    after TEXT
);
CREATE INDEX link_changes_operation ON link_changes (operation);

CREATE TABLE usage (
    note INTEGER PRIMARY KEY REFERENCES notes (key) ON DELETE CASCADE,
    recalls INTEGER NOT NULL,
    last_access TEXT NOT NULL,
    growth REAL NOT NULL
);

CREATE TABLE corroborations (
    note INTEGER NOT NULL REFERENCES notes (key) ON DELETE CASCADE,
    who TEXT NOT NULL,
    at TEXT NOT NULL,
    operation INTEGER NOT NULL REFERENCES operations (id),
    PRIMARY KEY (note, who)
) WITHOUT ROWID;

CREATE TABLE sources (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    conversation TEXT,
    ref TEXT,
    speaker TEXT,
    at TEXT,
    ordinal INTEGER,
    text TEXT NOT NULL,
    operation INTEGER NOT NULL REFERENCES operations (id)
);
CREATE INDEX sources_conversation ON sources (conversation, ordinal) WHERE conversation IS NOT NULL;
CREATE TABLE note_sources (
    note INTEGER NOT NULL REFERENCES notes (key) ON DELETE CASCADE,
    source INTEGER NOT NULL REFERENCES sources (key),
    PRIMARY KEY (note, source)
) WITHOUT ROWID;
CREATE INDEX note_sources_source ON note_sources (source);

CREATE TABLE spaces (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    model TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    recipe TEXT NOT NULL,
    active INTEGER NOT NULL
);
CREATE UNIQUE INDEX spaces_active ON spaces (active) WHERE active = 1;
-- A vector belongs to the text it embeds, not to a note: the same text is embedded once.
CREATE TABLE vectors (
    key INTEGER PRIMARY KEY,
    space INTEGER NOT NULL REFERENCES spaces (id),
    hash BLOB NOT NULL,
    vector BLOB NOT NULL,
    UNIQUE (space, hash)
);

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
    expires_at TEXT NOT NULL,
    state TEXT NOT NULL,
    decided_by INTEGER REFERENCES operations (id)
);
CREATE UNIQUE INDEX reviews_open ON reviews (note) WHERE state = 'open';

CREATE TABLE jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    note INTEGER NOT NULL REFERENCES notes (key) ON DELETE CASCADE,
    operation INTEGER REFERENCES operations (id),
    owner TEXT,
    lease_until TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    error TEXT NOT NULL DEFAULT '',
    UNIQUE (kind, note)
);

-- What purge leaves behind, so that caches learn of it.
CREATE TABLE tombstones (note INTEGER PRIMARY KEY, id TEXT NOT NULL, seq INTEGER NOT NULL);
CREATE INDEX tombstones_seq ON tombstones (seq);

-- Rows hold our own tokens (amem.text), already folded, stemmed and separated by spaces.
CREATE VIRTUAL TABLE note_text USING fts5 (
    content, keywords, tags, context, prefix = '2 3',
    tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* Co' tokenchars '_.-+#@'"
);
CREATE VIRTUAL TABLE note_vocabulary USING fts5vocab (note_text, row);
CREATE VIRTUAL TABLE source_text USING fts5 (
    content, tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* Co' tokenchars '_.-+#@'"
);
