-- Whose a chat is: the user_id, agent_id and session_id it was begun under, as JSON. What is learnt from it is theirs.
ALTER TABLE sessions ADD COLUMN scope TEXT NOT NULL DEFAULT '{}';
