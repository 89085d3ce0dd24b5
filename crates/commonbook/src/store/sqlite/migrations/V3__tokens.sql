-- What proves who calls over HTTP. The secret itself is kept nowhere.
CREATE TABLE token (
    id            TEXT    NOT NULL PRIMARY KEY,
    agent         TEXT    NOT NULL,
    secret_sha256 TEXT    NOT NULL,
    scopes        TEXT    NOT NULL,
    workspace     TEXT,                    -- the only one that it opens
    created_at    INTEGER NOT NULL,
    expires_at    INTEGER,
    last_used     INTEGER,
    revoked_at    INTEGER
) STRICT, WITHOUT ROWID;
