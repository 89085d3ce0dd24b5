-- When a consolidation archived a memory. NULL in each row of before, so that the digest of the row still holds.
ALTER TABLE memory ADD COLUMN archived_at INTEGER;

-- Who consolidates a workspace now, and when that was done last.
CREATE TABLE consolidation (
    workspace    TEXT    NOT NULL PRIMARY KEY,
    token        INTEGER NOT NULL,          -- grows with each lease; an older one is refused
    agent        TEXT    NOT NULL,
    operation    TEXT    NOT NULL,          -- continued if its holder died
    leased_until INTEGER NOT NULL,          -- 0 if nobody consolidates
    finished_at  INTEGER NOT NULL           -- 0 if it was never done
) STRICT, WITHOUT ROWID;
