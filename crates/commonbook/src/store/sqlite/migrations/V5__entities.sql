-- The things that a memory names itself.
ALTER TABLE memory ADD COLUMN entities TEXT NOT NULL DEFAULT '[]';

-- Which memories a memory took the place of.
CREATE INDEX memory_heir ON memory (workspace, superseded_by) WHERE superseded_by IS NOT NULL;

-- What agents stated about a thing, whole as JSON. Its id follows from its first name.
CREATE TABLE entity (
    workspace TEXT NOT NULL,
    id        TEXT NOT NULL,
    entity    TEXT NOT NULL,
    PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;

-- Every name that was stated or mentioned. Its id is that of the thing, unless it leads to another.
CREATE TABLE entity_name (
    workspace   TEXT    NOT NULL,
    id          TEXT    NOT NULL,
    session     TEXT,
    entity_type TEXT    NOT NULL,
    value       TEXT    NOT NULL,
    normalised  TEXT    NOT NULL,
    stated      INTEGER NOT NULL,          -- 1 when an agent stated it: it stays when no memory mentions it
    filed       INTEGER NOT NULL DEFAULT 0, -- 1 when nearly equal names are to find it
    PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX entity_name_order ON entity_name (workspace, normalised, id);

-- The keys under which nearly equal names meet.
CREATE TABLE entity_key (
    workspace TEXT NOT NULL,
    key       TEXT NOT NULL,
    name      TEXT NOT NULL,
    PRIMARY KEY (workspace, key, name)
) STRICT, WITHOUT ROWID;

-- Which names lead to another thing: other spellings, and what was merged.
CREATE TABLE entity_same (
    workspace TEXT NOT NULL,
    name      TEXT NOT NULL,
    entity    TEXT NOT NULL,
    PRIMARY KEY (workspace, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX entity_same_entity ON entity_same (workspace, entity);

CREATE TABLE entity_statement (
    workspace TEXT    NOT NULL,
    entity    TEXT    NOT NULL,
    number    INTEGER NOT NULL,            -- 1, 2, 3 … about one thing
    statement TEXT    NOT NULL,
    PRIMARY KEY (workspace, entity, number)
) STRICT, WITHOUT ROWID;

-- Merges that were not taken back.
CREATE TABLE entity_merge (
    workspace TEXT    NOT NULL,
    target    TEXT    NOT NULL,
    number    INTEGER NOT NULL,            -- 1, 2, 3 … into one thing
    source    TEXT    NOT NULL,
    merge     TEXT    NOT NULL,
    PRIMARY KEY (workspace, target, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE entity_review (
    workspace TEXT NOT NULL,
    id        TEXT NOT NULL,
    review    TEXT NOT NULL,
    PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;

-- Which memories mention a name: derived from them, and written anew at will.
CREATE TABLE mention (
    workspace  TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    sequence   INTEGER NOT NULL,           -- of the memory
    value      TEXT    NOT NULL,           -- the name as it stands there
    confidence REAL    NOT NULL,
    count      INTEGER NOT NULL,
    place      INTEGER NOT NULL,           -- the byte of the text where it first stands
    PRIMARY KEY (workspace, name, sequence)
) STRICT, WITHOUT ROWID;
CREATE INDEX mention_memory ON mention (workspace, sequence);

CREATE TABLE relation (
    workspace     TEXT    NOT NULL,
    id            TEXT    NOT NULL,
    origin        TEXT    NOT NULL,
    target        TEXT    NOT NULL,
    relation_type TEXT    NOT NULL,
    strength      REAL    NOT NULL,
    recorded_at   INTEGER NOT NULL,
    valid_from    INTEGER,
    valid_until   INTEGER,
    relation      TEXT    NOT NULL,
    PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX relation_origin ON relation (workspace, origin, relation_type, target);
CREATE INDEX relation_target ON relation (workspace, target);

-- How far what is derived has followed each journal, and by which revision of its rules.
CREATE TABLE follower (
    workspace TEXT    NOT NULL,
    name      TEXT    NOT NULL,
    rules     INTEGER NOT NULL,
    sequence  INTEGER NOT NULL,
    PRIMARY KEY (workspace, name)
) STRICT, WITHOUT ROWID;
