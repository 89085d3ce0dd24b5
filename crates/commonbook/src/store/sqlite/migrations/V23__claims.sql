-- The keys of what memories state, by which a memory that says the same or the contrary is found:
-- derived from their texts, and written anew at will.
CREATE TABLE claim (
    workspace TEXT    NOT NULL,
    sequence  INTEGER NOT NULL,            -- of the memory
    key       INTEGER NOT NULL,            -- a hash of a subject and its attribute
    PRIMARY KEY (workspace, sequence, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX claim_key ON claim (workspace, key, sequence);
