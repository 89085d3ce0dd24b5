-- Who reads a memory: all memories of one audience are seen by the same callers. What is looked up
-- audience by audience touches no row that the caller does not see. The audience stands first in each key:
-- behind another column, the engine asks first whether anybody's row begins so.
CREATE TABLE audience (
    number      INTEGER PRIMARY KEY AUTOINCREMENT, -- no number is used again
    workspace   TEXT    NOT NULL,
    owner       TEXT    NOT NULL,          -- empty for everybody who reads in the workspace
    user_id     TEXT,
    sharing     TEXT    NOT NULL,
    quarantined INTEGER NOT NULL
) STRICT;
CREATE INDEX audience_shared ON audience (workspace, quarantined, sharing, user_id, owner);
CREATE INDEX audience_own ON audience (workspace, owner, quarantined, user_id);

INSERT INTO audience (workspace, owner, user_id, sharing, quarantined)
SELECT DISTINCT workspace,
    CASE WHEN sharing = 'shared' AND user_id IS NULL AND trust <> 'quarantined' THEN '' ELSE owner END,
    user_id, sharing, trust = 'quarantined'
FROM memory;
-- What is stated is everybody's.
INSERT INTO audience (workspace, owner, user_id, sharing, quarantined)
SELECT w.name, '', NULL, 'shared', 0 FROM workspace w
WHERE NOT EXISTS (SELECT 1 FROM audience a WHERE a.workspace = w.name AND a.owner = '');

-- 0 is nobody: a memory without its audience is in no sight.
ALTER TABLE memory ADD COLUMN audience INTEGER NOT NULL DEFAULT 0;
UPDATE memory SET audience = (SELECT a.number FROM audience a
    WHERE a.workspace = memory.workspace AND a.quarantined = (memory.trust = 'quarantined')
    AND a.sharing = memory.sharing AND a.user_id IS memory.user_id
    AND a.owner = CASE WHEN memory.sharing = 'shared' AND memory.user_id IS NULL
        AND memory.trust <> 'quarantined' THEN '' ELSE memory.owner END);

CREATE INDEX memory_seen ON memory (audience, sequence);
CREATE INDEX memory_seen_id ON memory (audience, id);
CREATE INDEX memory_case ON memory (audience, case_key, position) WHERE case_key IS NOT NULL;
DROP INDEX memory_owner;
CREATE INDEX memory_owner ON memory (audience, owner, sequence);
DROP INDEX memory_session;
CREATE INDEX memory_session ON memory (workspace, session, audience, sequence)
    WHERE session IS NOT NULL;
DROP INDEX memory_about;
CREATE INDEX memory_about ON memory (audience, memory_type, user_id, sequence)
    WHERE memory_type IN ('profile', 'task_context');
DROP INDEX memory_heir;
CREATE INDEX memory_heir ON memory (audience, superseded_by)
    WHERE superseded_by IS NOT NULL;
DROP INDEX memory_entry_heir;
CREATE INDEX memory_entry_heir ON memory (audience, case_key, superseded_by)
    WHERE case_key IS NOT NULL AND superseded_by IS NOT NULL;
-- Who is quarantined, and whom memories are about, is told by the audience.
DROP INDEX memory_quarantined;
DROP INDEX memory_user;

CREATE TABLE mention_of_audience (
    workspace  TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    audience   INTEGER NOT NULL,           -- of the memory
    sequence   INTEGER NOT NULL,           -- of the memory
    value      TEXT    NOT NULL,           -- the name as it stands there
    confidence REAL    NOT NULL,
    count      INTEGER NOT NULL,
    place      INTEGER NOT NULL,           -- the byte of the text where it first stands
    PRIMARY KEY (audience, name, sequence)
) STRICT, WITHOUT ROWID;
INSERT INTO mention_of_audience
SELECT n.workspace, n.name, m.audience, n.sequence, n.value, n.confidence, n.count, n.place
FROM mention n JOIN memory m ON m.workspace = n.workspace AND m.sequence = n.sequence;
DROP TABLE mention;
ALTER TABLE mention_of_audience RENAME TO mention;
CREATE INDEX mention_memory ON mention (workspace, sequence, name, value);

-- Every name that was stated or mentioned, once for each audience that knows it. Its id is that of the
-- thing, unless it leads to another. What is stated is everybody's.
CREATE TABLE entity_name_of_audience (
    workspace   TEXT    NOT NULL,
    id          TEXT    NOT NULL,
    audience    INTEGER NOT NULL,
    session     TEXT,
    entity_type TEXT    NOT NULL,
    value       TEXT    NOT NULL,
    normalised  TEXT    NOT NULL,
    stated      INTEGER NOT NULL,          -- 1 when an agent stated it: it stays when no memory mentions it
    filed       INTEGER NOT NULL DEFAULT 0, -- 1 when nearly equal names are to find it
    PRIMARY KEY (audience, id)
) STRICT, WITHOUT ROWID;
INSERT INTO entity_name_of_audience
SELECT e.workspace, e.id, a.number, e.session, e.entity_type, e.value, e.normalised, 1, e.filed
FROM entity_name e JOIN audience a ON a.workspace = e.workspace AND a.owner = '' WHERE e.stated;
-- Each audience knows a name as its first memory spells it.
INSERT OR IGNORE INTO entity_name_of_audience
SELECT e.workspace, e.id, n.audience, e.session, e.entity_type, n.value, e.normalised, 0,
    e.filed AND a.owner = ''
