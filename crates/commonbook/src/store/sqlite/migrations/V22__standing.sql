-- The versions of standing memory files, those of the home and those of projects: a file is in no
-- workspace.
CREATE TABLE standing_version (
    project TEXT    NOT NULL,        -- the project's folder; empty for the home, which may move
    role    TEXT    NOT NULL,
    version INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    agent   TEXT,                    -- NULL for an editor
    action  TEXT    NOT NULL,
    bytes   INTEGER NOT NULL,
    sha256  TEXT    NOT NULL,
    text    TEXT    NOT NULL,
    digest  BLOB    NOT NULL DEFAULT x'000000000000000000000000000000000000000000000000',
    PRIMARY KEY (project, role, version)
) STRICT;
