-- Whose a note is (metadata user_id, agent_id, session_id): few notes say so, and those that do are asked for by it often.
CREATE INDEX notes_user_id ON notes (json_extract(metadata, '$.user_id'))
    WHERE json_extract(metadata, '$.user_id') IS NOT NULL;
CREATE INDEX notes_agent_id ON notes (json_extract(metadata, '$.agent_id'))
    WHERE json_extract(metadata, '$.agent_id') IS NOT NULL;
CREATE INDEX notes_session_id ON notes (json_extract(metadata, '$.session_id'))
    WHERE json_extract(metadata, '$.session_id') IS NOT NULL;

-- Who said how much, without a look at the notes themselves.
CREATE INDEX notes_speaker ON notes (speaker) WHERE speaker IS NOT NULL;

-- Since when something has been so, where a note says it: for questions that name a time.
CREATE INDEX notes_valid_from ON notes (valid_from) WHERE valid_from IS NOT NULL;

-- Which notes are procedures, few among many: for questions that ask how.
CREATE INDEX notes_procedures ON notes (status) WHERE kind IN ('procedure', 'code');
