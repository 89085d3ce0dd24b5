-- What was taken out of a memory before it was kept, and why it is or was quarantined.
ALTER TABLE memory ADD COLUMN redacted TEXT NOT NULL DEFAULT '[]';
ALTER TABLE memory ADD COLUMN suspicions TEXT NOT NULL DEFAULT '[]';

-- What waits for review is looked for among all.
CREATE INDEX memory_quarantined ON memory (workspace, sequence) WHERE trust = 'quarantined';
