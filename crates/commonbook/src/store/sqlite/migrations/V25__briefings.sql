-- What a session has heard, so that no briefing repeats it: ids and revisions, no texts. The session is
-- the client's own id of it, else ours, else a day. A sub-agent has rows of its own.
CREATE TABLE briefing (
    workspace TEXT    NOT NULL,
    agent     TEXT    NOT NULL,
    session   TEXT    NOT NULL,
    position  INTEGER,                    -- of the journal; NULL before the first briefing
    at        INTEGER NOT NULL,
    PRIMARY KEY (workspace, agent, session)
) STRICT, WITHOUT ROWID;

CREATE INDEX briefing_at ON briefing (at);

CREATE TABLE briefed_item (
    workspace TEXT    NOT NULL,
    agent     TEXT    NOT NULL,
    session   TEXT    NOT NULL,
    item      TEXT    NOT NULL,
    revision  INTEGER NOT NULL,
    PRIMARY KEY (workspace, agent, session, item)
) STRICT, WITHOUT ROWID;

-- The most important current memories of an audience, and their number, at the beginning of a session.
CREATE INDEX memory_important ON memory (audience, importance, sequence)
    WHERE deleted_at IS NULL AND superseded_by IS NULL;

-- The newest memories of a type: without it a list of a rare type reads every memory.
CREATE INDEX memory_by_type ON memory (audience, memory_type, sequence);
