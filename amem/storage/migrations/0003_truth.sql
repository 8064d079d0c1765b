-- What notes that are not deleted state, a row a fact, as notes.facts has it: found by subject, predicate and object.
-- Names are keyed as by amem.truth.subjects.subject_key, predicates folded (amem.text.normalize); NULL times are the note's own.
CREATE TABLE facts (
    note INTEGER NOT NULL REFERENCES notes (key) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    subject TEXT NOT NULL,
    predicate TEXT NOT NULL,
    object TEXT NOT NULL,
    subject_key TEXT NOT NULL,
    predicate_key TEXT NOT NULL,
    object_key TEXT NOT NULL,
    holds INTEGER NOT NULL,
    valid_from TEXT,
    valid_to TEXT,
    PRIMARY KEY (note, place)
) WITHOUT ROWID;
CREATE INDEX facts_subject ON facts (subject_key, predicate_key);
CREATE INDEX facts_object ON facts (object_key);
INSERT INTO facts
SELECT note, place, subject, predicate, object, named(subject), folded(predicate), named(object), 1, NULL, NULL
FROM (
    SELECT notes.key AS note, each.key AS place, json_extract(each.value, '$[0]') AS subject, json_extract(each.value, '$[1]') AS predicate,
        json_extract(each.value, '$[2]') AS object
    FROM notes, json_each(notes.facts) AS each
    WHERE notes.status <> 'deleted'
);

-- Notes that may be out of date, because one that they lean on is no longer so. What an undone operation flagged is
-- not flagged, what an undone one dismissed is.
CREATE TABLE flags (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    note INTEGER NOT NULL REFERENCES notes (key) ON DELETE CASCADE,
    because TEXT NOT NULL,
    reason TEXT NOT NULL,
    at TEXT NOT NULL,
    operation INTEGER NOT NULL REFERENCES operations (id),
    dismissed_by INTEGER REFERENCES operations (id),
    UNIQUE (note, because)
);

-- Runs of maintenance: how far each came, so that one that was killed goes on where it was. `seq` is the change
-- counter up to which its predecessors had seen the collection; `progress` is JSON.
CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    cycle TEXT NOT NULL,
    operation INTEGER REFERENCES operations (id),
    started_at TEXT NOT NULL,
    finished_at TEXT,
    seq INTEGER NOT NULL,
    phase TEXT NOT NULL DEFAULT '',
    progress TEXT NOT NULL DEFAULT '{}',
    owner TEXT,
    lease_until TEXT
);

-- Uses of a note since it was archived: the second brings it back.
ALTER TABLE usage ADD COLUMN since_archived INTEGER NOT NULL DEFAULT 0;
-- What use says of a link, a factor on its confidence; reckoned anew from the uses of its ends, never from itself.
ALTER TABLE links ADD COLUMN weight REAL NOT NULL DEFAULT 1.0;
-- What took a note's place is asked of its successors when those are undone.
CREATE INDEX notes_superseded_by ON notes (superseded_by) WHERE superseded_by IS NOT NULL;
-- Which notes ever belonged to a topic, and which a person took out, is asked of each topic.
CREATE INDEX link_changes_target ON link_changes (target, type);
-- Notes from before this were never weighed against each other on their arrival.
INSERT INTO meta (key, value) SELECT 'unweighed_until', coalesce(max(id), 0) FROM operations;
