-- One matter that several agents work on. Its entries are memories.
CREATE TABLE case_log (
    workspace  TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    sequence   INTEGER NOT NULL,           -- of the event that opened it: the order of lists
    title      TEXT    NOT NULL,
    status     TEXT    NOT NULL,
    version    INTEGER NOT NULL,           -- the position of its last entry
    opened_by  TEXT    NOT NULL,
    opened_at  INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    PRIMARY KEY (workspace, key)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX case_opened ON case_log (workspace, sequence);
CREATE INDEX case_shut ON case_log (workspace, key) WHERE status <> 'open';

-- The case that a memory is an entry of, and its place there.
ALTER TABLE memory ADD COLUMN case_key TEXT;
ALTER TABLE memory ADD COLUMN position INTEGER;

CREATE UNIQUE INDEX memory_entry ON memory (workspace, case_key, position) WHERE case_key IS NOT NULL;
CREATE INDEX memory_entry_heir ON memory (workspace, case_key, superseded_by)
    WHERE case_key IS NOT NULL AND superseded_by IS NOT NULL;
