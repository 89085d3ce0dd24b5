-- The addresses that receive events. The secret signs each delivery, so that it is stored as it is.
CREATE TABLE webhook (
    id            TEXT    NOT NULL PRIMARY KEY,
    workspace     TEXT    NOT NULL,
    agent         TEXT    NOT NULL,
    user_id       TEXT,
    token         TEXT,                     -- that proves the agent
    door          TEXT    NOT NULL,         -- through which it was added
    url           TEXT    NOT NULL,
    secret        TEXT    NOT NULL,
    filter        TEXT    NOT NULL,         -- JSON
    allow_private INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    digest        BLOB    NOT NULL DEFAULT x'000000000000000000000000000000000000000000000000'
) STRICT, WITHOUT ROWID;

-- How far each has come in the journal of its workspace.
CREATE TABLE webhook_progress (
    webhook   TEXT    NOT NULL PRIMARY KEY,
    through   INTEGER NOT NULL,
    delivered INTEGER NOT NULL,
    failing   INTEGER,                      -- the sequence of the event that was not accepted yet
    attempts  INTEGER,
    retry_at  INTEGER,
    failure   TEXT,                         -- a status or a reason in our words
    stopped   TEXT
) STRICT, WITHOUT ROWID;

-- The events that were given up, by their positions alone.
CREATE TABLE dead_letter (
    webhook   TEXT    NOT NULL,
    sequence  INTEGER NOT NULL,
    attempts  INTEGER NOT NULL,
    failed_at INTEGER NOT NULL,
    failure   TEXT    NOT NULL,
    PRIMARY KEY (webhook, sequence)
) STRICT, WITHOUT ROWID;
