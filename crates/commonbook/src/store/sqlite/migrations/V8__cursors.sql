-- How far each agent has read each case, and the journal.
CREATE TABLE cursor (
    workspace TEXT    NOT NULL,
    agent     TEXT    NOT NULL,
    case_key  TEXT    NOT NULL,            -- empty for the journal
    position  INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (workspace, agent, case_key)
) STRICT, WITHOUT ROWID;
