-- The pairs of memories of which an endpoint said that both can hold, with a hash of the two texts that
-- it read: so that it is not asked again. Asked anew at will.
CREATE TABLE judged_pair (
    workspace TEXT NOT NULL,
    first     TEXT NOT NULL,              -- the smaller of the two ids
    second    TEXT NOT NULL,
    texts     TEXT NOT NULL,
    PRIMARY KEY (workspace, first, second)
) STRICT, WITHOUT ROWID;
