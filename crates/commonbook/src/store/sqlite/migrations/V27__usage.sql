-- How often each memory was found, told and used, and when it was told last. The rows are those of
-- memories that were; the audience is that of the memory, so that a list by these counts reads no
-- memory out of sight. Who found, was told or used it stands nowhere here.
CREATE TABLE usage (
    workspace    TEXT    NOT NULL,
    memory       TEXT    NOT NULL,
    audience     INTEGER NOT NULL,
    sequence     INTEGER NOT NULL,        -- of the memory
    found        INTEGER NOT NULL DEFAULT 0,
    told         INTEGER NOT NULL DEFAULT 0,
    used         INTEGER NOT NULL DEFAULT 0,
    last_told_at INTEGER,
    PRIMARY KEY (workspace, memory)
) STRICT, WITHOUT ROWID;

CREATE INDEX usage_found ON usage (audience, found, sequence) WHERE found > 0;
CREATE INDEX usage_told ON usage (audience, told, sequence) WHERE told > 0;
CREATE INDEX usage_used ON usage (audience, used, sequence) WHERE used > 0;

-- Whether the receipt has been counted as told: once, whatever crashes. 1 if it has; else NULL, or 0 if
-- its reader may write in its own workspace alone, and so counts nothing in `global`.
ALTER TABLE context ADD COLUMN counted INTEGER;

CREATE INDEX context_uncounted ON context (workspace, id) WHERE counted IS NOT 1;
