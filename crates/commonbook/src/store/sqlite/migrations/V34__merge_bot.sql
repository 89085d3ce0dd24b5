-- What agents saved on a case since its digest last ran by itself. A process that runs it holds the lease.
CREATE TABLE case_activity (
    workspace    TEXT    NOT NULL,
    case_key     TEXT    NOT NULL,
    memories     INTEGER NOT NULL,          -- saved in sessions on the case
    ended        INTEGER NOT NULL,          -- sessions on it that have ended
    leased_until INTEGER NOT NULL,          -- 0 if nobody runs it
    PRIMARY KEY (workspace, case_key)
) STRICT, WITHOUT ROWID;

-- Entries that wait for the lead of a case, and those that the lead rejected.
CREATE TABLE case_proposal (
    workspace  TEXT    NOT NULL,
    case_key   TEXT    NOT NULL,
    number     INTEGER NOT NULL,
    status     TEXT    NOT NULL,            -- open or rejected
    created_at INTEGER NOT NULL,
    entries    TEXT    NOT NULL,            -- JSON
    PRIMARY KEY (workspace, case_key, number)
) STRICT, WITHOUT ROWID;

-- What happened before stays as it is: the digest of a case runs by itself from here on.
INSERT INTO follower (workspace, name, rules, sequence)
    SELECT name, 'digests', 1, sequence FROM workspace WHERE sequence > 0;
