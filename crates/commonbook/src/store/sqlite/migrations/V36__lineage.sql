-- What agents derived from which memories, each at the revision that its author knew.
CREATE TABLE basis (
    workspace   TEXT    NOT NULL,          -- of what was derived
    derived     TEXT    NOT NULL,          -- the id of a memory, a handoff or a resolved contradiction
    origin      TEXT    NOT NULL,          -- the workspace of the memory
    memory      TEXT    NOT NULL,
    revision    INTEGER NOT NULL,
    context     TEXT,                      -- the receipt of the text that told the memory
    recorded_at INTEGER NOT NULL,
    PRIMARY KEY (workspace, derived, origin, memory)
) STRICT, WITHOUT ROWID;

CREATE INDEX basis_memory ON basis (origin, memory);

-- The memories that a session was told, each at the last revision that it knows: its read set. The
-- session is the one of the receipt.
CREATE TABLE told_memory (
    workspace TEXT    NOT NULL,
    agent     TEXT    NOT NULL,
    session   TEXT    NOT NULL,
    origin    TEXT    NOT NULL,            -- the workspace of the memory
    memory    TEXT    NOT NULL,
    revision  INTEGER NOT NULL,
    context   TEXT,                        -- the receipt that told it last
    sequence  INTEGER NOT NULL,            -- the end of the journal then: what it knows of contradictions
    at        INTEGER NOT NULL,
    PRIMARY KEY (workspace, agent, session, origin, memory)
) STRICT, WITHOUT ROWID;

CREATE INDEX told_memory_memory ON told_memory (origin, memory);
CREATE INDEX told_memory_at ON told_memory (at);

-- What was derived from a memory that has changed since, until its owner has looked at it.
CREATE TABLE outdated (
    workspace TEXT    NOT NULL,
    derived   TEXT    NOT NULL,
    owner     TEXT    NOT NULL,            -- of what was derived
    origin    TEXT    NOT NULL,
    memory    TEXT    NOT NULL,            -- the one that has changed
    sequence  INTEGER NOT NULL,            -- of the event that tells of it: the order of lists
    mark      TEXT    NOT NULL,            -- how it has changed, and the path from it, as JSON
    PRIMARY KEY (workspace, derived, origin, memory)
) STRICT, WITHOUT ROWID;

CREATE INDEX outdated_owner ON outdated (workspace, owner, sequence);
CREATE INDEX outdated_memory ON outdated (origin, memory);
