-- Named places in a session, to go on from.
CREATE TABLE checkpoint (
    workspace       TEXT    NOT NULL,
    id              TEXT    NOT NULL,
    session         TEXT    NOT NULL,
    sequence        INTEGER NOT NULL,      -- 1, 2, 3 … in its session
    kind            TEXT    NOT NULL,
    title           TEXT,
    agent           TEXT    NOT NULL,
    agents_involved TEXT    NOT NULL,
    case_key        TEXT,
    position        INTEGER NOT NULL,      -- of the journal
    created_at      INTEGER NOT NULL,
    resumed         INTEGER NOT NULL,
    resumed_at      INTEGER,
    PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX checkpoint_session ON checkpoint (workspace, session, sequence);
CREATE INDEX checkpoint_created ON checkpoint (created_at);

-- The number of the last checkpoint, and milliseconds at work since.
ALTER TABLE session ADD COLUMN checkpoints INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN active INTEGER NOT NULL DEFAULT 0;