FROM (SELECT workspace, name, audience, value, min(sequence) FROM mention
      GROUP BY workspace, name, audience) n
JOIN entity_name e ON e.workspace = n.workspace AND e.id = n.name
JOIN audience a ON a.number = n.audience;
DROP TABLE entity_name;
ALTER TABLE entity_name_of_audience RENAME TO entity_name;
CREATE INDEX entity_name_order ON entity_name (audience, normalised, id);

-- Names are drawn together, and lead to each other, among what everybody knows.
DELETE FROM entity_key WHERE NOT EXISTS (SELECT 1 FROM entity_name e
    WHERE e.workspace = entity_key.workspace AND e.id = entity_key.name AND e.filed);
DELETE FROM entity_same WHERE NOT EXISTS (SELECT 1 FROM entity_name e
    JOIN audience a ON a.number = e.audience AND a.owner = ''
    WHERE e.workspace = entity_same.workspace AND e.id = entity_same.name)
OR NOT EXISTS (SELECT 1 FROM entity_name e JOIN audience a ON a.number = e.audience AND a.owner = ''
    WHERE e.workspace = entity_same.workspace AND e.id = entity_same.entity);

-- A relation belongs to those who know both of its ends: where not everybody does, to the audience of
-- the memory that it begins or ends at, else to its author.
ALTER TABLE relation ADD COLUMN audience INTEGER NOT NULL DEFAULT 0;
CREATE TABLE relation_ends AS
SELECT r.workspace, r.id, r.relation ->> 'author' AS author,
    CASE WHEN substr(r.origin, 1, 4) = 'mem_'
        THEN (SELECT m.audience FROM memory m WHERE m.workspace = r.workspace AND m.id = r.origin)
        ELSE (SELECT e.audience FROM entity_name e JOIN audience a ON a.number = e.audience
              WHERE e.workspace = r.workspace AND e.id = r.origin AND a.owner = '') END AS origin,
    CASE WHEN substr(r.target, 1, 4) = 'mem_'
        THEN (SELECT m.audience FROM memory m WHERE m.workspace = r.workspace AND m.id = r.target)
        ELSE (SELECT e.audience FROM entity_name e JOIN audience a ON a.number = e.audience
              WHERE e.workspace = r.workspace AND e.id = r.target AND a.owner = '') END AS target,
    (SELECT a.number FROM audience a WHERE a.workspace = r.workspace AND a.owner = '') AS everybody
FROM relation r;
INSERT INTO audience (workspace, owner, user_id, sharing, quarantined)
SELECT DISTINCT r.workspace, r.author, NULL, 'private', 0 FROM relation_ends r
WHERE NOT (ifnull(r.origin = r.target, 0) OR ifnull(r.origin = r.everybody AND r.target IS NOT NULL, 0)
    OR ifnull(r.target = r.everybody AND r.origin IS NOT NULL, 0))
AND NOT EXISTS (SELECT 1 FROM audience a WHERE a.workspace = r.workspace AND a.owner = r.author
    AND a.user_id IS NULL AND a.sharing = 'private' AND NOT a.quarantined);
UPDATE relation SET audience = (SELECT CASE
        WHEN r.origin = r.target THEN r.origin
        WHEN r.origin = r.everybody AND r.target IS NOT NULL THEN r.target
        WHEN r.target = r.everybody AND r.origin IS NOT NULL THEN r.origin
        ELSE (SELECT a.number FROM audience a WHERE a.workspace = r.workspace AND a.owner = r.author
              AND a.user_id IS NULL AND a.sharing = 'private' AND NOT a.quarantined) END
    FROM relation_ends r WHERE r.workspace = relation.workspace AND r.id = relation.id);
DROP TABLE relation_ends;
DROP INDEX relation_origin;
CREATE UNIQUE INDEX relation_origin ON relation (audience, origin, relation_type, target);
DROP INDEX relation_target;
CREATE INDEX relation_target ON relation (audience, target);

ALTER TABLE contradiction ADD COLUMN older_audience INTEGER NOT NULL DEFAULT 0;
ALTER TABLE contradiction ADD COLUMN newer_audience INTEGER NOT NULL DEFAULT 0;
UPDATE contradiction SET
    older_audience = ifnull((SELECT m.audience FROM memory m
        WHERE m.workspace = contradiction.workspace AND m.id = contradiction.older), 0),
    newer_audience = ifnull((SELECT m.audience FROM memory m
        WHERE m.workspace = contradiction.workspace AND m.id = contradiction.newer), 0);
DROP INDEX contradiction_order;
CREATE INDEX contradiction_order ON contradiction (older_audience, newer_audience, sequence);
DROP INDEX contradiction_older;
CREATE INDEX contradiction_older ON contradiction (newer_audience, older);
CREATE INDEX contradiction_of ON contradiction (workspace, older);
CREATE INDEX relation_from ON relation (workspace, origin);
CREATE INDEX relation_to ON relation (workspace, target);
