-- One stretch of one agent's work.
CREATE TABLE session (
    workspace      TEXT    NOT NULL,
    id             TEXT    NOT NULL,
    sequence       INTEGER NOT NULL,       -- of the event that started it: the order of lists
    agent          TEXT    NOT NULL,
    device         TEXT,
    client         TEXT,
    user_id        TEXT,
    case_key       TEXT,
    client_session TEXT,
    status         TEXT    NOT NULL,
    started_at     INTEGER NOT NULL,
    touched_at     INTEGER NOT NULL,
    ended_at       INTEGER,
    summary        TEXT,                   -- the memory that sums it up
    PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX session_started ON session (workspace, sequence);
CREATE INDEX session_own ON session (workspace, agent, client_session, sequence)
    WHERE client_session IS NOT NULL;
CREATE INDEX session_going_on ON session (touched_at) WHERE status <> 'completed';
CREATE INDEX session_unsummarised ON session (workspace, sequence)
    WHERE status = 'completed' AND summary IS NULL;

-- What was kept in a session is asked for by it.
CREATE INDEX memory_session ON memory (workspace, session, sequence) WHERE session IS NOT NULL;
