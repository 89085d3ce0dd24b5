-- Times are milliseconds since 1970 in UTC. Lists and objects are JSON.

CREATE TABLE workspace (
    name     TEXT    NOT NULL PRIMARY KEY,
    sequence INTEGER NOT NULL              -- of the last event of its journal
) STRICT, WITHOUT ROWID;

CREATE TABLE memory (
    workspace     TEXT    NOT NULL,
    id            TEXT    NOT NULL,
    sequence      INTEGER NOT NULL,        -- of the event that kept it: the order of lists
    owner         TEXT    NOT NULL,
    user_id       TEXT,
    memory_type   TEXT    NOT NULL,
    title         TEXT,
    text          TEXT    NOT NULL,
    summary       TEXT,
    topics        TEXT    NOT NULL,
    importance    INTEGER NOT NULL,        -- 0 low … 3 critical
    sharing       TEXT    NOT NULL,
    session       TEXT,
    source        TEXT    NOT NULL,
    trust         TEXT    NOT NULL,
    metadata      TEXT    NOT NULL,
    recorded_at   INTEGER NOT NULL,
    revised_at    INTEGER NOT NULL,
    revised_by    TEXT    NOT NULL,
    revision      INTEGER NOT NULL,
    valid_from    INTEGER,
    valid_until   INTEGER,
    superseded_by TEXT,
    deleted_at    INTEGER,
    imported      TEXT,                    -- the fingerprint of the line it was imported from
    UNIQUE (workspace, sequence),
    PRIMARY KEY (workspace, id)
) STRICT;

CREATE INDEX memory_imported ON memory (workspace, imported) WHERE imported IS NOT NULL;
CREATE INDEX memory_deleted ON memory (deleted_at) WHERE deleted_at IS NOT NULL;

-- What a memory was before each of its changes.
CREATE TABLE revision (
    workspace TEXT    NOT NULL,
    memory    TEXT    NOT NULL,
    revision  INTEGER NOT NULL,
    snapshot  TEXT    NOT NULL,
    PRIMARY KEY (workspace, memory, revision)
) STRICT, WITHOUT ROWID;

CREATE TABLE event (
    workspace  TEXT    NOT NULL,
    sequence   INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    kind       TEXT    NOT NULL,
    actor      TEXT    NOT NULL,
    subject    TEXT    NOT NULL,
    owner      TEXT    NOT NULL,           -- who sees the event when its subject is gone
    sharing    TEXT    NOT NULL,           -- of its subject, then: what was private stays its owner's
    topics     TEXT    NOT NULL,
    importance INTEGER NOT NULL,
    changed    TEXT    NOT NULL,
    PRIMARY KEY (workspace, sequence)
) STRICT, WITHOUT ROWID;

CREATE TABLE agent (
    workspace  TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    first_seen INTEGER NOT NULL,
    last_seen  INTEGER NOT NULL,
    device     TEXT,
    client     TEXT,
    PRIMARY KEY (workspace, name)
) STRICT, WITHOUT ROWID;

-- What was answered under an idempotency key.
CREATE TABLE answer (
    workspace      TEXT    NOT NULL,
    agent          TEXT    NOT NULL,
    key            TEXT    NOT NULL,
    request_sha256 TEXT    NOT NULL,
    answer         TEXT    NOT NULL,
    at             INTEGER NOT NULL,
    PRIMARY KEY (workspace, agent, key)
) STRICT, WITHOUT ROWID;
