-- What was forgotten. A certificate lists every place that was searched; it holds no text.
CREATE TABLE certificate (
    workspace   TEXT    NOT NULL,
    id          TEXT    NOT NULL,
    at          INTEGER NOT NULL,
    finished_at INTEGER,                  -- NULL until the files outside the store are clean too
    certificate TEXT    NOT NULL,         -- JSON
    digest      BLOB    NOT NULL DEFAULT x'000000000000000000000000000000000000000000000000',
    PRIMARY KEY (workspace, id)
) STRICT;
CREATE INDEX certificate_unfinished ON certificate (at) WHERE finished_at IS NULL;

-- The memories that were forgotten: none of them is imported or restored again.
CREATE TABLE forgotten_memory (
    workspace   TEXT NOT NULL,
    memory      TEXT NOT NULL,
    certificate TEXT NOT NULL,
    digest      BLOB NOT NULL DEFAULT x'000000000000000000000000000000000000000000000000',
    PRIMARY KEY (workspace, memory)
) STRICT, WITHOUT ROWID;

-- Keyed digests of the phrases that were forgotten: none of them comes back.
CREATE TABLE tombstone (
    workspace   TEXT    NOT NULL,
    words       INTEGER NOT NULL,         -- of the phrase
    phrase      INTEGER NOT NULL,         -- 8 bytes of its keyed digest
    certificate TEXT    NOT NULL,
    owner       TEXT    NOT NULL,         -- whose memories it holds for; empty for everybody's
    digest      BLOB    NOT NULL DEFAULT x'000000000000000000000000000000000000000000000000',
    PRIMARY KEY (workspace, words, phrase, certificate)
) STRICT, WITHOUT ROWID;
CREATE INDEX tombstone_certificate ON tombstone (workspace, certificate);

-- The keys of the digests: the own one, and those of stores whose tombstones were taken over.
CREATE TABLE tombstone_key (
    number INTEGER PRIMARY KEY,
    key    TEXT    NOT NULL UNIQUE        -- hexadecimal digits
) STRICT;
INSERT INTO tombstone_key (key) VALUES (lower(hex(randomblob(32))));
