-- What was done to many memories at once, to be taken back.
CREATE TABLE act (
    workspace TEXT    NOT NULL,
    id        TEXT    NOT NULL,
    kind      TEXT    NOT NULL,
    agent     TEXT    NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE act_memory (
    workspace TEXT    NOT NULL,
    act       TEXT    NOT NULL,
    memory    TEXT    NOT NULL,
    owner     TEXT    NOT NULL,            -- before
    revision  INTEGER NOT NULL,            -- that it left the memory at
    PRIMARY KEY (workspace, act, memory)
) STRICT, WITHOUT ROWID;

-- The users that memories are about are few, and asked for among all.
CREATE INDEX memory_user ON memory (workspace, user_id) WHERE user_id IS NOT NULL;
