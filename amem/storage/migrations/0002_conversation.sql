-- What notes state as subject, predicate and object, as JSON [[s, p, o], ...].
ALTER TABLE notes ADD COLUMN facts TEXT NOT NULL DEFAULT '[]';
-- The prompts, with their versions, that a model answered to bring a change about: 'analyze 2, evolve 2'.
ALTER TABLE operations ADD COLUMN prompts TEXT NOT NULL DEFAULT '';
-- Which operation said that a note came from a source; what is undone counts no more. NULL in notes older than this.
ALTER TABLE note_sources ADD COLUMN operation INTEGER REFERENCES operations (id);
-- 0 for the source that is a note's very text, 1 for one that it was learnt from and may share with other notes.
ALTER TABLE note_sources ADD COLUMN gathered INTEGER NOT NULL DEFAULT 0;

-- What model calls cost, by local day and model, so that a day's budget holds over processes and restarts.
CREATE TABLE spending (
    day TEXT NOT NULL,
    model TEXT NOT NULL,
    calls INTEGER NOT NULL,
    tokens_in INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    PRIMARY KEY (day, model)
) WITHOUT ROWID;

-- Chats with the assistant, turn by turn: a turn is here before the model is asked.
CREATE TABLE sessions (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    started_at TEXT NOT NULL
);
CREATE TABLE turns (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    at TEXT NOT NULL,
    question TEXT NOT NULL,
    answer TEXT NOT NULL DEFAULT '',
    state TEXT NOT NULL,
    model TEXT NOT NULL DEFAULT '',
    -- The prompt with its version that the model was given: 'chat 1'.
    prompt TEXT NOT NULL DEFAULT '',
    error TEXT NOT NULL DEFAULT '',
    -- JSON: what was recalled and placed in the prompt, by note id and version, with its reasons; no text of notes.
    recalled TEXT NOT NULL DEFAULT '[]',
    -- 1 when something recalled supported an answer, 0 when nothing did, NULL when that was not asked.
    supported INTEGER,
    tokens_in INTEGER NOT NULL DEFAULT 0,
    tokens_out INTEGER NOT NULL DEFAULT 0,
    -- waiting, done, degraded (the model failed, the rules did it for now) or off
    learning TEXT NOT NULL,
    learnt_by INTEGER REFERENCES operations (id),
    -- Id of the note that sums up the episode the turn belongs to, once that has ended.
    episode TEXT,
    -- Who is learning from it now, and until when nobody else may.
    owner TEXT,
    lease_until TEXT,
    UNIQUE (session, number)
);
CREATE INDEX turns_learning ON turns (learning) WHERE learning IN ('waiting', 'degraded');
