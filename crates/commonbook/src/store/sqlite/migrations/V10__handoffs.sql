-- Work that one agent gave to another.
CREATE TABLE handoff (
    workspace   TEXT    NOT NULL,
    id          TEXT    NOT NULL,
    sequence    INTEGER NOT NULL,          -- of the event that made it: the order of lists
    accepted    INTEGER,                   -- of the event that accepted it
    from_agent  TEXT    NOT NULL,
    to_agent    TEXT    NOT NULL,
    user_id     TEXT,
    session     TEXT,
    case_key    TEXT,
    task        TEXT    NOT NULL,
    said        TEXT    NOT NULL,          -- context, files, decisions and next steps, as JSON
    kind        TEXT    NOT NULL,
    status      TEXT    NOT NULL,
    follows     TEXT    NOT NULL,
    chain       TEXT    NOT NULL,
    depth       INTEGER NOT NULL,
    entities    TEXT    NOT NULL,
    tokens      INTEGER NOT NULL,
    note        TEXT,
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    accepted_at INTEGER,
    accepted_in TEXT,
    ended_at    INTEGER,
    version     INTEGER NOT NULL,
    package     TEXT    NOT NULL,          -- what is told of it but for the memories
    left_out    TEXT    NOT NULL,          -- what was looked at and stayed behind
    PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX handoff_made ON handoff (workspace, sequence);
CREATE INDEX handoff_to ON handoff (workspace, to_agent, sequence);
CREATE INDEX handoff_from ON handoff (workspace, from_agent, sequence);
CREATE INDEX handoff_accepted ON handoff (workspace, to_agent, accepted) WHERE accepted IS NOT NULL;
CREATE INDEX handoff_chain ON handoff (workspace, chain, sequence);
CREATE INDEX handoff_case ON handoff (workspace, case_key, sequence) WHERE case_key IS NOT NULL;
CREATE INDEX handoff_open ON handoff (workspace, sequence) WHERE status IN ('pending', 'accepted');
CREATE INDEX handoff_waiting ON handoff (expires_at) WHERE status = 'pending';

-- The memories that go along, each with what is told of it. Purging one takes it out here too.
CREATE TABLE handoff_memory (
    workspace TEXT    NOT NULL,
    handoff   TEXT    NOT NULL,
    place     INTEGER NOT NULL,
    origin    TEXT    NOT NULL,            -- the workspace of the memory
    memory    TEXT    NOT NULL,
    passed    TEXT    NOT NULL,            -- its author, score and tokens, and why, as JSON
    private   INTEGER NOT NULL,
    told      TEXT    NOT NULL,
    PRIMARY KEY (workspace, handoff, place)
) STRICT, WITHOUT ROWID;

CREATE INDEX handoff_memory_of ON handoff_memory (origin, memory);

-- The other side of a handoff is told of what happens to it.
ALTER TABLE event ADD COLUMN told TEXT;

-- How far the clock can be relied on, for what is ended by time alone.
CREATE TABLE steady (
    one    INTEGER PRIMARY KEY CHECK (one = 1),
    sure   INTEGER NOT NULL,
    shown  INTEGER NOT NULL
) STRICT;
