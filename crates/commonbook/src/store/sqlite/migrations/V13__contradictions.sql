-- Memories that contradict each other: derived from them, but for what somebody has decided.
CREATE TABLE contradiction (
    workspace      TEXT    NOT NULL,
    id             TEXT    NOT NULL,        -- follows from its memories
    sequence       INTEGER NOT NULL,        -- of the event that told of it: the order of lists
    older          TEXT    NOT NULL,
    older_revision INTEGER NOT NULL,        -- which was compared: of another one it says nothing
    newer          TEXT    NOT NULL,
    newer_revision INTEGER NOT NULL,
    resolved       INTEGER NOT NULL,        -- 1 when somebody has decided
    contradiction  TEXT    NOT NULL,
    PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX contradiction_order ON contradiction (workspace, sequence);
CREATE INDEX contradiction_older ON contradiction (workspace, older);
CREATE INDEX contradiction_newer ON contradiction (workspace, newer);
