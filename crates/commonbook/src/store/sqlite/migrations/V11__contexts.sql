-- The receipts of contexts: ids and figures, and the task. No text of what was told.
CREATE TABLE context (
    workspace    TEXT    NOT NULL,
    id           TEXT    NOT NULL,
    agent        TEXT    NOT NULL,        -- whom it was made for: nobody else reads it
    at           INTEGER NOT NULL,
    sequence     INTEGER NOT NULL,        -- of the journal, then
    milliseconds INTEGER NOT NULL,
    sha256       TEXT    NOT NULL,
    nonce        TEXT    NOT NULL,
    standing     TEXT,
    receipt      TEXT    NOT NULL,
    PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX context_agent ON context (workspace, agent, id);
CREATE INDEX context_at ON context (at);

-- What an event says besides.
ALTER TABLE event ADD COLUMN details TEXT;

-- What is known of a user, and of a task, is asked for before all work.
CREATE INDEX memory_about ON memory (workspace, memory_type, user_id, sequence)
    WHERE memory_type IN ('profile', 'task_context');
