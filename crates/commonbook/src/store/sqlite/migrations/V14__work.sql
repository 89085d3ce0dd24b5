-- A handoff is a few kilobytes. In a table without rowids each step of a search reads whole rows, so
-- these have rowids; and what is asked of many handoffs stands before what is long.
CREATE TABLE handoff_with_rowid (
    workspace   TEXT    NOT NULL,
    id          TEXT    NOT NULL,
    sequence    INTEGER NOT NULL,          -- of the event that made it: the order of lists
    accepted    INTEGER,                   -- of the event that accepted it
    from_agent  TEXT    NOT NULL,
    to_agent    TEXT    NOT NULL,
    user_id     TEXT,
    session     TEXT,
    case_key    TEXT,
    kind        TEXT    NOT NULL,
    status      TEXT    NOT NULL,
    chain       TEXT    NOT NULL,
    depth       INTEGER NOT NULL,
    tokens      INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    accepted_at INTEGER,
    accepted_in TEXT,
    ended_at    INTEGER,
    version     INTEGER NOT NULL,
    follows     TEXT    NOT NULL,
    task        TEXT    NOT NULL,
    note        TEXT,
    said        TEXT    NOT NULL,          -- context, files, decisions and next steps, as JSON
    entities    TEXT    NOT NULL,
    package     TEXT    NOT NULL,          -- what is told of it but for the memories
    left_out    TEXT    NOT NULL,          -- what was looked at and stayed behind
    PRIMARY KEY (workspace, id)
) STRICT;
INSERT INTO handoff_with_rowid
SELECT workspace, id, sequence, accepted, from_agent, to_agent, user_id, session, case_key, kind,
    status, chain, depth, tokens, created_at, expires_at, accepted_at, accepted_in, ended_at, version,
    follows, task, note, said, entities, package, left_out
FROM handoff ORDER BY workspace, sequence;
DROP TABLE handoff;
ALTER TABLE handoff_with_rowid RENAME TO handoff;

CREATE UNIQUE INDEX handoff_made ON handoff (workspace, sequence);
CREATE INDEX handoff_to ON handoff (workspace, to_agent, sequence);
CREATE INDEX handoff_from ON handoff (workspace, from_agent, sequence);
CREATE INDEX handoff_accepted ON handoff (workspace, to_agent, accepted) WHERE accepted IS NOT NULL;
CREATE INDEX handoff_chain ON handoff (workspace, chain, sequence);
CREATE INDEX handoff_case ON handoff (workspace, case_key, sequence) WHERE case_key IS NOT NULL;
CREATE INDEX handoff_session ON handoff (workspace, session, sequence) WHERE session IS NOT NULL;
CREATE INDEX handoff_accepted_in ON handoff (workspace, accepted_in, sequence)
    WHERE accepted_in IS NOT NULL;
CREATE INDEX handoff_open ON handoff (workspace, sequence) WHERE status IN ('pending', 'accepted');
CREATE INDEX handoff_waiting ON handoff (expires_at) WHERE status = 'pending';

CREATE TABLE handoff_memory_with_rowid (
    workspace TEXT    NOT NULL,
    handoff   TEXT    NOT NULL,
    place     INTEGER NOT NULL,
    origin    TEXT    NOT NULL,            -- the workspace of the memory
    memory    TEXT    NOT NULL,
    passed    TEXT    NOT NULL,            -- its author, score and tokens, and why, as JSON
    private   INTEGER NOT NULL,
    told      TEXT    NOT NULL,
    PRIMARY KEY (workspace, handoff, place)
) STRICT;
INSERT INTO handoff_memory_with_rowid
SELECT workspace, handoff, place, origin, memory, passed, private, told
FROM handoff_memory ORDER BY workspace, handoff, place;
DROP TABLE handoff_memory;
ALTER TABLE handoff_memory_with_rowid RENAME TO handoff_memory;

CREATE INDEX handoff_memory_of ON handoff_memory (origin, memory);

-- What a memory calls a thing is read with it: all that is asked of a memory's mentions stands in
-- the index.
DROP INDEX mention_memory;
CREATE INDEX mention_memory ON mention (workspace, sequence, name, value);
