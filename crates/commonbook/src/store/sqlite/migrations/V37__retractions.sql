-- Why a memory does not hold any more, by whom and when, as JSON; NULL for one that was not retracted.
ALTER TABLE memory ADD COLUMN retraction TEXT;

-- Which agents were told which memory, each at each revision the first time: ids and figures, no texts.
-- It outlasts the receipts, so that a retraction reaches an agent that was told long ago.
CREATE TABLE knowledge (
    memory    TEXT    NOT NULL,
    workspace TEXT    NOT NULL,            -- of the agent that was told
    agent     TEXT    NOT NULL,
    revision  INTEGER NOT NULL,
    user_id   TEXT    NOT NULL,            -- whom the agent worked for; empty for nobody
    at        INTEGER NOT NULL,
    origin    TEXT    NOT NULL,
    context   TEXT,                        -- the receipt; NULL if the agent read it in its case
    PRIMARY KEY (memory, workspace, agent, revision, user_id)
) STRICT, WITHOUT ROWID;

-- What the receipts and the read marks of before say.
INSERT OR IGNORE INTO knowledge (memory, workspace, agent, revision, user_id, at, origin, context)
SELECT m.id, c.workspace, c.agent,
    coalesce(t.value ->> '$.revision',
        CASE WHEN m.revised_at <= c.at THEN m.revision ELSE max(m.revision - 1, 1) END),
    coalesce(c.receipt ->> '$.diagnostics.resolved_user_id', ''), c.at,
    coalesce(c.receipt ->> '$.origin', 'context'), c.id
FROM context c
CROSS JOIN json_each(iif(json_valid(c.receipt), c.receipt, '{}'), '$.candidates') t
CROSS JOIN memory m ON m.workspace IN (c.workspace, 'global') AND m.id = t.value ->> '$.id'
WHERE t.value ->> '$.taken' AND c.agent <> 'anonymous'
ORDER BY c.at;

INSERT OR IGNORE INTO knowledge (memory, workspace, agent, revision, user_id, at, origin, context)
SELECT m.id, r.workspace, r.agent, m.revision, '', r.at, 'case', NULL
FROM cursor r CROSS JOIN memory m ON m.workspace = r.workspace AND m.case_key = r.case_key
    AND m.position <= r.position
WHERE r.case_key <> '' AND m.sharing = 'shared' AND m.trust <> 'quarantined' AND m.user_id IS NULL
    AND m.owner <> r.agent;

-- What an agent hears of a retraction in its next text: once.
CREATE TABLE retraction_notice (
    workspace TEXT    NOT NULL,            -- of the agent
    agent     TEXT    NOT NULL,
    memory    TEXT    NOT NULL,
    operation TEXT    NOT NULL,
    kind      TEXT    NOT NULL,
    user_id   TEXT    NOT NULL,            -- whom the agent worked for; empty for nobody
    told_at   INTEGER,                     -- when it was told last; NULL for the author
    actor     TEXT    NOT NULL,
    at        INTEGER NOT NULL,
    heard_at  INTEGER,
    PRIMARY KEY (workspace, agent, memory, operation, kind)
) STRICT, WITHOUT ROWID;

CREATE INDEX retraction_notice_operation ON retraction_notice (operation);
CREATE INDEX retraction_notice_memory ON retraction_notice (memory);
